// The pure parts of scheduling: costs, slices, the governor, the order of jobs.

import { describe, expect, test } from "vitest";

import { CostModel, type DispatchWork } from "../src/scheduling/costs.js";
import { Governor } from "../src/scheduling/governor.js";
import { order, STARVING_MS, type Candidate } from "../src/scheduling/policy.js";
import { cutSlice, remainingMs, type Work } from "../src/scheduling/slice.js";
import { Random } from "./random.js";

const RATES = { flopsPerMs: 1000, bytesPerMs: 1000, overheadMs: 0.01 };

function work(...flops: number[]): DispatchWork[] {
  return flops.map((count) => ({ flops: count, bytes: 0 }));
}

describe("costs", () => {
  test("start from operations or bytes, whichever takes longer", () => {
    const costs = new CostModel(
      [
        { flops: 5000, bytes: 100 },
        { flops: 1, bytes: 2000 },
      ],
      RATES,
    );
    expect(costs.ms(0)).toBeCloseTo(5.01);
    expect(costs.ms(1)).toBeCloseTo(2.01);
    expect(costs.trusted).toBe(false);
  });

  test("one measured slice sets the scale of what was not measured", () => {
    const costs = new CostModel(work(1000, 1000), RATES);
    expect(costs.learn([{ dispatch: 0, share: 1 }], 10.1, "timestamp")).toBe(true);
    expect(costs.ms(0)).toBeCloseTo(10.1);
    expect(costs.ms(1)).toBeCloseTo(10.1);
  });

  test("slices of changing contents settle at the cost of each dispatch", () => {
    const random = new Random(1);
    const actual = [1, 5, 0.2, 3, 0.7, 9];
    const costs = new CostModel(work(1000, 1000, 1000, 1000, 1000, 1000), RATES);
    for (let count = 0; count < 3000; count += 1) {
      const first = random.integer(0, actual.length - 1);
      const last = random.integer(first, actual.length - 1);
      const slice = actual.slice(first, last + 1).map((_, index) => ({ dispatch: first + index, share: 1 }));
      const ms = slice.reduce((sum, { dispatch }) => sum + (actual[dispatch] ?? 0), 0);
      costs.learn(slice, ms * random.between(0.95, 1.05), "timestamp");
    }
    for (const [dispatch, ms] of actual.entries()) expect(costs.ms(dispatch) / ms).toBeCloseTo(1, 0.5);
  });

  test("impossible times are refused", () => {
    const costs = new CostModel(work(1000), RATES);
    for (const ms of [-1, 0, NaN, Infinity, 1e9]) {
      expect(costs.learn([{ dispatch: 0, share: 1 }], ms, "timestamp")).toBe(false);
    }
    expect(costs.learn([], 1, "timestamp")).toBe(false);
    expect(costs.samples).toBe(0);
  });

  test("one disturbed measurement moves a prediction little, and soon is forgotten", () => {
    const costs = new CostModel(work(1000), RATES);
    const slice = [{ dispatch: 0, share: 1 }];
    for (let count = 0; count < 20; count += 1) costs.learn(slice, 2, "wall");
    costs.learn(slice, 500, "wall");
    expect(costs.ms(0)).toBeLessThan(2 * 1.31);
    for (let count = 0; count < 30; count += 1) costs.learn(slice, 2, "wall");
    expect(costs.ms(0)).toBeCloseTo(2, 1);
  });

  test("a part of a dispatch teaches the cost of the whole", () => {
    const costs = new CostModel(work(1000), RATES);
    costs.learn([{ dispatch: 0, share: 0.25 }], 2, "timestamp");
    expect(costs.ms(0)).toBeCloseTo(8);
  });

  test("the next visit starts from what was learned, and refuses text of another program", () => {
    const costs = new CostModel(work(1000, 1000), RATES);
    costs.learn([{ dispatch: 0, share: 1 }], 7, "timestamp");
    const next = new CostModel(work(1000, 1000), RATES);
    expect(next.restore(costs.save())).toBe(true);
    expect(next.trusted).toBe(true);
    expect(next.ms(0)).toBeCloseTo(7);
    expect(next.ms(1)).toBeCloseTo(7, 1);
    for (const text of [
      "",
      "{",
      "null",
      "[]",
      '{"scale":1,"ms":[1]}',
      '{"scale":-1,"ms":[1,1]}',
      '{"scale":1,"ms":[1,"x"]}',
    ]) {
      expect(new CostModel(work(1, 1), RATES).restore(text), text).toBe(false);
    }
  });
});

