// One run of a model in slices: the caller says when and for how long, the job knows what comes next and when it ended.

import { GpuError, StoppedError } from "./errors.js";
import { EMPTY_SLICE, type Slice, type Slicer } from "./slicer.js";

/**
 * "queued": earlier runs of the model come first. "submitted": the GPU has all the work, the outcome is awaited. The last
 * three are final.
 */
export type JobState = "queued" | "running" | "paused" | "submitted" | "done" | "cancelled" | "failed";

export interface SliceOptions {
  /** GPU time that the slice may take. At least one dispatch, or the smallest part of one, is always encoded. */
  readonly budgetMs: number;
  /**
   * Dispatches beyond this are divided by workgroup ranges; default `budgetMs`. The first division of a kernel compiles
   * another form of it, and the job waits for that.
   */
  readonly divideAboveMs?: number;
}

/** A slice that was submitted. */
export interface Step extends Slice {
  /** Resolves when the GPU finished it; never rejects. Await it to bound the work in flight. */
  readonly finished: Promise<void>;
}

/** How far a job is. */
export interface JobProgress {
  /** 0 to 1, by predicted time. */
  readonly fraction: number;
  readonly dispatches: number;
  readonly of: number;
}

const EMPTY_STEP: Step = { ...EMPTY_SLICE, finished: Promise.resolve() };

/** Made by `Model.start`. Holds no GPU objects. */
export class Job<Outputs> {
  /** The outputs, valid like those of `run`; rejects with "aborted" when cancelled, else like `run`. */
  readonly done: Promise<Outputs>;
  /** Resolves when the job can take slices, or ended before that; never rejects. */
  readonly started: Promise<void>;
  /** That of the residence on which the job has its turn. */
  #slicer: Slicer | undefined;
  #state: Exclude<JobState, "paused"> = "queued";
  #paused = false;
  #totalMs = 0;
  #progress: JobProgress;
  #begin: (encoder: GPUCommandEncoder) => void = () => undefined;
  #begun = false;
  /** Work lies in an encoder that its owner submits in this task. */
  #foreign = false;
  #verdict: Promise<void> = Promise.resolve();
  #onStart: () => void = () => undefined;
  #reject: (cause: unknown) => void = () => undefined;
  #cause: Error = new StoppedError("aborted", "the job was cancelled");
  #ended: { readonly resolve: () => void; readonly reject: (cause: unknown) => void } | undefined;
  #wake: () => void = () => undefined;

