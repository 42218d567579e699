// One run of a model in slices, or several in a row: the caller says when and for how long, the job knows what comes next.

import { StoppedError } from "./errors.js";
import type { ImageUse } from "./image/picture.js";
import { watch } from "./scopes.js";
import { EMPTY_SLICE, type Slice, type Slicer } from "./slicer.js";
import { nextTask } from "./task.js";

/**
 * "queued": earlier runs of the model come first, or the device was lost and the model moves to another. "submitted": the
 * GPU has all the work, the outcome is awaited. The last three are final.
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

/** How far a job is. Begins again where the device is lost, at the last checkpoint of a job that has any. */
export interface JobProgress {
  /** 0 to 1, by predicted time. */
  readonly fraction: number;
  readonly dispatches: number;
  readonly of: number;
}

/** What a job does on one device: runs of the program, and what comes before and between them. */
export interface Course {
  readonly slicer: Slicer;
  /** Runs, and the first of them that is still to do. */
  readonly steps: number;
  readonly first: number;
  /** Write the inputs of the first run, ahead of its first slice. */
  readonly begin: (encoder: GPUCommandEncoder) => void;
  /** Append what comes after the last dispatch of the last run. */
  readonly end?: (encoder: GPUCommandEncoder) => void;
  /** How its images come in and go out. */
  readonly images?: readonly ImageUse[];
  /** Submit what brings in the inputs of a later run; all earlier work is in the queue. */
  readonly advance: (step: number) => void;
}

const EMPTY_STEP: Step = { ...EMPTY_SLICE, finished: Promise.resolve() };

/** Made by `Model.start` and `Model.startSteps`. Holds no GPU objects while it is queued. */
export class Job<Outputs> {
  /** The outputs, valid like those of `run`; rejects with "aborted" when cancelled, else like `run`. Settles once. */
  readonly done: Promise<Outputs>;
  #state: Exclude<JobState, "paused"> = "queued";
  #paused = false;
  #started: Promise<void>;
  #onStart: () => void = () => undefined;
  #progress: JobProgress;
  #course: Course | undefined;
  #step = 0;
  /** Predicted milliseconds of a whole step. */
  #stepMs = 0;
  /** A step is encoded and the next one cannot begin before that was submitted. */
  #between = false;
  #begun = false;
  /** Work lies in an encoder that its owner submits in this task. */
  #foreign = false;
  #verdict: Promise<unknown> = Promise.resolve();
  #reject: (cause: unknown) => void = () => undefined;
  #cause: Error = new StoppedError("aborted", "the job was cancelled");
  #interruption: Error | undefined;
  #ended: { readonly resolve: () => void; readonly reject: (cause: unknown) => void } | undefined;
  #wake: () => void = () => undefined;

