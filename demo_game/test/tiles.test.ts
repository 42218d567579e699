// Which tiles cover a place, which blocks a tile touches, and which tile is wanted first.

import { describe, expect, it } from "vitest";

import { STRIDE, TILE } from "../src/world/shape.js";
import { covering, difficultyOf, distanceTo, keyOf, wanted, type View } from "../src/world/tiles.js";
import { BLOCK, BlockWindow, tilesOf } from "../src/world/window.js";

const VIEW: View = { x: -130, z: 777, forwardX: 0, forwardZ: -1 };

describe("covering", () => {
  it("names exactly the tiles that hold a cell", () => {
    for (const x of [-300, -81, -80, -1, 0, 47, 48, 79, 80, 127, 128, 1000]) {
      const found = covering(x, x + 13)
        .map(keyOf)
        .sort();
      const expected: string[] = [];
      for (let j = -10; j < 20; j++) {
        for (let i = -10; i < 20; i++) {
          const inside = (cell: number, tile: number): boolean => cell >= tile * STRIDE && cell < tile * STRIDE + TILE;
          if (inside(x, i) && inside(x + 13, j)) expected.push(keyOf({ i, j }));
        }
      }
      expect(found).toEqual(expected.sort());
    }
  });

  it("agrees with the blocks of the window", () => {
    for (let block = -20; block < 20; block++) {
      const cell = block * BLOCK;
      expect(tilesOf({ x: block, z: -block }).map(keyOf)).toEqual(covering(cell, -cell).map(keyOf));
      expect(covering(cell + BLOCK - 1, -cell).map(keyOf)).toEqual(covering(cell, -cell).map(keyOf));
    }
  });
});

describe("wanted", () => {
  it("holds every tile within the radius and no other", () => {
    const tiles = wanted(VIEW, 400);
    expect(tiles.every((tile) => distanceTo(tile, VIEW) <= 400)).toBe(true);
    const area = (Math.PI * 400 ** 2) / STRIDE ** 2;
    expect(Math.abs(tiles.length - area)).toBeLessThan(0.1 * area);
    expect(new Set(tiles.map(keyOf)).size).toBe(tiles.length);
  });

  it("begins under the view, and puts what lies ahead before what lies behind", () => {
    const tiles = wanted(VIEW, 400);
    const [first] = tiles;
    expect(first !== undefined && distanceTo(first, VIEW) < STRIDE).toBe(true);
    const rank = (z: number): number => {
      const target = { ...VIEW, z: VIEW.z + z };
      const nearest = tiles.reduce((a, b) => (distanceTo(b, target) < distanceTo(a, target) ? b : a));
      return tiles.indexOf(nearest);
    };
    expect(rank(-320)).toBeLessThan(rank(320));
    expect(rank(-160)).toBeLessThan(rank(-320));
  });
});

describe("difficulty", () => {
  it("rises from the middle of the world to 1", () => {
    expect(difficultyOf({ i: 0, j: 0 })).toBeCloseTo(0.15, 6);
    expect(difficultyOf({ i: 10, j: 0 })).toBeGreaterThan(difficultyOf({ i: 5, j: 0 }));
    expect(difficultyOf({ i: -300, j: 400 })).toBe(1);
  });
});

describe("BlockWindow", () => {
  it("writes every block in reach once, and what comes into reach when the view moves", () => {
    const window = new BlockWindow(512, 160);
    window.move(0, 0);
    const first = window.take(10_000);
    expect(first.length).toBe(23 * 23);
    expect(window.take(10_000)).toEqual([]);
    window.move(BLOCK, 0);
    expect(window.take(10_000).length).toBe(23);
    window.move(0, 0);
    expect(window.take(10_000)).toEqual([]);
  });

  it("writes again what wrapped around", () => {
    const window = new BlockWindow(512, 160);
    window.move(0, 0);
    window.take(10_000);
    window.move(512 * 100, 0);
    expect(window.take(10_000).length).toBe(23 * 23);
    window.move(0, 0);
    expect(window.take(10_000).length).toBe(23 * 23);
  });

  it("takes the nearest first where it cannot take all", () => {
    const window = new BlockWindow(512, 160);
    window.move(8, 8);
    const near = window.take(9);
    expect(near.every(({ x, z }) => Math.max(Math.abs(x), Math.abs(z)) <= 1)).toBe(true);
    expect(window.take(10_000).length).toBe(23 * 23 - 9);
  });

  it("takes the blocks of a tile and the seam around them", () => {
    const window = new BlockWindow(512, 160);
    window.move(64, 64);
    window.take(10_000);
    window.touch({ i: 0, j: 0 });
    expect(window.take(10_000).length).toBe((TILE / BLOCK + 2) ** 2);
  });
});
