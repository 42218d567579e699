// Conversions between the caller's bytes and the GPU's.

import { describe, expect, test } from "vitest";

import { Sizes } from "../src/expressions.js";
import { checkFeeds, type CheckedFeed, type Feeds } from "../src/feeds.js";
import type { TensorSpec } from "../src/generated/manifest.js";
import { floatToHalf, halfToFloat, toArray, toGpu, toWire, weightBytes, type DType } from "../src/tensor.js";
import { failure } from "./golden.js";

function bytesOf(view: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength);
}

describe("wire to GPU and back", () => {
  const cases: [DType, ArrayBufferView][] = [
    ["float32", new Float32Array([1.5, -0, Infinity])],
    ["float16", new Uint16Array([0x3c00, 0x7bff, 0x8000])],
    ["int32", new Int32Array([-1, 2 ** 31 - 1])],
    ["uint32", new Uint32Array([0, 2 ** 32 - 1])],
    ["int64", new BigInt64Array([-1n, 2n ** 62n, -(2n ** 63n)])],
    ["uint64", new BigUint64Array([0n, 2n ** 64n - 1n])],
    ["int16", new Int16Array([-32768, -1, 32767])],
    ["uint16", new Uint16Array([0, 65535])],
    ["int4", new Int8Array([-8, 7])],
    ["uint2", new Uint8Array([0, 3])],
    ["int8", new Int8Array([-128, -1, 127])],
    ["uint8", new Uint8Array([0, 128, 255])],
    ["bool", new Uint8Array([0, 1, 1])],
  ];
  test.each(cases)("%s keeps every value", (dtype, array) => {
    const wire = bytesOf(array);
    expect([...toWire(dtype, toGpu(dtype, wire))]).toEqual([...wire]);
  });

  test("narrow types take one sign-extended word each", () => {
    const gpu = toGpu("int8", bytesOf(new Int8Array([-2, 3])));
    expect([...new Int32Array(gpu.buffer)]).toEqual([-2, 3]);
  });

  test("any non-zero bool is 1", () => {
    const gpu = toGpu("bool", new Uint8Array([0, 1, 255]));
    expect([...new Uint32Array(gpu.buffer)]).toEqual([0, 1, 1]);
  });

  test("16-bit integers at an odd place", () => {
    const bytes = new Uint8Array(5);
    new DataView(bytes.buffer).setInt16(1, -5, true);
    expect([...new Int32Array(toGpu("int16", bytes.subarray(1, 3)).buffer)]).toEqual([-5]);
  });
});

test("weights below 8 bits share bytes", () => {
  expect(weightBytes("int4", [3])).toBe(2);
  expect(weightBytes("uint2", [3, 3])).toBe(3);
  expect(weightBytes("int64", [])).toBe(8);
  expect(weightBytes("uint8", [0])).toBe(0);
});

test("half floats: zero, subnormal, one, largest, infinity, NaN", () => {
  const bits = [0x0000, 0x0001, 0x3c00, 0x7bff, 0xfc00, 0x7e00];
  expect(bits.map(halfToFloat)).toEqual([0, 2 ** -24, 1, 65504, -Infinity, NaN]);
  expect([...toArray("float16", bytesOf(new Uint16Array([0xc000])))]).toEqual([-2]);
});

test("every half float survives the way to float32 and back; ties go to even", () => {
  for (let bits = 0; bits < 0x10000; bits += 1) {
    const value = halfToFloat(bits);
    if (!Number.isNaN(value)) expect(floatToHalf(value)).toBe(bits);
  }
  expect(floatToHalf(NaN) & 0x7e00).toBe(0x7e00);
  expect(floatToHalf(1 + 2 ** -11)).toBe(0x3c00);
  expect(floatToHalf(1 + 3 * 2 ** -11)).toBe(0x3c02);
  expect(floatToHalf(65519.99)).toBe(0x7bff);
  expect(floatToHalf(65520)).toBe(0x7c00);
  expect(floatToHalf(2 ** -25)).toBe(0x0000);
  expect(floatToHalf(2 ** -25 * 1.5)).toBe(0x0001);
});

