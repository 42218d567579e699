// Flying, scoring, and what stands on the land.

import { describe, expect, it } from "vitest";

import { CUSHION_M, fly, launch, type Craft, type Ground } from "../src/play/craft.js";
import { FieldOfPlay } from "../src/play/field_of_play.js";
import { SECTOR_M, sectorAt, startOf, stormsNear, touches, type Heights } from "../src/play/places.js";
import { covering } from "../src/world/tiles.js";
import { advance, collect, cruiseOf, hit, newRun } from "../src/play/rules.js";

const IDLE = { steer: 0, climb: 0, boost: 0, brake: 0 };
const FLAT: Ground = { surfaceAt: () => 20, slopeAt: () => [0, 0] };
/** A wall that rises 1 : 1 along -z, the way a craft flies at heading 0. */
const WALL: Ground = { surfaceAt: (_, z) => Math.max(20, -z - 100), slopeAt: (_, z) => [0, z < -120 ? -1 : 0] };
const HILLS: Heights = {
  landAt: (x, z) => 60 + 40 * Math.sin(x / 90) * Math.cos(z / 70),
  surfaceAt: (x, z) => 60 + 40 * Math.sin(x / 90) * Math.cos(z / 70),
  settledAt: () => true,
};
const START = { x: 0, z: 0 };

function flyFor(craft: Craft, seconds: number, controls = IDLE, ground = FLAT): number {
  let worst = 0;
  for (let k = 0; k < seconds * 60; k++) worst = Math.max(worst, fly(craft, controls, ground, 60, 1 / 60));
  return worst;
}

describe("craft", () => {
  it("reaches its cruising speed along its heading", () => {
    const craft = launch(FLAT, 0, 0, 0);
    flyFor(craft, 6);
    expect(craft.speed).toBeCloseTo(60, 0);
    expect(craft.z).toBeLessThan(-250);
    expect(Math.abs(craft.x)).toBeLessThan(1e-6);
  });

  it("turns right with positive steering", () => {
    const craft = launch(FLAT, 0, 0, 0);
    flyFor(craft, 1, { ...IDLE, steer: 1 });
    expect(craft.heading).toBeGreaterThan(0.5);
    expect(craft.x).toBeGreaterThan(0);
  });

  it("is carried by its cushion instead of hitting flat ground", () => {
    const craft = launch(FLAT, 0, 0, 0);
    const impact = flyFor(craft, 5, { ...IDLE, climb: -0.3 });
    expect(impact).toBeLessThan(30);
    expect(craft.above).toBeGreaterThan(1);
    expect(craft.above).toBeLessThan(CUSHION_M);
  });

  it("never ends below the ground, and hits a wall hard", () => {
    const craft = launch(WALL, 0, 0, 0);
    craft.y = 30;
    expect(flyFor(craft, 6, IDLE, WALL)).toBeGreaterThan(30);
    expect(craft.y).toBeGreaterThanOrEqual(WALL.surfaceAt(craft.x, craft.z));
  });

  it("has a ceiling", () => {
    const craft = launch(FLAT, 0, 0, 0);
    flyFor(craft, 20, { ...IDLE, climb: 1 });
    expect(craft.above).toBeLessThan(230);
  });
});

describe("rules", () => {
  const motion = { moved: 10, reach: 0, above: 50, boost: 0, storm: 0 };

  it("charge runs out, sooner with boost and later low over the ground", () => {
    const lasts = (change: Partial<typeof motion>): number => {
      const run = newRun();
      while (run.over === "") advance(run, { ...motion, ...change }, 0.1);
      expect(run.over).toBe("charge");
      return run.seconds;
    };
    const [plain, boosted, low] = [lasts({}), lasts({ boost: 1 }), lasts({ above: 5 })];
    expect(boosted).toBeLessThan(plain / 2);
    expect(low).toBeGreaterThan(plain * 2);
  });

  it("chains multiply and end", () => {
    const run = newRun();
    expect([collect(run, "valley"), collect(run, "valley"), collect(run, "ridge")]).toEqual([100, 200, 750]);
    for (let k = 0; k < 100; k++) advance(run, motion, 0.1);
    expect(collect(run, "valley")).toBe(100);
  });

  it("hits count once in a while, and the third ends the run", () => {
    const run = newRun();
    expect(hit(run)).toBe(false);
    for (const left of [2, 1, 0]) {
      for (let k = 0; k < 25; k++) advance(run, motion, 0.1);
      expect([hit(run), run.shield]).toEqual([true, left]);
    }
    expect(run.over).toBe("shield");
  });

  it("speed rises with the distance", () => {
    const run = newRun();
    const before = cruiseOf(run);
    advance(run, { ...motion, reach: 9000 }, 0.1);
    expect(cruiseOf(run)).toBeGreaterThan(before + 20);
  });
});

