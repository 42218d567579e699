// What the runtime reports about itself, as types, and an object that drops it: the core pays nothing.

import type { ErrorCode } from "../errors.js";

/** The class of an adapter and the version of a package: all that is ever told about where an event comes from. */
export interface Subject {
  readonly vendor: string;
  readonly architecture: string;
  /** Shaders run on the CPU: a fallback adapter, or a software rasterizer. */
  readonly software: boolean;
  /** Name of the package. */
  readonly model: string;
  /** SHA-256 of the package's manifest, in hex. */
  readonly version: string;
}

export type LoadPhase = "manifest" | "device" | "tier" | "compile" | "weights" | "warm-up";

/** A part of a dispatch in a slice; `ms` is predicted, and says how the measured time divides. */
export interface SlicePiece {
  readonly kernel: string;
  readonly ms: number;
}

/**
 * All events. `at` is when it began, on the clock of `performance.now()`; `ms` how long it took. Never a name, a URL, a
 * message or a device string: they could tell one player from another.
 */
export type RuntimeEvent =
  | ({ readonly type: "adapter"; readonly at: number } & Subject)
  | {
      readonly type: "phase";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly phase: LoadPhase;
    }
  | {
      readonly type: "compile";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly kernel: string;
    }
  | {
      readonly type: "tier";
      readonly at: number;
      readonly model: string;
      readonly tier: string;
      readonly reasons: readonly string[];
    }
  | {
      readonly type: "loaded";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly dispatches: number;
      readonly gpuBytes: number;
      /** Kind of the store, and where the manifest came from. */
      readonly store: string;
      readonly manifest: string;
      readonly networkBytes: number;
      readonly storedBytes: number;
      /** Requests that were made again. */
      readonly retries: number;
    }
  | {
      readonly type: "memory";
      readonly at: number;
      readonly model: string;
      readonly buffers: number;
      readonly bytes: number;
      readonly peakBytes: number;
    }
  | {
      readonly type: "job";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly outcome: "done" | "cancelled" | "failed";
    }
  | {
      /** A slice whose time is known; `at` is when it was encoded. */
      readonly type: "slice";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly clock: "timestamp" | "wall";
      readonly budgetMs: number;
      readonly predictedMs: number;
      /** Predicted milliseconds of the longest piece in it that was not divided further: it may exceed by as much. */
      readonly longestMs: number;
      readonly pieces: readonly SlicePiece[];
    }
  | {
      /** One call of `FrameScheduler.frame`. */
      readonly type: "frame";
      readonly at: number;
      /** Milliseconds that encoding took on the CPU. */
      readonly encodeMs: number;
      /** Milliseconds between frames that the game wants, or reaches by itself. */
      readonly targetMs: number;
      readonly budgetMs: number;
      readonly predictedMs: number;
      readonly dispatches: number;
      /** Jobs that have not ended. */
      readonly jobs: number;
      readonly saturated: boolean;
    }
  | { readonly type: "device-lost"; readonly at: number; readonly model: string; readonly reason: string }
  | {
      /** The model runs again after a loss; `at` is when the device was lost. */
      readonly type: "recovered";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly tier: string;
      /** Jobs that restarted or resumed. */
      readonly jobs: number;
    }
  | {
      /** An allocation that was refused: by the device, or by the memory budget. */
      readonly type: "out-of-memory";
      readonly at: number;
      readonly model: string;
      readonly refusedBy: "device" | "budget";
      /** Held by all models of the device at the time. */
      readonly heldBytes: number;
    }
  | {
      /** Golden inputs ran on the player's device. */
      readonly type: "self-test";
      readonly at: number;
      readonly ms: number;
      readonly model: string;
      readonly tier: string;
      readonly passed: boolean;
      readonly runs: number;
      /** Largest error of the runs, as a share of what is tolerated: above 1 it failed. MAX_VALUE where one is not finite. */
      readonly drift: number;
      /** Kernels that are left out from now on. */
      readonly quarantined: readonly string[];
    }
  | {
      /**
       * A backend that was tried gave way to another: it failed with that code, is not offered, or a measurement found the
       * other one "faster".
       */
      readonly type: "fallback";
      readonly at: number;
      readonly model: string;
      readonly from: "webgpu" | "webnn" | "wasm";
      readonly to: "webgpu" | "webnn" | "wasm";
      readonly reason: ErrorCode | "faster";
    }
  | {
      /** What a caller saw rejected, "out-of-memory" among it. `model` is empty before the manifest is there. */
      readonly type: "failure";
      readonly at: number;
      readonly model: string;
      readonly during: "load" | "run";
      readonly code: ErrorCode | "unknown";
    };

/** Where the runtime's events go. Give `load` and `FrameScheduler` the same one. */
export interface Telemetry {
  /** Called from within frames: must be quick, and must not throw. */
  emit(event: RuntimeEvent): void;
}

/** The default: nothing is kept, nothing is sent. */
export const SILENT: Telemetry = { emit: () => undefined };

/** What happens too often to be sent one by one. */
type Frequent = "compile" | "memory" | "job" | "slice" | "frame";

/** Times of what happened in a stretch of play: events "slice", "frame", "job" and "memory" in one. */
export interface WindowEvent {
  readonly type: "window";
  readonly at: number;
  readonly ms: number;
  readonly slices: number;
  readonly sliceP50Ms: number;
  readonly sliceP95Ms: number;
  readonly sliceP99Ms: number;
  /** Slices that took longer than their budget, and by how much the worst did. */
  readonly slicesOverBudget: number;
  readonly overshootMaxMs: number;
  /** What of the worst overshoot the longest undivided piece of its slice does not explain. */
  readonly overshootExcessMaxMs: number;
  readonly frames: number;
  /** Frames in which inference had a part, and frames that the display had to do without after those. */
  readonly framesInferring: number;
  readonly framesDropped: number;
  readonly framesSaturated: number;
  readonly jobsDone: number;
  readonly jobsCancelled: number;
  readonly jobsFailed: number;
  readonly memoryBytes: number;
  readonly memoryPeakBytes: number;
}

/** Compile times of a load: events "compile" in one. */
export interface CompilesEvent {
  readonly type: "compiles";
  readonly at: number;
  readonly model: string;
  readonly kernels: number;
  readonly compileP50Ms: number;
  readonly compileMaxMs: number;
  readonly slowestKernel: string;
}

/** What sinks get. */
export type ReportedEvent = Exclude<RuntimeEvent, { readonly type: Frequent }> | WindowEvent | CompilesEvent;

const TROUBLE: ReadonlySet<ReportedEvent["type"]> = new Set(["failure", "device-lost", "out-of-memory"]);

/** What someone should look at. */
export function isTrouble(event: ReportedEvent): boolean {
  return event.type === "self-test" ? !event.passed : TROUBLE.has(event.type);
}
