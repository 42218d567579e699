// What a loaded model is to its users, whatever runs it.

import type { Extent } from "./expressions.js";
import type { Feeds } from "./feeds.js";
import type { SymbolBounds } from "./generated/manifest.js";
import type { TextureOptions } from "./image/picture.js";
import type { Job } from "./job.js";
import type { MemoryUse } from "./memory.js";
import type { Delivery } from "./package.js";
import type { DType, TensorArray } from "./tensor.js";
import type { AdapterInfo } from "./tier.js";
import type { Profile } from "./timing.js";

/** Milliseconds of each phase of `load`. Weights (download to upload) overlap with compilation and warm-up. */
export interface LoadTimings {
  readonly manifestMs: number;
  readonly deviceMs: number;
  readonly tierMs: number;
  readonly compileMs: number;
  readonly weightsMs: number;
  readonly warmUpMs: number;
  readonly totalMs: number;
}

/** What runs where, and why. */
export interface ModelInfo {
  readonly name: string;
  readonly component: string;
  readonly backend: "webgpu" | "webnn" | "wasm";
  readonly adapter: AdapterInfo;
  readonly tier: string;
  readonly precision: "fp32" | "fp16";
  readonly tiling: "register" | "workgroup";
  readonly reasons: readonly string[];
  readonly dispatches: number;
  readonly plan: {
    readonly activationPeakBytes: number;
    readonly activationLowerBoundBytes: number;
    readonly weightBytes: number;
    readonly gpuBytes: number;
  };
  readonly timings: LoadTimings;
  /** Where the package's bytes came from, and what was worked around. */
  readonly delivery: Delivery;
}

/** Name, element type and shape of an input or output: a dimension is a number or an expression over the symbols. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Extent[];
}

/** A tensor of one run, with its shape in that run. */
export interface RunTensor extends TensorInfo {
  readonly shape: readonly number[];
}

/** An intermediate value read by `capture`: raw little-endian bytes. */
export interface CapturedTensor extends RunTensor {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** One output of one run. Valid until the next run starts; later use throws "stale-output". */
export interface OutputTensor extends RunTensor {
  /**
   * The GPU buffer, data at offset 0, padded to 16 bytes. Owned by the model: use it, never destroy it. Throws
   * "unknown-tensor" for a zero-size output, and "no-buffer" for one that went to a texture alone; reading that rejects.
   */
  readonly buffer: GPUBuffer;
  /**
   * The texture that this output was to be stored to (`RunOptions.textures`): the same object in every run, as long as
   * its size and format stay and the device lives. Owned by the model, with usage TEXTURE_BINDING and COPY_SRC; row 0
   * of the output is row 0 of the texture. Throws "no-texture" where the run was not told to fill one.
   */
  texture(): GPUTexture;
  /** Copy to the CPU; float16 arrives as float32 values. */
  read(): Promise<TensorArray>;
  /** Copy to the CPU as raw little-endian bytes of the element type. */
  readBytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** The outputs of one run, by name. */
export type Outputs = ReadonlyMap<string, OutputTensor>;

export interface RunOptions {
  /** Outputs that are stored to textures, by name. */
  readonly textures?: Readonly<Record<string, TextureOptions>> | undefined;
}

export interface StartOptions extends RunOptions {
  /** Cancels the job. */
  readonly signal?: AbortSignal | undefined;
}

export interface StepsOptions extends StartOptions {
  /** Runs, one after the other. */
  readonly steps: number;
  /** Inputs of a step; of the first all, of later ones those that are not carried over. */
  readonly feeds: (step: number) => Feeds;
  /** Outputs that become inputs of the next step, on the GPU: `{ denoised: "sample" }`. */
  readonly carry: Readonly<Record<string, string>>;
  /** After so many steps the carried values are kept on the CPU; a loss of the device repeats no more. Default 4. */
  readonly checkpointEvery?: number | undefined;
}

/** Inputs, or where to get them: after a loss of the device a function is asked again. */
export type FeedSource = Feeds | (() => Feeds);

/**
 * Made by `load`. Runs are executed one after the other in call order. Where the device is lost and the model recovers
 * (`LoadOptions.recover`), runs and jobs that have not ended begin again by themselves. Their arrays must therefore stay
 * as they are until the end; where they change, or lie in a GPUBuffer or GPUTexture, which is gone with the device, give a
 * function that makes them. What a run that ended before the loss left on the device is gone: reading it rejects with
 * "device-lost".
 */
export interface Model {
  readonly info: ModelInfo;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** The sizes that the feeds of a run decide, with their bounds. */
  readonly symbols: Readonly<Record<string, SymbolBounds>>;
  /** Another one after a loss. */
  readonly device: GPUDevice;

  /** The inputs with their shapes at the given sizes; a symbol that is left out is at its maximum. */
  inputsAt(values: Readonly<Record<string, number>>): readonly RunTensor[];

  /** Run the model. Resolves when the GPU accepted the work; outputs are GPU buffers. */
  run(feeds: FeedSource, options?: RunOptions): Promise<Outputs>;

  /**
   * Run the model in slices that the caller asks for (`step`, `encode`, or a FrameScheduler). Jobs and runs take turns in
   * call order; the inputs are read with the first slice. Until then earlier outputs stay valid.
   */
  start(feeds: FeedSource, options?: StartOptions): Job<Outputs>;

  /**
   * Run the model several times as one job, whose outputs are those of the last run. Carried values stay on the GPU; after
   * a loss of the device the job goes on from its last checkpoint. Throws "unknown-tensor", "input-dtype" or "input-shape".
   */
  startSteps(options: StepsOptions): Job<Outputs>;

  /**
   * Make slices under a scheduler's `budgetMs` smooth from the first one on: measures the model where no earlier visit
   * did, and compiles what divides its longest dispatches, down to an eighth of that budget. For the loading screen;
   * earlier outputs become stale.
   */
  prepareSlices(options: { readonly budgetMs: number }): Promise<void>;

  /** Run once with the time of every dispatch; slower than `run`, one pass per dispatch. */
  profile(feeds: Feeds): Promise<Profile>;

  /** Run once and read the named values of the graph, each right after the dispatch that completes it. */
  capture(feeds: Feeds, names: readonly string[]): Promise<readonly CapturedTensor[]>;

  /** Live GPU buffers and bytes of this model. */
  memory(): MemoryUse;

  /** Free every buffer, and the device when `load` made it. Pending runs reject with "disposed". Safe to call twice. */
  dispose(): void;
}
