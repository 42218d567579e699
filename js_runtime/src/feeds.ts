// What a caller may give as a model input, checked against the model's declaration before anything reaches the GPU.

import { InputError } from "./errors.js";
import { Sizes, type Extent } from "./expressions.js";
import type { Component, TensorSpec } from "./generated/manifest.js";
import { imageShape, isImageFeed, type ImageFeed } from "./image/picture.js";
import { elementCount, floatToHalf, gpuBytes, holds, toGpu, wireBytes, type TensorArray } from "./tensor.js";

/**
 * One input: a typed array of the input's element type (row-major; float16 as bit patterns in a Uint16Array or as
 * float32 values), raw little-endian bytes, a GPUBuffer in the GPU's layout that the run copies from, or an image. An input
 * whose shape depends on symbols comes with its shape, or has the image's.
 */
export type Feed =
  | TensorArray
  | { readonly data: TensorArray; readonly shape: readonly number[] }
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly shape?: readonly number[] }
  | { readonly buffer: GPUBuffer; readonly offset?: number; readonly shape?: readonly number[] }
  | ImageFeed;

export type Feeds = Readonly<Record<string, Feed>>;

/** A checked input with its shape in this run: bytes in the GPU's layout, a range of the caller's buffer, or an image. */
export type CheckedFeed = { readonly spec: TensorSpec; readonly shape: readonly number[] } & (
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly buffer: GPUBuffer; readonly offset: number; readonly sizeBytes: number }
  | { readonly image: ImageFeed }
);

type Interface = Pick<Component, "inputs" | "symbols" | "constraints">;

/** The inputs with their shapes where the symbols have the given values; one that is left out is at its maximum. */
export function inputsAt(
  { inputs, symbols }: Interface,
  values: Readonly<Record<string, number>>,
): readonly (TensorSpec & { readonly shape: readonly number[] })[] {
  const sizes = new Sizes(symbols);
  for (const [name, value] of Object.entries(values)) sizes.set(name, value);
  return inputs.map((input) => ({ ...input, shape: sizes.shapeOf(input.shape) }));
}

/**
 * Check all inputs and give `sizes` the values that their shapes imply. Throws "unknown-input", "missing-input",
 * "input-shape", "input-dtype", "image-shape" or "image-source".
 */
export function checkFeeds(component: Interface, feeds: Feeds, sizes: Sizes): readonly CheckedFeed[] {
  const { inputs } = component;
  const expected = inputs.map((spec) => `${spec.name} ${spec.dtype} [${spec.shape.join(", ")}]`).join("; ");
  for (const name of Object.keys(feeds)) {
    if (!inputs.some((spec) => spec.name === name)) {
      throw new InputError("unknown-input", `input ${name} does not exist; the model takes ${expected || "no input"}`);
    }
  }
  const given = inputs.map((spec) => {
    const feed = Object.hasOwn(feeds, spec.name) ? feeds[spec.name] : undefined;
    if (feed === undefined) {
      throw new InputError("missing-input", `input ${spec.name} is missing; the model takes ${expected}`);
    }
    return { spec, feed };
  });
  for (const [name, value] of sizesOf(component, given)) sizes.set(name, value);
  for (const { zero, text } of component.constraints) {
    if (sizes.valueOf(zero) !== 0) {
      const found = sizes.names.map((name) => `${name} = ${String(sizes.valueOf(name))}`).join(", ");
      throw new InputError("input-shape", `the inputs have ${found}, but ${text}`);
    }
  }
  return given.map(({ spec, feed }) => checkFeed(spec, sizes.shapeOf(spec.shape), feed));
}

interface Given {
  readonly spec: TensorSpec;
  readonly feed: Feed;
}

