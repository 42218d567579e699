// Adapts the budget to what the frames show: down at once where they come late, up slowly where they are on time. Pure.

/** Load of the device as the Compute Pressure API names it. */
export type Pressure = "nominal" | "fair" | "serious" | "critical";

export interface GovernorOptions {
  /** Inference's share of a frame at the start, in milliseconds of GPU time. */
  readonly budgetMs: number;
  /** Never below; default an eighth of `budgetMs`. */
  readonly minBudgetMs?: number | undefined;
  /** Never above; default `budgetMs`. A larger value lets inference use what the renderer leaves over. */
  readonly maxBudgetMs?: number | undefined;
  /** Milliseconds between frames that the game wants; left out, what it reaches without inference is observed. */
  readonly targetFrameMs?: number | undefined;
}

/** A frame later than this against the target is late: below that lies the jitter of clocks and displays. */
const LATE = 1.2;
/** Longer gaps are no frames: the tab was hidden or the game paused. */
const GAP_MS = 1000;
/** The smallest budget, as a share of the one at the start. */
export const FLOOR = 1 / 8;
const DOWN = 0.75;
/** Budget regained per frame on time, of the largest one: a second at 60 Hz for all of it. */
const UP = 1 / 60;
/** Frames between two reductions: the effect of one takes as long to show. */
const SETTLE_FRAMES = 4;
/** The observed target follows faster frames soon, slower ones over minutes: a device that throttles is no new normal. */
const FASTER = 0.1;
const SLOWER = 0.0005;
/** At the smallest budget inference hardly counts: what frames take then is the game's own before long. */
const AT_FLOOR = 0.005;
/** Drift of the mean frame time against the target that counts although single frames are not late. */
const DRIFT = 1.08;
const MEAN = 0.02;

/** Largest budget under pressure, as a share. */
const PRESSURE_CAP: Readonly<Record<Pressure, number>> = { nominal: 1, fair: 1, serious: 0.5, critical: 0.25 };

/** Budget of one device. Call `frame` once a frame. */
export class Governor {
  readonly #min: number;
  readonly #max: number;
  readonly #fixedTarget: number | undefined;
  #budget: number;
  #target: number | undefined;
  #mean: number | undefined;
  #last: number | undefined;
  #settling = 0;
  #pressure: Pressure = "nominal";

  constructor(options: GovernorOptions) {
    this.#max = options.maxBudgetMs ?? options.budgetMs;
    this.#min = Math.min(options.minBudgetMs ?? options.budgetMs * FLOOR, this.#max);
    this.#budget = Math.min(Math.max(options.budgetMs, this.#min), this.#max);
    this.#fixedTarget = options.targetFrameMs;
    this.#target = options.targetFrameMs;
  }

  /** Milliseconds of GPU time for this frame. */
  get budgetMs(): number {
    return Math.max(this.#min, Math.min(this.#budget, this.#max * PRESSURE_CAP[this.#pressure]));
  }

  /** Milliseconds between frames: the mean of late; a guess before the second frame. */
  get frameMs(): number {
    return this.#mean ?? this.#target ?? 1000 / 60;
  }

  /** Milliseconds between frames that the game wants, or reaches without inference. */
  get targetMs(): number {
    return this.#target ?? this.frameMs;
  }

  /** Note the device's load. */
  pressure(state: Pressure): void {
    this.#pressure = state;
  }

  /** The time until the next frame is none: the page was hidden. */
  skip(): void {
    this.#last = undefined;
  }

  /** Note that a frame begins at `now`; `busy`: inference had a part in the one before. */
  frame(now: number, busy: boolean): void {
    const interval = this.#last === undefined ? NaN : now - this.#last;
    this.#last = now;
    if (!(interval > 0 && interval < GAP_MS)) return;
    this.#observe(interval, busy);
    if (this.#settling > 0) this.#settling -= 1;
    const target = this.#target ?? interval;
    const late = interval > target * LATE || this.frameMs > target * DRIFT;
    if (!late) this.#budget = Math.min(this.#max, this.#budget + this.#max * UP);
    else if (busy && this.#settling === 0) {
      this.#budget = Math.max(this.#min, this.#budget * DOWN);
      this.#settling = SETTLE_FRAMES;
    }
  }

  #observe(interval: number, busy: boolean): void {
    const mean = this.#mean === undefined ? interval : this.#mean + MEAN * (interval - this.#mean);
    this.#mean = mean;
    if (this.#fixedTarget !== undefined) return;
    const target = this.#target ?? interval;
    // Frames without inference show what the game reaches by itself; a faster mean shows that it can be reached.
    if (!busy) this.#target = target + MEAN * (interval - target);
    else {
      const slower = this.#budget > this.#min ? SLOWER : AT_FLOOR;
      this.#target = target + (mean < target ? FASTER : slower) * (mean - target);
    }
  }
}