  /** `turn` runs once, calls `perform` when the model is free, and answers with the outputs; `of`: its dispatches. */
  constructor(of: number, turn: (job: Job<Outputs>) => Promise<Outputs>) {
    this.#progress = { fraction: 0, dispatches: 0, of };
    this.#started = this.#nextStart();
    this.done = new Promise((resolve, reject) => {
      this.#reject = reject;
      turn(this).then(
        (outputs) => {
          if (this.#live()) this.#state = "done";
          this.#onStart();
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

  /**
   * Resolves when the job can take slices, or ended before that; never rejects. After a loss of the device it is another
   * promise: who steps a job by hand asks for it whenever the job is "queued".
   */
  get started(): Promise<void> {
    return this.#started;
  }

  get state(): JobState {
    return this.#paused && (this.#state === "queued" || this.#state === "running") ? "paused" : this.#state;
  }

  get progress(): JobProgress {
    return this.#progress;
  }

  /** How images became inputs, and outputs textures; empty while the job is queued. */
  get images(): readonly ImageUse[] {
    return this.#course?.images ?? [];
  }

  /** The device of its slices; undefined while it is queued, because after a loss that may be another one. */
  get device(): GPUDevice | undefined {
    return this.#course?.slicer.device;
  }

  /** Predicted milliseconds of what is left; 0 before it runs. */
  get remainingMs(): number {
    if (this.#course === undefined) return 0;
    const { slicer, steps } = this.#course;
    return slicer.remainingMs + (steps - 1 - this.#step) * this.#stepMs;
  }

  /** Predicted milliseconds of the smallest slice that can come next. */
  nextMs(divideAboveMs: number): number {
    return this.#running?.slicer.nextMs(divideAboveMs) ?? 0;
  }

  /** Whether the next slice should be submitted apart from other work: nothing but the wall clock measures it. */
  get wantsFence(): boolean {
    return this.#running?.slicer.wantsFence ?? false;
  }

  /** Submit the next slice. Does nothing while the job is queued, paused, or ended. */
  step(options: SliceOptions): Step {
    const course = this.#running;
    if (course === undefined || this.#paused) return EMPTY_STEP;
    const { slicer } = course;
    const { device } = slicer;
    let slice: Slice;
    try {
      const { result, verdict } = watch(device, "slice", () => {
        const encoder = device.createCommandEncoder({ label: "webinfer slice" });
        const encoded = this.#encode(course, encoder, options);
        device.queue.submit([encoder.finish()]);
        return encoded;
      });
      slice = result;
      this.#await(verdict);
    } catch (cause) {
      this.#break(cause);
      return EMPTY_STEP;
    }
    this.#foreign = false;
    const start = performance.now();
    const finished = device.queue.onSubmittedWorkDone().then(
      () => {
        slice.learn(slicer.elapsedSince(start));
      },
      () => undefined,
    );
    this.#settle(course);
    return { ...slice, finished };
  }

  /**
   * Append the next slice to an encoder of the caller, made by `device`, who submits it before the browser's next task, as
   * render loops do. The slice is a compute pass of its own. Does nothing while the job is queued, paused, or ended.
   */
  encode(encoder: GPUCommandEncoder, options: SliceOptions): Slice {
    const course = this.#running;
    if (course === undefined || this.#paused) return EMPTY_SLICE;
    this.#foreign = true;
    try {
      const slice = this.#encode(course, encoder, options);
      this.#settle(course);
      return slice;
    } catch (cause) {
      this.#break(cause);
      return EMPTY_SLICE;
    }
  }

  /** Tell what the GPU said about an encoder with slices of this job, where it was submitted under error scopes. */
  judge(verdict: Promise<void>): void {
    if (this.#live()) this.#await(verdict);
  }

  /** Give up: `done` rejects with "aborted", the model's next run starts. What the GPU has already, it finishes. */
  cancel(): void {
    this.#end("cancelled", this.#cause);
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
  fail(cause: Error): void {
    this.#end("failed", cause);
  }

  /** The device is lost: `perform` rejects with `cause`, and the job can perform again. For the model. */
  interrupt(cause: Error): void {
    if (!this.#live()) return;
    this.#interruption = cause;
    if (this.#course === undefined) return;
    this.#course = undefined;
    this.#state = "queued";
    this.#started = this.#nextStart();
    this.#ended?.reject(cause);
  }

  /**
   * The model's turn for this job: resolves when everything has been submitted and nothing was refused. `prepare` checks
   * the inputs and says what is to do.
   */
  async perform(prepare: () => Course | Promise<Course>): Promise<void> {
    if (!this.#live()) throw this.#cause;
    this.#interruption = undefined;
    const course = await prepare();
    await course.slicer.restart();
    // Any of it may have happened during the await above.
    if (!this.#live()) throw this.#cause;
    this.#throwIfInterrupted();
    this.#course = course;
    this.#step = course.first;
    this.#stepMs = course.slicer.remainingMs;
    this.#begun = false;
    this.#between = false;
    this.#foreign = false;
    this.#verdict = Promise.resolve();
    this.#progress = this.#progressOf(course, 0);
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

  /** What is to do, while the job can take slices or could but for a pause. */
  get #running(): Course | undefined {
    return this.#state === "running" && !this.#between ? this.#course : undefined;
  }

  #nextStart(): Promise<void> {
    return new Promise((resolve) => {
      this.#onStart = resolve;
    });
  }

  #live(): boolean {
    return this.#state === "queued" || this.#state === "running" || this.#state === "submitted";
  }

  #throwIfInterrupted(): void {
    if (this.#interruption !== undefined) throw this.#interruption;
  }

  #encode(course: Course, encoder: GPUCommandEncoder, { budgetMs, divideAboveMs = budgetMs }: SliceOptions): Slice {
    const { slicer } = course;
    const cut = slicer.cut(budgetMs, divideAboveMs);
    if (!this.#begun && (cut.pieces.length > 0 || slicer.ended)) {
      this.#begun = true;
      course.begin(encoder);
    }
    const left = this.#stepMs === 0 ? 0 : slicer.remainingMs / this.#stepMs;
    this.#progress = this.#progressOf(course, slicer.ended ? 1 : 1 - left);
    const slice = slicer.encode(encoder, cut, budgetMs);
    if (slicer.ended && this.#step + 1 === course.steps) course.end?.(encoder);
    return slice;
  }

  /** `share` of the present step is encoded. */
  #progressOf({ steps, slicer }: Course, share: number): JobProgress {
    const { dispatches, of } = slicer.position;
    const fraction = (this.#step + share) / steps;
    return {
      // Predictions change on the way; progress never goes back while the job runs.
      fraction: this.#state === "running" ? Math.max(this.#progress.fraction, fraction) : fraction,
      dispatches: this.#step * of + dispatches,
      of: steps * of,
    };
  }

  #settle(course: Course): void {
    if (!course.slicer.ended || this.#state !== "running") return;
    if (this.#step + 1 < course.steps) {
      this.#between = true;
      this.#afterSubmit(() => {
        this.#advance(course);
      });
      return;
    }
    this.#state = "submitted";
    this.#afterSubmit(() => this.#ended?.resolve());
  }

  #advance(course: Course): void {
    // Ended or interrupted meanwhile.
    if (this.#course !== course || this.#state !== "running") return;
    const { slicer } = course;
    const next = this.#step + 1;
    try {
      this.#await(
        watch(slicer.device, `inputs of step ${String(next)}`, () => {
          course.advance(next);
        }).verdict,
      );
    } catch (cause) {
      this.#break(cause);
      return;
    }
    slicer.rewind();
    this.#step = next;
    this.#stepMs = slicer.remainingMs;
    this.#between = false;
  }

  /** `perform` waits for it. */
  #await(verdict: Promise<void>): void {
    this.#verdict = Promise.all([this.#verdict, verdict]);
    // Until then a rejection must not count as unhandled.
    this.#verdict.catch(() => undefined);
  }

  /** Nothing more can be encoded: `perform` rejects, and the model says what that means. */
  #break(cause: unknown): void {
    const ended = this.#ended;
    this.#state = "submitted";
    this.#afterSubmit(() => ended?.reject(cause));
  }

  #end(state: "cancelled" | "failed", cause: Error): void {
    if (!this.#live()) return;
    this.#state = state;
    this.#cause = cause;
    this.#onStart();
    this.#wake();
    this.#reject(cause);
    this.#afterSubmit(() => this.#ended?.reject(cause));
  }

  /** The next run writes to the same buffers: it must not begin before this one's work is in the queue. */
  #afterSubmit(then: () => void): void {
    if (this.#foreign) void nextTask().then(then);
    else then();
  }
}
