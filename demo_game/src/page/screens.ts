// The screens over the picture: title, pause with settings, end of a run. Plain elements and text.

import { element, say } from "./dom.js";
import { BACKENDS, BUDGET_MS, keptOf, QUALITIES, SCALE, type Kept, type Settings } from "./settings.js";

export interface ScreenActions {
  /** Fly: from the title, after a pause, or again. */
  readonly onGo: () => void;
  readonly onRestart: () => void;
  readonly onSettings: (kept: Kept) => void;
}

export type Screen = "title" | "pause" | "over" | "none";

const HELP =
  "Steer with A D or ← →, climb and dive with W S or ↑ ↓, boost with Shift or Space, brake with X. " +
  "Drag with the mouse or a finger; a gamepad works, too. P pauses, H hides the figures, M mutes.";
const GOAL =
  "Collect beacons: blue ones in the valleys charge you, golden ones on the ridges pay more. Fly low to save charge. " +
  "Keep clear of spires, watchers and storms.";

export class Screens {
  readonly root = element("div", { className: "screens" });
  readonly #title = element("h1", { text: "Farreach" });
  readonly #lead = element("p", { className: "lead" });
  readonly #notice = element("p", { className: "notice" });
  readonly #bar = element("div", { className: "fill" });
  readonly #progress = element("div", { className: "progress" }, this.#bar);
  readonly #status = element("p", { className: "status" });
  readonly #go = element("button", { className: "go" });
  readonly #again = element("button", { text: "Start over" });
  readonly #form: HTMLFormElement;
  #ready = false;
  #shown: Screen = "title";

  constructor(settings: Settings, actions: ScreenActions) {
    this.#form = settingsForm(settings, actions.onSettings);
    this.#go.addEventListener("click", actions.onGo);
    this.#again.addEventListener("click", actions.onRestart);
    const buttons = element("div", { className: "buttons" }, this.#go, this.#again);
    const help = element("p", { className: "help", text: HELP });
    const panel = element(
      "div",
      { className: "panel" },
      ...[this.#title, this.#lead, this.#notice, this.#progress, this.#status, buttons, this.#form, help],
    );
    this.root.append(panel);
    this.show("title");
  }

  get shown(): Screen {
    return this.#shown;
  }

  show(screen: Screen, lead = GOAL): void {
    this.#shown = screen;
    this.root.hidden = screen === "none";
    this.root.dataset["screen"] = screen;
    const titles: Readonly<Record<Screen, string>> = { title: "Farreach", pause: "Paused", over: "The end", none: "" };
    say(this.#title, titles[screen]);
    say(this.#lead, lead);
    const go: Readonly<Record<Screen, string>> = { title: "Fly", pause: "Fly on", over: "Fly again", none: "" };
    say(this.#go, go[screen]);
    this.#again.hidden = screen !== "pause";
    this.#progress.hidden = this.#status.hidden = screen !== "title";
    this.#go.disabled = screen === "title" && !this.#ready;
    if (screen !== "none" && !this.#go.disabled) this.#go.focus({ preventScroll: true });
  }

  /** While the title shows: what happens, and how much of it is done, 0 to 1. */
  progress(text: string, fraction: number): void {
    say(this.#status, text);
    this.#bar.style.transform = `scaleX(${fraction.toFixed(3)})`;
  }

  ready(): void {
    if (this.#ready) return;
    this.#ready = true;
    if (this.#shown === "title") {
      this.#go.disabled = false;
      this.#go.focus({ preventScroll: true });
    }
  }

  /** Something that the player should know, until the next notice. */
  notice(text: string): void {
    say(this.#notice, text);
  }
}

function settingsForm(settings: Settings, onSettings: (kept: Kept) => void): HTMLFormElement {
  const form = element("form", { className: "settings" });
  const kept = keptOf(settings);
  const add = (label: string, control: HTMLElement): void => {
    form.append(element("label", {}, element("span", { text: label }), control));
  };
  const text = (name: string, value: string, placeholder = ""): HTMLInputElement =>
    Object.assign(element("input"), { name, value, placeholder, maxLength: 40, autocomplete: "off" });
  const choice = (name: string, choices: readonly string[], value: string): HTMLSelectElement => {
    const select = Object.assign(element("select"), { name });
    for (const each of choices) select.append(Object.assign(element("option", { text: each }), { value: each }));
    select.value = value;
    return select;
  };
  const range = (name: string, { least, most }: { least: number; most: number }, value: number): HTMLInputElement => {
    const [min, max] = [String(least), String(most)];
    return Object.assign(element("input"), { name, type: "range", min, max, step: "0.25", value: String(value) });
  };
  add("World", text("seed", kept.seed));
  add("Quality", choice("quality", QUALITIES, kept.quality));
  add("Resolution", range("scale", SCALE, kept.scale));
  add("Inference per frame", range("budgetMs", BUDGET_MS, kept.budgetMs));
  add("Land made by", choice("backend", BACKENDS, kept.backend));
  add("Tier", text("tier", kept.tier, "chosen for this device"));
  add("Sound", choice("sound", ["on", "off"], kept.sound ? "on" : "off"));
  form.append(element("button", { text: "Apply and reload" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const value = (name: string): string => {
      const entry = data.get(name);
      return typeof entry === "string" ? entry : "";
    };
    onSettings({
      seed: value("seed"),
      quality: QUALITIES.find((one) => one === value("quality")) ?? kept.quality,
      backend: BACKENDS.find((one) => one === value("backend")) ?? kept.backend,
      tier: value("tier"),
      budgetMs: Number(value("budgetMs")),
      scale: Number(value("scale")),
      sound: value("sound") === "on",
    });
  });
  return form;
}
