// Shares a budget of GPU time per frame between the jobs of a device.

import type { Job } from "./job.js";
import { computePressure, type PressureSource } from "./pressure.js";
import { Governor, type GovernorOptions } from "./scheduling/governor.js";
import { order, type Candidate } from "./scheduling/policy.js";
import { watch } from "./scopes.js";
import type { Slice } from "./slicer.js";
import { SILENT, type Telemetry } from "./telemetry/events.js";
import { pageVisibility, type VisibilitySource } from "./visibility.js";

/** What the scheduler needs of a job. */
export type FrameJob = Pick<
  Job<unknown>,
  "state" | "device" | "remainingMs" | "nextMs" | "wantsFence" | "encode" | "judge"
>;

export interface SchedulerOptions extends GovernorOptions {
  /** Frames with inference that the GPU may have before it; default 2. More would only add latency. */
  readonly maxFramesInFlight?: number | undefined;
  /** Milliseconds; default `performance.now`. */
  readonly clock?: (() => number) | undefined;
  /** Where the device's load is told; default the Compute Pressure API. */
  readonly pressure?: PressureSource | undefined;
  /**
   * Where it is told that nobody looks; default the page's visibility. While the page is hidden frames do nothing, even
   * where something else than requestAnimationFrame calls for them; afterwards they go on as if no time had passed.
   */
  readonly visibility?: VisibilitySource | undefined;
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
   * also does in some frames on a device without timestamp queries, because only the wall clock measures them there, and
   * for jobs on other devices than the encoder's.
   */
  readonly encoder?: GPUCommandEncoder;
  /** The device that made the encoder; default the scheduler's. Give it where the engine may replace a lost device. */
  readonly device?: GPUDevice;
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
  deadline: number;
  servedAt: number;
  remainingMs: number;
}

/** What frames have put before one device. Gone with it: work of a lost device is not waited for. */
interface Lane {
  readonly device: GPUDevice;
  inFlight: number;
  /** The last frame's work went into the engine's encoder, which has been submitted by the next frame. */
  unfenced: boolean;
  fencedAt: number;
}

/** The work of one frame for one device. */
interface Share {
  readonly lane: Lane;
  readonly encoder: GPUCommandEncoder;
  readonly slices: Slice[];
  readonly jobs: FrameJob[];
}

/** A starving job gets a piece, and up to this share of the budget. */
const FORCED_SHARE = 0.25;

/**
 * Several jobs that share a GPU, a slice of some of them per frame. Does not know what the jobs compute, and follows them
 * to the devices on which they are.
 */
export class FrameScheduler {
  readonly #device: GPUDevice;
  readonly #governor: Governor;
  readonly #clock: () => number;
  readonly #maxFramesInFlight: number;
  readonly #stopListening: readonly (() => void)[];
  readonly #telemetry: Telemetry;
  readonly #entries = new Map<FrameJob, Entry>();
  readonly #lanes = new Map<GPUDevice, Lane>();
  #busy = false;
  #hiddenAt: number | undefined;

