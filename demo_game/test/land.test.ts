// Heights on the CPU: continuous, independent of the order of tiles, and the same in the drawn surface and in the rules.

import { describe, expect, it } from "vitest";

import { meshOf, reachOf, snapOf } from "../src/land/mesh.js";
import { CpuSurface } from "../src/world/cpu_surface.js";
import { HeightField, SAMPLES, sampleCell } from "../src/world/field.js";
import { feedsOf } from "../src/world/model_source.js";
import { smoothNoise } from "../src/world/noise.js";
import { CELL_M, hann, heightOf, STRIDE, TILE, wholeness } from "../src/world/shape.js";
import { HashSource } from "../src/world/source.js";
import { covering, type TileId } from "../src/world/tiles.js";
import { tilesOf } from "../src/world/window.js";

const SEED = 11;

/** Smooth enough that samples of every second cell stand for it. */
function relief({ i, j }: TileId): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: TILE * TILE }, (_, k) => {
    const [x, z] = [i * STRIDE + (k % TILE), j * STRIDE + Math.floor(k / TILE)];
    return 0.5 * smoothNoise(i * 7 + j, x, z, 32);
  });
}

function samplesOf(values: Float32Array): { values: Float32Array; mean: number } {
  const samples = Float32Array.from(
    { length: SAMPLES * SAMPLES },
    (_, k) => values[sampleCell(Math.floor(k / SAMPLES)) * TILE + sampleCell(k % SAMPLES)] ?? 0,
  );
  return { values: samples, mean: values.reduce((a, b) => a + b, 0) / values.length };
}

describe("shape", () => {
  it("weights of whole land are never too small to be whole", () => {
    for (let cell = 0; cell < STRIDE; cell++) {
      const sum = covering(cell, cell).reduce(
        (total, { i, j }) => total + hann(cell - i * STRIDE) * hann(cell - j * STRIDE),
        0,
      );
      expect(wholeness(sum)).toBe(1);
    }
  });

  it("heights rise with the relief and end below 291 m", () => {
    let before = -1;
    for (let step = 0; step <= 100; step++) {
      const height = heightOf(0.7, -0.6 + 0.02 * step);
      expect(height).toBeGreaterThanOrEqual(before);
      before = height;
    }
    expect(before).toBeLessThan(291);
    expect(heightOf(1, 1)).toBeLessThan(291);
    expect(heightOf(0, -1)).toBe(0);
  });
});

describe("HeightField", () => {
  const tiles = [-1, 0, 1].flatMap((j) => [-1, 0, 1].map((i) => ({ i, j })));

  it("does not depend on the order in which tiles come", () => {
    const [forth, back] = [new HeightField(SEED), new HeightField(SEED)];
    for (const tile of tiles) forth.put(tile, samplesOf(relief(tile)), 1);
    for (const tile of tiles.toReversed()) back.put(tile, samplesOf(relief(tile)), 1);
    for (let k = 0; k < 200; k++) {
      const [x, z] = [k * 4.7, 900 - k * 5.1];
      expect(forth.landAt(x, z)).toBeCloseTo(back.landAt(x, z), 9);
    }
  });

  it("is continuous where tiles begin and end", () => {
    const field = new HeightField(SEED);
    for (const tile of tiles) field.put(tile, samplesOf(relief(tile)), 1);
    for (const cell of [0, 48, 80]) {
      const [before, after] = [field.cellHeight(cell - 1e-4, 40), field.cellHeight(cell + 1e-4, 40)];
      expect(Math.abs(before - after)).toBeLessThan(0.05);
    }
  });

  it("knows where the land is whole", () => {
    const field = new HeightField(SEED);
    field.put({ i: 0, j: 0 }, samplesOf(relief({ i: 0, j: 0 })), 1);
    expect(field.settledAt(60 * CELL_M, 60 * CELL_M)).toBe(true);
    expect(field.settledAt(20 * CELL_M, 60 * CELL_M)).toBe(false);
    field.put({ i: 0, j: 0 }, samplesOf(relief({ i: 0, j: 0 })), 0.5);
    expect(field.settledAt(60 * CELL_M, 60 * CELL_M)).toBe(false);
  });

  it("agrees with the drawn surface, up to what lies between its samples", async () => {
    const [field, surface] = [new HeightField(SEED), new CpuSurface(SEED, 256)];
    const slots = new Map<string, number>();
    for (const [slot, tile] of tiles.entries()) {
      field.put(tile, await surface.put(slot, { values: relief(tile) }), 1);
      slots.set(`${String(tile.i)},${String(tile.j)}`, slot);
    }
    for (const block of [
      { x: 0, z: 2 },
      { x: 4, z: 5 },
      { x: -2, z: 1 },
    ]) {
      const parts = tilesOf(block).map((tile) => {
        return { ...tile, slot: slots.get(`${String(tile.i)},${String(tile.j)}`) ?? -1, presence: 1 };
      });
      surface.draw([{ ...block, parts }]);
      const heights = await surface.read(block);
      const off = heights.map((height, k) => {
        return Math.abs(height - field.cellHeight(block.x * 16 + (k % 16), block.z * 16 + Math.floor(k / 16)));
      });
      expect(Math.max(...off)).toBeLessThan(0.6);
    }
  });
});

describe("sources", () => {
  it("the model gets the noise of the place and the distance's difficulty", () => {
    const [left, right] = [feedsOf(SEED, { i: 0, j: 0 }), feedsOf(SEED, { i: 1, j: 0 })];
    expect(left.noisy[STRIDE]).toBe(right.noisy[0]);
    expect(left.sigma).toEqual(Float32Array.of(80));
    expect(right.difficulty[0]).toBeGreaterThan(left.difficulty[0] ?? 1);
  });

  it("land without a model is in the model's range, and a cancelled tile rejects", async () => {
    const source = new HashSource(SEED);
    const made = await source.request({ i: 3, j: -4 }).done;
    if (!("values" in made)) throw new Error("expected values");
    expect(Math.max(...made.values)).toBeLessThanOrEqual(1);
    expect(Math.min(...made.values)).toBeGreaterThanOrEqual(-1);
    const request = source.request({ i: 0, j: 0 });
    request.cancel();
    await expect(request.done).rejects.toThrow("out of view");
  });
});

describe("mesh", () => {
  const shape = { quads: 16, levels: 3, step: 2 };

  it("covers the square once: no gap, no overlap", () => {
    const geometry = meshOf(shape);
    const [position, index] = [geometry.getAttribute("position"), geometry.index];
    let area = 0;
    for (let k = 0; k < (index?.count ?? 0); k += 3) {
      const [a = 0, b = 0, c = 0] = [0, 1, 2].map((corner) => index?.getX(k + corner));
      const [ax, az] = [position.getX(a), position.getZ(a)];
      const cross =
        (position.getZ(b) - az) * (position.getX(c) - ax) - (position.getX(b) - ax) * (position.getZ(c) - az);
      expect(cross).toBeGreaterThan(0);
      area += cross / 2;
    }
    expect(area).toBe((2 * reachOf(shape)) ** 2);
  });

  it("keeps its vertices on the lattices of their levels", () => {
    const position = meshOf(shape).getAttribute("position");
    for (let k = 0; k < position.count; k++) {
      expect(Math.abs(position.getX(k) % position.getY(k))).toBe(0);
      expect(snapOf(shape) % position.getY(k)).toBe(0);
    }
  });
});
