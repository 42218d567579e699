// GPU memory of one residence of a model: every buffer and texture is made and destroyed here and booked on its account.

import { GpuError } from "./errors.js";
import { BufferUsage } from "./webgpu_flags.js";

/** What a buffer is for. Kinds never share buffers: a recycled buffer would show the last user's data. */
export type BufferKind = "weight" | "activation" | "input" | "output" | "staging" | "uniform" | "readback" | "query";

/** Live buffers, textures among them, and bytes; `peakBytes` and `stagingPeakBytes` count since creation. */
export interface MemoryUse {
  readonly buffers: number;
  readonly bytes: number;
  readonly peakBytes: number;
  readonly stagingPeakBytes: number;
  readonly byKind: Readonly<Record<BufferKind, { readonly buffers: number; readonly bytes: number }>>;
}

/** WebGPU refuses empty bindings, and GPU tensors are padded to 16 bytes: no buffer is smaller. */
const MIN_BUFFER_BYTES = 16;

function usageOf(kind: BufferKind): GPUBufferUsageFlags {
  switch (kind) {
    case "weight":
    case "staging":
    case "activation":
    case "input":
    case "output":
      return BufferUsage.STORAGE | BufferUsage.COPY_DST | BufferUsage.COPY_SRC;
    case "uniform":
      return BufferUsage.UNIFORM | BufferUsage.COPY_DST;
    case "readback":
      return BufferUsage.MAP_READ | BufferUsage.COPY_DST;
    case "query":
      return BufferUsage.QUERY_RESOLVE | BufferUsage.COPY_SRC;
  }
}

/** Bytes of the buffer that is made for `sizeBytes`. */
export function bufferBytes(sizeBytes: number): number {
  return Math.max(MIN_BUFFER_BYTES, Math.ceil(sizeBytes / 4) * 4);
}

/** Counts what is alive. What is booked on a model's account is booked on that of its device, too. */
export class Account {
  readonly name: string;
  readonly #whole: Account | undefined;
  readonly #byKind: Record<BufferKind, { buffers: number; bytes: number }> = {
    weight: { buffers: 0, bytes: 0 },
    activation: { buffers: 0, bytes: 0 },
    input: { buffers: 0, bytes: 0 },
    output: { buffers: 0, bytes: 0 },
    staging: { buffers: 0, bytes: 0 },
    uniform: { buffers: 0, bytes: 0 },
    readback: { buffers: 0, bytes: 0 },
    query: { buffers: 0, bytes: 0 },
  };
  #buffers = 0;
  #bytes = 0;
  #peakBytes = 0;
  #stagingPeakBytes = 0;

  constructor(name: string, whole?: Account) {
    this.name = name;
    this.#whole = whole;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(kind: BufferKind, bytes: number): void {
    this.#book(kind, 1, bytes);
  }

  remove(kind: BufferKind, bytes: number): void {
    this.#book(kind, -1, -bytes);
  }

  use(): MemoryUse {
    return {
      buffers: this.#buffers,
      bytes: this.#bytes,
      peakBytes: this.#peakBytes,
      stagingPeakBytes: this.#stagingPeakBytes,
      byKind: structuredClone(this.#byKind),
    };
  }

  #book(kind: BufferKind, buffers: number, bytes: number): void {
    const entry = this.#byKind[kind];
    entry.buffers += buffers;
    entry.bytes += bytes;
    this.#buffers += buffers;
    this.#bytes += bytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
    this.#stagingPeakBytes = Math.max(this.#stagingPeakBytes, this.#byKind.staging.bytes);
    this.#whole?.[buffers > 0 ? "add" : "remove"](kind, Math.abs(bytes));
  }
}

/** Where a model's memory asks before it grows, and tells when it shrank. */
export interface Ledger {
  /** Throws "memory-budget" where `bytes` more do not fit and nobody idle can make room. */
  makeRoom(memory: ModelMemory, bytes: number, label: string): void;
  /** Who holds what, for messages. */
  describe(): string;
  shrank(): void;
}

/** What `ModelMemory.attempt` did. */
export interface Attempt<T> {
  readonly value: T;
  readonly undo: () => void;
}

type Resource = GPUBuffer | GPUTexture;

/** Owner of the buffers and textures of one residence. Does not know what they hold. */
export class ModelMemory {
  readonly account: Account;
  readonly #device: GPUDevice;
  readonly #ledger: Ledger;
  readonly #live = new Map<Resource, { readonly kind: BufferKind; readonly bytes: number }>();
  readonly #idleReadback: GPUBuffer[] = [];
  readonly #pending = new Map<Resource, Promise<void>>();
  #created: Resource[] | undefined;
  #closed = false;

  constructor(device: GPUDevice, account: Account, ledger: Ledger) {
    this.#device = device;
    this.account = account;
    this.#ledger = ledger;
  }

