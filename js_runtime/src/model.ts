// A loaded model: runs it, hands out its outputs as GPU buffers, and frees everything on dispose.

import { costKey, type CostStore } from "./cost_store.js";
import { DeviceError, GpuError, InputError, StoppedError, WebinferError } from "./errors.js";
import { encodePass, type Executor } from "./executor.js";
import { Sizes, type Extent } from "./expressions.js";
import { checkFeeds, type CheckedFeed, type Feeds } from "./feeds.js";
import type { Component, PlannedTensor, SymbolBounds } from "./generated/manifest.js";
import { Job } from "./job.js";
import type { DeviceMemory, MemoryUse } from "./memory.js";
import type { Delivery } from "./package.js";
import { encodeRead, finishRead, type PendingRead, type TensorRange } from "./readback.js";
import { CostModel, CPU_RATES, GPU_RATES } from "./scheduling/costs.js";
import { Slicer } from "./slicer.js";
import type { Telemetry } from "./telemetry/events.js";
import { elementCount, toArray, type DType, type TensorArray } from "./tensor.js";
import type { AdapterInfo } from "./tier.js";
import { profile, type Profile } from "./timing.js";
import { writePadded } from "./weights.js";

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
   * The GPU buffer, data at offset 0, padded to 16 bytes. Owned by the model: use it, never destroy it. A zero-size
   * output has none and throws "unknown-tensor".
   */
  readonly buffer: GPUBuffer;
  /** Copy to the CPU; float16 arrives as float32 values. */
  read(): Promise<TensorArray>;
  /** Copy to the CPU as raw little-endian bytes of the element type. */
  readBytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** The outputs of one run, by name. */
export type Outputs = ReadonlyMap<string, OutputTensor>;

export interface StartOptions {
  /** Cancels the job. */
  readonly signal?: AbortSignal | undefined;
}

export interface ModelParts {
  readonly component: Component;
  readonly sizes: Sizes;
  readonly executor: Executor;
  readonly memory: DeviceMemory;
  readonly device: GPUDevice;
  readonly ownsDevice: boolean;
  readonly info: ModelInfo;
  readonly costStore: CostStore;
  readonly telemetry: Telemetry;
}

/** Submits that the GPU has not finished: more would only add latency and stall the page. */
const MAX_SUBMITS_IN_FLIGHT = 2;

/** Predicted time of one submit of `run`: the page's own work waits no longer than that. */
const MAX_SUBMIT_MS = 100;

/** Learned costs are kept after this many measurements, then whenever they have doubled. */
const FIRST_SAVE = 8;

/** Bytes that `capture` copies before it waits for the GPU. */
const CAPTURE_BATCH_BYTES = 64 * 1024 * 1024;

/** Made by `load`. Runs are executed one after the other in call order. */
export class Model {
  readonly info: ModelInfo;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** The sizes that the feeds of a run decide, with their bounds. */
  readonly symbols: Readonly<Record<string, SymbolBounds>>;
  readonly device: GPUDevice;
  readonly #parts: ModelParts;
  readonly #slicer: Slicer;
  readonly #costKey: string;
  readonly #inFlight: Promise<unknown>[] = [];
  #active: Job<Outputs> | undefined;
  #nextSave = FIRST_SAVE;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #generation = 0;
  #disposed = false;
  #lost: GPUDeviceLostInfo | undefined;

  constructor(parts: ModelParts) {
    this.#parts = parts;
    this.info = parts.info;
    this.inputs = parts.component.inputs;
    this.outputs = parts.component.outputs;
    this.symbols = parts.component.symbols;
    this.device = parts.device;
    const { device, memory, executor, costStore, telemetry } = parts;
    const costs = new CostModel(executor.program.dispatches, this.info.adapter.isCpu ? CPU_RATES : GPU_RATES);
    this.#slicer = new Slicer(device, memory, executor, costs, this.info.name, telemetry);
    this.#costKey = costKey(this.info.adapter, this.info.name, executor.program);
    costStore.get(this.#costKey).then(
      (text) => {
        if (text !== undefined) costs.restore(text);
      },
      () => undefined,
    );
    this.#reportMemory();
    // Weak: a game's device outlives its models.
    const self = new WeakRef(this);
    void device.lost.then((info) => {
      const model = self.deref();
      if (model !== undefined) model.#lose(info);
    });
  }

  /** The inputs with their shapes at the given sizes; a symbol that is left out is at its maximum. */
  inputsAt(values: Readonly<Record<string, number>>): readonly RunTensor[] {
    const sizes = new Sizes(this.symbols);
    for (const [name, value] of Object.entries(values)) sizes.set(name, value);
    return this.inputs.map((input) => ({ ...input, shape: sizes.shapeOf(input.shape) }));
  }

