// A model on ONNX Runtime Web, for who cannot or should not use WebGPU: the same interface, computed whole, on the CPU side.

import { BackendError, StoppedError } from "../errors.js";
import { Sizes } from "../expressions.js";
import { checkFeeds, inputsAt, type CheckedFeed, type Feed, type Feeds } from "../feeds.js";
import type { Component, SymbolBounds } from "../generated/manifest.js";
import { Job } from "../job.js";
import { Account, type MemoryUse, type ModelMemory } from "../memory.js";
import type {
  FeedSource,
  LoadTimings,
  Model,
  ModelInfo,
  Outputs,
  RunOptions,
  RunTensor,
  StartOptions,
  StepsOptions,
  TensorInfo,
} from "../model.js";
import type { Package } from "../package.js";
import { poolOf } from "../pool.js";
import { encodeRead, finishRead } from "../readback.js";
import { checkCarry } from "../steps.js";
import type { Telemetry } from "../telemetry/events.js";
import { elementCount, toWire } from "../tensor.js";
import { attend, Turns } from "../turns.js";
import { portableFailure, type OrtTensor } from "./onnx_runtime.js";
import { imageBytes } from "./pixels.js";
import { PortableOutputs } from "./portable_outputs.js";
import type { PortableSession } from "./portable_session.js";
import { PortableTextures } from "./portable_textures.js";
import { toOrt } from "./tensors.js";

export interface PortableModelParts {
  readonly source: Package;
  readonly component: Component;
  readonly opened: PortableSession;
  /** The caller's, for outputs as GPU buffers and for inputs that lie in some. */
  readonly device: GPUDevice | undefined;
  readonly reasons: readonly string[];
  readonly timings: LoadTimings;
  readonly telemetry: Telemetry;
}

/** Made by `load`. Runs are computed one after the other, in a worker where there is one. */
export class PortableModel implements Model {
  readonly info: ModelInfo;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly symbols: Readonly<Record<string, SymbolBounds>>;
  readonly #component: Component;
  readonly #opened: PortableSession;
  readonly #device: GPUDevice | undefined;
  readonly #memory: ModelMemory | undefined;
  readonly #textures: PortableTextures | undefined;
  readonly #outputs: PortableOutputs;
  readonly #telemetry: Telemetry;
  readonly #sizes: Sizes;
  readonly #turns = new Turns();
  #active: Job<Outputs> | undefined;
  #generation = 0;
  #disposed = false;

  constructor(parts: PortableModelParts) {
    const { component, opened, device } = parts;
    this.#component = component;
    this.#opened = opened;
    this.#device = device;
    this.#telemetry = parts.telemetry;
    this.#sizes = new Sizes(component.symbols);
    this.info = describe(parts);
    this.inputs = component.inputs;
    this.outputs = component.outputs;
    this.symbols = component.symbols;
    this.#memory = device === undefined ? undefined : poolOf(device).open(this, this.info.name);
    this.#textures =
      device === undefined || this.#memory === undefined ? undefined : new PortableTextures(device, this.#memory);
    this.#outputs = new PortableOutputs(device, this.#memory, this.#textures, this.info.backend);
  }

