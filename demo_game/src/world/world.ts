// The endless land around the player: which tiles are asked for, kept, blended and let go.

import { HeightField, type TileSamples } from "./field.js";
import type { TileRequest, TileSource } from "./source.js";
import type { BlockJob, LandSurface } from "./surface.js";
import { distanceTo, keyOf, wanted, type TileId, type View } from "./tiles.js";
import { BlockWindow, tilesOf, type Block } from "./window.js";

/** A tile that is part of the land. */
export interface LandTile extends TileId, TileSamples {
  readonly slot: number;
  readonly backend: TileSource["backend"];
  /** Share of the time in which it rises. */
  age: number;
  /** How far it has risen, 0 to 1: grows in steps, so that all of its blocks show the same. */
  presence: number;
}

interface WorldOptions {
  readonly seed: number;
  readonly surface: LandSurface;
  /** Tiles that the surface has room for. */
  readonly slots: number;
  /** Cells up to which land is asked for. */
  readonly radius: number;
  /** Seconds in which a tile rises, and in how many steps. */
  readonly rise: { readonly seconds: number; readonly steps: number };
  /** Told when a tile could not be made. */
  readonly onFault: (cause: unknown) => void;
}

/** Cells beyond the radius within which a tile is still kept: turning back costs nothing. */
const KEEP = 160;

export class World {
  readonly field: HeightField;
  readonly surface: LandSurface;
  /** Undefined: no more tiles are asked for. */
  source: TileSource | undefined;
  readonly #options: WorldOptions;
  readonly #window: BlockWindow;
  readonly #tiles = new Map<string, LandTile>();
  readonly #requests = new Map<string, { readonly tile: TileId; readonly request: TileRequest }>();
  readonly #free: number[];
  #made = 0;
  #waiting = 0;
  #disposed = false;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.surface = options.surface;
    this.field = new HeightField(options.seed);
    this.#window = new BlockWindow(options.surface.cells, options.radius);
    this.#free = Array.from({ length: options.slots }, (_, slot) => options.slots - 1 - slot);
  }

  get tiles(): readonly LandTile[] {
    return [...this.#tiles.values()];
  }

  /** Tiles of the view that are not there yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Tiles that came so far, those that were let go included. */
  get made(): number {
    return this.#made;
  }

  /** Whether a tile is there and has risen. */
  has(tile: TileId): boolean {
    return this.#tiles.get(keyOf(tile))?.presence === 1;
  }

  /** Once a frame; `view` in cells, `seconds` since the last one. */
  update(view: View, seconds: number): void {
    this.#window.move(view.x, view.z);
    this.#rise(seconds);
    this.#letGo(view);
    this.#ask(view);
    this.surface.draw(this.#window.take(this.surface.blocksPerFrame).map((block) => this.#jobOf(block)));
  }

  dispose(): void {
    this.#disposed = true;
    for (const { request } of this.#requests.values()) request.cancel();
    this.surface.dispose();
  }

  #jobOf(block: Block): BlockJob {
    return { ...block, parts: tilesOf(block).flatMap((tile) => this.#tiles.get(keyOf(tile)) ?? []) };
  }

  #rise(seconds: number): void {
    const { rise } = this.#options;
    for (const tile of this.#tiles.values()) {
      if (tile.presence === 1) continue;
      tile.age = Math.min(tile.age + seconds / rise.seconds, 1);
      const presence = Math.floor(tile.age * rise.steps) / rise.steps;
      if (presence === tile.presence) continue;
      tile.presence = presence;
      this.field.put(tile, tile, presence);
      this.#window.touch(tile);
    }
  }

  #letGo(view: View): void {
    const reach = this.#options.radius + KEEP;
    for (const [key, { tile, request }] of this.#requests) {
      if (distanceTo(tile, view) <= reach) continue;
      this.#requests.delete(key);
      request.cancel();
    }
    for (const [key, tile] of this.#tiles) {
      if (distanceTo(tile, view) > reach) this.#drop(key, tile);
    }
  }

  #drop(key: string, tile: LandTile): void {
    this.#tiles.delete(key);
    this.#free.push(tile.slot);
    this.field.remove(tile);
    this.#window.touch(tile);
  }

  #ask(view: View): void {
    const missing = wanted(view, this.#options.radius).filter((tile) => !this.#tiles.has(keyOf(tile)));
    this.#waiting = missing.length;
    const { source } = this;
    if (source === undefined) return;
    for (const tile of missing) {
      if (this.#requests.size >= source.capacity) return;
      if (!this.#requests.has(keyOf(tile))) this.#request(source, tile, view);
    }
  }

  #request(source: TileSource, tile: TileId, view: View): void {
    const key = keyOf(tile);
    const slot = this.#free.pop() ?? this.#furthestSlot(view);
    const request = source.request(tile);
    this.#requests.set(key, { tile, request });
    request.done
      .then(async (relief) => {
        const samples = await this.surface.put(slot, relief);
        if (this.#disposed || this.#requests.get(key)?.request !== request) {
          this.#free.push(slot);
          return;
        }
        this.#requests.delete(key);
        this.#made += 1;
        this.#tiles.set(key, { ...tile, ...samples, slot, backend: source.backend, age: 0, presence: 0 });
      })
      .catch((cause: unknown) => {
        this.#free.push(slot);
        if (this.#requests.get(key)?.request !== request) return;
        this.#requests.delete(key);
        if (!this.#disposed) this.#options.onFault(cause);
      });
  }

  #furthestSlot(view: View): number {
    const [furthest] = this.tiles.toSorted((a, b) => distanceTo(b, view) - distanceTo(a, view));
    if (furthest === undefined) throw new Error("the land has no slots for tiles");
    this.#drop(keyOf(furthest), furthest);
    const slot = this.#free.pop();
    if (slot === undefined) throw new Error("the land has no slots for tiles");
    return slot;
  }
}
