// How the model's output becomes land: sizes, blending, heights. world/surface.wgsl.ts says the same for the GPU.

import { mix32, smoothNoise } from "./noise.js";

/** Metres between two neighbouring heights. */
export const CELL_M = 6;
/** Metres of the game's world per metre of the model's. */
export const VERTICAL = 70;
/** Height of the water in metres. */
export const WATER_M = 17;
/** Cells along an edge of what the model makes at a time. */
export const TILE = 128;
/** Cells from one tile to the next: neighbours share 48, where they are blended. */
export const STRIDE = 80;
/** The noise level that the one-step consistency model starts from. */
export const SIGMA = 80;
/** From this sum of weights on, land is whole; below, it fades into the bare lay of the land. */
export const WHOLE_WEIGHT = 0.3;

/** The model was trained on heights h in metres as 2 * asinh(h / 0.1) / asinh(h_max / 0.1) - 1. */
const ASINH_SCALE = 0.1;
const NORMALIZER = Math.asinh(22.16864013671875 / ASINH_SCALE);
/** From this value on, heights are bent towards BEND + HEADROOM. */
export const BEND = 0.1;
export const HEADROOM = 0.35;
/** Periods in cells and weights of the lay of the land. */
export const LAY: readonly (readonly [period: number, weight: number])[] = [
  [384, 0.6],
  [144, 0.3],
  [64, 0.1],
];

/** Weight of the cell `offset` cells into a tile, along one axis: a Hann window. */
export function hann(offset: number): number {
  return Math.max(0.5 - 0.5 * Math.cos((2 * Math.PI * offset) / (TILE - 1)), 1e-3);
}

/** Lay of the land at a cell, 0 (deep) to 1 (high): what the model does not decide. */
export function layAt(seed: number, x: number, z: number): number {
  return LAY.reduce(
    (sum, [period, weight], octave) => sum + weight * smoothNoise(laySeed(seed, octave), x, z, period),
    0,
  );
}

/** The seed of one octave of the lay of the land. */
export function laySeed(seed: number, octave: number): number {
  return mix32(seed + 101 * (octave + 1));
}

/**
 * Metres above the sea bed, of the lay of the land and the blended relief (model output less its tile's mean). Together
 * they are a value as the model gives it; high ones are bent, so that peaks end at 290 m.
 */
export function heightOf(lay: number, relief: number): number {
  const value = -1.1 + 1.8 * lay + 1.4 * (0.5 + lay) * relief;
  const bent = value < BEND ? value : BEND + HEADROOM * (1 - Math.exp((BEND - value) / HEADROOM));
  const unit = Math.max((bent + 1) / 2, 0);
  return VERTICAL * ASINH_SCALE * Math.sinh(unit * NORMALIZER);
}

/** How much of the relief shows at a sum of weights: 0 to 1. */
export function wholeness(weight: number): number {
  const t = Math.min(weight / WHOLE_WEIGHT, 1);
  return t * t * (3 - 2 * t);
}