  /** Run the model. Resolves when the GPU accepted the work; outputs are GPU buffers. */
  async run(feeds: Feeds): Promise<Outputs> {
    const job = this.start(feeds);
    await job.started;
    while (job.state === "running") {
      if (this.#inFlight.length >= MAX_SUBMITS_IN_FLIGHT) await this.#inFlight.shift();
      this.#inFlight.push(job.step({ budgetMs: MAX_SUBMIT_MS, divideAboveMs: Infinity }).finished);
    }
    return job.done;
  }

  /**
   * Run the model in slices that the caller asks for (`step`, `encode`, or a FrameScheduler). Jobs and runs take turns in
   * call order; the inputs are read with the first slice. Until then earlier outputs stay valid.
   */
  start(feeds: Feeds, { signal }: StartOptions = {}): Job<Outputs> {
    const job = new Job<Outputs>(this.device, this.#slicer, (self) =>
      this.#exclusive(async () => {
        this.#active = self;
        try {
          await self.perform(() => {
            const checkedFeeds = checkFeeds(this.#parts.component, feeds, this.#parts.sizes);
            this.#parts.executor.resize();
            return (encoder) => {
              this.#generation += 1;
              this.#writeInputs(encoder, checkedFeeds);
            };
          });
        } finally {
          this.#active = undefined;
        }
        this.#saveCosts();
        return this.#collectOutputs();
      }),
    );
    if (signal?.aborted) job.cancel();
    const cancel = job.cancel.bind(job);
    signal?.addEventListener("abort", cancel);
    const at = performance.now();
    const end = (cause?: unknown): void => {
      signal?.removeEventListener("abort", cancel);
      this.#reportJob(at, cause);
    };
    job.done.then(() => {
      end();
    }, end);
    return job;
  }

