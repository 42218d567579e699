// Score, shield, charge: what a run of the game is about. Pure.

import { share } from "./craft.js";

export type BeaconKind = "valley" | "ridge";

export const SHIELDS = 3;
const CHARGE_FULL = 100;
/** Charge per second: at the start, and beyond it where the land is hard. */
const DRAIN = { start: 2.0, hard: 1.6, boost: 4.5 } as const;
/** Flying lower than this counts as skimming: it saves charge and doubles points for distance. */
export const SKIM_M = 16;
/** Seconds within which the next beacon continues a chain. */
const CHAIN_S = 9;
const CHAIN_MAX = 8;
/** Seconds without another hit. */
const SAFE_S = 2;
const BEACONS: Readonly<Record<BeaconKind, { readonly points: number; readonly charge: number }>> = {
  valley: { points: 100, charge: 16 },
  ridge: { points: 250, charge: 10 },
};
/** So many ridge beacons mend one shield. */
const RIDGES_PER_SHIELD = 4;

/** One run. `over` says why it ended. */
export interface Run {
  seconds: number;
  /** Metres flown. */
  distance: number;
  /** Metres from the start, the furthest so far. */
  reach: number;
  score: number;
  shield: number;
  charge: number;
  beacons: number;
  ridges: number;
  chain: number;
  chainLeft: number;
  safe: number;
  skimming: boolean;
  over: "" | "shield" | "charge";
}

export function newRun(): Run {
  return {
    seconds: 0,
    distance: 0,
    reach: 0,
    score: 0,
    shield: SHIELDS,
    charge: CHARGE_FULL,
    beacons: 0,
    ridges: 0,
    chain: 1,
    chainLeft: 0,
    safe: SAFE_S,
    skimming: false,
    over: "",
  };
}

/** 0 at the start, 1 far away: what the land, the speed and the hazards follow. */
export function difficultyAt(reach: number): number {
  return Math.min(reach / 15_000, 1);
}

/** Metres per second without boost: rises with the distance, fast at first. */
export function cruiseOf(run: Run): number {
  return 54 + 40 * share(1 / 9000, run.reach);
}

export interface Motion {
  /** Metres flown since the last step, metres from the start, metres over the ground. */
  readonly moved: number;
  readonly reach: number;
  readonly above: number;
  readonly boost: number;
  /** Charge per second that a storm takes. */
  readonly storm: number;
}

export function advance(run: Run, { moved, reach, above, boost, storm }: Motion, seconds: number): void {
  if (run.over !== "") return;
  run.seconds += seconds;
  run.distance += moved;
  run.reach = Math.max(run.reach, reach);
  run.skimming = above < SKIM_M;
  run.score += (moved / 10) * (run.skimming ? 2 : 1);
  run.safe = Math.max(run.safe - seconds, 0);
  run.chainLeft = Math.max(run.chainLeft - seconds, 0);
  if (run.chainLeft === 0) run.chain = 1;
  const drain = (DRAIN.start + DRAIN.hard * difficultyAt(run.reach)) * (run.skimming ? 0.35 : 1) + DRAIN.boost * boost;
  run.charge = Math.max(run.charge - (drain + storm) * seconds, 0);
  if (run.charge === 0) run.over = "charge";
}

/** Returns the points. */
export function collect(run: Run, kind: BeaconKind): number {
  const { points, charge } = BEACONS[kind];
  const gained = points * run.chain;
  run.score += gained;
  run.charge = Math.min(run.charge + charge, CHARGE_FULL);
  run.beacons += 1;
  run.chain = Math.min(run.chain + 1, CHAIN_MAX);
  run.chainLeft = CHAIN_S;
  if (kind === "ridge") {
    run.ridges += 1;
    if (run.ridges % RIDGES_PER_SHIELD === 0) run.shield = Math.min(run.shield + 1, SHIELDS);
  }
  return gained;
}

/** A crash or a shot; returns whether it counted. */
export function hit(run: Run): boolean {
  if (run.safe > 0 || run.over !== "") return false;
  run.shield -= 1;
  run.safe = SAFE_S;
  run.chain = 1;
  if (run.shield === 0) run.over = "shield";
  return true;
}
