// window.game: what tests and benchmarks may see of a running game, and the little that they may change.

import type { Craft } from "./play/craft.js";
import type { Run } from "./play/rules.js";
import type { TileSource } from "./world/source.js";
import type { Block } from "./world/window.js";

export interface ProbeTile {
  readonly i: number;
  readonly j: number;
  readonly backend: TileSource["backend"];
  readonly difficulty: number;
  /** 0 to 1: how far it has risen. */
  readonly presence: number;
  /** Mean of the model's output, and the output at every second cell, 65 x 65. */
  readonly mean: number;
  readonly samples: readonly number[];
}

export interface GameProbe {
  readonly state: "title" | "flying" | "paused" | "over";
  /** The first land is there: Enter flies. */
  readonly ready: boolean;
  readonly seed: number;
  readonly craft: Readonly<Craft>;
  readonly run: Readonly<Run>;
  readonly tiles: readonly ProbeTile[];
  /** Tiles that came so far, and tiles of the view that are missing. */
  readonly made: number;
  readonly waiting: number;
  readonly readBacks: number;
  /** What makes the land, on which tier, and why; what draws it. */
  readonly backend: string;
  readonly tier: string;
  readonly reason: string;
  readonly renderer: "webgpu" | "webgl2";
  /** Milliseconds between pictures, the last 4096, oldest first. */
  readonly frameTimes: readonly number[];
  readonly slices: { readonly budgetMs: number; readonly predictedMs: number };
  /** Beacons, spires and sentinels in reach. */
  readonly places: readonly { readonly kind: string; readonly x: number; readonly y: number; readonly z: number }[];
  /** Everything that went wrong, as text. */
  readonly faults: readonly string[];
  /** The craft flies by itself, and nothing ends the run. */
  autopilot: boolean;
  /** Metres above the sea bed, as the rules see it. */
  heightAt(x: number, z: number): number;
  /** Metres above the sea bed of the cells of a block, 16 x 16, as they are drawn; a read-back. */
  readBlock(block: Block): Promise<readonly number[]>;
}

declare global {
  interface Window {
    game?: GameProbe;
  }
}

/** A ring of the last values. */
export class Ring {
  readonly #values: Float32Array;
  #count = 0;

  constructor(size: number) {
    this.#values = new Float32Array(size);
  }

  push(value: number): void {
    this.#values[this.#count % this.#values.length] = value;
    this.#count += 1;
  }

  /** Mean of the last `count` values. */
  mean(count: number): number {
    const last = this.list().slice(-count);
    return last.reduce((sum, value) => sum + value, 0) / Math.max(last.length, 1);
  }

  /** Oldest first. */
  list(): readonly number[] {
    const size = this.#values.length;
    if (this.#count <= size) return [...this.#values.subarray(0, this.#count)];
    const start = this.#count % size;
    return [...this.#values.subarray(start), ...this.#values.subarray(0, start)];
  }
}