describe("places", () => {
  it("are the same for the same seed, and others for another", () => {
    const all = (seed: number): string =>
      JSON.stringify(Array.from({ length: 40 }, (_, k) => sectorAt(seed, k, 20 - k, HILLS, START)));
    expect(all(5)).toBe(all(5));
    expect(all(5)).not.toBe(all(6));
  });

  it("wait for the land, and are peaceful near the start", () => {
    expect(sectorAt(5, 0, 0, { ...HILLS, settledAt: () => false }, START)).toBeUndefined();
    const near = [-1, 0, 1].flatMap((row) => [-1, 0, 1].map((column) => sectorAt(5, column, row, HILLS, START)));
    expect(near.flatMap((sector) => [...(sector?.spires ?? []), ...(sector?.sentinels ?? [])])).toEqual([]);
    expect(stormsNear(5, START, START, 10).every(({ x, z }) => Math.hypot(x, z) > 800)).toBe(true);
  });

  it("beacons of valleys lie lower than those of ridges; hazards exist far out", () => {
    const far = Array.from({ length: 400 }, (_, k) => sectorAt(5, 60 + (k % 20), Math.floor(k / 20), HILLS, START));
    const beacons = far.flatMap((sector) => sector?.beacons ?? []);
    const mean = (kind: string): number => {
      const heights = beacons.filter((beacon) => beacon.kind === kind).map(({ y }) => y);
      return heights.reduce((a, b) => a + b, 0) / heights.length;
    };
    expect(mean("ridge")).toBeGreaterThan(mean("valley") + 40);
    expect(far.flatMap((sector) => sector?.spires ?? []).length).toBeGreaterThan(50);
    expect(far.flatMap((sector) => sector?.sentinels ?? []).length).toBeGreaterThan(20);
  });

  it("a spire is touched at its foot, not beside its tip", () => {
    const spire = { x: 0, y: 50, z: 0, radius: 10, height: 60 };
    expect(touches(spire, 9, 52, 0, 0)).toBe(true);
    expect(touches(spire, 9, 105, 0, 0)).toBe(false);
    expect(touches(spire, 0, 120, 0, 2)).toBe(false);
  });

  it("the start is a coast that one tile makes", () => {
    const start = startOf((x, z) => (x === 144 && z === -16 ? 0.5 : 0.9));
    expect(start).toEqual({ x: 144 * 6, z: -16 * 6 });
    expect(covering(144, -16)).toHaveLength(1);
  });
});

describe("field of play", () => {
  it("a beacon is collected once in a run", () => {
    const play = new FieldOfPlay(5, HILLS, START);
    play.look(0, 0);
    const beacon = play.sectors.flatMap(({ beacons }) => beacons)[0];
    if (beacon === undefined) throw new Error("expected a beacon");
    const body = { ...beacon, vx: 60, vy: 0, vz: 0 };
    expect(play.step(body, 0.02, 1).collected).toEqual([beacon]);
    expect(play.step(body, 0.02, 1.02).collected).toEqual([]);
    play.look(100 * SECTOR_M, 0);
    play.look(0, 0);
    expect(play.step(body, 0.02, 2).collected).toEqual([]);
    play.restart();
    play.look(0, 0);
    expect(play.step(body, 0.02, 3).collected).toEqual([beacon]);
  });

  it("sentinels shoot at who flies by, ahead of a straight course, and hit", () => {
    const play = new FieldOfPlay(5, HILLS, START);
    const far = 70 * SECTOR_M;
    play.look(far, 0);
    const sentinel = play.sectors.flatMap(({ sentinels }) => sentinels)[0];
    if (sentinel === undefined) throw new Error("expected a sentinel");
    const body = { x: sentinel.x - 200, y: sentinel.y + 30, z: sentinel.z + 150, vx: 60, vy: 0, vz: 0 };
    let hits = 0;
    for (let time = 2; time < 8; time += 0.02) {
      hits += play.step(body, 0.02, time).hits;
      body.x += body.vx * 0.02;
    }
    expect(hits).toBeGreaterThan(0);
  });
});
