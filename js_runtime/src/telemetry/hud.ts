// A small overlay that shows what inference does right now: frame and slice times, memory, tier, jobs.

import type { RuntimeEvent } from "../index.js";
import type { Observer } from "./stream.js";
import { percentile } from "./summary.js";

export interface HudOptions {
  /** Milliseconds between updates of the text; default 250. */
  readonly everyMs?: number | undefined;
  /** Default the page's. */
  readonly document?: Pick<Document, "createElement"> | undefined;
}

const ROWS = ["frame", "slice", "memory", "tier", "jobs"] as const;
type Row = (typeof ROWS)[number];

/** Frames and slices that the shown times are of. */
const KEPT = 120;

const STYLE =
  "position:fixed;top:0;left:0;z-index:1000;padding:4px 8px;pointer-events:none;white-space:pre;" +
  "font:12px/1.4 monospace;color:#fff;background:rgb(0 0 0/.6)";

/** Append `element` where it shall be; the style is inline and yours to change. */
export class Hud implements Observer {
  readonly element: HTMLElement;
  readonly #everyMs: number;
  readonly #values = new Map<Row, HTMLElement>();
  readonly #frames: number[] = [];
  readonly #slices: number[] = [];
  readonly #memory = new Map<string, number>();
  #peakBytes = 0;
  #tier = "";
  #software = false;
  #jobs = 0;
  #budgetMs = 0;
  #lastFrame: number | undefined;
  #trouble = "";
  #shownAt = -Infinity;

  constructor({ everyMs = 250, document = globalThis.document }: HudOptions = {}) {
    this.#everyMs = everyMs;
    this.element = document.createElement("div");
    this.element.className = "webinfer-hud";
    this.element.style.cssText = STYLE;
    for (const row of ROWS) {
      const line = document.createElement("div");
      const value = document.createElement("span");
      value.className = `webinfer-hud-${row}`;
      line.append(row.padEnd(7), value);
      this.element.append(line);
      this.#values.set(row, value);
    }
  }

  observe(event: RuntimeEvent): void {
    this.#note(event);
    const now = performance.now();
    if (now - this.#shownAt < this.#everyMs) return;
    this.#shownAt = now;
    this.#show();
  }

  #note(event: RuntimeEvent): void {
    switch (event.type) {
      case "frame":
        if (this.#lastFrame !== undefined) keep(this.#frames, event.at - this.#lastFrame);
        this.#lastFrame = event.at;
        this.#jobs = event.jobs;
        this.#budgetMs = event.budgetMs;
        break;
      case "slice":
        keep(this.#slices, event.ms);
        break;
      case "memory":
        this.#memory.set(event.model, event.bytes);
        this.#peakBytes = Math.max(this.#peakBytes, this.#bytes());
        break;
      case "tier":
        this.#tier = event.tier;
        break;
      case "adapter":
        this.#software = event.software;
        break;
      case "device-lost":
        this.#trouble = ", device lost";
        break;
      case "failure":
        this.#trouble = `, ${event.code}`;
        break;
      case "out-of-memory":
        this.#trouble = ", out of memory";
        break;
      case "self-test":
        if (!event.passed) this.#trouble = ", self-test failed";
        break;
      case "fallback":
        this.#tier = event.to;
        break;
      case "recovered":
        this.#tier = event.tier;
        this.#trouble = "";
        break;
      case "loaded":
        this.#trouble = "";
        break;
      case "phase":
      case "compile":
      case "job":
        break;
    }
  }

  #show(): void {
    const texts: Readonly<Record<Row, string>> = {
      frame: times(this.#frames),
      slice: `${times(this.#slices)}, budget ${this.#budgetMs.toFixed(1)}`,
      memory: `${mebibytes(this.#bytes())} MiB, peak ${mebibytes(this.#peakBytes)}`,
      tier: `${this.#tier}${this.#software ? " (software adapter)" : ""}`,
      jobs: `${String(this.#jobs)}${this.#trouble}`,
    };
    for (const [row, value] of this.#values) value.textContent = texts[row];
  }

  #bytes(): number {
    return [...this.#memory.values()].reduce((sum, bytes) => sum + bytes, 0);
  }
}

function keep(samples: number[], sample: number): void {
  samples.push(sample);
  if (samples.length > KEPT) samples.shift();
}

function times(samples: readonly number[]): string {
  const sorted = Float64Array.from(samples).sort();
  return `${percentile(sorted, 0.5).toFixed(1)} ms, p95 ${percentile(sorted, 0.95).toFixed(1)}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}
