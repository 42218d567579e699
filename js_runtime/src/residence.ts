// Everything that a model has on one device: derived from (package, component, program, device), dropped as a whole.

import type { KernelTrail } from "./diagnosis.js";
import type { CrashMarker } from "./crash_marker.js";
import { InputError } from "./errors.js";
import { Executor, NO_SUBSTITUTES } from "./executor.js";
import { Sizes, type Extent } from "./expressions.js";
import { checkFeeds, type CheckedFeed, type Feeds } from "./feeds.js";
import { NO_IMAGES, type ImageRun } from "./image/image_run.js";
import type { Images } from "./image/images.js";
import type { OutputTextures } from "./image/output_textures.js";
import type { TextureOptions } from "./image/picture.js";
import type { Component, PlannedTensor, Program } from "./generated/manifest.js";
import type { ModelMemory } from "./memory.js";
import type { LoadTimings } from "./model.js";
import type { Package } from "./package.js";
import type { Pipelines } from "./pipelines.js";
import { poolOf, type DevicePool } from "./pool.js";
import type { TensorRange } from "./readback.js";
import { costKey, type RecordStore } from "./record_store.js";
import { CostModel, type Rates } from "./scheduling/costs.js";
import { watch } from "./scopes.js";
import { Slicer } from "./slicer.js";
import type { LoadPhase, Telemetry } from "./telemetry/events.js";
import { elementCount } from "./tensor.js";
import type { AdapterInfo } from "./tier.js";
import { streamWeights, writePadded } from "./weights.js";

/** What outlives every residence of a model. */
export interface Assets {
  readonly source: Package;
  readonly component: Component;
  readonly records: RecordStore;
  readonly telemetry: Telemetry;
}

/** Where a model is to live, and as which program. `pipelines` and `trail` serve every residence on the device. */
export interface Placement {
  readonly device: GPUDevice;
  /** The device was made for the model, and goes with it. */
  readonly owned: boolean;
  readonly adapter: AdapterInfo;
  readonly program: Program;
  /** Why the program was chosen. */
  readonly reasons: readonly string[];
  /** What its costs start from. */
  readonly rates: Rates;
  readonly pipelines: Pipelines;
  readonly marker: CrashMarker;
  readonly trail: KernelTrail;
}

export interface InstallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** Milliseconds of an installation: weights overlap with compilation and warm-up. */
export type InstallTimings = Pick<LoadTimings, "compileMs" | "weightsMs" | "warmUpMs">;

/** Learned costs are kept after this many measurements, then whenever they have doubled. */
const FIRST_SAVE = 8;

/**
 * A program on a device: warm, its weights in place. Made by `install`, never changed, dropped by `dispose`. What runs on
 * it occupies it.
 */
export class Residence {
  readonly device: GPUDevice;
  readonly program: Program;
  readonly memory: ModelMemory;
  readonly executor: Executor;
  readonly slicer: Slicer;
  readonly timings: InstallTimings;
  readonly #assets: Assets;
  readonly #pool: DevicePool;
  readonly #sizes: Sizes;
  readonly #costKey: string;
  #images: Images | undefined;
  #imageRun = NO_IMAGES;
  #nextSave = FIRST_SAVE;

  /** For `install`. */
  constructor(
    assets: Assets,
    { device, adapter, program, rates }: Placement,
    memory: ModelMemory,
    executor: Executor,
    sizes: Sizes,
    timings: InstallTimings,
  ) {
    this.#assets = assets;
    this.#pool = poolOf(device);
    this.device = device;
    this.program = program;
    this.memory = memory;
    this.executor = executor;
    this.#sizes = sizes;
    this.timings = timings;
    const { name } = assets.source.manifest;
    const costs = new CostModel(program.dispatches, rates);
    this.slicer = new Slicer(device, memory, executor, costs, name, assets.telemetry);
    this.#costKey = costKey(adapter, name, program);
    assets.records.get(this.#costKey).then(
      (text) => {
        if (text !== undefined) costs.restore(text);
      },
      () => undefined,
    );
  }