/** The value of every symbol, from the inputs that have it as a dimension. */
function sizesOf({ symbols }: Interface, given: readonly Given[]): ReadonlyMap<string, number> {
  const found = new Map<string, { readonly value: number; readonly where: string }>();
  for (const { spec, feed } of given) {
    if (spec.shape.every((extent) => typeof extent === "number")) continue;
    const shape = shapeOf(spec, feed);
    if (shape?.length !== spec.shape.length) throw wrongShape(spec, spec.shape, shape);
    for (const [axis, extent] of spec.shape.entries()) {
      const bounds = typeof extent === "string" && Object.hasOwn(symbols, extent) ? symbols[extent] : undefined;
      const value = shape[axis] ?? 0;
      if (bounds === undefined || typeof extent === "number") continue;
      const where = `axis ${String(axis)} of input ${spec.name}`;
      const { minimum, maximum, multiple } = bounds;
      if (!(value >= minimum && value <= maximum && value % multiple === 0)) {
        const kind = multiple === 1 ? "a size" : `a multiple of ${String(multiple)}`;
        throw new InputError(
          "input-shape",
          `${where} (${extent}) is ${String(value)}; expected ${kind} from ${String(minimum)} to ${String(maximum)}`,
        );
      }
      const known = found.get(extent);
      if (known !== undefined && known.value !== value) {
        throw new InputError(
          "input-shape",
          `${where} (${extent}) is ${String(value)}, but ${known.where} is ${String(known.value)}; they are one size`,
        );
      }
      found.set(extent, { value, where });
    }
  }
  return new Map([...found].map(([name, { value }]) => [name, value]));
}

function shapeOf(spec: TensorSpec, feed: Feed): readonly number[] | undefined {
  if (ArrayBuffer.isView(feed)) return undefined;
  return isImageFeed(feed) ? imageShape(spec, feed) : feed.shape;
}

function wrongShape(spec: TensorSpec, expected: readonly Extent[], found: readonly number[] | undefined): InputError {
  const text = found === undefined ? "no shape: give { data, shape }" : `[${found.join(", ")}]`;
  return new InputError("input-shape", `input ${spec.name}: expected shape [${expected.join(", ")}], found ${text}`);
}

function checkFeed(spec: TensorSpec, shape: readonly number[], feed: Feed): CheckedFeed {
  const found = shapeOf(spec, feed);
  if (found !== undefined && (found.length !== shape.length || found.some((dim, axis) => dim !== shape[axis]))) {
    throw wrongShape(spec, shape, found);
  }
  if (ArrayBuffer.isView(feed)) return { spec, shape, bytes: fromArray(spec, shape, feed) };
  if (isImageFeed(feed)) return { spec, shape, image: feed };
  if ("data" in feed) return { spec, shape, bytes: fromArray(spec, shape, feed.data) };
  const count = elementCount(shape);
  if ("bytes" in feed) {
    if (feed.bytes.length !== count * wireBytes(spec.dtype)) {
      throw new InputError(
        "input-shape",
        `input ${spec.name}: expected ${String(count * wireBytes(spec.dtype))} bytes, found ${String(feed.bytes.length)}`,
      );
    }
    return { spec, shape, bytes: toGpu(spec.dtype, feed.bytes) };
  }
  // Copies move whole words; every GPU tensor is padded, so an odd 16-bit tensor has the room.
  const sizeBytes = Math.ceil((count * gpuBytes(spec.dtype)) / 4) * 4;
  const offset = feed.offset ?? 0;
  if (offset % 4 !== 0 || offset + sizeBytes > feed.buffer.size) {
    throw new InputError(
      "input-shape",
      `input ${spec.name}: needs ${String(sizeBytes)} bytes at a multiple of 4, found a buffer of ` +
        `${String(feed.buffer.size)} bytes with offset ${String(offset)}`,
    );
  }
  return { spec, shape, buffer: feed.buffer, offset, sizeBytes };
}

function fromArray(spec: TensorSpec, shape: readonly number[], array: TensorArray): Uint8Array<ArrayBuffer> {
  if (!holds(spec.dtype, array)) {
    throw new InputError(
      "input-dtype",
      `input ${spec.name}: expected an array of ${spec.dtype}, found ${array.constructor.name}`,
    );
  }
  const count = elementCount(shape);
  if (array.length !== count) {
    throw new InputError(
      "input-shape",
      `input ${spec.name}: expected ${String(count)} elements for [${shape.join(", ")}], found ${String(array.length)}`,
    );
  }
  if (spec.dtype === "float16" && array instanceof Float32Array) {
    return new Uint8Array(Uint16Array.from(array, floatToHalf).buffer);
  }
  // queue.writeBuffer takes no view of a SharedArrayBuffer in every browser.
  const bytes =
    array.buffer instanceof ArrayBuffer
      ? new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
      : new Uint8Array(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return toGpu(spec.dtype, bytes);
}