  /**
   * Make slices of `budgetMs` smooth from the first one on: measures the model where no earlier visit did, and compiles
   * what divides its longest dispatches. For the loading screen; earlier outputs become stale.
   */
  prepareSlices({ budgetMs }: { readonly budgetMs: number }): Promise<void> {
    return this.#exclusive(async () => {
      this.#generation += 1;
      await this.#slicer.prepare(budgetMs);
      this.#saveCosts();
    });
  }

  /** Run once with the time of every dispatch; slower than `run`, one pass per dispatch. */
  profile(feeds: Feeds): Promise<Profile> {
    return this.#exclusive(async () => {
      this.#submitInputs(feeds);
      return profile(this.device, this.#parts.executor.dispatches);
    });
  }

  /** Run once and read the named values of the graph, each right after the dispatch that completes it. */
  capture(feeds: Feeds, names: readonly string[]): Promise<readonly CapturedTensor[]> {
    return this.#exclusive(async () => {
      const planned = names.map((name) => ({ name, tensor: this.#planned(name) }));
      planned.sort((a, b) => a.tensor.producer - b.tensor.producer);
      this.#submitInputs(feeds);
      const captured = new Map<string, CapturedTensor>();
      const { dispatches } = this.#parts.executor;
      let next = 0;
      let batchBytes = 0;
      let pending: { name: string; read: PendingRead }[] = [];
      let encoder = this.device.createCommandEncoder({ label: "webinfer capture" });
      const flush = async (): Promise<void> => {
        this.device.queue.submit([encoder.finish()]);
        for (const { name, read } of pending) {
          const { dtype, shape } = read.range;
          captured.set(name, { name, dtype, shape, bytes: await finishRead(this.#parts.memory, read) });
        }
        pending = [];
        batchBytes = 0;
        encoder = this.device.createCommandEncoder({ label: "webinfer capture" });
      };
      for (const { name, tensor } of planned) {
        encodePass(encoder, dispatches.slice(next, tensor.producer + 1));
        next = Math.max(next, tensor.producer + 1);
        pending.push({ name, read: encodeRead(encoder, this.#parts.memory, this.#range(tensor)) });
        batchBytes += tensor.span.size_bytes;
        if (batchBytes > CAPTURE_BATCH_BYTES) await flush();
      }
      encodePass(encoder, dispatches.slice(next));
      await flush();
      return names.flatMap((name) => captured.get(name) ?? []);
    });
  }

  /** Live GPU buffers and bytes of this model. */
  memory(): MemoryUse {
    return this.#parts.memory.use();
  }

  /** Free every buffer, and the device when `load` made it. Pending runs reject with "disposed". Safe to call twice. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#active?.fail(this.#unusable());
    this.#slicer.dispose();
    this.#parts.memory.dispose();
    if (this.#parts.ownsDevice) this.device.destroy();
  }

  #writeInputs(encoder: GPUCommandEncoder, feeds: readonly CheckedFeed[]): void {
    for (const feed of feeds) {
      if (elementCount(feed.shape) === 0) continue;
      const { buffer, offset } = this.#range(this.#planned(feed.spec.name));
      if ("bytes" in feed) writePadded(this.device.queue, buffer, offset, feed.bytes);
      else encoder.copyBufferToBuffer(feed.buffer, feed.offset, buffer, offset, feed.sizeBytes);
    }
  }

  #submitInputs(feeds: Feeds): void {
    const checkedFeeds = checkFeeds(this.#parts.component, feeds, this.#parts.sizes);
    this.#generation += 1;
    this.#parts.executor.resize();
    const encoder = this.device.createCommandEncoder({ label: "webinfer inputs" });
    this.#writeInputs(encoder, checkedFeeds);
    this.device.queue.submit([encoder.finish()]);
  }

  #lose(info: GPUDeviceLostInfo): void {
    this.#lost = info;
    this.#active?.fail(this.#unusable());
    // Who disposes a model destroys its device on purpose.
    if (this.#disposed) return;
    const { reason } = info;
    this.#parts.telemetry.emit({ type: "device-lost", at: performance.now(), model: this.info.name, reason });
  }

  #reportMemory(): void {
    const { buffers, bytes, peakBytes } = this.memory();
    const model = this.info.name;
    this.#parts.telemetry.emit({ type: "memory", at: performance.now(), model, buffers, bytes, peakBytes });
  }

  /** A job that began at `at` has ended, by `cause` unless it is done. */
  #reportJob(at: number, cause: unknown): void {
    const now = performance.now();
    const model = this.info.name;
    const outcome = cause === undefined ? "done" : cause instanceof StoppedError ? "cancelled" : "failed";
    this.#parts.telemetry.emit({ type: "job", at, ms: now - at, model, outcome });
    if (outcome === "failed") {
      const code = cause instanceof WebinferError ? cause.code : "unknown";
      this.#parts.telemetry.emit({ type: "failure", at: now, model, during: "run", code });
    }
    this.#reportMemory();
  }

  #saveCosts(): void {
    const { costs } = this.#slicer;
    if (costs.samples < this.#nextSave) return;
    this.#nextSave = costs.samples * 2;
    // Without it the next visit learns again.
    this.#parts.costStore.set(this.#costKey, costs.save()).catch(() => undefined);
  }

  #collectOutputs(): Outputs {
    const generation = this.#generation;
    return new Map(
      this.#parts.component.outputs.map(({ name, dtype, shape: extents }) => {
        const shape = this.#parts.sizes.shapeOf(extents);
        const checkFresh = (): void => {
          this.#throwIfUnusable();
          if (generation !== this.#generation) {
            throw new InputError(
              "stale-output",
              `output ${name} was overwritten by a later run; use or read it before the next run starts`,
            );
          }
        };
        const range = (): TensorRange => ({ ...this.#range(this.#planned(name)), shape });
        const readBytes = async (): Promise<Uint8Array<ArrayBuffer>> => {
          checkFresh();
          return elementCount(shape) === 0 ? new Uint8Array(0) : this.#read(range());
        };
        const output: OutputTensor = {
          name,
          dtype,
          shape,
          get buffer() {
            checkFresh();
            return range().buffer;
          },
          readBytes,
          read: async () => toArray(dtype, await readBytes()),
        };
        return [name, output];
      }),
    );
  }

  async #read(range: TensorRange): Promise<Uint8Array<ArrayBuffer>> {
    const encoder = this.device.createCommandEncoder({ label: "webinfer read" });
    const read = encodeRead(encoder, this.#parts.memory, range);
    this.device.queue.submit([encoder.finish()]);
    return this.#typed(() => finishRead(this.#parts.memory, read));
  }

  /** Queue behind earlier calls. A call that had to wait starts in a new task, so that the earlier caller can read. */
  async #exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#throwIfUnusable();
    const queued = this.#waiting > 0;
    this.#waiting += 1;
    const turn = this.#tail.then(async () => {
      if (queued) await new Promise((resolve) => setTimeout(resolve, 0));
      this.#throwIfUnusable();
      return this.#typed(work);
    });
    this.#tail = turn.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Run `work`; what fails because of a dispose or a lost device is reported as that. */
  async #typed<T>(work: () => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await work();
    } catch (cause) {
      this.#throwIfUnusable();
      if (cause instanceof WebinferError) throw cause;
      throw new GpuError("validation", cause instanceof Error ? cause.message : String(cause), { cause });
    }
    this.#throwIfUnusable();
    return result;
  }

  #throwIfUnusable(): void {
    const error = this.#unusable();
    if (error !== undefined) throw error;
  }

  #unusable(): WebinferError | undefined {
    if (this.#disposed) return new StoppedError("disposed", `model ${this.info.name} was disposed; load it again`);
    if (this.#lost === undefined) return undefined;
    return new DeviceError(
      "device-lost",
      `the GPU device was lost (${this.#lost.reason}: ${this.#lost.message}); dispose the model and load it again`,
    );
  }

  #planned(name: string): PlannedTensor {
    const { tensors } = this.#parts.executor.program;
    const tensor = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    if (tensor === undefined) throw new InputError("unknown-tensor", `value ${name} is not in the memory plan`);
    return tensor;
  }

  #range({ dtype, shape, span }: PlannedTensor): TensorRange {
    const { executor, sizes } = this.#parts;
    return { buffer: executor.buffer(span.buffer), offset: span.offset, dtype, shape: sizes.shapeOf(shape) };
  }
}
