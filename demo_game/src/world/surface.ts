// What the renderer draws the land from: two textures that wrap around, however they are written.

import type { Texture } from "three/webgpu";

import type { TileSamples } from "./field.js";
import type { Relief } from "./source.js";
import type { TileId } from "./tiles.js";
import type { Block } from "./window.js";

/** A tile as the blending takes it; `presence` is how far it has risen, 0 to 1. */
export interface Part extends TileId {
  readonly slot: number;
  readonly presence: number;
}

/** A block to be written, and the one, two or four tiles at most that are there for it. */
export interface BlockJob extends Block {
  readonly parts: readonly Part[];
}

/** Cell (x, z) of the land is texel (x mod cells, z mod cells). */
export interface LandSurface {
  /** Metres above the sea bed, one channel of float32; no filter. */
  readonly heights: Texture;
  /** x and z of the normal, how much of the land is there, and how far it stands out, all from 0 to 1; linear filter. */
  readonly normals: Texture;
  readonly cells: number;
  /** Blocks that a frame can write. */
  readonly blocksPerFrame: number;
  /** Read-backs from the GPU so far. */
  readonly readBacks: number;
  /** Keep a tile's relief in a slot; resolves with what the rules of the game need. */
  put(slot: number, relief: Relief): Promise<TileSamples>;
  draw(jobs: readonly BlockJob[]): void;
  /** Heights of a block as they are drawn: for tests. Counts as a read-back where it is one. */
  read(block: Block): Promise<Float32Array>;
  dispose(): void;
}
