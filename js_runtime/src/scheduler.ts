// Shares a budget of GPU time per frame between the jobs of a device.

import type { Job } from "./job.js";
import { computePressure, type PressureSource } from "./pressure.js";
import { Governor, type GovernorOptions } from "./scheduling/governor.js";
import { order, type Candidate } from "./scheduling/policy.js";
import type { Slice } from "./slicer.js";
import { SILENT, type Telemetry } from "./telemetry/events.js";

/** What the scheduler needs of a job. */
export type FrameJob = Pick<Job<unknown>, "state" | "remainingMs" | "nextMs" | "wantsFence" | "encode">;

export interface SchedulerOptions extends GovernorOptions {
  /** Frames with inference that the GPU may have before it; default 2. More would only add latency. */
  readonly maxFramesInFlight?: number | undefined;
  /** Milliseconds; default `performance.now`. */
  readonly clock?: (() => number) | undefined;
  /** Where the device's load is told; default the Compute Pressure API. */
  readonly pressure?: PressureSource | undefined;
  /** Where an event per frame goes; default nowhere. */
  readonly telemetry?: Telemetry | undefined;
}

export interface JobOptions {
  /** Higher goes first; default 0. Waiting 250 ms is worth one. */
  readonly priority?: number;
  /** Milliseconds from now within which it should be done. */
  readonly deadlineMs?: number;
}

export interface FrameOptions {
  /** Time of the frame on the scheduler's clock, as requestAnimationFrame gives it. */
  readonly now?: number;
  /**
   * The engine's encoder, submitted before the browser's next task; left out, the scheduler submits by itself. That it
   * also does in some frames on a device without timestamp queries, because only the wall clock measures them there.
   */
  readonly encoder?: GPUCommandEncoder;
}

/** What a frame did. */
export interface FrameReport {
  readonly budgetMs: number;
  readonly predictedMs: number;
  readonly dispatches: number;
  readonly jobs: number;
  /** Nothing was done because the GPU has not finished earlier frames. */
  readonly saturated: boolean;
}

interface Entry extends Candidate {
  readonly job: FrameJob;
  servedAt: number;
  remainingMs: number;
}

/** A starving job gets a piece, and up to this share of the budget. */
const FORCED_SHARE = 0.25;

/** Several jobs on one device, a slice of some of them per frame. Does not know what the jobs compute. */
export class FrameScheduler {
  readonly #device: Pick<GPUDevice, "createCommandEncoder" | "queue">;
  readonly #governor: Governor;
  readonly #clock: () => number;
  readonly #maxFramesInFlight: number;
  readonly #stopPressure: () => void;
  readonly #telemetry: Telemetry;
  readonly #entries = new Map<FrameJob, Entry>();
  #inFlight = 0;
  /** The last frame's work went into the engine's encoder, which has been submitted by the next frame. */
  #unfenced = false;
  #busy = false;
  #fencedAt = 0;

