// Where a model lives: on one device at a time, with one residence at most; after a loss on another device.

import { diagnosed, lossBehind, lossOf } from "./diagnose.js";
import { StoppedError, WebinferError } from "./errors.js";
import { OutputTextures } from "./image/output_textures.js";
import type { JobProgress } from "./job.js";
import { poolOf } from "./pool.js";
import type { Loss, Recovery } from "./recovery.js";
import { install, type Assets, type Placement, type Residence } from "./residence.js";
import type { Settled } from "./settle.js";

/** Who lives there. */
export interface Occupant {
  /** Jobs that have not ended, and the progress of the one that has its turn. */
  occupied(): { readonly jobs: number; readonly progress: JobProgress | undefined };
  /** The device is lost. What has its turn must end, with any error; it gets another turn where the model recovers. */
  interrupt(loss: Loss): void;
}

/** Drops the residence for evictions and losses, and makes another one where a turn finds none. */
export class Home {
  readonly #assets: Assets;
  readonly #recovery: Recovery;
  readonly #settle: (device: GPUDevice | undefined, signal: AbortSignal) => Promise<Settled>;
  readonly #occupant: Occupant;
  /** Ends what waits for room, weights or another device when the model is disposed. */
  readonly #stop = new AbortController();
  readonly #disposed: Promise<void>;
  readonly #losses = new WeakMap<GPUDevice, Loss>();
  #placement: Placement;
  #residence: Residence | undefined;
  /** Was evicted, and keeps the outputs of the last run. */
  #evicted: Residence | undefined;
  #textures: OutputTextures | undefined;
  /** Never rejects. */
  #recovering: Promise<void> | undefined;
  /** Why there is no home any more. */
  #end: WebinferError | undefined;

