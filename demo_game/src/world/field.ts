// The land as the game's rules see it: heights on the CPU, from the few samples that each tile leaves there.

import { CELL_M, hann, heightOf, layAt, TILE, WATER_M, wholeness, STRIDE } from "./shape.js";
import { covering, keyOf, type TileId } from "./tiles.js";

/** Samples along an edge of a tile: of every second cell, and of the last one. */
export const SAMPLES = 65;

/** What the CPU keeps of a tile. */
export interface TileSamples {
  /** The model's output, SAMPLES x SAMPLES. */
  readonly values: Float32Array;
  /** Mean of the whole output. */
  readonly mean: number;
}

interface Entry extends TileSamples {
  /** How far the tile has risen, 0 to 1. */
  presence: number;
}

/** Cell of a tile that the sample of an index stands for. */
export function sampleCell(index: number): number {
  return Math.min(index * 2, TILE - 1);
}

/** Heights and slopes at any place; positions are metres. What the GPU blends, this blends as well. */
export class HeightField {
  readonly #tiles = new Map<string, Entry>();
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  put(tile: TileId, samples: TileSamples, presence: number): void {
    this.#tiles.set(keyOf(tile), { ...samples, presence });
  }

  remove(tile: TileId): void {
    this.#tiles.delete(keyOf(tile));
  }

  /** Metres above the sea bed. */
  landAt(x: number, z: number): number {
    return this.cellHeight(x / CELL_M, z / CELL_M);
  }

  /** Metres above the sea bed of what carries the player: land, or water where it lies higher. */
  surfaceAt(x: number, z: number): number {
    return Math.max(this.landAt(x, z), WATER_M);
  }

  /** Rise per metre along x and z. */
  slopeAt(x: number, z: number): readonly [x: number, z: number] {
    const reach = CELL_M;
    const rise = (dx: number, dz: number): number => this.surfaceAt(x + dx, z + dz) - this.surfaceAt(x - dx, z - dz);
    return [rise(reach, 0) / (2 * reach), rise(0, reach) / (2 * reach)];
  }

  /** Whether the land here will not change any more. */
  settledAt(x: number, z: number): boolean {
    return covering(x / CELL_M, z / CELL_M).every((tile) => this.#tiles.get(keyOf(tile))?.presence === 1);
  }

  /** Like `landAt`, of a position in cells. */
  cellHeight(x: number, z: number): number {
    let [sum, weights] = [0, 0];
    for (const tile of covering(x, z)) {
      const entry = this.#tiles.get(keyOf(tile));
      if (entry === undefined) continue;
      const [u, v] = [x - tile.i * STRIDE, z - tile.j * STRIDE];
      const weight = hann(u) * hann(v) * entry.presence;
      sum += weight * (sampleAt(entry.values, u, v) - entry.mean);
      weights += weight;
    }
    const relief = weights === 0 ? 0 : (sum / weights) * wholeness(weights);
    return heightOf(layAt(this.#seed, x, z), relief);
  }
}

/** Bilinear between samples; `u` and `v` are cells into the tile. */
function sampleAt(values: Float32Array, u: number, v: number): number {
  const [column, right] = indexOf(u);
  const [row, down] = indexOf(v);
  const at = (k: number): number => values[k] ?? 0;
  const base = row * SAMPLES + column;
  const near = at(base) + (at(base + 1) - at(base)) * right;
  const far = at(base + SAMPLES) + (at(base + SAMPLES + 1) - at(base + SAMPLES)) * right;
  return near + (far - near) * down;
}

function indexOf(offset: number): readonly [index: number, share: number] {
  const index = Math.min(Math.floor(offset / 2), SAMPLES - 2);
  const start = sampleCell(index);
  return [index, Math.min((offset - start) / (sampleCell(index + 1) - start), 1)];
}
