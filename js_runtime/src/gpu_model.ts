// A model on WebGPU: its runs take turns, each on the residence that it has then.

import { capture } from "./capture.js";
import { DeviceError, GpuError, InputError, StoppedError, WebinferError } from "./errors.js";
import { Sizes } from "./expressions.js";
import type { Feeds } from "./feeds.js";
import type { SymbolBounds } from "./generated/manifest.js";
import { Job } from "./job.js";
import type { MemoryUse } from "./memory.js";
import type {
  CapturedTensor,
  LoadTimings,
  Model,
  ModelInfo,
  Outputs,
  OutputTensor,
  RunTensor,
  StartOptions,
  TensorInfo,
} from "./model.js";
import { poolOf } from "./pool.js";
import { encodeRead, finishRead, type TensorRange } from "./readback.js";
import { install, type Assets, type Placement, type Residence } from "./residence.js";
import { elementCount, toArray } from "./tensor.js";
import { profile, type Profile } from "./timing.js";

export interface GpuModelParts {
  readonly assets: Assets;
  readonly placement: Placement;
  /** The first one, in `placement`. */
  readonly residence: Residence;
  readonly ownsDevice: boolean;
  /** Why the program was chosen. */
  readonly reasons: readonly string[];
  readonly timings: LoadTimings;
}

/** Submits that the GPU has not finished: more would only add latency and stall the page. */
const MAX_SUBMITS_IN_FLIGHT = 2;

/** Predicted time of one submit of `run`: the page's own work waits no longer than that. */
const MAX_SUBMIT_MS = 100;

/** Made by `load`. Holds at most one residence, and makes another where a run finds none. */
export class GpuModel implements Model {
  readonly info: ModelInfo;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly symbols: Readonly<Record<string, SymbolBounds>>;
  readonly #assets: Assets;
  readonly #placement: Placement;
  readonly #ownsDevice: boolean;
  readonly #inFlight: Promise<unknown>[] = [];
  /** Ends what waits for room or for weights when the model is disposed. */
  readonly #stop = new AbortController();
  #residence: Residence | undefined;
  /** Was evicted, and keeps the outputs of the last run. */
  #evicted: Residence | undefined;
  #active: Job<Outputs> | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #generation = 0;
  #disposed = false;
  #lost: GPUDeviceLostInfo | undefined;

  constructor(parts: GpuModelParts) {
    const { assets, placement, residence } = parts;
    this.#assets = assets;
    this.#placement = placement;
    this.#settle(residence);
    this.#ownsDevice = parts.ownsDevice;
    this.info = describe(parts);
    this.inputs = assets.component.inputs;
    this.outputs = assets.component.outputs;
    this.symbols = assets.component.symbols;
    this.#reportMemory();
    // Weak: a game's device outlives its models.
    const self = new WeakRef(this);
    void placement.device.lost.then((info) => {
      const model = self.deref();
      if (model !== undefined) model.#lose(info);
    });
  }

  get device(): GPUDevice {
    return this.#placement.device;
  }

  inputsAt(values: Readonly<Record<string, number>>): readonly RunTensor[] {
    const sizes = new Sizes(this.symbols);
    for (const [name, value] of Object.entries(values)) sizes.set(name, value);
    return this.inputs.map((input) => ({ ...input, shape: sizes.shapeOf(input.shape) }));
  }

