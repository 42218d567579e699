// What a caller may give as a model input, checked against the model's declaration before anything reaches the GPU.

import { InputError } from "./errors.js";
import type { TensorSpec } from "./generated/manifest.js";
import { elementCount, floatToHalf, gpuBytes, holds, toGpu, wireBytes, type TensorArray } from "./tensor.js";

/**
 * One input: a typed array of the input's element type (row-major; float16 as bit patterns in a Uint16Array or as
 * float32 values), the same with its shape, raw little-endian bytes, or a GPUBuffer in the GPU's layout that the run copies from.
 */
export type Feed =
  | TensorArray
  | { readonly data: TensorArray; readonly shape: readonly number[] }
  | { readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly buffer: GPUBuffer; readonly offset?: number };

export type Feeds = Readonly<Record<string, Feed>>;

/** A checked input: bytes in the GPU's layout, or a range of the caller's buffer. */
export type CheckedFeed =
  | { readonly spec: TensorSpec; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly spec: TensorSpec; readonly buffer: GPUBuffer; readonly offset: number; readonly sizeBytes: number };

/** Check all inputs. Throws "unknown-input", "missing-input", "input-shape" or "input-dtype". */
export function checkFeeds(inputs: readonly TensorSpec[], feeds: Feeds): readonly CheckedFeed[] {
  const expected = inputs.map((spec) => `${spec.name} ${spec.dtype} [${spec.shape.join(", ")}]`).join("; ");
  for (const name of Object.keys(feeds)) {
    if (!inputs.some((spec) => spec.name === name)) {
      throw new InputError("unknown-input", `input ${name} does not exist; the model takes ${expected || "no input"}`);
    }
  }
  return inputs.map((spec) => {
    const feed = Object.hasOwn(feeds, spec.name) ? feeds[spec.name] : undefined;
    if (feed === undefined) {
      throw new InputError("missing-input", `input ${spec.name} is missing; the model takes ${expected}`);
    }
    return checkFeed(spec, feed);
  });
}

function checkFeed(spec: TensorSpec, feed: Feed): CheckedFeed {
  const count = elementCount(spec.shape);
  if (ArrayBuffer.isView(feed)) return { spec, bytes: fromArray(spec, feed) };
  if ("data" in feed) {
    if (feed.shape.length !== spec.shape.length || feed.shape.some((dim, axis) => dim !== spec.shape[axis])) {
      throw new InputError(
        "input-shape",
        `input ${spec.name}: expected shape [${spec.shape.join(", ")}], found [${feed.shape.join(", ")}]`,
      );
    }
    return { spec, bytes: fromArray(spec, feed.data) };
  }
  if ("bytes" in feed) {
    if (feed.bytes.length !== count * wireBytes(spec.dtype)) {
      throw new InputError(
        "input-shape",
        `input ${spec.name}: expected ${String(count * wireBytes(spec.dtype))} bytes, found ${String(feed.bytes.length)}`,
      );
    }
    return { spec, bytes: toGpu(spec.dtype, feed.bytes) };
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
  return { spec, buffer: feed.buffer, offset, sizeBytes };
}

function fromArray(spec: TensorSpec, array: TensorArray): Uint8Array<ArrayBuffer> {
  if (!holds(spec.dtype, array)) {
    throw new InputError(
      "input-dtype",
      `input ${spec.name}: expected an array of ${spec.dtype}, found ${array.constructor.name}`,
    );
  }
  const count = elementCount(spec.shape);
  if (array.length !== count) {
    throw new InputError(
      "input-shape",
      `input ${spec.name}: expected ${String(count)} elements for [${spec.shape.join(", ")}], found ${String(array.length)}`,
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
