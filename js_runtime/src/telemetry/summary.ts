// Turns what happens many times a second into few events: percentiles, counts and peaks. Pure.

import type { CompilesEvent, ReportedEvent, RuntimeEvent, WindowEvent } from "./events.js";

type Of<T extends RuntimeEvent["type"]> = Extract<RuntimeEvent, { readonly type: T }>;

/** Longer gaps are no frames: the tab was hidden or the game paused. */
const GAP_MS = 1000;

/** The value that a share of the sorted ones does not exceed (nearest rank); 0 of none. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** Passes rare events on, and sums up the frequent ones over windows of `windowMs`. */
export class Summary {
  readonly #windowMs: number;
  readonly #memory = new Map<string, number>();
  readonly #compiles = new Map<string, Of<"compile">[]>();
  #window: Window | undefined;
  #lastFrame: Of<"frame"> | undefined;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** What is to be reported now that `event` happened. */
  add(event: RuntimeEvent): readonly ReportedEvent[] {
    switch (event.type) {
      case "compile": {
        const known = this.#compiles.get(event.model) ?? [];
        this.#compiles.set(event.model, known);
        known.push(event);
        return [];
      }
      case "loaded":
        return [...this.#compilesOf(event), event];
      case "slice":
      case "frame":
      case "job":
      case "memory":
        return this.#count(event);
      case "adapter":
      case "phase":
      case "tier":
      case "device-lost":
      case "recovered":
      case "out-of-memory":
      case "self-test":
      case "fallback":
      case "failure":
        return [event];
    }
  }

  /** The window so far, which ends; nothing where inference did nothing. */
  close(): readonly WindowEvent[] {
    const window = this.#window;
    this.#window = undefined;
    return window?.busy === true ? [window.event()] : [];
  }

  #count(event: Of<"slice" | "frame" | "job" | "memory">): readonly WindowEvent[] {
    // Slices and jobs are told when they end, and lie in the window in which they are told.
    const due = this.#window !== undefined && event.at - this.#window.at >= this.#windowMs;
    const closed = due ? this.close() : [];
    this.#window ??= new Window(event.at);
    const window = this.#window;
    window.end = Math.max(window.end, event.at);
    switch (event.type) {
      case "slice":
        window.slice(event);
        break;
      case "frame":
        window.frame(event, this.#lastFrame);
        this.#lastFrame = event;
        break;
      case "job":
        window.jobs[event.outcome] += 1;
        break;
      case "memory":
        this.#memory.set(event.model, event.bytes);
        break;
    }
    window.memory([...this.#memory.values()].reduce((sum, bytes) => sum + bytes, 0));
    return closed;
  }

  #compilesOf({ model, at }: Of<"loaded">): readonly CompilesEvent[] {
    const compiles = this.#compiles.get(model) ?? [];
    this.#compiles.delete(model);
    compiles.sort((a, b) => a.ms - b.ms);
    const slowest = compiles.at(-1);
    if (slowest === undefined) return [];
    const times = compiles.map(({ ms }) => ms);
    return [
      {
        type: "compiles",
        at,
        model,
        kernels: compiles.length,
        compileP50Ms: percentile(times, 0.5),
        compileMaxMs: slowest.ms,
        slowestKernel: slowest.kernel,
      },
    ];
  }
}

class Window {
  readonly at: number;
  readonly jobs = { done: 0, cancelled: 0, failed: 0 };
  end: number;
  readonly #slices: number[] = [];
  #overBudget = 0;
  #overshootMaxMs = 0;
  #overshootExcessMaxMs = 0;
  #frames = 0;
  #inferring = 0;
  #dropped = 0;
  #saturated = 0;
  #memoryBytes = 0;
  #memoryPeakBytes = 0;

  constructor(at: number) {
    this.at = at;
    this.end = at;
  }

  get busy(): boolean {
    return this.#slices.length > 0 || this.jobs.done + this.jobs.cancelled + this.jobs.failed > 0;
  }

  slice({ ms, budgetMs, longestMs }: Of<"slice">): void {
    this.#slices.push(ms);
    if (ms <= budgetMs) return;
    this.#overBudget += 1;
    this.#overshootMaxMs = Math.max(this.#overshootMaxMs, ms - budgetMs);
    this.#overshootExcessMaxMs = Math.max(this.#overshootExcessMaxMs, ms - budgetMs - longestMs);
  }

  frame({ at, saturated, dispatches, targetMs }: Of<"frame">, before: Of<"frame"> | undefined): void {
    this.#frames += 1;
    if (saturated) this.#saturated += 1;
    if (dispatches > 0) this.#inferring += 1;
    if (before === undefined || before.dispatches === 0) return;
    const interval = at - before.at;
    if (interval < GAP_MS) this.#dropped += Math.max(0, Math.round(interval / targetMs) - 1);
  }

  memory(bytes: number): void {
    this.#memoryBytes = bytes;
    this.#memoryPeakBytes = Math.max(this.#memoryPeakBytes, bytes);
  }

  event(): WindowEvent {
    const sorted = Float64Array.from(this.#slices).sort();
    return {
      type: "window",
      at: this.at,
      ms: this.end - this.at,
      slices: sorted.length,
      sliceP50Ms: percentile(sorted, 0.5),
      sliceP95Ms: percentile(sorted, 0.95),
      sliceP99Ms: percentile(sorted, 0.99),
      slicesOverBudget: this.#overBudget,
      overshootMaxMs: this.#overshootMaxMs,
      overshootExcessMaxMs: this.#overshootExcessMaxMs,
      frames: this.#frames,
      framesInferring: this.#inferring,
      framesDropped: this.#dropped,
      framesSaturated: this.#saturated,
      jobsDone: this.jobs.done,
      jobsCancelled: this.jobs.cancelled,
      jobsFailed: this.jobs.failed,
      memoryBytes: this.#memoryBytes,
      memoryPeakBytes: this.#memoryPeakBytes,
    };
  }
}