  /** The caller's device; throws "not-on-backend" where there is none. */
  get device(): GPUDevice {
    if (this.#device === undefined) throw this.#gpuOnly("a device: `load` was given none");
    return this.#device;
  }

  inputsAt(values: Readonly<Record<string, number>>): readonly RunTensor[] {
    return inputsAt(this.#component, values);
  }

  run(feeds: FeedSource, options: RunOptions = {}): Promise<Outputs> {
    return this.start(feeds, options).done;
  }

  start(feeds: FeedSource, options: StartOptions = {}): Job<Outputs> {
    return this.#job(() => this.#compute(typeof feeds === "function" ? feeds() : feeds, options), options);
  }

  startSteps(options: StepsOptions): Job<Outputs> {
    const carry = checkCarry(this.#component, options);
    return this.#job(async (job) => {
      let outputs = await this.#compute(options.feeds(0), options);
      for (let step = 1; step < options.steps && job.state === "submitted"; step += 1) {
        const carried: Record<string, Feed> = {};
        for (const [from, to] of carry) {
          const output = outputs.get(from);
          if (output !== undefined) carried[to] = { bytes: await output.readBytes(), shape: output.shape };
        }
        outputs = await this.#compute({ ...options.feeds(step), ...carried }, options);
      }
      return outputs;
    }, options);
  }

  #job(compute: (job: Job<Outputs>) => Promise<Outputs>, { signal }: StartOptions): Job<Outputs> {
    const job = new Job<Outputs>(1, (self) =>
      this.#exclusive(async () => {
        this.#active = self;
        try {
          return await self.performWhole(() => compute(self));
        } finally {
          this.#active = undefined;
        }
      }),
    );
    attend(job, this.info.name, this.#telemetry, signal, () => undefined);
    return job;
  }

  /** Nothing is sliced here. */
  prepareSlices(): Promise<void> {
    return Promise.resolve();
  }

  profile(): Promise<never> {
    return Promise.reject(this.#gpuOnly("a profile of dispatches"));
  }

  capture(): Promise<never> {
    return Promise.reject(this.#gpuOnly("values inside the graph"));
  }

  /** What lies on the caller's device: outputs that were taken as buffers. */
  memory(): MemoryUse {
    return this.#memory?.account.use() ?? new Account(this.info.name).use();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#active?.fail(this.#disposedError());
    if (this.#memory !== undefined && this.#device !== undefined) poolOf(this.#device).close(this.#memory);
    // After the run under way, which cannot be stopped. A session that cannot be released has nothing left to use.
    void this.#turns
      .ended()
      .then(() => this.#opened.session.release())
      .catch(() => undefined);
  }

  async #compute(feeds: Feeds, { textures = {} }: RunOptions): Promise<Outputs> {
    const { provider, session } = this.#opened;
    this.#outputs.check(this.#component.outputs, textures);
    const checked = checkFeeds(this.#component, feeds, this.#sizes);
    const tensors: Record<string, OrtTensor> = {};
    for (const feed of checked) {
      const { name, dtype } = feed.spec;
      tensors[name] = toOrt(provider.ort, name, dtype, feed.shape, await this.#wireOf(feed));
    }
    this.#generation += 1;
    const generation = this.#generation;
    let results: Readonly<Record<string, OrtTensor>>;
    try {
      results = await session.run(tensors);
    } catch (cause) {
      throw portableFailure(provider.name, `failed to run ${this.info.name}`, cause);
    }
    return this.#outputs.collect(this.#component.outputs, results, textures, () => {
      this.#throwIfDisposed();
      return generation === this.#generation;
    });
  }

  async #wireOf(feed: CheckedFeed): Promise<Uint8Array<ArrayBuffer>> {
    const { dtype } = feed.spec;
    if ("bytes" in feed) return toWire(dtype, feed.bytes);
    if ("image" in feed) {
      if ("image" in feed.image) return imageBytes(feed, feed.image);
      if (this.#textures === undefined) throw this.#gpuOnly(`input ${feed.spec.name} as a texture: it got no device`);
      return this.#textures.read(feed, feed.image);
    }
    if (elementCount(feed.shape) === 0) return new Uint8Array(0);
    const memory = this.#memory;
    if (memory === undefined) throw this.#gpuOnly(`input ${feed.spec.name} as a GPUBuffer: it got no device`);
    const encoder = this.device.createCommandEncoder({ label: "webinfer read" });
    const { buffer, offset, shape } = feed;
    const read = encodeRead(encoder, memory, { buffer, offset, dtype, shape });
    this.device.queue.submit([encoder.finish()]);
    return finishRead(memory, read);
  }

  async #exclusive<T>(work: () => Promise<T>): Promise<T> {
    this.#throwIfDisposed();
    return this.#turns.take(() => {
      this.#throwIfDisposed();
      return work();
    });
  }

  #throwIfDisposed(): void {
    if (this.#disposed) throw this.#disposedError();
  }

  #disposedError(): StoppedError {
    return new StoppedError("disposed", `model ${this.info.name} was disposed; load it again`);
  }

  #gpuOnly(what: string): BackendError {
    const found = `${this.info.name} runs on ${this.info.backend}`;
    return new BackendError("not-on-backend", `${found}, which has no ${what}; load it with \`backend: "webgpu"\``);
  }
}

function describe({ source, component, opened, reasons, timings }: PortableModelParts): ModelInfo {
  const { name, how } = opened.provider;
  const weightBytes = component.weights.reduce((sum, { size_bytes: bytes }) => sum + bytes, 0);
  return {
    name: source.manifest.name,
    component: component.name,
    backend: name,
    adapter: {
      vendor: "",
      architecture: name,
      device: "",
      description: how,
      isFallbackAdapter: false,
      isCpu: name === "wasm",
    },
    tier: name,
    precision: component.programs[0]?.precision ?? "fp32",
    tiling: "register",
    reasons: [...reasons, how],
    dispatches: 0,
    plan: { activationPeakBytes: 0, activationLowerBoundBytes: 0, weightBytes, gpuBytes: 0 },
    timings,
    delivery: source.delivery,
  };
}
