// Which tiles of the endless land there are, which cover a place, and which one is wanted first. Pure.

import { STRIDE, TILE } from "./shape.js";

/** Tile (i, j) covers the cells from (i, j) * STRIDE on, TILE along each axis. */
export interface TileId {
  readonly i: number;
  readonly j: number;
}

/** Where the view is and where it goes, in cells; `forward` has length 1. */
export interface View {
  readonly x: number;
  readonly z: number;
  readonly forwardX: number;
  readonly forwardZ: number;
}

/** Difficulty of the first tile, and of those beyond `HARDEST_CELLS`. */
const EASIEST = 0.15;
const HARDEST_CELLS = 3200;
/** A tile straight ahead counts as this much nearer than one behind. */
const AHEAD = 0.45;

export function keyOf({ i, j }: TileId): string {
  return `${String(i)},${String(j)}`;
}

/** The tiles that cover a cell: one, two or four. */
export function covering(x: number, z: number): readonly TileId[] {
  const [columns, rows] = [axis(x), axis(z)];
  return rows.flatMap((j) => columns.map((i) => ({ i, j })));
}

function axis(cell: number): readonly number[] {
  const first = Math.floor((cell - TILE) / STRIDE) + 1;
  const last = Math.floor(cell / STRIDE);
  return first === last ? [first] : [first, last];
}

/** Cells from the view to the tile's centre. */
export function distanceTo(tile: TileId, view: View): number {
  return Math.hypot(tile.i * STRIDE + TILE / 2 - view.x, tile.j * STRIDE + TILE / 2 - view.z);
}

/** Lower is wanted sooner: by distance, what lies ahead before what lies behind. */
export function urgency(tile: TileId, view: View): number {
  const [dx, dz] = [tile.i * STRIDE + TILE / 2 - view.x, tile.j * STRIDE + TILE / 2 - view.z];
  const distance = Math.hypot(dx, dz);
  // Close by, the direction says nothing: those tiles are under the player.
  const ahead = (dx * view.forwardX + dz * view.forwardZ) / Math.max(distance, TILE);
  return distance * (1 - AHEAD * ahead);
}

/** The tiles whose centre is within `radius` cells of the view, the most urgent first. */
export function wanted(view: View, radius: number): readonly TileId[] {
  const range = (centre: number): readonly number[] => {
    const first = Math.ceil((centre - radius - TILE / 2) / STRIDE);
    const last = Math.floor((centre + radius - TILE / 2) / STRIDE);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  };
  const columns = range(view.x);
  const tiles = range(view.z).flatMap((j) => columns.map((i) => ({ i, j })));
  return tiles
    .filter((tile) => distanceTo(tile, view) <= radius)
    .map((tile) => ({ tile, order: urgency(tile, view) }))
    .sort((a, b) => a.order - b.order)
    .map(({ tile }) => tile);
}

/** The model's difficulty input, 0 to 1: grows with the distance from tile (0, 0). */
export function difficultyOf({ i, j }: TileId): number {
  const share = Math.min((Math.hypot(i, j) * STRIDE) / HARDEST_CELLS, 1);
  return Math.fround(EASIEST + (1 - EASIEST) * share);
}