  /**
   * Wait until there is room for activations, and take it. False where the residence was evicted or disposed meanwhile.
   * Rejects with "memory-budget" or "out-of-memory" where others cannot make room.
   */
  async occupy(signal: AbortSignal): Promise<boolean> {
    const allocate = (): true => {
      this.executor.acquire();
      return true;
    };
    const occupied = await this.#pool.admit(this.memory, allocate, signal);
    if (occupied === undefined) return false;
    try {
      this.executor.substitute(NO_SUBSTITUTES);
      await this.executor.bind();
      return true;
    } catch (cause) {
      this.vacate();
      throw cause;
    }
  }

  /** End what `occupy` began, or `install`: others may take the activation buffers. All work is in the queue. */
  vacate(): void {
    this.#pool.vacate(this.memory);
  }

  /** Whenever others need the room and the residence is vacant, call `evicted`, which must call `evict`. */
  mayEvict(evicted: () => void): void {
    this.#pool.mayEvict(this.memory, evicted);
  }

  /** Free everything but the outputs of the last run, which stay readable until `dispose`. */
  evict(): void {
    // Fewer may be all that is known yet of a record that is still being read.
    if (this.slicer.costs.samples >= FIRST_SAVE) this.#saveCosts();
    this.slicer.dispose();
    this.#pool.close(this.memory, "output");
  }

