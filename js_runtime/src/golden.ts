// Golden feeds and the elements that are compared: the same bits as webinfer/golden.py makes. Pure.

import { Sizes } from "./expressions.js";
import type { Feeds } from "./feeds.js";
import type { Component, Golden, GoldenInput } from "./generated/manifest.js";
import { elementCount, floatToHalf, type DType, type TensorArray } from "./tensor.js";

/** sqrt(3) / 65536: four uniform numbers have a deviation of 1 / sqrt(3). */
const NORMAL_SCALE = 1.7320508075688772 / 65536;

/** 32 random bits per index and stream (C. Wellons, hash-prospector: lowbias32). */
export function hashed(index: number, stream: number): number {
  let h = (Math.imul(index, 0x9e3779b1) + Math.imul(stream, 0x85ebca6b)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The feed of input number `stream`, as arrays of the element type; float16 as bit patterns. */
export function goldenFeed(recipe: GoldenInput, stream: number, length: number, dtype: DType): TensorArray {
  const value = (_: unknown, index: number): number => element(recipe, stream, index);
  const integer = (_: unknown, index: number): bigint => BigInt(element(recipe, stream, index));
  switch (dtype) {
    case "float32":
      return Float32Array.from({ length }, value);
    case "float16":
      return Uint16Array.from({ length }, (_, index) => floatToHalf(value(_, index)));
    case "int64":
      return BigInt64Array.from({ length }, integer);
    case "uint64":
      return BigUint64Array.from({ length }, integer);
    case "int32":
      return Int32Array.from({ length }, value);
    case "uint32":
      return Uint32Array.from({ length }, value);
    case "int16":
      return Int16Array.from({ length }, value);
    case "uint16":
      return Uint16Array.from({ length }, value);
    case "int8":
    case "int4":
    case "int2":
      return Int8Array.from({ length }, value);
    case "uint8":
    case "uint4":
    case "uint2":
    case "bool":
      return Uint8Array.from({ length }, value);
  }
}

/** The golden feeds of a component. */
export function goldenFeeds({ inputs, symbols }: Component, golden: Golden): Feeds {
  const sizes = new Sizes(symbols);
  for (const [name, size] of Object.entries(golden.sizes)) sizes.set(name, size);
  const made = golden.inputs.flatMap((recipe, stream) => {
    const input = inputs.find(({ name }) => name === recipe.name);
    if (input === undefined) return [];
    const shape = sizes.shapeOf(input.shape);
    return [[recipe.name, { data: goldenFeed(recipe, stream, elementCount(shape), input.dtype), shape }] as const];
  });
  return Object.fromEntries(made);
}

/** Which elements of a value are compared: all where there are no more than `count`, else hashed ones. */
export function probed(elements: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, k) => (elements <= count ? k : hashed(k, count) % elements));
}

/** Reals are computed in float64 and rounded to float32. */
function element({ kind, low, high }: GoldenInput, stream: number, index: number): number {
  switch (kind) {
    case "integer":
      return low + (hashed(index, stream) % (high - low + 1));
    case "uniform":
      return Math.fround(low + (high - low) * ((hashed(index, stream) >>> 8) / 2 ** 24));
    case "normal": {
      const [a, b] = [hashed(index * 2, stream), hashed(index * 2 + 1, stream)];
      const total = (a & 0xffff) + (a >>> 16) + (b & 0xffff) + (b >>> 16);
      return Math.fround(low + high * ((total - 131070) * NORMAL_SCALE));
    }
  }
}
