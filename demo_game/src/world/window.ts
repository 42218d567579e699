// The part of the endless land that textures hold: blocks of cells that wrap around as the view moves. Pure.

import { STRIDE, TILE } from "./shape.js";
import type { TileId } from "./tiles.js";

/** Cells along an edge of a block; tiles begin and end at blocks. */
export const BLOCK = 16;

/** A block of the land: the cells from (x, z) * BLOCK on. */
export interface Block {
  readonly x: number;
  readonly z: number;
}

/** The tiles that cover a block: one, two or four. */
export function tilesOf({ x, z }: Block): readonly TileId[] {
  const axis = (block: number): readonly number[] => {
    const first = Math.ceil((block * BLOCK - (TILE - BLOCK)) / STRIDE);
    const last = Math.floor((block * BLOCK) / STRIDE);
    return first === last ? [first] : [first, last];
  };
  const columns = axis(x);
  return axis(z).flatMap((j) => columns.map((i) => ({ i, j })));
}

/** Knows which block lies where in a texture of `cells` x `cells` (a power of two), and which ones must be written. */
export class BlockWindow {
  readonly cells: number;
  readonly #radius: number;
  readonly #held: (Block | undefined)[];
  readonly #stale = new Map<string, Block>();
  #centre: Block | undefined;

  /** Blocks up to `radiusCells` around the view are kept; the texture must be wider than twice that. */
  constructor(cells: number, radiusCells: number) {
    const perSide = cells / BLOCK;
    this.cells = cells;
    this.#radius = Math.min(Math.ceil(radiusCells / BLOCK) + 1, perSide / 2 - 1);
    this.#held = new Array<Block | undefined>(perSide * perSide);
  }

  /** Follow the view, a position in cells: blocks that came into reach are stale. */
  move(x: number, z: number): void {
    const centre = { x: Math.floor(x / BLOCK), z: Math.floor(z / BLOCK) };
    if (this.#centre?.x === centre.x && this.#centre.z === centre.z) return;
    this.#centre = centre;
    for (let dz = -this.#radius; dz <= this.#radius; dz++) {
      for (let dx = -this.#radius; dx <= this.#radius; dx++) {
        const block = { x: centre.x + dx, z: centre.z + dz };
        const held = this.#held[this.#place(block)];
        if (held?.x !== block.x || held.z !== block.z) this.#stale.set(nameOf(block), block);
      }
    }
  }

  /** A tile came, rose, or went: its blocks, and the seam around them that normals reach across, are stale. */
  touch({ i, j }: TileId): void {
    const [x0, z0] = [(i * STRIDE) / BLOCK - 1, (j * STRIDE) / BLOCK - 1];
    const edge = TILE / BLOCK + 2;
    for (let z = z0; z < z0 + edge; z++) {
      for (let x = x0; x < x0 + edge; x++) {
        if (this.#near({ x, z })) this.#stale.set(nameOf({ x, z }), { x, z });
      }
    }
  }

  /** Everything must be written again, as after the loss of the texture. */
  clear(): void {
    this.#held.fill(undefined);
    this.#stale.clear();
    this.#centre = undefined;
  }

  /** Up to `count` stale blocks, the nearest first; they count as written. */
  take(count: number): readonly Block[] {
    const stale = [...this.#stale.values()].filter((block) => this.#near(block));
    if (stale.length > count) stale.sort((a, b) => this.#distance(a) - this.#distance(b));
    const taken = stale.slice(0, count);
    this.#stale.clear();
    for (const block of stale.slice(count)) this.#stale.set(nameOf(block), block);
    for (const block of taken) this.#held[this.#place(block)] = block;
    return taken;
  }

  #place({ x, z }: Block): number {
    const perSide = this.cells / BLOCK;
    return (z & (perSide - 1)) * perSide + (x & (perSide - 1));
  }

  #near(block: Block): boolean {
    return this.#distance(block) <= this.#radius;
  }

  #distance({ x, z }: Block): number {
    const centre = this.#centre;
    return centre === undefined ? Infinity : Math.max(Math.abs(x - centre.x), Math.abs(z - centre.z));
  }
}

function nameOf({ x, z }: Block): string {
  return `${String(x)},${String(z)}`;
}
