// What stands around the player, sector by sector, and the shots in the air.

import { hashCell } from "../world/noise.js";
import {
  SECTOR_M,
  sectorAt,
  stormsNear,
  touches,
  type Beacon,
  type Heights,
  type Place,
  type Sector,
  type Storm,
} from "./places.js";

/** Metres around the player within which sectors are looked at. */
const REACH_M = 1300;
const BEACON_M = 17;
const SPIRE_MARGIN_M = 2.5;
const SENTINEL = { sightM: 420, everyS: 2.6, shotMPerS: 130, shotS: 5, hitM: 6 } as const;

export interface Shot {
  x: number;
  y: number;
  z: number;
  readonly vx: number;
  readonly vy: number;
  readonly vz: number;
  left: number;
}

/** Where something is and how it moves; metres, metres per second. */
export interface Body extends Place {
  readonly vx: number;
  readonly vy: number;
  readonly vz: number;
}

/** What a step brought the player. */
export interface Encounters {
  readonly collected: readonly Beacon[];
  readonly hits: number;
  /** How deep in a storm, 0 to 1. */
  readonly storm: number;
}

export class FieldOfPlay {
  readonly shots: Shot[] = [];
  storms: readonly Storm[] = [];
  /** Grows when the sectors or their beacons change. */
  version = 0;
  readonly #seed: number;
  readonly #heights: Heights;
  readonly #start: { readonly x: number; readonly z: number };
  readonly #sectors = new Map<string, Sector>();
  readonly #taken = new Set<string>();
  readonly #reloaded = new Map<Place, number>();

  constructor(seed: number, heights: Heights, start: { readonly x: number; readonly z: number }) {
    this.#seed = seed;
    this.#heights = heights;
    this.#start = start;
  }

  /** Beacons that were not taken in this run, spires and sentinels in reach. */
  get sectors(): readonly Sector[] {
    return [...this.#sectors.values()];
  }

  /** A run begins: every beacon is back, no shot is in the air. */
  restart(): void {
    this.#sectors.clear();
    this.#taken.clear();
    this.#reloaded.clear();
    this.shots.length = 0;
    this.version += 1;
  }

  /** Look at the sectors around a place; a sector whose land is not whole is tried again later. */
  look(x: number, z: number): void {
    const [column, row] = [Math.floor(x / SECTOR_M), Math.floor(z / SECTOR_M)];
    const reach = Math.ceil(REACH_M / SECTOR_M);
    for (const key of this.#sectors.keys()) {
      const [i = 0, j = 0] = key.split(",").map(Number);
      if (Math.max(Math.abs(i - column), Math.abs(j - row)) > reach) this.#forget(key);
    }
    for (let j = row - reach; j <= row + reach; j++) {
      for (let i = column - reach; i <= column + reach; i++) {
        const key = `${String(i)},${String(j)}`;
        if (this.#sectors.has(key)) continue;
        const sector = sectorAt(this.#seed, i, j, this.#heights, this.#start);
        if (sector === undefined) continue;
        this.#sectors.set(key, this.#taken.has(key) ? { ...sector, beacons: [] } : sector);
        this.version += 1;
      }
    }
  }

  /** One step of the run; `seconds` since the last, `runSeconds` since its begin. */
  step(craft: Body, seconds: number, runSeconds: number): Encounters {
    this.storms = stormsNear(this.#seed, craft, this.#start, runSeconds);
    const collected: Beacon[] = [];
    let hits = 0;
    for (const [key, sector] of this.#sectors) {
      const beacon = sector.beacons.find((one) => distance(one, craft) < BEACON_M);
      if (beacon !== undefined) {
        collected.push(beacon);
        this.#taken.add(key);
        this.#sectors.set(key, { ...sector, beacons: [] });
        this.version += 1;
      }
      if (sector.spires.some((spire) => touches(spire, craft.x, craft.y, craft.z, SPIRE_MARGIN_M))) hits += 1;
      for (const sentinel of sector.sentinels) this.#aim(sentinel, craft, runSeconds);
    }
    for (const shot of this.shots) {
      shot.x += shot.vx * seconds;
      shot.y += shot.vy * seconds;
      shot.z += shot.vz * seconds;
      shot.left -= seconds;
      if (distance(shot, craft) < SENTINEL.hitM) {
        hits += 1;
        shot.left = 0;
      } else if (shot.y < this.#heights.surfaceAt(shot.x, shot.z)) shot.left = 0;
    }
    const flying = this.shots.filter(({ left }) => left > 0);
    this.shots.splice(0, this.shots.length, ...flying);
    const depths = this.storms.map(({ x, z, radius }) => 1 - Math.hypot(x - craft.x, z - craft.z) / radius);
    return { collected, hits, storm: Math.min(Math.max(0, ...depths) * 2, 1) };
  }

  /** The nearest beacon that lies ahead, for the HUD. */
  nearest({ x, z, vx, vz }: Body): Beacon | undefined {
    let [best, least]: [Beacon | undefined, number] = [undefined, Infinity];
    for (const beacon of this.sectors.flatMap(({ beacons }) => beacons)) {
      const [dx, dz] = [beacon.x - x, beacon.z - z];
      const away = Math.hypot(dx, dz);
      const ahead = (dx * vx + dz * vz) / (Math.max(away, 1) * Math.max(Math.hypot(vx, vz), 1));
      const cost = away * (2 - ahead);
      if (cost < least) [best, least] = [beacon, cost];
    }
    return best;
  }

  #aim(sentinel: Place, craft: Body, runSeconds: number): void {
    const away = distance(sentinel, craft);
    if (away > SENTINEL.sightM || away < 30) return;
    const offset = (hashCell(this.#seed, sentinel.x, sentinel.z) % 1000) / 1000;
    if (runSeconds < (this.#reloaded.get(sentinel) ?? offset)) return;
    this.#reloaded.set(sentinel, runSeconds + SENTINEL.everyS);
    // Where the craft will be when the shot gets there; good aim only where it flies straight on.
    const time = away / SENTINEL.shotMPerS;
    const [dx, dy, dz] = [
      craft.x + craft.vx * time - sentinel.x,
      craft.y + craft.vy * time - sentinel.y,
      craft.z + craft.vz * time - sentinel.z,
    ];
    const scale = SENTINEL.shotMPerS / Math.max(Math.hypot(dx, dy, dz), 1);
    this.shots.push({
      ...{ x: sentinel.x, y: sentinel.y, z: sentinel.z },
      ...{ vx: dx * scale, vy: dy * scale, vz: dz * scale, left: SENTINEL.shotS },
    });
  }

  #forget(key: string): void {
    for (const sentinel of this.#sectors.get(key)?.sentinels ?? []) this.#reloaded.delete(sentinel);
    this.#sectors.delete(key);
    this.version += 1;
  }
}

function distance(a: Place, b: Place): number {
  return Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z);
}
