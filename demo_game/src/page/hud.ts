// What the player sees while flying: score, shield, charge, the way to a beacon, and figures about the machine.

import { SHIELDS, type Run } from "../play/rules.js";
import { element, say } from "./dom.js";

/** Figures for people who want to know what their machine does. */
export interface MachineReport {
  readonly frameMs: number;
  readonly sliceMs: number;
  readonly budgetMs: number;
  readonly tiles: number;
  readonly waiting: number;
  readonly readBacks: number;
  readonly backend: string;
  readonly reason: string;
  readonly renderer: string;
}

/** Milliseconds for which a message stays. */
const MESSAGE_MS = 1800;
/** The machine's figures are written so often. */
const REPORT_MS = 250;

export class Hud {
  readonly root = element("div", { className: "hud" });
  /** Held while a finger is on them; shown after the first touch. */
  readonly boost = element("button", { className: "touch boost", text: "boost" });
  readonly brake = element("button", { className: "touch brake", text: "brake" });
  readonly pause = element("button", { className: "touch pause", text: "II" });
  readonly #score = element("div", { className: "score" });
  readonly #detail = element("div", { className: "detail" });
  readonly #chain = element("div", { className: "chain" });
  readonly #shields = element("div", { className: "shields" });
  readonly #charge = element("div", { className: "fill" });
  readonly #arrow = element("div", { className: "arrow", text: "▲" });
  readonly #away = element("div", { className: "away" });
  readonly #message = element("div", { className: "message" });
  readonly #machine = element("pre", { className: "machine" });
  readonly #hurt = element("div", { className: "hurt" });
  #messageUntil = 0;
  #reportAt = 0;

  constructor() {
    this.pause.ariaLabel = "pause";
    this.root.append(
      this.#hurt,
      element("div", { className: "corner left" }, this.#score, this.#detail, this.#chain),
      element("div", { className: "gauges" }, this.#shields, element("div", { className: "charge" }, this.#charge)),
      element("div", { className: "pointer" }, this.#arrow, this.#away),
      this.#message,
      this.#machine,
      this.boost,
      this.brake,
      this.pause,
    );
  }

  /** `bearing`: radians to the beacon, clockwise from ahead; undefined where there is none. */
  update(run: Run, speed: number, beacon: { readonly bearing: number; readonly metres: number } | undefined): void {
    say(this.#score, String(Math.floor(run.score)).padStart(6, "0"));
    const kilometres = (run.distance / 1000).toFixed(1);
    say(this.#detail, `${kilometres} km · ${String(Math.round(speed * 3.6))} km/h${run.skimming ? " · skimming" : ""}`);
    say(this.#chain, run.chain > 1 ? `chain × ${String(run.chain)}` : "");
    say(this.#shields, "◆".repeat(run.shield) + "◇".repeat(SHIELDS - run.shield));
    this.#charge.style.transform = `scaleX(${(run.charge / 100).toFixed(3)})`;
    this.#charge.classList.toggle("low", run.charge < 25);
    this.#arrow.style.transform = `rotate(${(beacon?.bearing ?? 0).toFixed(3)}rad)`;
    this.#arrow.style.visibility = beacon === undefined ? "hidden" : "visible";
    say(this.#away, beacon === undefined ? "" : `${String(Math.round(beacon.metres))} m`);
    if (performance.now() > this.#messageUntil) say(this.#message, "");
  }

  say(text: string): void {
    say(this.#message, text);
    this.#messageUntil = performance.now() + MESSAGE_MS;
  }

  /** Red at the edges of the picture, 0 to 1. */
  hurt(amount: number): void {
    this.#hurt.style.opacity = amount.toFixed(2);
  }

  report(report: () => MachineReport): void {
    const now = performance.now();
    if (now < this.#reportAt || this.#machine.hidden) return;
    this.#reportAt = now + REPORT_MS;
    const { frameMs, sliceMs, budgetMs, tiles, waiting, readBacks, backend, reason, renderer } = report();
    say(
      this.#machine,
      `frame ${frameMs.toFixed(1)} ms · slice ${sliceMs.toFixed(1)} of ${budgetMs.toFixed(1)} ms\n` +
        `tiles ${String(tiles)} ready, ${String(waiting)} wanted · read-backs ${String(readBacks)}\n` +
        `land ${backend} · drawn by ${renderer}\n${reason}`,
    );
  }

  toggleMachine(): void {
    this.#machine.hidden = !this.#machine.hidden;
  }
}