describe("slices", () => {
  const of = (ms: readonly number[], units: readonly number[]): Work => ({
    length: ms.length,
    ms: (dispatch) => ms[dispatch] ?? 0,
    units: (dispatch) => units[dispatch] ?? 1,
  });

  test("random runs: every unit once and in order, within the budget or one piece", () => {
    const random = new Random(2);
    for (let run = 0; run < 1000; run += 1) {
      const count = random.integer(0, 12);
      const ms = Array.from({ length: count }, () => random.between(0, 8));
      const units = Array.from({ length: count }, () => random.integer(1, 20));
      const subject = of(ms, units);
      const cursor = { dispatch: 0, units: 0 };
      const done = ms.map(() => 0);
      let left = remainingMs(subject, cursor);
      while (cursor.dispatch < count) {
        const budget = random.between(0, 5);
        const threshold = budget * random.integer(1, 2);
        const { pieces, predictedMs, longestMs } = cutSlice(subject, cursor, budget, threshold);
        expect(pieces.length).toBeGreaterThan(0);
        expect(predictedMs).toBeLessThanOrEqual(budget + longestMs);
        if (pieces.length > 1) expect(predictedMs).toBeLessThanOrEqual(budget + 1e-9);
        for (const { dispatch, first, count: taken, whole } of pieces) {
          // A whole dispatch counts as one piece, however many units it could have.
          const all = whole && taken === 1 ? (units[dispatch] ?? 0) : taken;
          expect(first).toBe(done[dispatch]);
          if (dispatch > 0) expect(done[dispatch - 1]).toBe(units[dispatch - 1]);
          done[dispatch] = first + all;
          if (pieces.length === 1 && predictedMs > budget && (ms[dispatch] ?? 0) > threshold) expect(taken).toBe(1);
        }
        left -= predictedMs;
        expect(remainingMs(subject, cursor)).toBeCloseTo(Math.max(0, left), 6);
      }
      expect(done).toEqual(units);
    }
  });

  test("a dispatch whose divided form is being made ends the slice", () => {
    const cursor = { dispatch: 0, units: 0 };
    const subject = of([1, 9, 1], [1, 0, 1]);
    expect(cutSlice(subject, cursor, 4, 4).pieces).toHaveLength(1);
    expect(cutSlice(subject, cursor, 4, 4)).toEqual({ pieces: [], predictedMs: 0, longestMs: 0 });
    // Who does not want it divided gets it whole.
    expect(cutSlice(subject, cursor, 4, Infinity).pieces).toEqual([{ dispatch: 1, first: 0, count: 1, whole: true }]);
  });

  test("a budget that is no number gives one piece", () => {
    const cursor = { dispatch: 0, units: 0 };
    expect(cutSlice(of([1, 1, 1], []), cursor, NaN, NaN).pieces).toHaveLength(1);
  });
});

