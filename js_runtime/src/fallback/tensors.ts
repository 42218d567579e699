// Tensors between the runtime's bytes and ONNX Runtime's: the same little-endian elements, 4-bit ones packed in pairs.

import { BackendError } from "../errors.js";
import { elementCount, type DType } from "../tensor.js";
import type { OrtModule, OrtTensor } from "./onnx_runtime.js";

/** Make a tensor of wire bytes. They are copied: a worker takes over the memory that it is given. */
export function toOrt(
  ort: OrtModule,
  name: string,
  dtype: DType,
  shape: readonly number[],
  wire: Uint8Array<ArrayBuffer>,
): OrtTensor {
  const { buffer } = wire.slice();
  switch (dtype) {
    case "float32":
      return new ort.Tensor(dtype, new Float32Array(buffer), shape);
    case "float16":
    case "uint16":
      return new ort.Tensor(dtype, new Uint16Array(buffer), shape);
    case "int64":
      return new ort.Tensor(dtype, new BigInt64Array(buffer), shape);
    case "uint64":
      return new ort.Tensor(dtype, new BigUint64Array(buffer), shape);
    case "int32":
      return new ort.Tensor(dtype, new Int32Array(buffer), shape);
    case "uint32":
      return new ort.Tensor(dtype, new Uint32Array(buffer), shape);
    case "int16":
      return new ort.Tensor(dtype, new Int16Array(buffer), shape);
    case "int8":
      return new ort.Tensor(dtype, new Int8Array(buffer), shape);
    case "uint8":
    case "bool":
      return new ort.Tensor(dtype, new Uint8Array(buffer), shape);
    case "int4":
    case "uint4":
      return new ort.Tensor(dtype, pack(wire), shape);
    case "int2":
    case "uint2":
      throw new BackendError("not-on-backend", `${name}: ONNX Runtime Web has no type ${dtype}; load it on WebGPU`);
  }
}

/** Wire bytes of a tensor that ONNX Runtime made; they alias its memory where nothing changes. */
export function fromOrt(dtype: DType, { data, dims }: OrtTensor): Uint8Array<ArrayBuffer> {
  if (!ArrayBuffer.isView(data)) throw new BackendError("portable-failed", `expected a tensor of ${dtype}, found text`);
  const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (dtype === "int4" || dtype === "uint4") return unpack(bytes, elementCount(dims), dtype === "int4");
  return bytes;
}

/** Two elements to a byte, the first in the lower bits. */
function pack(wire: Uint8Array): Uint8Array {
  const packed = new Uint8Array(Math.ceil(wire.length / 2));
  for (const [index, value] of wire.entries()) {
    const at = index >> 1;
    packed[at] = (packed[at] ?? 0) | ((value & 15) << (index % 2 === 0 ? 0 : 4));
  }
  return packed;
}

function unpack(packed: Uint8Array, count: number, signed: boolean): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: count }, (_, index) => {
    const value = ((packed[index >> 1] ?? 0) >> (index % 2 === 0 ? 0 : 4)) & 15;
    return signed && value > 7 ? value + 240 : value;
  });
}
