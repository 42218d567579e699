// A model on WebGPU: its runs take turns, each on the residence that it has then.

import { InputError, type WebinferError } from "./errors.js";
import { inputsAt, type Feeds } from "./feeds.js";
import type { SymbolBounds } from "./generated/manifest.js";
import { Home } from "./home.js";
import { Job, type Course } from "./job.js";
import type { MemoryUse } from "./memory.js";
import type {
  CapturedTensor,
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
} from "./model.js";
import { collectOutputs } from "./outputs.js";
import { poolOf } from "./pool.js";
import type { Recovery } from "./recovery.js";
import type { Assets, Placement, Residence } from "./residence.js";
import { checked } from "./scopes.js";
import type { Settled } from "./settle.js";
import { Steps } from "./steps.js";
import { profile, type Profile } from "./timing.js";
import { attend, Turns } from "./turns.js";

export interface GpuModelParts {
  readonly assets: Assets;
  readonly settled: Settled;
  readonly recovery: Recovery;
  /** Settle anew, on the given device or one of its own. */
  readonly settle: (device: GPUDevice | undefined, signal: AbortSignal) => Promise<Settled>;
  /** Load on another backend, where that is allowed: the device was lost, and there is none to go on with. */
  readonly instead: ((loss: WebinferError) => Promise<Model>) | undefined;
  readonly timings: LoadTimings;
}

/** Submits that the GPU has not finished: more would only add latency and stall the page. */
const MAX_SUBMITS_IN_FLIGHT = 2;

/** Predicted time of one submit of `run`: the page's own work waits no longer than that. */
const MAX_SUBMIT_MS = 100;

/** Made by `load`. */
export class GpuModel implements Model {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly symbols: Readonly<Record<string, SymbolBounds>>;
  readonly #assets: Assets;
  readonly #timings: LoadTimings;
  readonly #home: Home;
  readonly #turns = new Turns();
  readonly #inFlight: Promise<unknown>[] = [];
  #active: Job<Outputs> | undefined;
  #jobs = 0;
  #generation = 0;
  #performedOn: Placement | undefined;
  readonly #instead: GpuModelParts["instead"];
  #moving: Promise<Model> | undefined;
  /** What this model is since WebGPU was lost for good. */
  #moved: Model | undefined;

  constructor({ assets, settled, recovery, settle, instead, timings }: GpuModelParts) {
    this.#assets = assets;
    this.#instead = instead;
    this.#timings = timings;
    this.inputs = assets.component.inputs;
    this.outputs = assets.component.outputs;
    this.symbols = assets.component.symbols;
    this.#home = new Home(assets, settled, recovery, settle, {
      occupied: () => ({ jobs: this.#jobs, progress: this.#active?.progress }),
      interrupt: (loss) => this.#active?.interrupt(loss),
    });
    this.#reportMemory();
  }

  get info(): ModelInfo {
    return this.#moved?.info ?? describe(this.#assets, this.#home.placement, this.#timings);
  }

  get device(): GPUDevice {
    return this.#moved?.device ?? this.#home.placement.device;
  }