  /** Whether `close` was called: nothing runs on it any more. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Live bytes, of the given kinds alone where there are any. */
  bytes(...kinds: readonly BufferKind[]): number {
    let sum = 0;
    for (const { kind, bytes } of this.#live.values()) if (kinds.length === 0 || kinds.includes(kind)) sum += bytes;
    return sum;
  }

  /** Throws "memory-budget" where `bytes` more cannot be had. */
  makeRoom(bytes: number, label: string): void {
    this.#ledger.makeRoom(this, bytes, label);
  }

  /**
   * Create a buffer; throws "memory-budget". What the GPU refuses surfaces from `settle`, because WebGPU reports it
   * asynchronously.
   */
  create(kind: BufferKind, sizeBytes: number, label: string): GPUBuffer {
    const size = bufferBytes(sizeBytes);
    return this.#create(kind, size, label, () =>
      this.#device.createBuffer({ label: `webinfer ${label}`, size, usage: usageOf(kind) }),
    );
  }

  /** Create a texture that takes `sizeBytes`; as `create`. */
  createTexture(kind: BufferKind, sizeBytes: number, label: string, descriptor: GPUTextureDescriptor): GPUTexture {
    return this.#create(kind, sizeBytes, label, () =>
      this.#device.createTexture({ ...descriptor, label: `webinfer ${label}` }),
    );
  }

  /** Run `work`, which creates buffers: all of them, or none where it throws. `undo` destroys them. */
  attempt<T>(work: () => T): Attempt<T> {
    const created: Resource[] = [];
    const undo = (): void => {
      for (const resource of created) this.destroy(resource);
    };
    this.#created = created;
    try {
      return { value: work(), undo };
    } catch (cause) {
      undo();
      throw cause;
    } finally {
      this.#created = undefined;
    }
  }

  /** Wait for the creations so far. Those that failed are gone, and it rejects with "out-of-memory" or "validation". */
  async settle(): Promise<void> {
    const settling = [...this.#pending];
    this.#pending.clear();
    const checks = await Promise.allSettled(settling.map(([, check]) => check));
    let cause: Error | undefined;
    for (const [index, check] of checks.entries()) {
      const resource = settling[index]?.[0];
      if (check.status === "fulfilled" || resource === undefined) continue;
      this.destroy(resource);
      cause ??= check.reason as Error;
    }
    if (cause !== undefined) throw cause;
  }

  /** Destroy a buffer or texture now; WebGPU keeps its memory until submitted work that uses it is done. */
  destroy(resource: Resource): void {
    if (!this.#live.has(resource)) return;
    this.surrender(resource);
    resource.destroy();
    this.#ledger.shrank();
  }

  /** Whether a buffer is booked here. */
  owns(buffer: GPUBuffer): boolean {
    return this.#live.has(buffer);
  }

  /** Take over a buffer. */
  adopt(buffer: GPUBuffer, kind: BufferKind): void {
    this.#book(buffer, kind, buffer.size);
  }

  /** Leave a buffer or texture to another owner. */
  surrender(resource: Resource): void {
    const entry = this.#live.get(resource);
    if (entry === undefined) return;
    this.#live.delete(resource);
    this.#pending.delete(resource);
    this.account.remove(entry.kind, entry.bytes);
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
    if (this.#closed) this.destroy(buffer);
    else if (this.#live.has(buffer)) this.#idleReadback.push(buffer);
  }

  /**
   * Destroy everything but what is of the kinds to `keep`. Where any are or were kept, reads under way end well, and
   * their buffers are destroyed afterwards.
   */
  close(...keep: readonly BufferKind[]): void {
    const reading: readonly BufferKind[] = this.#closed || keep.length > 0 ? ["readback"] : [];
    this.#closed = true;
    for (const buffer of this.#idleReadback.splice(0)) this.destroy(buffer);
    for (const [resource, { kind }] of [...this.#live]) {
      if (!keep.includes(kind) && !reading.includes(kind)) this.destroy(resource);
    }
  }

  #create<R extends Resource>(kind: BufferKind, bytes: number, label: string, make: () => R): R {
    this.makeRoom(bytes, label);
    this.#device.pushErrorScope("validation");
    this.#device.pushErrorScope("out-of-memory");
    const made = make();
    const memoryScope = this.#device.popErrorScope();
    const validationScope = this.#device.popErrorScope();
    this.#book(made, kind, bytes);
    this.#created?.push(made);
    const check = this.#check(memoryScope, validationScope, label, bytes);
    // `settle` reports it; until then a rejection must not count as unhandled.
    check.catch(() => undefined);
    this.#pending.set(made, check);
    return made;
  }

  #book(resource: Resource, kind: BufferKind, bytes: number): void {
    this.#live.set(resource, { kind, bytes });
    this.account.add(kind, bytes);
  }

  async #check(
    memoryScope: Promise<GPUError | null>,
    validationScope: Promise<GPUError | null>,
    label: string,
    size: number,
  ): Promise<void> {
    const [memory, validation] = await Promise.all([memoryScope, validationScope]);
    const culprit = `"${label}" of ${String(size)} bytes`;
    if (memory !== null) {
      const held = this.#ledger.describe();
      const advice = "free other GPU memory or use a smaller model";
      throw new GpuError("out-of-memory", `${culprit}: ${memory.message}; ${held}; ${advice}`);
    }
    if (validation !== null) throw new GpuError("validation", `${culprit}: ${validation.message}`);
  }
}
