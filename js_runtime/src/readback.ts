// Copies GPU ranges to the CPU through reusable staging buffers; overlapping reads each use their own.

import type { ModelMemory } from "./memory.js";
import { elementCount, gpuBytes, toWire, type DType } from "./tensor.js";
import { MapMode } from "./webgpu_flags.js";

/** A tensor in a GPUBuffer. */
export interface TensorRange {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** A copy under way: encoded now, mapped after its submit. */
export interface PendingRead {
  readonly staging: GPUBuffer;
  readonly range: TensorRange;
  readonly sizeBytes: number;
}

/** Append the copy of a tensor, which must have elements, to `encoder`. */
export function encodeRead(encoder: GPUCommandEncoder, memory: ModelMemory, range: TensorRange): PendingRead {
  const sizeBytes = elementCount(range.shape) * gpuBytes(range.dtype);
  const copied = Math.ceil(sizeBytes / 4) * 4;
  const staging = memory.takeReadback(copied);
  encoder.copyBufferToBuffer(range.buffer, range.offset, staging, 0, copied);
  return { staging, range, sizeBytes };
}

/** Wait for a submitted copy; returns the tensor's wire bytes. */
export async function finishRead(memory: ModelMemory, read: PendingRead): Promise<Uint8Array<ArrayBuffer>> {
  const { staging, range, sizeBytes } = read;
  const copied = Math.ceil(sizeBytes / 4) * 4;
  try {
    await staging.mapAsync(MapMode.READ, 0, copied);
  } catch (cause) {
    memory.destroy(staging);
    throw cause;
  }
  const bytes = new Uint8Array(staging.getMappedRange(0, copied).slice(0), 0, sizeBytes);
  staging.unmap();
  memory.giveReadback(staging);
  return toWire(range.dtype, bytes);
}
