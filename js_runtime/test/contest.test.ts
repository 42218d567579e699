// The bounded measurement and the choice of a likeness, on simulated devices.

import { describe, expect, test } from "vitest";

import { contest } from "../src/scheduling/contest.js";
import { nearestSku } from "../src/scheduling/skus.js";
import type { Sku } from "../src/generated/manifest.js";
import { Random } from "./random.js";

/** A way that takes `wholeMs` for everything; its smallest piece is `least` of it, a wait costs `latencyMs`. */
interface Way {
  readonly wholeMs: number;
  readonly least: number;
  readonly latencyMs: number;
  /** Pieces up to this share of the whole run side by side. */
  readonly parallel: number;
}

async function simulate(ways: readonly Way[], budgetMs = 50) {
  let spentMs = 0;
  let firstMs = 0;
  let samples = 0;
  const times = await contest(
    ways.length,
    (index, wanted) => {
      const way = ways[index];
      if (way === undefined) throw new Error("no such way");
      const amount = Math.min(32, Math.max(way.least, wanted));
      const ms = way.latencyMs + way.wholeMs * Math.max(amount, Math.min(way.parallel, 1));
      samples += 1;
      spentMs += ms;
      if (samples <= ways.length) firstMs += ms;
      return Promise.resolve({ ms, amount });
    },
    budgetMs,
  );
  return { times, spentMs, firstMs };
}

describe("contest", () => {
  test("a thousand devices, from the fastest GPU to the slowest CPU: never more than the budget and the smallest pieces", async () => {
    const random = new Random(1);
    const between = (low: number, high: number): number => low * (high / low) ** random.next();
    for (let device = 0; device < 1000; device += 1) {
      const common = between(0.01, 20_000);
      const ways = Array.from({ length: 2 + Math.floor(random.next() * 3) }, () => ({
        wholeMs: common * between(0.3, 3),
        least: between(1e-4, 1),
        latencyMs: between(0.001, 2),
        parallel: between(1e-4, 1),
      }));
      const { times, spentMs, firstMs } = await simulate(ways);
      expect(spentMs).toBeLessThanOrEqual(Math.max(50, firstMs));
      expect(times.every((ms) => ms > 0 && ms < Infinity)).toBe(true);
    }
  });

  test("finds the faster one where the difference is worth it", async () => {
    const slow = { wholeMs: 2, least: 1e-3, latencyMs: 0.2, parallel: 0.05 };
    for (const scale of [0.05, 1, 10, 200]) {
      const ways = [slow, { ...slow, wholeMs: 1.2 }].map((way) => ({ ...way, wholeMs: way.wholeMs * scale }));
      const { times } = await simulate(ways);
      expect(times[1]).toBeLessThan(times[0] ?? 0);
    }
  });

  test("timestamps of 0.1 ms do not keep it from measuring", async () => {
    let calls = 0;
    const times = await contest(
      2,
      (index, wanted) => {
        calls += 1;
        const amount = Math.min(32, Math.max(1e-3, wanted));
        return Promise.resolve({ ms: Math.floor(amount * (index === 0 ? 2 : 1) * 10) / 10, amount });
      },
      50,
    );
    expect(times[0]).toBeCloseTo(2, 0);
    expect(times[1]).toBeCloseTo(1, 0);
    expect(calls).toBeLessThanOrEqual(16);
  });
});

describe("nearest SKU", () => {
  const sku = (id: string, speed: number, kind: Sku["kind"] = "mobile"): Sku => ({
    id,
    name: id,
    kind,
    f32_gflops: 100 * speed,
    f16_gflops: 200 * speed,
    bandwidth_gb_per_s: 10 * speed,
    dispatch_us: 10,
    memory_mb: 1000,
  });
  const skus = [sku("slow", 1), sku("middle", 4), sku("fast", 40), sku("cpu", 0.1, "software")];
  const work = [{ flops: 1e9, bytes: 1e6 }];

  test("by the measured time, whatever it is called", () => {
    expect(nearestSku(skus, false, "fp32", work, 9)?.sku.id).toBe("slow");
    expect(nearestSku(skus, false, "fp32", work, 2)?.sku.id).toBe("middle");
    expect(nearestSku(skus, false, "fp32", work, 1e-3)?.sku.id).toBe("fast");
    expect(nearestSku(skus, false, "fp16", work, 9)?.sku.id).toBe("slow");
    expect(nearestSku(skus, true, "fp32", work, 9)?.sku.id).toBe("cpu");
  });

  test("its rates are corrected to meet the measurement", () => {
    const like = nearestSku(skus, false, "fp32", work, 20);
    expect(1e9 / (like?.rates.flopsPerMs ?? 0) + (like?.rates.overheadMs ?? 0)).toBeCloseTo(20, 6);
  });

  test.each([0, NaN, Infinity])("a measured time of %f says nothing", (ms) => {
    expect(nearestSku(skus, false, "fp32", work, ms)).toBeUndefined();
  });
});
