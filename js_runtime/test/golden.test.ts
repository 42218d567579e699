// Golden feeds are the same bits here and in Python, which wrote the expected ones.

import { expect, test } from "vitest";

import { goldenFeed, hashed, probed } from "../src/golden.js";
import { reference } from "./golden.js";

test.each(reference.golden_feeds)("$name: $kind as $dtype", ({ bytes, dtype, stream, ...recipe }) => {
  const made = goldenFeed(recipe, stream, 100, dtype);
  expect(Buffer.from(made.buffer, made.byteOffset, made.byteLength).toString("hex")).toBe(bytes);
});

test("normal feeds have the deviation that they should", () => {
  const recipe = { name: "x", kind: "normal", low: 2, high: 3 } as const;
  const values = [...(goldenFeed(recipe, 0, 100_000, "float32") as Float32Array)];
  const mean = values.reduce((a, b) => a + b) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  expect(mean).toBeCloseTo(2, 1);
  expect(Math.sqrt(variance)).toBeCloseTo(3, 1);
});

test("small values are compared whole, of large ones hashed elements", () => {
  expect(probed(4, 4)).toEqual([0, 1, 2, 3]);
  expect(probed(1 << 20, 3)).toEqual([0, 1, 2].map((k) => hashed(k, 3) % (1 << 20)));
});