describe("feeds", () => {
  const check = (inputs: TensorSpec[], feeds: Feeds): readonly CheckedFeed[] =>
    checkFeeds({ inputs, symbols: {}, constraints: [] }, feeds, new Sizes({}));
  const spec = { name: "x", dtype: "float32", shape: [2, 3] } as const;
  const inputs = [{ ...spec, shape: [...spec.shape] }];
  const whole = new Float32Array(6);

  test("what is wrong is named", async () => {
    const cases: [Feeds, string][] = [
      [{ x: whole, y: whole }, "unknown-input"],
      [{}, "missing-input"],
      [{ x: new Float32Array(5) }, "input-shape"],
      [{ x: { data: whole, shape: [3, 2] } }, "input-shape"],
      [{ x: { bytes: new Uint8Array(23) } }, "input-shape"],
      [{ x: new Int32Array(6) }, "input-dtype"],
      [{ x: { buffer: { size: 16 } as GPUBuffer } }, "input-shape"],
      [{ x: { buffer: { size: 64 } as GPUBuffer, offset: 2 } }, "input-shape"],
    ];
    for (const [feeds, code] of cases) {
      const error = await failure(() => check(inputs, feeds));
      expect(error.code).toBe(code);
      expect(error.message).toContain("input");
    }
  });

  test("a name of Object.prototype is no input", async () => {
    const odd = [{ name: "constructor", dtype: "float32" as const, shape: [1] }];
    expect((await failure(() => check(odd, {}))).code).toBe("missing-input");
  });

  test("a scalar is one element, a zero-size tensor none", () => {
    const scalar = [{ name: "s", dtype: "float32" as const, shape: [] }];
    expect(check(scalar, { s: new Float32Array([2]) })).toHaveLength(1);
    const empty = [{ name: "e", dtype: "float32" as const, shape: [2, 0] }];
    expect(check(empty, { e: new Float32Array(0) })).toHaveLength(1);
  });

  describe("with symbols", () => {
    const component = {
      inputs: [
        { name: "ids", dtype: "int32" as const, shape: ["batch", "seq"] },
        { name: "mask", dtype: "int32" as const, shape: ["batch", "past + seq"] },
        { name: "past", dtype: "float32" as const, shape: ["past", 4] },
      ],
      symbols: {
        batch: { minimum: 1, maximum: 2, multiple: 1 },
        seq: { minimum: 4, maximum: 64, multiple: 4 },
        past: { minimum: 0, maximum: 64, multiple: 1 },
      },
      constraints: [{ zero: "(seq - 4) * past", text: "past is 0 unless seq is 4" }],
    };
    const feeds = (ids: number[], mask: number[], past: number[]): Feeds => ({
      ids: { bytes: new Uint8Array(4 * (ids[0] ?? 1) * (ids[1] ?? 1)), shape: ids },
      mask: { data: new Int32Array((mask[0] ?? 1) * (mask[1] ?? 1)), shape: mask },
      past: { data: new Float32Array((past[0] ?? 1) * 4), shape: past },
    });

    test("sizes come from the shapes", () => {
      const sizes = new Sizes(component.symbols);
      const checked = checkFeeds(component, feeds([2, 4], [2, 9], [5, 4]), sizes);
      expect(checked.map(({ shape }) => shape)).toEqual([
        [2, 4],
        [2, 9],
        [5, 4],
      ]);
      expect(sizes.shapeOf(["batch", "seq", "past"])).toEqual([2, 4, 5]);
      expect(checkFeeds(component, feeds([1, 8], [1, 8], [0, 4]), sizes)).toHaveLength(3);
    });

    test.each([
      [feeds([3, 4], [3, 4], [0, 4]), "axis 0 of input ids (batch) is 3; expected a size from 1 to 2"],
      [feeds([1, 6], [1, 6], [0, 4]), "axis 1 of input ids (seq) is 6; expected a multiple of 4 from 4 to 64"],
      [feeds([1, 4], [2, 4], [0, 4]), "axis 0 of input mask (batch) is 2, but axis 0 of input ids is 1"],
      [feeds([1, 4], [1, 5], [0, 4]), "input mask: expected shape [1, 4], found [1, 5]"],
      [feeds([1, 8], [1, 9], [1, 4]), "past is 0 unless seq is 4"],
      [feeds([1, 4], [1, 4], [0, 3]), "input past: expected shape [0, 4], found [0, 3]"],
      [feeds([1], [1, 4], [0, 4]), "input ids: expected shape [batch, seq], found [1]"],
      [{ ...feeds([1, 4], [1, 4], [0, 4]), past: new Float32Array(0) }, "found no shape: give { data, shape }"],
    ])("what is wrong is named %#", async (wrong, text) => {
      const error = await failure(() => checkFeeds(component, wrong, new Sizes(component.symbols)));
      expect(error.code).toBe("input-shape");
      expect(error.message).toContain(text);
    });
  });
});