  async run(feeds: Feeds): Promise<Outputs> {
    const job = this.start(feeds);
    await job.started;
    while (job.state === "running") {
      if (this.#inFlight.length >= MAX_SUBMITS_IN_FLIGHT) await this.#inFlight.shift();
      this.#inFlight.push(job.step({ budgetMs: MAX_SUBMIT_MS, divideAboveMs: Infinity }).finished);
    }
    return job.done;
  }

  start(feeds: Feeds, { signal }: StartOptions = {}): Job<Outputs> {
    const job = new Job<Outputs>(this.#placement.program.dispatches.length, (self) =>
      this.#exclusive(async (residence) => {
        this.#active = self;
        try {
          await self.perform(residence.slicer, () => {
            const admitted = residence.admit(feeds);
            return (encoder) => {
              this.#overwrite();
              residence.writeInputs(encoder, admitted);
            };
          });
        } finally {
          this.#active = undefined;
        }
        residence.saveCosts();
        return this.#collectOutputs(residence);
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

  prepareSlices({ budgetMs }: { readonly budgetMs: number }): Promise<void> {
    return this.#exclusive(async (residence) => {
      this.#overwrite();
      await residence.slicer.prepare(budgetMs);
      residence.saveCosts();
    });
  }

  profile(feeds: Feeds): Promise<Profile> {
    return this.#exclusive(async (residence) => {
      this.#submitInputs(residence, feeds);
      return profile(residence.device, residence.memory, residence.executor.dispatches);
    });
  }

  capture(feeds: Feeds, names: readonly string[]): Promise<readonly CapturedTensor[]> {
    return this.#exclusive(async (residence) => {
      this.#submitInputs(residence, feeds);
      return capture(residence, names);
    });
  }

  memory(): MemoryUse {
    return poolOf(this.device).useOf(this.#assets);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#active?.fail(this.#unusable());
    this.#stop.abort();
    this.#residence?.dispose();
    this.#evicted?.dispose();
    if (this.#ownsDevice) this.device.destroy();
  }

  /** The model's residence, occupied: the one at hand, or a new one in the same place. For within a turn. */
  async #resident(): Promise<Residence> {
    const { signal } = this.#stop;
    const present = this.#residence;
    if (present !== undefined && (await present.occupy(signal))) return present;
    this.#throwIfUnusable();
    const residence = await install(this.#assets, this.#placement, { signal });
    this.#settle(residence);
    return residence;
  }

  #settle(residence: Residence): void {
    this.#residence = residence;
    residence.mayEvict(() => {
      this.#residence = undefined;
      this.#evicted?.dispose();
      this.#evicted = residence;
      residence.evict();
    });
  }

  /** The outputs of the last run become stale. */
  #overwrite(): void {
    this.#generation += 1;
    this.#evicted?.dispose();
    this.#evicted = undefined;
  }

  #submitInputs(residence: Residence, feeds: Feeds): void {
    const admitted = residence.admit(feeds);
    this.#overwrite();
    const encoder = residence.device.createCommandEncoder({ label: "webinfer inputs" });
    residence.writeInputs(encoder, admitted);
    residence.device.queue.submit([encoder.finish()]);
  }

  #lose(info: GPUDeviceLostInfo): void {
    this.#lost = info;
    this.#active?.fail(this.#unusable());
    // Who disposes a model destroys its device on purpose.
    if (this.#disposed) return;
    const { reason } = info;
    this.#assets.telemetry.emit({ type: "device-lost", at: performance.now(), model: this.info.name, reason });
  }

  #reportMemory(): void {
    const { buffers, bytes, peakBytes } = this.memory();
    const model = this.info.name;
    this.#assets.telemetry.emit({ type: "memory", at: performance.now(), model, buffers, bytes, peakBytes });
  }

  /** A job that began at `at` has ended, by `cause` unless it is done. */
  #reportJob(at: number, cause: unknown): void {
    const { telemetry } = this.#assets;
    const now = performance.now();
    const model = this.info.name;
    const outcome = cause === undefined ? "done" : cause instanceof StoppedError ? "cancelled" : "failed";
    telemetry.emit({ type: "job", at, ms: now - at, model, outcome });
    if (outcome === "failed") {
      const code = cause instanceof WebinferError ? cause.code : "unknown";
      telemetry.emit({ type: "failure", at: now, model, during: "run", code });
    }
    this.#reportMemory();
  }

  #collectOutputs(residence: Residence): Outputs {
    const generation = this.#generation;
    return new Map(
      this.#assets.component.outputs.map(({ name, dtype, shape: extents }) => {
        const shape = residence.shapeOf(extents);
        const checkFresh = (): void => {
          this.#throwIfUnusable();
          if (generation !== this.#generation) {
            throw new InputError(
              "stale-output",
              `output ${name} was overwritten by a later run; use or read it before the next run starts`,
            );
          }
        };
        const range = (): TensorRange => ({ ...residence.range(residence.planned(name)), shape });
        const readBytes = async (): Promise<Uint8Array<ArrayBuffer>> => {
          checkFresh();
          return elementCount(shape) === 0 ? new Uint8Array(0) : this.#read(residence, range());
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

  async #read({ device, memory }: Residence, range: TensorRange): Promise<Uint8Array<ArrayBuffer>> {
    const encoder = device.createCommandEncoder({ label: "webinfer read" });
    const read = encodeRead(encoder, memory, range);
    device.queue.submit([encoder.finish()]);
    return this.#typed(() => finishRead(memory, read));
  }

  /** Queue behind earlier calls. A call that had to wait starts in a new task, so that the earlier caller can read. */
  async #exclusive<T>(work: (residence: Residence) => Promise<T>): Promise<T> {
    this.#throwIfUnusable();
    const queued = this.#waiting > 0;
    this.#waiting += 1;
    const turn = this.#tail.then(async () => {
      if (queued) await new Promise((resolve) => setTimeout(resolve, 0));
      this.#throwIfUnusable();
      return this.#typed(async () => {
        const residence = await this.#resident();
        try {
          return await work(residence);
        } finally {
          residence.vacate();
        }
      });
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
}

function describe({ assets, placement, reasons, timings }: GpuModelParts): ModelInfo {
  const { source, component } = assets;
  const { adapter, program } = placement;
  return {
    name: source.manifest.name,
    component: component.name,
    backend: "webgpu",
    adapter,
    tier: program.tier,
    precision: program.precision,
    tiling: program.tiling,
    reasons,
    dispatches: program.dispatches.length,
    plan: {
      activationPeakBytes: program.plan.activation_peak_bytes,
      activationLowerBoundBytes: program.plan.activation_lower_bound_bytes,
      weightBytes: program.plan.weight_bytes,
      gpuBytes: program.plan.gpu_bytes,
    },
    timings,
    delivery: source.delivery,
  };
}
