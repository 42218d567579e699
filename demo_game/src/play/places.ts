// Where beacons and hazards stand: decided by the seed and by the heights, the same in every visit. Pure.

import { hashCell, mix32, unitAt } from "../world/noise.js";
import { CELL_M, STRIDE, TILE, WATER_M } from "../world/shape.js";
import { difficultyAt, type BeaconKind } from "./rules.js";

/** What the rules ask of the land; metres. */
export interface Heights {
  landAt(x: number, z: number): number;
  surfaceAt(x: number, z: number): number;
  settledAt(x: number, z: number): boolean;
}

/** Metres along an edge of a sector: each decides by itself what stands in it. */
export const SECTOR_M = 40 * CELL_M;
/** Nothing harmful stands nearer to the start. */
const PEACE_M = 700;
/** Places per axis that are compared for the deepest and the highest. */
const TRIES = 4;

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

export interface Beacon extends Place {
  readonly kind: BeaconKind;
}

/** A needle of rock; `y` is its foot. */
export interface Spire extends Place {
  readonly radius: number;
  readonly height: number;
}

/** A watcher that shoots; `y` is where it hovers. */
export type Sentinel = Place;

export interface Sector {
  readonly beacons: readonly Beacon[];
  readonly spires: readonly Spire[];
  readonly sentinels: readonly Sentinel[];
}

/** Undefined where the land of the sector is not whole yet. `start`: where the run begins. */
export function sectorAt(
  seed: number,
  column: number,
  row: number,
  heights: Heights,
  start: { readonly x: number; readonly z: number },
): Sector | undefined {
  const hash = hashCell(mix32(seed + 31), column, row);
  const candidates = candidatesOf(hash, column, row);
  if (!candidates.every(({ x, z }) => heights.settledAt(x, z))) return undefined;
  const places = candidates.map(({ x, z }) => ({ x, y: heights.surfaceAt(x, z), z })).sort((a, b) => a.y - b.y);
  const [lowest, highest] = [places[0], places.at(-1)];
  if (lowest === undefined || highest === undefined) return undefined;
  const middle = { x: (column + 0.5) * SECTOR_M, z: (row + 0.5) * SECTOR_M };
  const away = Math.hypot(middle.x - start.x, middle.z - start.z);
  const harm = away < PEACE_M ? 0 : 0.25 + difficultyAt(away - PEACE_M);
  return {
    beacons: beaconsOf(hash, lowest, highest),
    spires: spiresOf(hash, harm, places),
    sentinels: unitAt(hash, 20) < 0.3 * harm ? [{ ...highest, y: highest.y + 26 }] : [],
  };
}

function candidatesOf(
  hash: number,
  column: number,
  row: number,
): readonly { readonly x: number; readonly z: number }[] {
  return Array.from({ length: TRIES * TRIES }, (_, k) => ({
    x: (column + ((k % TRIES) + 0.2 + 0.6 * unitAt(hash, 100 + k)) / TRIES) * SECTOR_M,
    z: (row + (Math.floor(k / TRIES) + 0.2 + 0.6 * unitAt(hash, 200 + k)) / TRIES) * SECTOR_M,
  }));
}

/** A ridge beacon where the sector has a height worth the climb, a valley beacon else; some sectors have none. */
function beaconsOf(hash: number, lowest: Place, highest: Place): readonly Beacon[] {
  const draw = unitAt(hash, 1);
  if (draw < 0.3 && highest.y - lowest.y > 14) return [{ ...highest, kind: "ridge", y: highest.y + 14 }];
  if (draw < 0.78) return [{ ...lowest, kind: "valley", y: lowest.y + 9 }];
  return [];
}

/** On dry land, never on the beacons' own places. */
function spiresOf(hash: number, harm: number, places: readonly Place[]): readonly Spire[] {
  const count = Math.floor(harm * 3 * unitAt(hash, 2) + 0.35 * Math.min(harm * 4, 1));
  return places
    .slice(2, -2)
    .filter((_, k) => k % 3 === hash % 3)
    .filter(({ y }) => y > WATER_M + 2)
    .slice(0, count)
    .map((place, k) => ({ ...place, radius: 7 + 6 * unitAt(hash, 40 + k), height: 45 + 60 * unitAt(hash, 60 + k) }));
}

/** A storm drifts with the wind; `x`, `z` is its middle at a time. */
export interface Storm {
  readonly x: number;
  readonly z: number;
  readonly radius: number;
}

/** Metres along an edge of the squares that may have a storm. */
const STORM_SQUARE_M = 1400;
const STORM_WANDER_M = 420;

/** The storms around a place, after `seconds` of the run. */
export function stormsNear(
  seed: number,
  at: { readonly x: number; readonly z: number },
  start: { readonly x: number; readonly z: number },
  seconds: number,
): readonly Storm[] {
  const [column, row] = [Math.floor(at.x / STORM_SQUARE_M), Math.floor(at.z / STORM_SQUARE_M)];
  return [-1, 0, 1].flatMap((dz) =>
    [-1, 0, 1].flatMap((dx): readonly Storm[] => {
      const hash = hashCell(mix32(seed + 47), column + dx, row + dz);
      const middle = { x: (column + dx + 0.5) * STORM_SQUARE_M, z: (row + dz + 0.5) * STORM_SQUARE_M };
      const away = Math.hypot(middle.x - start.x, middle.z - start.z);
      if (away < 2 * PEACE_M || unitAt(hash, 0) > 0.3 + 0.5 * difficultyAt(away)) return [];
      const phase = 2 * Math.PI * unitAt(hash, 1) + seconds * 0.035;
      return [
        {
          x: middle.x + STORM_WANDER_M * Math.sin(phase),
          z: middle.z + STORM_WANDER_M * Math.cos(1.3 * phase),
          radius: 120 + 80 * unitAt(hash, 2),
        },
      ];
    }),
  );
}

/** Whether a craft touches a spire: a cone with a blunt tip. */
export function touches(spire: Spire, x: number, y: number, z: number, margin: number): boolean {
  const up = y - spire.y;
  if (up > spire.height + margin) return false;
  const radius = spire.radius * (1 - 0.8 * Math.min(Math.max(up / spire.height, 0), 1));
  return Math.hypot(x - spire.x, z - spire.z) < radius + margin;
}

/**
 * A good place to begin: a coast near the middle of the world, found by the lay of the land alone, and such that one tile
 * makes the land there.
 */
export function startOf(layAt: (x: number, z: number) => number): { readonly x: number; readonly z: number } {
  const reach = [-3, -2, -1, 0, 1, 2, 3];
  const alone = (tile: number): number => tile * STRIDE + TILE / 2;
  const cells = reach.flatMap((row) => reach.map((column) => ({ x: alone(column), z: alone(row) })));
  const rated = cells.map((cell) => ({ cell, off: Math.abs(layAt(cell.x, cell.z) - 0.5) }));
  const best = rated.reduce((a, b) => (b.off < a.off ? b : a));
  return { x: best.cell.x * CELL_M, z: best.cell.z * CELL_M };
}