  /** `device`: the one whose encoders `frame` gets, and that of jobs which do not say where they are. */
  constructor(device: GPUDevice, options: SchedulerOptions) {
    this.#device = device;
    this.#governor = new Governor(options);
    this.#clock = options.clock ?? ((): number => performance.now());
    this.#maxFramesInFlight = options.maxFramesInFlight ?? 2;
    this.#telemetry = options.telemetry ?? SILENT;
    const stopPressure = (options.pressure ?? computePressure)((state) => {
      this.#governor.pressure(state);
    });
    const stopVisibility = (options.visibility ?? pageVisibility)((hidden) => {
      this.#show(!hidden);
    });
    this.#stopListening = [stopPressure, stopVisibility];
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

  /**
   * Call once a frame. Encodes slices up to the budget, at least one piece of the most urgent job that can go on. Neither
   * throws nor waits where a device is lost.
   */
  frame(options: FrameOptions = {}): FrameReport {
    const start = this.#clock();
    const now = options.now ?? start;
    const report = this.#frame(now, options);
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

  /** Stop listening to the device's load and the page, and let all jobs go. */
  dispose(): void {
    for (const stop of this.#stopListening) stop();
    this.#entries.clear();
  }

  #frame(now: number, { encoder, device = this.#device }: FrameOptions): FrameReport {
    for (const lane of this.#lanes.values()) if (lane.unfenced) this.#fence(lane, now, []);
    const inFlight = [...this.#lanes.values()].reduce((sum, lane) => sum + lane.inFlight, 0);
    const { budgetMs } = this.#governor;
    const idle = { budgetMs, predictedMs: 0, dispatches: 0, jobs: 0, saturated: false };
    if (this.#hiddenAt !== undefined) return idle;
    this.#governor.frame(now, this.#busy || inFlight > 0);
    this.#busy = false;
    return { ...idle, ...this.#serve(now, this.#governor.budgetMs, inFlight, encoder, device) };
  }

  #serve(
    now: number,
    budgetMs: number,
    inFlight: number,
    encoder: GPUCommandEncoder | undefined,
    device: GPUDevice,
  ): Partial<FrameReport> {
    const ready = this.#ready(now);
    if (ready.length === 0) return { budgetMs };
    if (inFlight >= this.#maxFramesInFlight) return { budgetMs, saturated: true };
    const shared = ready.some(({ job }) => job.wantsFence) ? undefined : encoder;
    const shares = this.#encode(ready, now, budgetMs, shared, device);
    for (const share of shares) this.#submit(share, share.encoder === shared);
    const slices = shares.flatMap((share) => share.slices);
    if (slices.length === 0) return { budgetMs };
    this.#busy = true;
    const dispatches = slices.reduce((sum, slice) => sum + slice.dispatches, 0);
    return { budgetMs, predictedMs: total(slices), dispatches, jobs: slices.length };
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
        case "submitted": // begins again where its device is lost before the outcome is known
          // It does not wait for us.
          entry.servedAt = now;
          break;
        case "done":
        case "cancelled":
        case "failed":
          this.#entries.delete(job);
      }
    }
    return ready;
  }

  #encode(
    ready: readonly Entry[],
    now: number,
    budgetMs: number,
    shared: GPUCommandEncoder | undefined,
    device: GPUDevice,
  ): readonly Share[] {
    const shares = new Map<GPUDevice, Share>();
    const shareOf = (on: GPUDevice): Share => {
      const known = shares.get(on);
      if (known !== undefined) return known;
      const own = on === device ? shared : undefined;
      const encoder = own ?? on.createCommandEncoder({ label: "webinfer frame" });
      const share = { lane: this.#lane(on), encoder, slices: [], jobs: [] };
      shares.set(on, share);
      return share;
    };
    const { jobs, forced } = order(ready, { now, budgetMs, frameMs: this.#governor.frameMs });
    let leftMs = budgetMs;
    let first = true;
    for (const [rank, entry] of jobs.entries()) {
      const { job } = entry;
      if (!first && job.nextMs(budgetMs) > leftMs) continue;
      const shareMs = rank < forced ? budgetMs * FORCED_SHARE : leftMs;
      const share = shareOf(job.device ?? this.#device);
      const slice = job.encode(share.encoder, { budgetMs: shareMs, divideAboveMs: budgetMs });
      share.jobs.push(job);
      if (slice.dispatches === 0) continue;
      first = false;
      entry.servedAt = now;
      share.slices.push(slice);
      leftMs -= slice.predictedMs;
      if (leftMs <= 0) break;
    }
    return [...shares.values()];
  }

  #submit({ lane, encoder, slices, jobs }: Share, shared: boolean): void {
    if (!shared) {
      // Also where there are no slices: a program without dispatches only copies its inputs.
      const submit = (): void => {
        lane.device.queue.submit([encoder.finish()]);
      };
      const { verdict } = watch(lane.device, "frame", submit);
      for (const job of jobs) job.judge(verdict);
    }
    if (slices.length === 0) return;
    if (shared) lane.unfenced = true;
    else this.#fence(lane, this.#clock(), slices);
  }

  #lane(device: GPUDevice): Lane {
    const known = this.#lanes.get(device);
    if (known !== undefined) return known;
    const lane = { device, inFlight: 0, unfenced: false, fencedAt: 0 };
    this.#lanes.set(device, lane);
    const lanes = new WeakRef(this.#lanes);
    void device.lost.then(() => lanes.deref()?.delete(device));
    return lane;
  }

  /** Count the frame as in flight until the GPU has finished all that was submitted so far. */
  #fence(lane: Lane, start: number, slices: readonly Slice[]): void {
    lane.unfenced = false;
    lane.inFlight += 1;
    const predictedMs = total(slices);
    const finish = (): void => {
      lane.inFlight -= 1;
      const end = this.#clock();
      const ms = end - Math.max(start, lane.fencedAt);
      lane.fencedAt = end;
      for (const slice of slices) slice.learn((ms * slice.predictedMs) / predictedMs);
    };
    lane.device.queue.onSubmittedWorkDone().then(finish, finish);
  }

  /** The time for which the page was hidden counts neither as a late frame nor as waiting. */
  #show(shown: boolean): void {
    const now = this.#clock();
    if (!shown) {
      this.#hiddenAt ??= now;
      return;
    }
    if (this.#hiddenAt === undefined) return;
    const hiddenMs = now - this.#hiddenAt;
    this.#hiddenAt = undefined;
    this.#governor.skip();
    for (const entry of this.#entries.values()) {
      entry.servedAt += hiddenMs;
      entry.deadline += hiddenMs;
    }
  }
}

function total(slices: readonly Slice[]): number {
  return slices.reduce((sum, slice) => sum + slice.predictedMs, 0);
}
