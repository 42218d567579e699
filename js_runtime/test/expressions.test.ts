// Expressions of manifests: the same values as Python gives (tests/unit/test_expressions.py writes the file).

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Sizes } from "../src/expressions.js";

interface Shared {
  readonly symbols: Readonly<Record<string, { minimum: number; maximum: number; multiple: number }>>;
  readonly cases: readonly { readonly text: string; readonly values: readonly (readonly [number[], number])[] }[];
}

const shared = JSON.parse(
  readFileSync(new URL("../../tests/golden/expressions.json", import.meta.url), "utf8"),
) as Shared;

test.each(shared.cases)("$text", ({ text, values }) => {
  const sizes = new Sizes(shared.symbols);
  for (const [given, expected] of values) {
    for (const [index, name] of sizes.names.entries()) sizes.set(name, given[index] ?? 0);
    expect(sizes.valueOf(text)).toBe(expected);
  }
});

test("symbols start at their maxima, and changes are counted", () => {
  const sizes = new Sizes({ a: { minimum: 1, maximum: 7, multiple: 1 } });
  expect(sizes.shapeOf(["a", 3, "2 * a"])).toEqual([7, 3, 14]);
  sizes.set("a", 7);
  expect(sizes.changes).toBe(0);
  sizes.set("a", 2);
  expect(sizes.changes).toBe(1);
  expect(sizes.valueOf("a // 0 + a % 0")).toBe(0);
});

test.each(["a +", "b", "a b", "min(a)", "(a", "a ** 2", "a.b", "", "max(a, 1"])("%j is refused", (text) => {
  const sizes = new Sizes({ a: { minimum: 1, maximum: 7, multiple: 1 } });
  expect(() => sizes.valueOf(text)).toThrow(SyntaxError);
});
