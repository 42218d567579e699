// Where tiles come from: an interface, and the land without a model, from a hash.

import { smoothNoise, mix32 } from "./noise.js";
import { STRIDE, TILE } from "./shape.js";
import { difficultyOf, type TileId } from "./tiles.js";

/** What makes the relief of a tile: TILE x TILE values in [-1, 1], in a GPU buffer or in memory. */
export type Relief = { readonly buffer: GPUBuffer } | { readonly values: Float32Array<ArrayBuffer> };

/** A tile on its way. `cancel` makes `done` reject. */
export interface TileRequest {
  /** A buffer is valid in the task in which this resolves: the next tile overwrites it. */
  readonly done: Promise<Relief>;
  cancel(): void;
}

export interface TileSource {
  /** What computes: named in the HUD. */
  readonly backend: "webgpu" | "webnn" | "wasm" | "hash";
  /** Requests that it takes at a time. */
  readonly capacity: number;
  request(tile: TileId): TileRequest;
}

/** Sums of smooth noise, folded into ridges: for players without the model, and to measure the game without it. */
export class HashSource implements TileSource {
  readonly backend = "hash";
  readonly capacity = 1;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = mix32(seed + 7919);
  }

  request(tile: TileId): TileRequest {
    let cancelled = false;
    const done = new Promise<Relief>((resolve, reject) => {
      // A task of its own: the frame that asks is not the frame that pays.
      setTimeout(() => {
        if (cancelled) reject(new DOMException("the tile is out of view", "AbortError"));
        else resolve({ values: this.#relief(tile) });
      }, 0);
    });
    return {
      done,
      cancel: (): void => {
        cancelled = true;
      },
    };
  }

  #relief(tile: TileId): Float32Array<ArrayBuffer> {
    const values = new Float32Array(TILE * TILE);
    const rough = 0.35 + 0.65 * difficultyOf(tile);
    for (let row = 0; row < TILE; row++) {
      for (let column = 0; column < TILE; column++) {
        const [x, z] = [tile.i * STRIDE + column, tile.j * STRIDE + row];
        let [sum, weight] = [0, 0.5];
        for (const period of [48, 21, 9]) {
          sum += weight * (1 - 2 * Math.abs(2 * smoothNoise(this.#seed + period, x, z, period) - 1));
          weight /= 2.4;
        }
        values[row * TILE + column] = -0.3 + 0.4 * rough * sum;
      }
    }
    return values;
  }
}
