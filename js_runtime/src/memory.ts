// Every GPUBuffer that the runtime owns is made and destroyed here, so that live bytes are known and nothing leaks.

import { GpuError } from "./errors.js";
import { BufferUsage } from "./webgpu_flags.js";

/** What a buffer is for. Kinds never share buffers: a recycled buffer would show the last user's data. */
export type BufferKind = "weight" | "activation" | "input" | "output" | "staging" | "uniform" | "readback" | "query";

/** Live buffers and bytes; `peakBytes` and `stagingPeakBytes` count since creation. */
export interface MemoryUse {
  readonly buffers: number;
  readonly bytes: number;
  readonly peakBytes: number;
  readonly stagingPeakBytes: number;
  readonly byKind: Readonly<Record<BufferKind, { readonly buffers: number; readonly bytes: number }>>;
}

const KINDS: readonly BufferKind[] = [
  "weight",
  "activation",
  "input",
  "output",
  "staging",
  "uniform",
  "readback",
  "query",
];

/** WebGPU refuses empty bindings, and GPU tensors are padded to 16 bytes: no buffer is smaller. */
const MIN_BUFFER_BYTES = 16;

function usageOf(kind: BufferKind): GPUBufferUsageFlags {
  switch (kind) {
    case "weight":
    case "staging":
      return BufferUsage.STORAGE | BufferUsage.COPY_DST | BufferUsage.COPY_SRC;
    case "activation":
    case "output":
      return BufferUsage.STORAGE | BufferUsage.COPY_SRC;
    case "input":
      return BufferUsage.STORAGE | BufferUsage.COPY_DST | BufferUsage.COPY_SRC;
    case "uniform":
      return BufferUsage.UNIFORM | BufferUsage.COPY_DST;
    case "readback":
      return BufferUsage.MAP_READ | BufferUsage.COPY_DST;
    case "query":
      return BufferUsage.QUERY_RESOLVE | BufferUsage.COPY_SRC;
  }
}

/** Owner of the buffers of one model on one device. Does not know what the buffers hold. */
export class DeviceMemory {
  readonly #device: GPUDevice;
  readonly #live = new Map<GPUBuffer, BufferKind>();
  readonly #idleReadback: GPUBuffer[] = [];
  readonly #pending: Promise<void>[] = [];
  #bytes = 0;
  #peakBytes = 0;
  #stagingBytes = 0;
  #stagingPeakBytes = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** Create a buffer; failures surface from `settle`, because WebGPU reports them asynchronously. */
  create(kind: BufferKind, sizeBytes: number, label: string): GPUBuffer {
    const size = Math.max(MIN_BUFFER_BYTES, Math.ceil(sizeBytes / 4) * 4);
    this.#device.pushErrorScope("validation");
    this.#device.pushErrorScope("out-of-memory");
    const buffer = this.#device.createBuffer({ label: `webinfer ${label}`, size, usage: usageOf(kind) });
    const memoryScope = this.#device.popErrorScope();
    const validationScope = this.#device.popErrorScope();
    const check = checkCreation(memoryScope, validationScope, label, size);
    // `settle` reports it; until then a rejection must not count as unhandled.
    check.catch(() => undefined);
    this.#pending.push(check);
    this.#live.set(buffer, kind);
    this.#bytes += size;
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
    if (kind === "staging") {
      this.#stagingBytes += size;
      this.#stagingPeakBytes = Math.max(this.#stagingPeakBytes, this.#stagingBytes);
    }
    return buffer;
  }

  /** Wait for the creations so far; rejects with "out-of-memory" or "validation" where one failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending.splice(0));
  }

  /** Destroy one buffer now; WebGPU keeps its memory until submitted work that uses it is done. */
  destroy(buffer: GPUBuffer): void {
    const kind = this.#live.get(buffer);
    if (kind === undefined) return;
    this.#live.delete(buffer);
    this.#bytes -= buffer.size;
    if (kind === "staging") this.#stagingBytes -= buffer.size;
    buffer.destroy();
  }

  /** Take the smallest idle read-back buffer that fits, or make one: overlapping reads each get their own. */
  takeReadback(sizeBytes: number): GPUBuffer {
    let best = -1;
    for (const [index, buffer] of this.#idleReadback.entries()) {
      const smallest = this.#idleReadback[best]?.size ?? Infinity;
      if (buffer.size >= sizeBytes && buffer.size < smallest) best = index;
    }
    const [taken] = best < 0 ? [] : this.#idleReadback.splice(best, 1);
    return taken ?? this.create("readback", sizeBytes, "read-back");
  }

  /** Return an unmapped read-back buffer for the next read. */
  giveReadback(buffer: GPUBuffer): void {
    if (this.#live.has(buffer)) this.#idleReadback.push(buffer);
  }

  /** What is alive now. */
  use(): MemoryUse {
    const byKind = Object.fromEntries(KINDS.map((kind) => [kind, { buffers: 0, bytes: 0 }])) as Record<
      BufferKind,
      { buffers: number; bytes: number }
    >;
    for (const [buffer, kind] of this.#live) {
      byKind[kind].buffers += 1;
      byKind[kind].bytes += buffer.size;
    }
    return {
      buffers: this.#live.size,
      bytes: this.#bytes,
      peakBytes: this.#peakBytes,
      stagingPeakBytes: this.#stagingPeakBytes,
      byKind,
    };
  }

  /** Destroy everything. */
  dispose(): void {
    for (const buffer of [...this.#live.keys()]) this.destroy(buffer);
    this.#idleReadback.length = 0;
    this.#pending.length = 0;
  }
}

async function checkCreation(
  memoryScope: Promise<GPUError | null>,
  validationScope: Promise<GPUError | null>,
  label: string,
  size: number,
): Promise<void> {
  const [memory, validation] = await Promise.all([memoryScope, validationScope]);
  const culprit = `buffer "${label}" of ${String(size)} bytes`;
  if (memory !== null) {
    throw new GpuError("out-of-memory", `${culprit}: ${memory.message}; free other GPU memory or use a smaller model`);
  }
  if (validation !== null) throw new GpuError("validation", `${culprit}: ${validation.message}`);
}
