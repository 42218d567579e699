// Element types: their size on the wire and on the GPU, and the conversion between the two.
//
// On the GPU: float16 2 bytes, 64-bit integers 8 bytes, every other type one 4-byte word per element. Every GPU tensor is
// padded to a multiple of 16 bytes. Weights below 32 bits stay packed as ONNX stores them.

import type { TensorSpec } from "./generated/manifest.js";

export type DType = TensorSpec["dtype"];

/** Typed arrays that hold tensor data on the caller's side. */
export type TensorArray =
  | Float32Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Int16Array
  | Uint16Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray;

const WIRE_BYTES: Readonly<Record<DType, number>> = {
  float32: 4,
  float16: 2,
  int64: 8,
  uint64: 8,
  int32: 4,
  uint32: 4,
  int16: 2,
  uint16: 2,
  int8: 1,
  uint8: 1,
  int4: 1,
  uint4: 1,
  int2: 1,
  uint2: 1,
  bool: 1,
};

const BELOW_8_BITS: Readonly<Partial<Record<DType, number>>> = { int4: 4, uint4: 4, int2: 2, uint2: 2 };

/** Bytes per element in the caller's arrays; integers below 8 bits take one each. */
export function wireBytes(dtype: DType): number {
  return WIRE_BYTES[dtype];
}

/** Bytes per element in GPU buffers. */
export function gpuBytes(dtype: DType): number {
  if (dtype === "float16") return 2;
  return dtype === "int64" || dtype === "uint64" ? 8 : 4;
}

/** Bytes of a weight in its shard, and the same in GPU memory; elements below 8 bits share bytes. */
export function weightBytes(dtype: DType, shape: readonly number[]): number {
  return Math.ceil((elementCount(shape) * (BELOW_8_BITS[dtype] ?? WIRE_BYTES[dtype] * 8)) / 8);
}

/** Element count of a shape; a scalar (no dimensions) is one element. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}

/** Round up to the 16-byte granularity of GPU tensors. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / 16) * 16;
}

/** Convert wire bytes to GPU bytes. The result aliases `wire` where nothing changes. Length must be whole elements. */
export function toGpu(dtype: DType, wire: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  switch (dtype) {
    case "float32":
    case "float16":
    case "int32":
    case "uint32":
    case "int64":
    case "uint64":
      return wire;
    case "int16":
    case "uint16": {
      // A caller's bytes may start anywhere; 16-bit views need even offsets.
      const { buffer, byteOffset, byteLength } = wire.byteOffset % 2 === 0 ? wire : wire.slice();
      const count = byteLength / 2;
      return bytesOf(
        dtype === "int16"
          ? Int32Array.from(new Int16Array(buffer, byteOffset, count))
          : Uint32Array.from(new Uint16Array(buffer, byteOffset, count)),
      );
    }
    case "int8":
    case "int4":
    case "int2":
      return bytesOf(Int32Array.from(new Int8Array(wire.buffer, wire.byteOffset, wire.byteLength)));
    case "uint8":
    case "uint4":
    case "uint2":
      return bytesOf(Uint32Array.from(wire));
    case "bool":
      return bytesOf(Uint32Array.from(wire, (value) => (value === 0 ? 0 : 1)));
  }
}

/** Convert GPU bytes back to wire bytes; the inverse of `toGpu`. */
export function toWire(dtype: DType, gpu: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  switch (dtype) {
    case "float32":
    case "float16":
    case "int32":
    case "uint32":
    case "int64":
    case "uint64":
      return gpu;
    case "int16":
    case "uint16": {
      const words = new Uint32Array(gpu.buffer, gpu.byteOffset, gpu.byteLength / 4);
      return bytesOf(Uint16Array.from(words));
    }
    case "int8":
    case "uint8":
    case "int4":
    case "uint4":
    case "int2":
    case "uint2":
    case "bool": {
      const words = new Uint32Array(gpu.buffer, gpu.byteOffset, gpu.byteLength / 4);
      return Uint8Array.from(words);
    }
  }
}

/** View wire bytes as the typed array of their element type; float16 becomes float32 values. */
export function toArray(dtype: DType, wire: Uint8Array<ArrayBuffer>): TensorArray {
  const { buffer, byteOffset, byteLength } = wire;
  switch (dtype) {
    case "float32":
      return new Float32Array(buffer, byteOffset, byteLength / 4);
    case "float16":
      return Float32Array.from(new Uint16Array(buffer, byteOffset, byteLength / 2), halfToFloat);
    case "int32":
      return new Int32Array(buffer, byteOffset, byteLength / 4);
    case "uint32":
      return new Uint32Array(buffer, byteOffset, byteLength / 4);
    case "int64":
      return new BigInt64Array(buffer, byteOffset, byteLength / 8);
    case "uint64":
      return new BigUint64Array(buffer, byteOffset, byteLength / 8);
    case "int16":
      return new Int16Array(buffer, byteOffset, byteLength / 2);
    case "uint16":
      return new Uint16Array(buffer, byteOffset, byteLength / 2);
    case "int8":
    case "int4":
    case "int2":
      return new Int8Array(buffer, byteOffset, byteLength);
    case "uint8":
    case "uint4":
    case "uint2":
    case "bool":
      return wire;
  }
}

/** Whether a caller's array holds elements of `dtype`: float16 comes as bit patterns, or as float32 values to round. */
export function holds(dtype: DType, array: ArrayBufferView): boolean {
  const name = Object.prototype.toString.call(array).slice(8, -1);
  switch (dtype) {
    case "float32":
      return name === "Float32Array";
    case "float16":
      return name === "Uint16Array" || name === "Float16Array" || name === "Float32Array";
    case "int32":
      return name === "Int32Array";
    case "uint32":
      return name === "Uint32Array";
    case "int64":
      return name === "BigInt64Array";
    case "uint64":
      return name === "BigUint64Array";
    case "int16":
      return name === "Int16Array";
    case "uint16":
      return name === "Uint16Array";
    case "int8":
    case "int4":
    case "int2":
      return name === "Int8Array";
    case "uint8":
    case "uint4":
    case "uint2":
      return name === "Uint8Array" || name === "Uint8ClampedArray";
    case "bool":
      return name === "Uint8Array";
  }
}

/** Value of an IEEE 754 binary16 bit pattern. */
export function halfToFloat(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** IEEE 754 binary16 bit pattern nearest to a number, ties to even; beyond 65504 it is an infinity. */
export function floatToHalf(value: number): number {
  FLOAT[0] = value;
  const bits = WORD[0] ?? 0;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = ((bits >>> 23) & 0xff) - 112;
  const fraction = bits & 0x7fffff;
  if (exponent === 143) return sign | 0x7c00 | (fraction === 0 ? 0 : 0x200);
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent < -10) return sign;
  // A subnormal shifts its implicit one into the fraction.
  const shift = exponent > 0 ? 13 : 14 - exponent;
  const kept = exponent > 0 ? fraction : fraction | 0x800000;
  const half = (exponent > 0 ? exponent << 10 : 0) | (kept >>> shift);
  const rest = kept & ((1 << shift) - 1);
  const tie = 1 << (shift - 1);
  // A carry out of the fraction moves on into the exponent, as it should.
  return sign | (rest > tie || (rest === tie && (half & 1) === 1) ? half + 1 : half);
}

const FLOAT = new Float32Array(1);
const WORD = new Uint32Array(FLOAT.buffer);

function bytesOf(array: Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>) {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