  /** Check the inputs of the next run, and take on the sizes that they imply. */
  admit(feeds: Feeds): readonly CheckedFeed[] {
    const checked = checkFeeds(this.#assets.component, feeds, this.#sizes);
    this.executor.resize();
    return checked;
  }

  /** Write admitted inputs: those from the CPU now, copies of buffers with `encoder`. */
  writeInputs(encoder: GPUCommandEncoder, feeds: readonly CheckedFeed[]): void {
    for (const feed of feeds) {
      if (elementCount(feed.shape) === 0) continue;
      const { buffer, offset } = this.range(this.planned(feed.spec.name));
      if ("bytes" in feed) writePadded(this.device.queue, buffer, offset, feed.bytes);
      else if ("buffer" in feed) encoder.copyBufferToBuffer(feed.buffer, feed.offset, buffer, offset, feed.sizeBytes);
    }
  }

  /**
   * Prepare the images of a run whose inputs are admitted. `refusal`: why its kernels may not use textures, if so.
   * Rejects like `Images.take`.
   */
  async takeImages(
    feeds: readonly CheckedFeed[],
    requests: Readonly<Record<string, TextureOptions>>,
    textures: OutputTextures,
    refusal?: string,
  ): Promise<ImageRun> {
    this.#imageRun = NO_IMAGES;
    if (feeds.some((feed) => "image" in feed) || Object.keys(requests).length > 0) {
      const { Images: Class } = await import("./image/images.js");
      this.#images ??= new Class(this, this.#assets.component, textures);
      this.#imageRun = await this.#images.take(feeds, requests, refusal);
    }
    this.executor.substitute(this.#imageRun.substitutes);
    return this.#imageRun;
  }

  /** What the last run did about its images. */
  get images(): ImageRun {
    return this.#imageRun;
  }

  /** A shape at the sizes of the present run. */
  shapeOf(extents: readonly Extent[]): readonly number[] {
    return this.#sizes.shapeOf(extents);
  }

  /** Where a value of the graph is planned; throws "unknown-tensor". */
  planned(name: string): PlannedTensor {
    const { tensors } = this.program;
    const tensor = Object.hasOwn(tensors, name) ? tensors[name] : undefined;
    if (tensor === undefined) throw new InputError("unknown-tensor", `value ${name} is not in the memory plan`);
    return tensor;
  }

  /** Where a value lies at the sizes of the present run. */
  range({ dtype, shape, span }: PlannedTensor): TensorRange {
    const buffer = this.executor.buffer(span.buffer);
    return { buffer, offset: span.offset, dtype, shape: this.shapeOf(shape) };
  }

  /** Keep what slices have taught, where enough of it is new. */
  saveCosts(): void {
    if (this.slicer.costs.samples >= this.#nextSave) this.#saveCosts();
  }

  #saveCosts(): void {
    const { costs } = this.slicer;
    this.#nextSave = Math.max(FIRST_SAVE, costs.samples * 2);
    // Without it the next visit learns again.
    this.#assets.records.set(this.#costKey, costs.save()).catch(() => undefined);
  }

  /** Free everything on the device. */
  dispose(): void {
    this.slicer.dispose();
    this.#pool.close(this.memory);
  }
}

/**
 * Place a model on a device: buffers, pipelines, weights, warm-up. The residence is occupied. Everything is freed again
 * when this rejects.
 */
export async function install(assets: Assets, placement: Placement, options: InstallOptions = {}): Promise<Residence> {
  const { source, component } = assets;
  const { device, program, trail } = placement;
  const pool = poolOf(device);
  const memory = pool.open(assets, source.manifest.name);
  try {
    const kernels = new Map(source.manifest.kernels.map((kernel) => [kernel.name, kernel]));
    const sizes = new Sizes(component.symbols);
    // What is written to buffers that the GPU refuses is refused as well, and the refusal of the buffers says more.
    const allocate = (): Executor =>
      watch(device, "uniforms", () => new Executor(pool, memory, program, kernels, sizes, trail)).result;
    const executor = await pool.admit(memory, allocate, options.signal);
    if (executor === undefined) throw new RangeError("only install closes its memory");
    const timings = await fillAndWarm(assets, placement, executor, options);
    await memory.settle();
    return new Residence(assets, placement, memory, executor, sizes, timings);
  } catch (cause) {
    pool.close(memory);
    throw cause;
  }
}

/** Stream the weights while pipelines compile and their shaders are warmed up. When one part fails, the other stops. */
async function fillAndWarm(
  { source, component, telemetry }: Assets,
  { device, program, pipelines, marker }: Placement,
  executor: Executor,
  options: InstallOptions,
): Promise<InstallTimings> {
  const start = performance.now();
  const elapsed = (): number => performance.now() - start;
  const ended = (phase: LoadPhase, ms: number): void => {
    telemetry.emit({ type: "phase", at: performance.now() - ms, ms, model: source.manifest.name, phase });
  };
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const prepareKernels = pipelines.all(program.prepare.map((dispatch) => dispatch.kernel));
  prepareKernels.catch(() => undefined);
  const warm = async (): Promise<Pick<InstallTimings, "compileMs" | "warmUpMs">> => {
    const names = program.dispatches.map((dispatch) => dispatch.kernel);
    const compiled = await marker.during("compile", program, () => pipelines.all(names));
    const compileMs = elapsed();
    ended("compile", compileMs);
    // The warm-up reads weights that are not there yet; what it computes is overwritten by the first run.
    await executor.bind(compiled);
    await marker.during("warm-up", program, () => executor.warmUp());
    const warmUpMs = elapsed() - compileMs;
    ended("warm-up", warmUpMs);
    return { compileMs, warmUpMs };
  };
  const fill = async (): Promise<number> => {
    await marker.during("weights", program, () =>
      streamWeights(device, source, component, executor, prepareKernels, { ...options, signal }),
    );
    const weightsMs = elapsed();
    ended("weights", weightsMs);
    return weightsMs;
  };
  const [warming, filling] = [warm(), fill()];
  try {
    const [times, weightsMs] = await Promise.all([warming, filling]);
    return { ...times, weightsMs };
  } catch (cause) {
    // Buffers are destroyed next: nothing may write to them any more.
    stop.abort();
    await Promise.allSettled([warming, filling]);
    throw cause;
  }
}
