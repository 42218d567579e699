// Tiles from the diffusion model: noise of the place in, relief out, in slices of the game's frames.

import type { FrameScheduler, Model } from "@webinfer/runtime";

import { normalCells } from "./noise.js";
import { SIGMA, STRIDE, TILE } from "./shape.js";
import type { Relief, TileRequest, TileSource } from "./source.js";
import { difficultyOf, type TileId } from "./tiles.js";

/** One job runs, one waits, so that the GPU has no gap between them. */
const JOBS = 2;

/** The model's inputs for a tile of a world. */
export function feedsOf(
  seed: number,
  tile: TileId,
): Record<"noisy" | "sigma" | "difficulty", Float32Array<ArrayBuffer>> {
  return {
    noisy: normalCells(seed, tile.i * STRIDE, tile.j * STRIDE, TILE, SIGMA),
    sigma: Float32Array.of(SIGMA),
    difficulty: Float32Array.of(difficultyOf(tile)),
  };
}

/** Starts a job per tile. `onGpu`: the relief is taken as a buffer of the model's device, else it is read. */
export class ModelSource implements TileSource {
  readonly backend: Model["info"]["backend"];
  readonly capacity = JOBS;
  readonly #model: Model;
  readonly #scheduler: () => FrameScheduler | undefined;
  readonly #seed: number;
  readonly #onGpu: boolean;

  constructor(model: Model, scheduler: () => FrameScheduler | undefined, seed: number, onGpu: boolean) {
    this.backend = model.info.backend;
    this.#model = model;
    this.#scheduler = scheduler;
    this.#seed = seed;
    this.#onGpu = onGpu;
  }

  request(tile: TileId): TileRequest {
    const job = this.#model.start(feedsOf(this.#seed, tile));
    this.#scheduler()?.add(job);
    const done = job.done.then(async (outputs): Promise<Relief> => {
      const denoised = outputs.get("denoised");
      if (denoised === undefined) throw new Error("the package has no output named denoised");
      if (this.#onGpu) return { buffer: denoised.buffer };
      return { values: Float32Array.from(await denoised.read(), Number) };
    });
    return {
      done,
      cancel: (): void => {
        job.cancel();
      },
    };
  }
}
