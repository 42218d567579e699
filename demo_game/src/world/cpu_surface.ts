// The land's textures without WebGPU: blended on the CPU, uploaded by the renderer.

import {
  DataTexture,
  FloatType,
  LinearFilter,
  NearestFilter,
  RedFormat,
  RepeatWrapping,
  RGBAFormat,
  UnsignedByteType,
} from "three/webgpu";

import { SAMPLES, sampleCell, type TileSamples } from "./field.js";
import { CELL_M, hann, heightOf, layAt, STRIDE, TILE, wholeness } from "./shape.js";
import type { Relief } from "./source.js";
import type { BlockJob, LandSurface, Part } from "./surface.js";
import { BLOCK, type Block } from "./window.js";

const BLOCKS_PER_FRAME = 48;
const WEIGHTS = Float32Array.from({ length: TILE }, (_, offset) => hann(offset));

/** Same texels as GpuSurface; nothing is ever read back. */
export class CpuSurface implements LandSurface {
  readonly heights: DataTexture;
  readonly normals: DataTexture;
  readonly cells: number;
  readonly blocksPerFrame = BLOCKS_PER_FRAME;
  readonly readBacks = 0;
  readonly #seed: number;
  readonly #reliefs = new Map<number, Float32Array>();
  readonly #heights: Float32Array<ArrayBuffer>;
  readonly #normals: Uint8Array<ArrayBuffer>;

  constructor(seed: number, cells: number) {
    this.#seed = seed;
    this.cells = cells;
    this.#heights = new Float32Array(cells * cells);
    this.#normals = new Uint8Array(cells * cells * 4);
    this.heights = new DataTexture(this.#heights, cells, cells, RedFormat, FloatType);
    this.heights.minFilter = this.heights.magFilter = NearestFilter;
    this.normals = new DataTexture(this.#normals, cells, cells, RGBAFormat, UnsignedByteType);
    this.normals.minFilter = this.normals.magFilter = LinearFilter;
    this.normals.wrapS = this.normals.wrapT = RepeatWrapping;
  }

  put(slot: number, relief: Relief): Promise<TileSamples> {
    if (!("values" in relief)) return Promise.reject(new Error("without WebGPU, a tile comes as values"));
    const { values } = relief;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    this.#reliefs.set(
      slot,
      values.map((value) => value - mean),
    );
    const samples = Float32Array.from(
      { length: SAMPLES * SAMPLES },
      (_, k) => values[sampleCell(Math.floor(k / SAMPLES)) * TILE + sampleCell(k % SAMPLES)] ?? 0,
    );
    return Promise.resolve({ values: samples, mean });
  }

  draw(jobs: readonly BlockJob[]): void {
    if (jobs.length === 0) return;
    for (const job of jobs) this.#each(job, (x, z, texel) => (this.#heights[texel] = this.#blend(job.parts, x, z)));
    for (const job of jobs) {
      this.#each(job, (x, z, texel) => {
        this.#shade(job.parts, x, z, texel);
      });
    }
    this.heights.needsUpdate = this.normals.needsUpdate = true;
  }

  read({ x, z }: Block): Promise<Float32Array> {
    const values = new Float32Array(BLOCK * BLOCK);
    this.#each({ x, z, parts: [] }, (column, row, texel) => {
      values[(row - z * BLOCK) * BLOCK + column - x * BLOCK] = this.#heights[texel] ?? 0;
    });
    return Promise.resolve(values);
  }

  dispose(): void {
    this.heights.dispose();
    this.normals.dispose();
  }

  #each({ x, z }: BlockJob, visit: (x: number, z: number, texel: number) => void): void {
    for (let row = z * BLOCK; row < (z + 1) * BLOCK; row++) {
      for (let column = x * BLOCK; column < (x + 1) * BLOCK; column++) visit(column, row, this.#texel(column, row));
    }
  }

  #texel(x: number, z: number): number {
    return (z & (this.cells - 1)) * this.cells + (x & (this.cells - 1));
  }

  #blend(parts: readonly Part[], x: number, z: number): number {
    let [sum, weights] = [0, 0];
    for (const { slot, i, j, presence } of parts) {
      const [u, v] = [x - i * STRIDE, z - j * STRIDE];
      const weight = (WEIGHTS[u] ?? 0) * (WEIGHTS[v] ?? 0) * presence;
      sum += weight * (this.#reliefs.get(slot)?.[v * TILE + u] ?? 0);
      weights += weight;
    }
    const relief = weights === 0 ? 0 : (sum / weights) * wholeness(weights);
    return heightOf(layAt(this.#seed, x, z), relief);
  }

  #shade(parts: readonly Part[], x: number, z: number, texel: number): void {
    const height = (dx: number, dz: number): number => this.#heights[this.#texel(x + dx, z + dz)] ?? 0;
    const [riseX, riseZ] = [height(1, 0) - height(-1, 0), height(0, 1) - height(0, -1)];
    const length = Math.hypot(riseX, 2 * CELL_M, riseZ);
    const wide = (height(5, 0) + height(-5, 0) + height(0, 5) + height(0, -5)) / 4;
    const weight = (part: Part): number =>
      (WEIGHTS[x - part.i * STRIDE] ?? 0) * (WEIGHTS[z - part.j * STRIDE] ?? 0) * part.presence;
    const there = wholeness(parts.reduce((sum, part) => sum + weight(part), 0));
    const stands = Math.min(Math.max(0.5 + (height(0, 0) - wide) / 24, 0), 1);
    const channels = [0.5 - riseX / length / 2, 0.5 - riseZ / length / 2, there, stands];
    this.#normals.set(
      channels.map((channel) => Math.round(channel * 255)),
      texel * 4,
    );
  }
}
