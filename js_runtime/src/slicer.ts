// Replays the dispatches of a model slice by slice: what the pure scheduling decides becomes passes, and their times are learned.

import { setUp, type Executor } from "./executor.js";
import type { ModelMemory } from "./memory.js";
import { longestAxis, Parts } from "./parts.js";
import type { Clock, CostModel, Share } from "./scheduling/costs.js";
import { FLOOR } from "./scheduling/governor.js";
import { checked } from "./scopes.js";
import { cutSlice, remainingMs, smallestMs, type Cursor, type Cut, type Work } from "./scheduling/slice.js";
import { SliceTimer } from "./slice_timer.js";
import type { SlicePiece, Telemetry } from "./telemetry/events.js";

/** What was encoded: how much, and how long it should take. Nothing where the job cannot go on now. */
export interface Slice {
  readonly dispatches: number;
  readonly predictedMs: number;
  /** Tell how long it took by the wall clock; does nothing where timestamps tell it better. */
  readonly learn: (ms: number) => void;
}

export const EMPTY_SLICE: Slice = { dispatches: 0, predictedMs: 0, learn: () => undefined };

/** Share of a budget that is used while predictions rest on nothing but operation counts. */
const CAUTION = 0.25;
/** Where the wall clock has to do, one slice in so many is measured. */
const FENCE_EVERY = 8;
/** What `prepare` measures at most, in pieces of so many milliseconds. */
const MEASURED_RUNS = 3;
const MEASURED_MS = 50;

/** One model's position in one run; runs follow each other. */
export class Slicer {
  readonly costs: CostModel;
  readonly device: GPUDevice;
  readonly #executor: Executor;
  readonly #parts: Parts;
  readonly #timer: SliceTimer;
  readonly #model: string;
  readonly #telemetry: Telemetry;
  readonly #largest: Float64Array;
  readonly #work: Work;
  readonly #cursor: Cursor = { dispatch: 0, units: 0 };
  #fenceMs: number | undefined;
  #fencedAt = 0;
  #unmeasured = 0;