  constructor(
    assets: Assets,
    settled: Settled,
    recovery: Recovery,
    settle: (device: GPUDevice | undefined, signal: AbortSignal) => Promise<Settled>,
    occupant: Occupant,
  ) {
    this.#assets = assets;
    this.#recovery = recovery;
    this.#settle = settle;
    this.#occupant = occupant;
    this.#disposed = new Promise((resolve) => {
      this.#stop.signal.addEventListener("abort", () => {
        resolve();
      });
    });
    this.#placement = settled.placement;
    this.#move(settled);
  }

  /** Where the model is, or was last. */
  get placement(): Placement {
    return this.#placement;
  }

  /** Where outputs are stored as textures: they stay whatever is evicted, until the device is lost. */
  get textures(): OutputTextures {
    const { device } = this.#placement;
    const name = this.#assets.source.manifest.name;
    return (this.#textures ??= new OutputTextures(device, poolOf(device).open(this.#assets, name)));
  }

  /** Why the model cannot be used any more. */
  get end(): WebinferError | undefined {
    return this.#end;
  }

  /** Throws "disposed", or "device-lost" where nobody recovers from it. */
  throwIfUnusable(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  /** Throws "device-lost" where the device of a residence was lost. */
  throwIfLost({ device }: Residence): void {
    const loss = this.#losses.get(device);
    if (loss !== undefined) throw loss;
  }

  /**
   * Run `work` on the residence, occupied meanwhile; once more on another one where the device is lost on the way. What
   * fails because of a dispose or a loss is reported as that, and what the GPU refuses with its diagnosis.
   */
  async work<T>(work: (residence: Residence) => Promise<T>): Promise<T> {
    for (;;) {
      if (this.#recovering !== undefined) await Promise.race([this.#recovering, this.#disposed]);
      this.throwIfUnusable();
      const { device } = this.#placement;
      let residence: Residence | undefined;
      try {
        residence = await this.#resident();
        const result = await work(residence);
        if (!this.#losses.has(device)) return result;
      } catch (cause) {
        const failure = await this.#failure(cause, device, residence);
        if (failure !== undefined) throw failure;
      } finally {
        residence?.vacate();
      }
    }
  }

  /** Run `work` with what a run left in a residence; rejects like `work`, but never starts again. */
  async look<T>(residence: Residence, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      throw (await this.#failure(cause, residence.device, residence)) ?? this.#losses.get(residence.device) ?? cause;
    }
  }

  /** Nobody needs the outputs of the last run any more. */
  forget(): void {
    this.#evicted?.dispose();
    this.#evicted = undefined;
  }

  /** Free everything; returns what is thrown from now on. */
  dispose(): WebinferError {
    const name = this.#assets.source.manifest.name;
    const end = new StoppedError("disposed", `model ${name} was disposed; load it again`);
    this.#end = end;
    this.#stop.abort(end);
    this.#leave();
    return end;
  }

  /** What to report for `cause`; undefined where the device was lost. */
  async #failure(cause: unknown, device: GPUDevice, residence?: Residence): Promise<WebinferError | undefined> {
    this.throwIfUnusable();
    await lossBehind(cause, device);
    this.throwIfUnusable();
    if (this.#losses.has(device)) return undefined;
    let first = cause;
    // Work with a buffer that the GPU refused fails as well, later and with less to say.
    await residence?.memory.settle().catch((refusal: unknown) => {
      first = refusal;
    });
    return diagnosed(first, this.#assets, this.#placement, this.#occupant.occupied().progress);
  }

  /** The residence at hand, or a new one in the same place; occupied. */
  async #resident(): Promise<Residence> {
    const { signal } = this.#stop;
    const present = this.#residence;
    if (present !== undefined && (await present.occupy(signal))) return present;
    this.throwIfUnusable();
    const placement = this.#placement;
    const residence = await install(this.#assets, placement, { signal });
    // Too late: nobody would ever free it.
    if (placement !== this.#placement || this.#losses.has(placement.device) || this.#end !== undefined) {
      residence.dispose();
      throw this.#end ?? this.#losses.get(placement.device) ?? new RangeError("moved while it was not lost");
    }
    this.#take(residence);
    return residence;
  }

  #take(residence: Residence): void {
    this.#residence = residence;
    residence.mayEvict(() => {
      this.#residence = undefined;
      this.forget();
      this.#evicted = residence;
      residence.evict();
    });
  }

  #move({ placement, residence }: Settled): void {
    this.#placement = placement;
    this.#take(residence);
    residence.vacate();
    // Weak: a game's device outlives its models.
    const self = new WeakRef(this);
    void placement.device.lost.then((info) => {
      const home = self.deref();
      if (home !== undefined) home.#lose(info);
    });
  }

  #lose(info: GPUDeviceLostInfo): void {
    // Who disposes a model destroys its device on purpose.
    if (this.#end !== undefined) return;
    const { jobs, progress } = this.#occupant.occupied();
    const loss = lossOf(info, this.#assets, this.#placement, progress);
    this.#losses.set(this.#placement.device, loss);
    if (info.reason !== "destroyed") void this.#placement.marker.noteLoss(this.#placement.program);
    this.#leave();
    const { signal } = this.#stop;
    const settle = async (device: GPUDevice | undefined): Promise<Settled> => {
      const settled = await this.#settle(device, signal);
      this.#move(settled);
      if (this.#end !== undefined) this.#leave();
      return settled;
    };
    this.#recovering = this.#recovery.after(loss, jobs, settle, signal).then(
      () => {
        this.#recovering = undefined;
      },
      (cause: unknown) => {
        this.#recovering = undefined;
        this.#end ??= cause instanceof WebinferError ? cause : loss;
      },
    );
    this.#occupant.interrupt(loss);
  }

  /** Free all that is on the device, and the device where it was made for the model. */
  #leave(): void {
    this.#residence?.dispose();
    this.#residence = undefined;
    this.forget();
    if (this.#textures !== undefined) poolOf(this.#placement.device).close(this.#textures.memory);
    this.#textures = undefined;
    if (this.#placement.owned) this.#placement.device.destroy();
  }
}
