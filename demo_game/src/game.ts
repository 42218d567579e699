// One game on one world: from the title to the end of a run, frame by frame.

import type { View } from "./land/view.js";
import { air } from "./land/light.js";
import type { Command, Input } from "./page/input.js";
import type { Hud, MachineReport } from "./page/hud.js";
import type { Screens } from "./page/screens.js";
import type { Sound } from "./page/sound.js";
import { CRASH_M_PER_S, fly, forwardOf, launch, share, type Controls, type Craft } from "./play/craft.js";
import { FieldOfPlay } from "./play/field_of_play.js";
import { startOf, type Beacon } from "./play/places.js";
import { advance, collect, cruiseOf, difficultyAt, hit, newRun, type Run } from "./play/rules.js";
import { Ring } from "./probe.js";
import { CELL_M, layAt } from "./world/shape.js";
import type { World } from "./world/world.js";
import type { WebGPURenderer } from "three/webgpu";

export type GameState = "title" | "flying" | "paused" | "over";

interface GameParts {
  readonly seed: number;
  readonly world: World;
  readonly view: View;
  readonly renderer: WebGPURenderer;
  readonly hud: Hud;
  readonly screens: Screens;
  readonly input: Input;
  readonly sound: Sound;
  readonly machine: () => Omit<MachineReport, "frameMs" | "tiles" | "waiting" | "readBacks">;
  /** Told when flying begins and ends. */
  readonly onState: (state: GameState) => void;
}

/** Longer frames are played as if they took this: a craft must not jump through a mountain. */
const STEP_S = 1 / 30;
const FRAME_MOST_S = 0.25;
/** Sectors are looked at so often. */
const LOOK_S = 0.4;
const BEST_KEY = "farreach.best";

export class Game {
  readonly start: { readonly x: number; readonly z: number };
  readonly frameTimes = new Ring(4096);
  readonly play: FieldOfPlay;
  autopilot = false;
  run: Run = newRun();
  craft: Craft;
  readonly #parts: GameParts;
  #state: GameState = "title";
  #last: number | undefined;
  #seconds = 0;
  #looked = 0;
  #shake = 0;
  #boost = 0;

  constructor(parts: GameParts) {
    this.#parts = parts;
    this.start = startOf((x, z) => layAt(parts.seed, x, z));
    this.play = new FieldOfPlay(parts.seed, parts.world.field, this.start);
    this.craft = this.#launched();
  }

  get state(): GameState {
    return this.#state;
  }