  /** The executor's sizes must be at their maxima. */
  constructor(
    device: GPUDevice,
    memory: ModelMemory,
    executor: Executor,
    costs: CostModel,
    model: string,
    telemetry: Telemetry,
  ) {
    this.#model = model;
    this.#telemetry = telemetry;
    this.costs = costs;
    this.device = device;
    this.#executor = executor;
    this.#parts = new Parts(device, memory);
    this.#timer = new SliceTimer(device, memory);
    this.#largest = Float64Array.from(executor.dispatches, ({ workgroups: [x, y, z] }) => x * y * z);
    this.#work = {
      length: executor.dispatches.length,
      ms: (dispatch) => costs.ms(dispatch) * this.#share(dispatch),
      units: (dispatch) => this.#units(dispatch),
    };
  }

  /** Begin another run at the executor's present sizes. */
  rewind(): void {
    this.#cursor.dispatch = 0;
    this.#cursor.units = 0;
  }

  /** Begin another run, the first after a break. Where the wall clock has to do, measures what a wait costs. */
  async restart(): Promise<void> {
    this.rewind();
    if (this.#timer.available || this.#fenceMs !== undefined) return;
    await this.device.queue.onSubmittedWorkDone();
    const start = performance.now();
    await this.device.queue.onSubmittedWorkDone();
    this.#fenceMs = performance.now() - start;
  }

  /**
   * Do ahead of time what would disturb the first frames: measure, where nothing is known yet, and make the divided forms
   * of dispatches beyond what a scheduler's budget of `budgetMs` may fall to. Overwrites the model's values.
   */
  async prepare(budgetMs: number): Promise<void> {
    for (let run = 0; run < MEASURED_RUNS && !this.costs.trusted; run += 1) {
      await this.restart();
      while (!this.ended) {
        const cut = this.cut(MEASURED_MS, Infinity);
        await this.#submit((encoder) => this.encode(encoder, cut));
      }
    }
    const heavy = new Map<string, number>();
    for (const [dispatch, { kernel }] of this.#executor.dispatches.entries()) {
      if (this.#work.ms(dispatch) > budgetMs * FLOOR) heavy.set(kernel, dispatch);
    }
    // One at a time, so that a renderer gets its turn in between.
    for (const [kernel, dispatch] of heavy) {
      await this.#parts.compile(this.#executor.kernel(kernel));
      if (this.#units(dispatch) <= 1) continue;
      // Several drivers compile a shader only at its first dispatch.
      const piece = { dispatch, first: 0, count: 1, whole: false };
      await this.#submit((encoder) => {
        this.#executor.clear(encoder, dispatch);
        return this.encode(encoder, { pieces: [piece], predictedMs: 0, longestMs: 0 });
      });
    }
  }

  /** Whether everything has been encoded. */
  get ended(): boolean {
    return this.#cursor.dispatch >= this.#work.length;
  }

  /** Dispatches that are wholly encoded, and all. */
  get position(): { readonly dispatches: number; readonly of: number } {
    return { dispatches: this.#cursor.dispatch, of: this.#work.length };
  }

  /** Predicted milliseconds of what is left. */
  get remainingMs(): number {
    return remainingMs(this.#work, this.#cursor);
  }

  /** Predicted milliseconds of the smallest slice that can come next. */
  nextMs(divideAboveMs: number): number {
    return smallestMs(this.#work, this.#cursor, divideAboveMs);
  }

  /** Whether the wall clock should measure the next slice. */
  get wantsFence(): boolean {
    return !this.#timer.available && (!this.costs.trusted || this.#unmeasured >= FENCE_EVERY);
  }

  /** Decide the next slice, and move on. */
  cut(budgetMs: number, divideAboveMs: number): Cut {
    this.#timer.collect();
    return cutSlice(this.#work, this.#cursor, this.costs.trusted ? budgetMs : budgetMs * CAUTION, divideAboveMs);
  }

  /** Encode a slice as one pass; `budgetMs` is what the caller wanted it to take, if it counts as a slice of a frame. */
  encode(encoder: GPUCommandEncoder, { pieces, predictedMs, longestMs }: Cut, budgetMs?: number): Slice {
    if (pieces.length === 0) return EMPTY_SLICE;
    const at = performance.now();
    const shares: (Share & SlicePiece)[] = [];
    const measured = (ms: number, clock: Clock): boolean => {
      if (!this.costs.learn(shares, ms, clock)) return false;
      if (budgetMs === undefined) return true;
      const model = this.#model;
      this.#telemetry.emit({ type: "slice", at, ms, model, clock, budgetMs, predictedMs, longestMs, pieces: shares });
      return true;
    };
    const timing = this.#timer.begin((ms) => measured(ms, "timestamp"));
    const pass = encoder.beginComputePass({ label: "webinfer slice", ...timing?.writes });
    for (const { dispatch, first, count, whole } of pieces) {
      const bound = this.#executor.dispatches[dispatch];
      if (bound === undefined) continue;
      const { kernel, workgroups } = bound;
      this.#executor.trail.note(kernel);
      const axis = longestAxis(workgroups);
      const part = whole ? 1 : count / workgroups[axis];
      const share = this.#share(dispatch) * part;
      shares.push({ dispatch, share, kernel, ms: this.costs.ms(dispatch) * share });
      if (whole) {
        setUp(pass, bound);
        pass.dispatchWorkgroups(...workgroups);
      } else {
        this.#parts.encode(pass, bound, { axis, first, count });
      }
    }
    pass.end();
    timing?.resolve(encoder);
    this.#unmeasured += 1;
    const learn = (ms: number): void => {
      this.#unmeasured = 0;
      if (!this.#timer.available) measured(ms - (this.#fenceMs ?? 0), "wall");
    };
    return { dispatches: pieces.length, predictedMs, learn };
  }

  /** Milliseconds that a slice took which was submitted at `start` and has just finished: since then, or the last one. */
  elapsedSince(start: number): number {
    const now = performance.now();
    const ms = now - Math.max(start, this.#fencedAt);
    this.#fencedAt = now;
    return ms;
  }

  /** Free what is not in the model's memory. */
  dispose(): void {
    this.#timer.dispose();
  }

  async #submit(encode: (encoder: GPUCommandEncoder) => Slice): Promise<void> {
    const start = performance.now();
    const slice = await checked(this.device, "measurement", () => {
      const encoder = this.device.createCommandEncoder({ label: "webinfer measurement" });
      const encoded = encode(encoder);
      this.device.queue.submit([encoder.finish()]);
      return encoded;
    });
    await this.device.queue.onSubmittedWorkDone();
    slice.learn(this.elapsedSince(start));
  }

  /** Workgroups of a dispatch now, as a share of those at the largest sizes, for which costs are kept. */
  #share(dispatch: number): number {
    const [x, y, z] = this.#executor.dispatches[dispatch]?.workgroups ?? [0, 0, 0];
    const largest = this.#largest[dispatch] ?? 0;
    return largest === 0 ? 1 : (x * y * z) / largest;
  }

  #units(dispatch: number): number {
    const bound = this.#executor.dispatches[dispatch];
    if (bound === undefined) return 1;
    const count = bound.workgroups[longestAxis(bound.workgroups)];
    if (count <= 1) return 1;
    switch (this.#parts.state(this.#executor.kernel(bound.kernel))) {
      case "ready":
        return count;
      case "pending":
        return 0;
      case "none":
        return 1;
    }
  }
}
