// Keyboard, mouse, gamepad and touch become one set of controls.

import type { Controls } from "../play/craft.js";

/** What a key or a button asks of the game outside flying. */
export type Command = "confirm" | "pause" | "restart" | "mute" | "hud";

const STEER: Readonly<Record<string, number>> = { KeyA: -1, ArrowLeft: -1, KeyD: 1, ArrowRight: 1 };
const CLIMB: Readonly<Record<string, number>> = { KeyW: 1, ArrowUp: 1, KeyS: -1, ArrowDown: -1 };
const BOOST = ["ShiftLeft", "ShiftRight", "Space"];
const BRAKE = ["ControlLeft", "KeyX"];
const COMMANDS: Readonly<Record<string, Command>> = {
  Enter: "confirm",
  Escape: "pause",
  KeyP: "pause",
  KeyR: "restart",
  KeyM: "mute",
  KeyH: "hud",
};
/** Buttons of a standard gamepad. */
const PAD = { boost: 7, boost2: 0, brake: 6, confirm: 0, pause: 9, restart: 3 } as const;
const DEAD = 0.14;
/** Share of the picture's height that a finger or the mouse moves for full deflection. */
const REACH = 0.16;

/** A finger or mouse button that is down. */
interface Stick {
  readonly x: number;
  readonly y: number;
  dx: number;
  dy: number;
}

/** Listens until `dispose`. Commands go to `onCommand`; flying is asked for once a frame. */
export class Input {
  /** There is touch: buttons for it should show. */
  touched = matchMedia("(pointer: coarse)").matches;
  readonly #surface: HTMLElement;
  readonly #held = new Set<string>();
  readonly #onCommand: (command: Command) => void;
  readonly #pressed = new Set<number>();
  readonly #stop = new AbortController();
  readonly #touches = { boost: false, brake: false };
  #stick: (Stick & { readonly pointer: number }) | undefined;

  constructor(surface: HTMLElement, onCommand: (command: Command) => void) {
    this.#surface = surface;
    this.#onCommand = onCommand;
    const { signal } = this.#stop;
    addEventListener(
      "keydown",
      (event) => {
        this.#keyDown(event);
      },
      { signal },
    );
    addEventListener("keyup", ({ code }) => void this.#held.delete(code), { signal });
    addEventListener(
      "blur",
      () => {
        this.release();
      },
      { signal },
    );
    surface.addEventListener(
      "pointerdown",
      (event) => {
        this.#pointerDown(event);
      },
      { signal },
    );
    surface.addEventListener(
      "pointermove",
      (event) => {
        this.#pointerMove(event);
      },
      { signal },
    );
    for (const type of ["pointerup", "pointercancel"] as const) {
      surface.addEventListener(
        type,
        ({ pointerId }) => {
          if (pointerId === this.#stick?.pointer) this.#stick = undefined;
        },
        { signal },
      );
    }
    surface.addEventListener(
      "contextmenu",
      (event) => {
        event.preventDefault();
      },
      { signal },
    );
  }

  /** A button on the screen that acts while it is held. */
  bind(button: HTMLElement, what: "boost" | "brake"): void {
    const { signal } = this.#stop;
    button.addEventListener(
      "pointerdown",
      (event) => {
        event.preventDefault();
        button.setPointerCapture(event.pointerId);
        this.#touches[what] = true;
      },
      { signal },
    );
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      button.addEventListener(
        type,
        () => {
          this.#touches[what] = false;
        },
        { signal },
      );
    }
  }

  /** Nothing is held any more: the page lost the keyboard, or a screen came up. */
  release(): void {
    this.#held.clear();
    this.#stick = undefined;
    this.#touches.boost = this.#touches.brake = false;
  }

  /** Once a frame. */
  read(): Controls {
    const pad = this.#pad();
    const key = (map: Readonly<Record<string, number>>): number =>
      Object.entries(map).reduce((sum, [code, value]) => sum + (this.#held.has(code) ? value : 0), 0);
    const held = (codes: readonly string[]): number => (codes.some((code) => this.#held.has(code)) ? 1 : 0);
    const button = (index: number): number => pad?.buttons[index]?.value ?? 0;
    const reach = this.#surface.clientHeight * REACH;
    return {
      steer: limit(key(STEER) + axis(pad?.axes[0]) + (this.#stick?.dx ?? 0) / reach),
      climb: limit(key(CLIMB) - axis(pad?.axes[1]) - (this.#stick?.dy ?? 0) / reach),
      boost: Math.max(held(BOOST), button(PAD.boost), button(PAD.boost2), this.#touches.boost ? 1 : 0),
      brake: Math.max(held(BRAKE), button(PAD.brake), this.#touches.brake ? 1 : 0),
    };
  }

  dispose(): void {
    this.#stop.abort();
  }

  #keyDown(event: KeyboardEvent): void {
    // Typing into a field of the settings is not flying.
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
    const { code } = event;
    const command = COMMANDS[code];
    const onButton = event.target instanceof HTMLButtonElement && (code === "Enter" || code === "Space");
    if (onButton) return;
    if (command !== undefined && !event.repeat) this.#onCommand(command);
    if (code in STEER || code in CLIMB || BOOST.includes(code) || BRAKE.includes(code)) event.preventDefault();
    this.#held.add(code);
  }

  #pointerDown(event: PointerEvent): void {
    if (event.pointerType === "touch") this.touched = true;
    if (this.#stick !== undefined) return;
    this.#surface.setPointerCapture(event.pointerId);
    this.#stick = { pointer: event.pointerId, x: event.clientX, y: event.clientY, dx: 0, dy: 0 };
  }

  #pointerMove({ pointerId, clientX, clientY }: PointerEvent): void {
    if (this.#stick?.pointer !== pointerId) return;
    this.#stick.dx = clientX - this.#stick.x;
    this.#stick.dy = clientY - this.#stick.y;
  }

  #pad(): Gamepad | undefined {
    const pads: readonly (Gamepad | null)[] = navigator.getGamepads();
    const pad = pads.find((one) => one?.mapping === "standard") ?? undefined;
    const commands = [
      [PAD.confirm, "confirm"],
      [PAD.pause, "pause"],
      [PAD.restart, "restart"],
    ] as const;
    for (const [index, command] of commands) {
      const down = pad?.buttons.at(index)?.pressed === true;
      if (down && !this.#pressed.has(index)) this.#onCommand(command);
      if (down) this.#pressed.add(index);
      else this.#pressed.delete(index);
    }
    return pad;
  }
}

function axis(value = 0): number {
  return Math.abs(value) < DEAD ? 0 : (value - Math.sign(value) * DEAD) / (1 - DEAD);
}

function limit(value: number): number {
  return Math.min(Math.max(value, -1), 1);
}