  /** Enter, a click on the main button, or a gamepad's. */
  go(): void {
    const { screens, sound, input } = this.#parts;
    if (this.#state === "flying") return;
    if (this.#state !== "paused") this.#restart();
    sound.start();
    input.release();
    screens.show("none");
    this.#set("flying");
  }

  /** A new run from the start of the same world. */
  again(): void {
    this.#set("over");
    this.go();
  }

  pause(): void {
    if (this.#state !== "flying") return;
    this.#parts.screens.show("pause");
    this.#set("paused");
  }

  command(command: Command, ready: boolean): void {
    const { hud, sound } = this.#parts;
    switch (command) {
      case "confirm":
        if (ready) this.go();
        return;
      case "pause":
        if (this.#state === "paused") this.go();
        else this.pause();
        return;
      case "restart":
        if (this.#state !== "title") this.again();
        return;
      case "mute":
        hud.say(sound.toggle() ? "sound off" : "sound on");
        return;
      case "hud":
        hud.toggleMachine();
    }
  }

  /** Draw the next picture; `now` in milliseconds. */
  frame(now: number): void {
    const { world, view, renderer, hud, input, sound } = this.#parts;
    const elapsed = now - (this.#last ?? now - 16);
    this.#last = now;
    this.frameTimes.push(elapsed);
    const seconds = Math.min(elapsed / 1000, FRAME_MOST_S);
    this.#seconds += seconds;
    const controls = this.autopilot ? this.#pilot() : input.read();
    if (this.#state === "flying") this.#fly(controls, seconds);
    if (this.#state === "title")
      this.craft.y += (world.field.surfaceAt(this.craft.x, this.craft.z) + 26 - this.craft.y) * share(2, seconds);
    if (this.#state !== "paused")
      this.#boost += ((this.#state === "flying" ? controls.boost : 0) - this.#boost) * share(5, seconds);
    this.#shake *= Math.exp(-4 * seconds);
    this.#look(seconds);

    const moment = {
      ...{ craft: this.craft, boost: this.#boost, safe: this.#state === "flying" ? this.run.safe : 0 },
      ...{ shake: this.#shake, seconds: this.#seconds, step: this.#state === "paused" ? 0 : seconds },
    };
    if (this.#state === "title") view.orbit(moment);
    else view.chase(moment);
    const [forwardX, forwardZ] = forwardOf(this.craft);
    world.update({ x: this.craft.x / CELL_M, z: this.craft.z / CELL_M, forwardX, forwardZ }, seconds);
    air.mood.value += (difficultyAt(this.#reach()) - air.mood.value) * share(0.5, seconds);
    view.draw(renderer, moment, this.play);
    sound.update(this.craft.speed, this.#boost, this.#state === "flying");
    hud.root.hidden = this.#state === "title";
    hud.root.classList.toggle("touching", input.touched);
    hud.update(this.run, this.craft.speed, this.#bearing());
    hud.report(() => ({
      ...this.#parts.machine(),
      frameMs: this.frameTimes.mean(30),
      tiles: world.tiles.length,
      waiting: world.waiting,
      readBacks: world.surface.readBacks,
    }));
  }

  #fly(controls: Controls, seconds: number): void {
    for (let left = seconds; left > 1e-6 && this.#state === "flying"; left -= STEP_S)
      this.#step(controls, Math.min(left, STEP_S));
  }

  #step(controls: Controls, seconds: number): void {
    const { world, hud, sound } = this.#parts;
    const { run, craft } = this;
    const impact = fly(craft, controls, world.field, cruiseOf(run), seconds);
    const [forwardX, forwardZ] = forwardOf(craft);
    const body = { ...craft, vx: forwardX * craft.speed, vy: craft.rise, vz: forwardZ * craft.speed };
    const { collected, hits, storm } = this.play.step(body, seconds, run.seconds);
    for (const beacon of collected) this.#collect(beacon);
    if (impact > CRASH_M_PER_S || hits > 0) this.#hit(hits > 0 ? "hit" : "crash");
    if (storm > 0.1 && Math.sin(run.seconds * 37) > 0.93) air.flash.value = storm;
    air.flash.value *= Math.exp(-9 * seconds);
    hud.hurt(Math.min(this.#shake + storm * 0.4 + (run.charge < 15 ? 0.25 : 0), 1));
    const { boost } = controls;
    const motion = { moved: craft.speed * seconds, reach: this.#reach(), above: craft.above, boost, storm: storm * 9 };
    advance(run, motion, seconds);
    if (this.autopilot) run.charge = 100;
    if (run.over === "") return;
    sound.hit();
    this.#end();
  }

  #collect(beacon: Beacon): void {
    const { hud, sound } = this.#parts;
    const { chain } = this.run;
    const points = collect(this.run, beacon.kind);
    sound.collect(chain);
    hud.say(`+${String(points)}${chain > 1 ? `  chain × ${String(chain)}` : ""}`);
  }

  #hit(what: "hit" | "crash"): void {
    const { hud, sound } = this.#parts;
    if (this.autopilot || !hit(this.run)) return;
    this.#shake = 1;
    this.craft.speed *= 0.45;
    sound.hit();
    hud.say(what === "crash" ? "Too hard" : "Hit");
  }

  #end(): void {
    const { screens } = this.#parts;
    const { score, distance, beacons, over } = this.run;
    const points = Math.floor(score);
    const before = Number(localStorage.getItem(BEST_KEY) ?? 0);
    if (points > before) localStorage.setItem(BEST_KEY, String(points));
    const why = over === "charge" ? "The charge ran out." : "The craft broke.";
    const best = points > before ? "Your best so far." : `Your best: ${String(before)}.`;
    const flown = `${String(points)} points, ${(distance / 1000).toFixed(1)} km, ${String(beacons)} beacons.`;
    screens.show("over", `${why} ${flown} ${best}`);
    this.#set("over");
  }

  #restart(): void {
    this.run = newRun();
    this.craft = this.#launched();
    this.play.restart();
    this.#shake = 0;
    this.#looked = 0;
    air.flash.value = 0;
  }

  #launched(): Craft {
    return launch(this.#parts.world.field, this.start.x, this.start.z, 0);
  }

  #set(state: GameState): void {
    this.#state = state;
    this.#parts.onState(state);
  }

  #reach(): number {
    return Math.hypot(this.craft.x - this.start.x, this.craft.z - this.start.z);
  }

  #look(seconds: number): void {
    this.#looked -= seconds;
    if (this.#looked > 0) return;
    this.#looked = LOOK_S;
    this.play.look(this.craft.x, this.craft.z);
  }

  #bearing(): { readonly bearing: number; readonly metres: number } | undefined {
    const { craft } = this;
    const [vx, vz] = forwardOf(craft);
    const beacon = this.play.nearest({ ...craft, vx, vy: 0, vz });
    if (beacon === undefined) return undefined;
    const [dx, dz] = [beacon.x - craft.x, beacon.z - craft.z];
    const bearing = Math.atan2(vx * dz - vz * dx, dx * vx + dz * vz);
    return { bearing, metres: Math.hypot(dx, beacon.y - craft.y, dz) };
  }

  /** Towards beacons, at a fair height. */
  #pilot(): Controls {
    const { bearing = 0 } = this.#bearing() ?? {};
    const climb = Math.min(Math.max((34 - this.craft.above) / 18, -1), 1);
    return { steer: Math.min(Math.max(bearing * 0.9, -0.7), 0.7), climb, boost: 0, brake: 0 };
  }
}
