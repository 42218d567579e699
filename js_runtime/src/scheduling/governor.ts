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
/** From this share of the budget that was too much, it is regained the slower the fresher that is. */
const CAREFUL = 0.85;
const FORGOTTEN_FRAMES = 600;
/** What counts as too much falls at most by that with each reduction, because some frames are late by chance, ... */
const DOUBT = 0.95;
/** ... and rises by this share of the largest budget with each frame on time. */
const HOPE = UP / 60;
/** Frames between two reductions: the effect of one takes as long to show. */
const SETTLE_FRAMES = 4;
/** The observed target follows faster frames soon, slower ones over minutes: a device that throttles is no new normal. */
const FASTER = 0.1;
const SLOWER = 0.0005;
/** At the smallest budget inference hardly counts: what frames take then is the game's own before long. */
const AT_FLOOR = 0.005;
/** A renderer may be uneven by itself: this share of its frames without inference is in the tail. */
const TAIL_SHARE = 0.02;
/** How fast the tail is learned: from frames without inference, and at the smallest budget. */
const TAIL = 0.1;
const TAIL_AT_FLOOR = 0.02;
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
  #tail = 0;
  #last: number | undefined;
  /** The budget that was too much, and frames since the last reduction. */
  #tooMuch: number;
  #sinceCut = FORGOTTEN_FRAMES;
  #pressure: Pressure = "nominal";

  constructor(options: GovernorOptions) {
    this.#max = options.maxBudgetMs ?? options.budgetMs;
    this.#min = Math.min(options.minBudgetMs ?? options.budgetMs * FLOOR, this.#max);
    this.#budget = Math.min(Math.max(options.budgetMs, this.#min), this.#max);
    this.#tooMuch = this.#max / CAREFUL;
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
    this.#sinceCut += 1;
    const target = this.#target ?? interval;
    const late = interval > Math.max(target, this.#tail) * LATE || this.frameMs > target * DRIFT;
    if (!late) {
      this.#budget = Math.min(this.#max, this.#budget + this.#max * UP * this.#confidence());
      this.#tooMuch = Math.min(this.#max / CAREFUL, this.#tooMuch + this.#max * HOPE);
    } else if (busy && this.#sinceCut >= SETTLE_FRAMES) {
      this.#tooMuch = Math.max(this.#budget, this.#tooMuch * DOUBT);
      this.#budget = Math.max(this.#min, this.#budget * DOWN);
      this.#sinceCut = 0;
    }
  }

  /** 1, but less near a budget that was too much a short while ago. */
  #confidence(): number {
    return this.#budget < this.#tooMuch * CAREFUL ? 1 : Math.min(1, (this.#sinceCut / FORGOTTEN_FRAMES) ** 2);
  }

  #observe(interval: number, busy: boolean): void {
    const mean = this.#mean === undefined ? interval : this.#mean + MEAN * (interval - this.#mean);
    this.#mean = mean;
    if (this.#fixedTarget !== undefined) return;
    const target = this.#target ?? interval;
    const atFloor = this.#budget <= this.#min;
    if (!busy || atFloor) {
      const step = target * (busy ? TAIL_AT_FLOOR : TAIL);
      this.#tail += interval > this.#tail ? step * (1 - TAIL_SHARE) : -step * TAIL_SHARE;
    }
    // Frames without inference show what the game reaches by itself; a faster mean shows that it can be reached.
    if (!busy) this.#target = target + MEAN * (interval - target);
    else {
      const slower = atFloor ? AT_FLOOR : SLOWER;
      this.#target = target + (mean < target ? FASTER : slower) * (mean - target);
    }
  }
}