  inputsAt(values: Readonly<Record<string, number>>): readonly RunTensor[] {
    return inputsAt(this.#assets.component, values);
  }

  run(feeds: FeedSource, options: RunOptions = {}): Promise<Outputs> {
    if (this.#moved !== undefined) return this.#moved.run(feeds, options);
    return this.#job(this.#runs(feeds, options), (model) => model.run(feeds, options), {}, 1, true).done;
  }

  start(feeds: FeedSource, options: StartOptions = {}): Job<Outputs> {
    if (this.#moved !== undefined) return this.#moved.start(feeds, options);
    return this.#job(this.#runs(feeds, options), (model) => model.run(feeds, options), options, 1, false);
  }

  startSteps(options: StepsOptions): Job<Outputs> {
    if (this.#moved !== undefined) return this.#moved.startSteps(options);
    const steps = new Steps(this.#assets.component, options);
    const course = (residence: Residence): Promise<Course> =>
      steps.course(residence, this.#home.textures, this.#overwrite);
    return this.#job(course, (model) => model.startSteps(options).done, options, options.steps, false);
  }

  prepareSlices({ budgetMs }: { readonly budgetMs: number }): Promise<void> {
    if (this.#moved !== undefined) return this.#moved.prepareSlices({ budgetMs });
    return this.#exclusive(async (residence) => {
      this.#overwrite();
      await residence.slicer.prepare(budgetMs);
      residence.saveCosts();
    });
  }

  profile(feeds: FeedSource): Promise<Profile> {
    const ask = this.#asker(feeds);
    return this.#exclusive(async (residence) => {
      await this.#submitInputs(residence, ask(residence));
      return profile(residence.device, residence.memory, residence.executor.dispatches);
    });
  }

  capture(feeds: FeedSource, names: readonly string[]): Promise<readonly CapturedTensor[]> {
    const ask = this.#asker(feeds);
    return this.#exclusive(async (residence) => {
      await this.#submitInputs(residence, ask(residence));
      // Tools and self-tests use it, games do not.
      const { capture } = await import("./capture.js");
      return capture(residence, names);
    });
  }

  memory(): MemoryUse {
    return this.#moved?.memory() ?? poolOf(this.device).useOf(this.#assets);
  }

  dispose(): void {
    if (this.#home.end?.code === "disposed") return;
    const end = this.#home.dispose();
    this.#active?.fail(end);
    this.#moved?.dispose();
  }

  /** One run of `feeds`. */
  #runs(feeds: FeedSource, { textures = {} }: RunOptions): (residence: Residence) => Promise<Course> {
    const ask = this.#asker(feeds);
    return async (residence) => {
      const admitted = residence.admit(ask(residence));
      const images = await residence.takeImages(admitted, textures, this.#home.textures);
      const begin = (encoder: GPUCommandEncoder): void => {
        this.#overwrite();
        residence.writeInputs(encoder, admitted);
        images.begin(encoder);
      };
      return {
        slicer: residence.slicer,
        steps: 1,
        first: 0,
        begin,
        end: images.end,
        images: images.uses,
        advance: () => undefined,
      };
    };
  }

  /** The first run of a residence may be the death of the page. */
  async #performed(perform: () => Promise<void>): Promise<void> {
    const { placement } = this.#home;
    if (this.#performedOn === placement) return perform();
    const { marker, program } = placement;
    await marker.during("first run", program, perform);
    this.#performedOn = placement;
  }

  /** Where the model goes on after `cause`; rejects with it, or with what is wrong there. */
  async #move(cause: unknown): Promise<Model> {
    const { end } = this.#home;
    if (this.#instead === undefined || end === undefined || cause !== end || end.code === "disposed") throw cause;
    this.#moving ??= this.#instead(end);
    const moved = await this.#moving;
    this.#moved = moved;
    if (this.#home.end !== end) moved.dispose();
    return moved;
  }

  /**
   * What a job does on whichever residence it has its turn, and what on a model elsewhere; `whole`: nobody else submits its
   * slices.
   */
  #job(
    course: (residence: Residence) => Promise<Course>,
    elsewhere: (model: Model) => Promise<Outputs>,
    { signal }: StartOptions,
    steps: number,
    whole: boolean,
  ): Job<Outputs> {
    const of = this.#home.placement.program.dispatches.length * steps;
    this.#jobs += 1;
    const job = new Job<Outputs>(of, (self) =>
      this.#exclusive(async (residence) => {
        this.#active = self;
        try {
          let over = false;
          const performed = this.#performed(() => self.perform(() => course(residence))).finally(() => {
            over = true;
          });
          if (whole) void this.#submitWhole(self, () => over);
          await performed;
        } finally {
          this.#active = undefined;
        }
        residence.saveCosts();
        return collectOutputs(this.#assets.component, residence, this.#home, this.#freshness());
      }).catch(async (cause: unknown) => {
        const model = await this.#move(cause);
        return self.performWhole(() => elsewhere(model));
      }),
    );
    attend(job, this.#assets.source.manifest.name, this.#assets.telemetry, signal, () => {
      this.#jobs -= 1;
      this.#reportMemory();
    });
    return job;
  }

  /** As fast as the GPU takes it, in one turn: after a loss the job gets another. */
  async #submitWhole(job: Job<Outputs>, over: () => boolean): Promise<void> {
    await job.started;
    while (!over() && job.state === "running") {
      if (this.#inFlight.length >= MAX_SUBMITS_IN_FLIGHT) await this.#inFlight.shift();
      this.#inFlight.push(job.step({ budgetMs: MAX_SUBMIT_MS, divideAboveMs: Infinity }).finished);
    }
  }

  /** The feeds for a residence: of a device that was lost since they were given, nothing can be used. */
  #asker(feeds: FeedSource): (residence: Residence) => Feeds {
    if (typeof feeds === "function") return feeds;
    const { device } = this;
    return (residence) => {
      if (residence.device === device) return feeds;
      for (const [name, feed] of Object.entries(feeds)) {
        if (ArrayBuffer.isView(feed) || !("buffer" in feed || "texture" in feed)) continue;
        throw new InputError(
          "input-lost",
          `input ${name} lies on the device that was lost; give the feeds as a function, which is asked again`,
        );
      }
      return feeds;
    };
  }

  /** The outputs of the last run become stale. */
  readonly #overwrite = (): void => {
    this.#generation += 1;
    this.#home.forget();
  };

  /** Answers whether the outputs of this moment are still those of the last run. */
  #freshness(): () => boolean {
    const generation = this.#generation;
    return () => generation === this.#generation;
  }

  async #submitInputs(residence: Residence, feeds: Feeds): Promise<void> {
    const admitted = residence.admit(feeds);
    const images = await residence.takeImages(
      admitted,
      {},
      this.#home.textures,
      "every dispatch is measured as planned",
    );
    this.#overwrite();
    await checked(residence.device, "inputs", () => {
      const encoder = residence.device.createCommandEncoder({ label: "webinfer inputs" });
      residence.writeInputs(encoder, admitted);
      images.begin(encoder);
      residence.device.queue.submit([encoder.finish()]);
    });
  }

  #reportMemory(): void {
    const { buffers, bytes, peakBytes } = this.memory();
    const model = this.info.name;
    this.#assets.telemetry.emit({ type: "memory", at: performance.now(), model, buffers, bytes, peakBytes });
  }

  async #exclusive<T>(work: (residence: Residence) => Promise<T>): Promise<T> {
    this.#home.throwIfUnusable();
    return this.#turns.take(() => this.#home.work(work));
  }
}

function describe({ source, component }: Assets, placement: Placement, timings: LoadTimings): ModelInfo {
  const { adapter, program, reasons } = placement;
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
