// The world's noise: the same bits everywhere, close to a normal distribution, different for different seeds.

import { describe, expect, it } from "vitest";

import { hashCell, normalCells, parseSeed, smoothNoise } from "../src/world/noise.js";

describe("normalCells", () => {
  it("does not depend on where a tile begins", () => {
    const wide = normalCells(42, -20, 30, 64, 80);
    const part = normalCells(42, -10, 40, 16, 80);
    const same = Array.from(part, (value, k) => value === wide[(Math.floor(k / 16) + 10) * 64 + (k % 16) + 10]);
    expect(same).not.toContain(false);
  });

  it("is normal: mean, deviation and kurtosis", () => {
    const values = [...normalCells(7, 1000, -5000, 256, 1)];
    const moment = (power: number): number => values.reduce((sum, value) => sum + value ** power, 0) / values.length;
    expect(Math.abs(moment(1))).toBeLessThan(0.01);
    expect(Math.abs(moment(2) - 1)).toBeLessThan(0.02);
    expect(Math.abs(moment(4) / moment(2) ** 2 - 3 + 0.075)).toBeLessThan(0.08);
  });

  it("has no correlation between neighbours and between seeds", () => {
    const [a, b] = [normalCells(1, 0, 0, 128, 1), normalCells(2, 0, 0, 128, 1)];
    const correlation = (other: (k: number) => number): number =>
      a.reduce((sum, value, k) => sum + value * other(k), 0) / a.length;
    expect(Math.abs(correlation((k) => a[k + 1] ?? 0))).toBeLessThan(0.03);
    expect(Math.abs(correlation((k) => a[k + 128] ?? 0))).toBeLessThan(0.03);
    expect(Math.abs(correlation((k) => b[k] ?? 0))).toBeLessThan(0.03);
  });
});

describe("smoothNoise", () => {
  it("is continuous across the lattice, on both sides of zero", () => {
    for (const x of [-64, 0, 64]) {
      expect(Math.abs(smoothNoise(3, x - 1e-6, 17, 64) - smoothNoise(3, x + 1e-6, 17, 64))).toBeLessThan(1e-6);
    }
  });
});

describe("seeds", () => {
  it("reads digits as a number and hashes other text", () => {
    expect(parseSeed("17")).toBe(17);
    expect(parseSeed("halcyon")).not.toBe(parseSeed("halcyom"));
    expect(parseSeed("🏔")).toBeGreaterThan(0);
  });

  it("hashes are unsigned", () => {
    for (let k = -50; k < 50; k++) expect(hashCell(k, k * 7, -k)).toBeGreaterThanOrEqual(0);
  });
});