describe("governor", () => {
  const run = (governor: Governor, frames: number, interval: (index: number) => number, busy = true): void => {
    let now = 0;
    for (let index = 0; index < frames; index += 1) {
      governor.frame((now += interval(index)), busy);
    }
  };

  test("frames on time keep the budget, with the jitter of a real display", () => {
    const random = new Random(3);
    const governor = new Governor({ budgetMs: 4 });
    run(governor, 2000, () => 16.7 + random.between(-1.5, 1.5));
    expect(governor.budgetMs).toBeGreaterThan(3.5);
  });

  test("late frames cut it, frames on time give it back", () => {
    const governor = new Governor({ budgetMs: 4 });
    run(governor, 60, () => 16.7, false);
    run(governor, 60, (index) => (index % 2 === 0 ? 33.3 : 16.7));
    expect(governor.budgetMs).toBeLessThan(1.5);
    expect(governor.budgetMs).toBeGreaterThanOrEqual(0.5);
    run(governor, 600, () => 16.7);
    expect(governor.budgetMs).toBe(4);
  });

  test("a device that heats up: frame time drifts, the budget falls", () => {
    const governor = new Governor({ budgetMs: 4 });
    run(governor, 300, () => 16.7);
    run(governor, 1200, (index) => 16.7 * (1 + index / 6000));
    expect(governor.budgetMs).toBeLessThan(2);
  });

  test("a game that is slow by itself is not inference's fault", () => {
    const governor = new Governor({ budgetMs: 4 });
    run(governor, 120, () => 33.3, false);
    run(governor, 600, () => 33.3);
    expect(governor.budgetMs).toBe(4);
    const idle = new Governor({ budgetMs: 4, targetFrameMs: 16.7 });
    run(idle, 100, () => 33.3, false);
    expect(idle.budgetMs).toBe(4);
  });

  test("a game that gets slower and stays so gets its inference back", () => {
    const governor = new Governor({ budgetMs: 4 });
    run(governor, 300, () => 16.7);
    run(governor, 100, () => 33.3);
    expect(governor.budgetMs).toBeLessThan(1);
    run(governor, 3000, () => 33.3);
    expect(governor.budgetMs).toBeGreaterThan(3);
  });

  test("grows into what the renderer leaves over, up to the maximum", () => {
    const governor = new Governor({ budgetMs: 2, maxBudgetMs: 8, targetFrameMs: 16.7 });
    run(governor, 300, () => 16.7);
    expect(governor.budgetMs).toBe(8);
  });

  /** Frames whose time follows from what inference spent; alone for 120 frames, as while a game's menu shows. */
  const play = (governor: Governor, frames: number, interval: (spentMs: number) => number): number[] => {
    run(governor, 120, () => interval(0), false);
    let [now, spentMs] = [1e6, 0];
    governor.frame(now, false);
    return Array.from({ length: frames }, () => {
      const ms = interval(spentMs);
      governor.frame((now += ms), spentMs > 0);
      spentMs = governor.budgetMs;
      return ms;
    });
  };

  test("a display that a little less would not miss is missed in less than a frame of a hundred", () => {
    const random = new Random(5);
    const governor = new Governor({ budgetMs: 4 });
    const frames = play(
      governor,
      4000,
      (spentMs) => Math.ceil((13.2 + random.between(0, 0.5) + spentMs) / 16.7) * 16.7,
    );
    expect(frames.filter((ms) => ms > 20).length).toBeLessThan(40);
    expect(governor.budgetMs).toBeGreaterThan(1.5);
  });

  test("a renderer that is uneven by itself is no reason to give most of the budget away", () => {
    const random = new Random(6);
    const usual = [30, 33, 33, 33, 33, 33, 36, 50, 50, 66];
    const alone = (): number => (usual[random.integer(0, 9)] ?? 0) + (random.between(0, 1) < 0.01 ? 40 : 0);
    const governor = new Governor({ budgetMs: 5 });
    let sum = 0;
    play(governor, 4000, (spentMs) => {
      sum += spentMs;
      return alone() + spentMs;
    });
    expect(sum / 4000).toBeGreaterThan(2);
  });

  test("pressure caps it at once; a hidden tab's gap is no late frame", () => {
    const governor = new Governor({ budgetMs: 4 });
    run(governor, 10, () => 16.7);
    governor.pressure("serious");
    expect(governor.budgetMs).toBe(2);
    governor.pressure("critical");
    expect(governor.budgetMs).toBe(1);
    governor.pressure("nominal");
    governor.frame(60_000, true);
    expect(governor.budgetMs).toBe(4);
  });
});

describe("order", () => {
  const capacity = { now: 10_000, budgetMs: 4, frameMs: 16 };
  const job = (fields: Partial<Candidate> = {}): Candidate => ({
    priority: 0,
    deadline: Infinity,
    servedAt: 10_000,
    remainingMs: 10,
    ...fields,
  });

  test("priority, until another has waited long enough", () => {
    const [low, high] = [job(), job({ priority: 2 })];
    expect(order([low, high], capacity).jobs).toEqual([high, low]);
    const old = job({ servedAt: 10_000 - 750 });
    expect(order([high, old], capacity)).toEqual({ jobs: [old, high], forced: 0 });
  });

  test("a deadline takes over when it gets tight, the earliest first, and not before", () => {
    const high = job({ priority: 5 });
    const far = job({ deadline: 10_000 + 160 * 16, remainingMs: 40 });
    expect(order([high, far], capacity).jobs[0]).toBe(high);
    const near = job({ deadline: 10_000 + 22 * 16, remainingMs: 40 });
    const nearer = job({ deadline: 10_000 + 20 * 16, remainingMs: 1 });
    expect(order([high, far, near, nearer], capacity).jobs.slice(0, 3)).toEqual([nearer, near, far]);
  });

  test("a deadline that cannot be met goes by its priority", () => {
    const [high, lost] = [job({ priority: 1 }), job({ deadline: 10_016, remainingMs: 100 })];
    expect(order([lost, high], capacity).jobs).toEqual([high, lost]);
  });

  test("a starving job gets a piece ahead of urgent ones", () => {
    const urgent = job({ deadline: 10_000 + 10 * 16, remainingMs: 39 });
    const starving = job({ priority: -100, servedAt: 10_000 - STARVING_MS });
    expect(order([urgent, starving], capacity)).toEqual({ jobs: [starving, urgent], forced: 1 });
  });
});