  /** `turn` runs once, calls `perform` when the model is free, and answers with the outputs; `of`: its dispatches. */
  constructor(of: number, turn: (job: Job<Outputs>) => Promise<Outputs>) {
    this.#progress = { fraction: 0, dispatches: 0, of };
    this.started = new Promise((resolve) => {
      this.#onStart = resolve;
    });
    this.done = new Promise((resolve, reject) => {
      this.#reject = reject;
      turn(this).then(
        (outputs) => {
          if (this.#live()) this.#state = "done";
          resolve(outputs);
        },
        (cause: unknown) => {
          if (this.#live()) this.#state = "failed";
          this.#onStart();
          this.#reject(cause);
        },
      );
    });
    // Who cancels a job need not await it.
    this.done.catch(() => undefined);
  }

  get state(): JobState {
    return this.#paused && (this.#state === "queued" || this.#state === "running") ? "paused" : this.#state;
  }

  get progress(): JobProgress {
    return this.#progress;
  }

  /** Predicted milliseconds of what is left; 0 before it runs. */
  get remainingMs(): number {
    return this.#running?.remainingMs ?? 0;
  }

  /** Predicted milliseconds of the smallest slice that can come next. */
  nextMs(divideAboveMs: number): number {
    return this.#running?.nextMs(divideAboveMs) ?? 0;
  }

  /** Whether the next slice should be submitted apart from other work: nothing but the wall clock measures it. */
  get wantsFence(): boolean {
    return this.#running?.wantsFence ?? false;
  }

  /** Submit the next slice. Does nothing while the job is queued, paused, or ended. */
  step(options: SliceOptions): Step {
    const slicer = this.#running;
    if (slicer === undefined || this.#paused) return EMPTY_STEP;
    const { device } = slicer;
    device.pushErrorScope("validation");
    let slice: Slice;
    let scope: Promise<GPUError | null>;
    try {
      const encoder = device.createCommandEncoder({ label: "webinfer slice" });
      slice = this.#encode(slicer, encoder, options);
      device.queue.submit([encoder.finish()]);
    } catch (cause) {
      this.fail(cause);
      return EMPTY_STEP;
    } finally {
      // Popped in the same turn: scopes are a stack that the game's own code uses too.
      scope = device.popErrorScope();
      // Awaited below, with the rest of the verdict.
      scope.catch(() => undefined);
    }
    this.#foreign = false;
    this.#verdict = Promise.all([this.#verdict, scope]).then(([, error]) => {
      if (error !== null) throw new GpuError("validation", `slice: ${error.message}`);
    });
    // `perform` awaits it; until then a rejection must not count as unhandled.
    this.#verdict.catch(() => undefined);
    const start = performance.now();
    const finished = device.queue.onSubmittedWorkDone().then(
      () => {
        slice.learn(slicer.elapsedSince(start));
      },
      () => undefined,
    );
    this.#settle(slicer);
    return { ...slice, finished };
  }

  /**
   * Append the next slice to an encoder of the caller, who submits it before the browser's next task, as render loops
   * do. The slice is a compute pass of its own. Does nothing while the job is queued, paused, or ended.
   */
  encode(encoder: GPUCommandEncoder, options: SliceOptions): Slice {
    const slicer = this.#running;
    if (slicer === undefined || this.#paused) return EMPTY_SLICE;
    this.#foreign = true;
    try {
      const slice = this.#encode(slicer, encoder, options);
      this.#settle(slicer);
      return slice;
    } catch (cause) {
      this.fail(cause);
      return EMPTY_SLICE;
    }
  }

  /** Give up: `done` rejects with "aborted", the model's next run starts. What the GPU has already, it finishes. */
  cancel(): void {
    if (!this.#live()) return;
    this.#state = "cancelled";
    this.#end(this.#cause);
  }

  /** Take no slices until `resume`. Later runs of the model wait. */
  pause(): void {
    this.#paused = true;
  }

  /** Take slices again. */
  resume(): void {
    this.#paused = false;
    this.#wake();
  }

  /** End with an error, for the model. */
  fail(cause: unknown): void {
    if (!this.#live()) return;
    this.#state = "failed";
    this.#end(cause instanceof Error ? cause : new GpuError("validation", String(cause)));
  }

  /**
   * The model's turn for this job: resolves when everything has been submitted and nothing was refused. `prepare` checks
   * the inputs; what it returns writes them, ahead of the first slice.
   */
  async perform(slicer: Slicer, prepare: () => (encoder: GPUCommandEncoder) => void): Promise<void> {
    if (!this.#live()) throw this.#cause;
    this.#begin = prepare();
    await slicer.restart();
    // Cancelled during the await above.
    if (!this.#live()) throw this.#cause;
    this.#slicer = slicer;
    this.#totalMs = slicer.remainingMs;
    this.#state = "running";
    const ended = new Promise<void>((resolve, reject) => {
      this.#ended = { resolve, reject };
    });
    this.#onStart();
    await ended;
    await this.#verdict;
  }

  /**
   * The model's turn for this job where nothing is sliced: `compute` does all of it elsewhere, once the job is not paused.
   * It cannot be stopped; the result of a job that ended meanwhile is dropped.
   */
  async performWhole<T>(compute: () => Promise<T>): Promise<T> {
    while (this.#paused && this.#live()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (!this.#live()) throw this.#cause;
    this.#state = "submitted";
    this.#onStart();
    const result = await compute();
    this.#progress = { fraction: 1, dispatches: this.#progress.of, of: this.#progress.of };
    return result;
  }

  /** The slicer while the job can take slices, or could but for a pause. */
  get #running(): Slicer | undefined {
    return this.#state === "running" ? this.#slicer : undefined;
  }

  #live(): boolean {
    return this.#state === "queued" || this.#state === "running" || this.#state === "submitted";
  }

  #encode(slicer: Slicer, encoder: GPUCommandEncoder, { budgetMs, divideAboveMs = budgetMs }: SliceOptions): Slice {
    const cut = slicer.cut(budgetMs, divideAboveMs);
    if (!this.#begun && (cut.pieces.length > 0 || slicer.ended)) {
      this.#begun = true;
      this.#begin(encoder);
    }
    const left = this.#totalMs === 0 ? 0 : slicer.remainingMs / this.#totalMs;
    // Predictions change on the way; progress never goes back.
    const fraction = slicer.ended ? 1 : Math.max(this.#progress.fraction, 1 - left);
    this.#progress = { fraction, ...slicer.position };
    return slicer.encode(encoder, cut, budgetMs);
  }

  #settle(slicer: Slicer): void {
    if (!slicer.ended || this.#state !== "running") return;
    this.#state = "submitted";
    this.#afterSubmit(() => this.#ended?.resolve());
  }

  #end(cause: Error): void {
    this.#cause = cause;
    this.#onStart();
    this.#wake();
    this.#reject(cause);
    this.#afterSubmit(() => this.#ended?.reject(cause));
  }

  /** The next run writes to the same buffers: it must not begin before this one's work is in the queue. */
  #afterSubmit(then: () => void): void {
    if (this.#foreign) setTimeout(then, 0);
    else then();
  }
}