  constructor(device: Pick<GPUDevice, "createCommandEncoder" | "queue">, options: SchedulerOptions) {
    this.#device = device;
    this.#governor = new Governor(options);
    this.#clock = options.clock ?? ((): number => performance.now());
    this.#maxFramesInFlight = options.maxFramesInFlight ?? 2;
    this.#telemetry = options.telemetry ?? SILENT;
    this.#stopPressure = (options.pressure ?? computePressure)((state) => {
      this.#governor.pressure(state);
    });
  }

  /** Jobs that have not ended. */
  get jobs(): readonly FrameJob[] {
    return [...this.#entries.keys()];
  }

  /** Take a job; it leaves by itself when it ends. Returns it. */
  add<J extends FrameJob>(job: J, { priority = 0, deadlineMs = Infinity }: JobOptions = {}): J {
    const now = this.#clock();
    this.#entries.set(job, { job, priority, deadline: now + deadlineMs, servedAt: now, remainingMs: 0 });
    return job;
  }

  /** Leave a job to its owner. */
  remove(job: FrameJob): void {
    this.#entries.delete(job);
  }

  /** Call once a frame. Encodes slices up to the budget, at least one piece of the most urgent job that can go on. */
  frame({ now = this.#clock(), encoder }: FrameOptions = {}): FrameReport {
    const start = this.#clock();
    const report = this.#frame(now, encoder);
    const { budgetMs, predictedMs, dispatches, saturated } = report;
    this.#telemetry.emit({
      type: "frame",
      at: now,
      encodeMs: this.#clock() - start,
      targetMs: this.#governor.targetMs,
      budgetMs,
      predictedMs,
      dispatches,
      jobs: this.#entries.size,
      saturated,
    });
    return report;
  }

  /** Stop listening to the device's load, and let all jobs go. */
  dispose(): void {
    this.#stopPressure();
    this.#entries.clear();
  }

  #frame(now: number, encoder: GPUCommandEncoder | undefined): FrameReport {
    if (this.#unfenced) this.#fence(now, []);
    this.#governor.frame(now, this.#busy || this.#inFlight > 0);
    this.#busy = false;
    const { budgetMs } = this.#governor;
    const idle = { budgetMs, predictedMs: 0, dispatches: 0, jobs: 0, saturated: false };
    const ready = this.#ready(now);
    if (ready.length === 0) return idle;
    if (this.#inFlight >= this.#maxFramesInFlight) return { ...idle, saturated: true };
    const shared = ready.some(({ job }) => job.wantsFence) ? undefined : encoder;
    const target = shared ?? this.#device.createCommandEncoder({ label: "webinfer frame" });
    const slices = this.#encode(target, ready, now, budgetMs);
    // Also where there are no slices: a program without dispatches only copies its inputs.
    if (shared === undefined) this.#device.queue.submit([target.finish()]);
    if (slices.length === 0) return idle;
    this.#busy = true;
    if (shared === undefined) this.#fence(this.#clock(), slices);
    else this.#unfenced = true;
    const dispatches = slices.reduce((sum, slice) => sum + slice.dispatches, 0);
    return { ...idle, predictedMs: total(slices), dispatches, jobs: slices.length };
  }

  #ready(now: number): readonly Entry[] {
    const ready: Entry[] = [];
    for (const [job, entry] of this.#entries) {
      switch (job.state) {
        case "running":
          entry.remainingMs = job.remainingMs;
          ready.push(entry);
          break;
        case "queued":
        case "paused":
          // It does not wait for us.
          entry.servedAt = now;
          break;
        case "submitted":
        case "done":
        case "cancelled":
        case "failed":
          this.#entries.delete(job);
      }
    }
    return ready;
  }

  #encode(encoder: GPUCommandEncoder, ready: readonly Entry[], now: number, budgetMs: number): readonly Slice[] {
    const slices: Slice[] = [];
    const { jobs, forced } = order(ready, { now, budgetMs, frameMs: this.#governor.frameMs });
    let leftMs = budgetMs;
    for (const [rank, entry] of jobs.entries()) {
      const { job } = entry;
      if (slices.length > 0 && job.nextMs(budgetMs) > leftMs) continue;
      const shareMs = rank < forced ? budgetMs * FORCED_SHARE : leftMs;
      const slice = job.encode(encoder, { budgetMs: shareMs, divideAboveMs: budgetMs });
      if (slice.dispatches === 0) continue;
      entry.servedAt = now;
      slices.push(slice);
      leftMs -= slice.predictedMs;
      if (leftMs <= 0) break;
    }
    return slices;
  }

  /** Count the frame as in flight until the GPU has finished all that was submitted so far. */
  #fence(start: number, slices: readonly Slice[]): void {
    this.#unfenced = false;
    this.#inFlight += 1;
    const predictedMs = total(slices);
    const finish = (): void => {
      this.#inFlight -= 1;
      const end = this.#clock();
      const ms = end - Math.max(start, this.#fencedAt);
      this.#fencedAt = end;
      for (const slice of slices) slice.learn((ms * slice.predictedMs) / predictedMs);
    };
    // After a loss the jobs end by themselves.
    this.#device.queue.onSubmittedWorkDone().then(finish, finish);
  }
}

function total(slices: readonly Slice[]): number {
  return slices.reduce((sum, slice) => sum + slice.predictedMs, 0);
}
