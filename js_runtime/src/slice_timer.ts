// Measures slices by timestamps without waiting for them; does nothing where the device has none.

import type { ModelMemory } from "./memory.js";
import { watch } from "./scopes.js";
import { MapMode } from "./webgpu_flags.js";

/** Slices whose times may be under way; more go unmeasured. */
const SLOTS = 16;
/** WebGPU resolves queries to multiples of 256 bytes. */
const SLOT_BYTES = 256;
/** The first measurements are read one by one, because predictions rest on them; later ones together. */
const EAGER = 8;
const BATCH = SLOTS / 2;
/** Timestamps of which so many make no sense are given up. */
const MAX_USELESS = 32;

/** The measurement of one slice. */
export interface Timing {
  /** Belongs into the pass's descriptor. */
  readonly writes: Pick<GPUComputePassDescriptor, "timestampWrites">;
  /** Append after the pass, to the same encoder. */
  readonly resolve: (encoder: GPUCommandEncoder) => void;
}

interface Measured {
  readonly slot: number;
  readonly encodedAt: number;
  readonly report: (ms: number) => boolean;
}

interface Buffers {
  readonly querySet: GPUQuerySet;
  readonly resolved: GPUBuffer;
  readonly mapped: GPUBuffer;
}

/** Timestamps of one model's slices. Buffers are made with the first. */
export class SliceTimer {
  readonly #device: GPUDevice;
  readonly #memory: ModelMemory;
  readonly #free = Array.from({ length: SLOTS }, (_, slot) => slot);
  /** Begin of each slot's last measurement: a slice that was never submitted leaves the old one. */
  readonly #begins = new BigInt64Array(SLOTS);
  #available: boolean;
  #useless = 0;
  #buffers: Buffers | undefined;
  #waiting: Measured[] = [];
  #collected = 0;
  #mapping = false;

  constructor(device: GPUDevice, memory: ModelMemory) {
    this.#available = device.features.has("timestamp-query");
    this.#device = device;
    this.#memory = memory;
  }

  /** Whether timestamps measure slices. */
  get available(): boolean {
    return this.#available;
  }

  /** Measure the next pass; `report` gets its milliseconds later, maybe zero or negative, and says if they make sense. */
  begin(report: (ms: number) => boolean): Timing | undefined {
    const slot = this.#available ? this.#free.pop() : undefined;
    if (slot === undefined) return undefined;
    this.#buffers ??= this.#create();
    const { querySet, resolved } = this.#buffers;
    this.#waiting.push({ slot, encodedAt: performance.now(), report });
    return {
      writes: {
        timestampWrites: { querySet, beginningOfPassWriteIndex: slot * 2, endOfPassWriteIndex: slot * 2 + 1 },
      },
      resolve: (encoder) => {
        encoder.resolveQuerySet(querySet, slot * 2, 2, resolved, slot * SLOT_BYTES);
      },
    };
  }

  /** Read what earlier slices measured, which have been submitted. Never waits. */
  collect(): void {
    if (this.#buffers === undefined || this.#mapping) return;
    const { resolved, mapped } = this.#buffers;
    if (this.#waiting.length < (this.#collected < EAGER ? 1 : BATCH)) return;
    const measured = this.#waiting;
    this.#waiting = [];
    this.#mapping = true;
    // Not in the engine's encoder: if that were submitted late, it would meet a buffer that is being mapped.
    watch(this.#device, "slice times", () => {
      const encoder = this.#device.createCommandEncoder({ label: "webinfer slice times" });
      encoder.copyBufferToBuffer(resolved, 0, mapped, 0, SLOTS * SLOT_BYTES);
      this.#device.queue.submit([encoder.finish()]);
      void this.#read(mapped, measured);
    });
  }

  /** Free the query set; the buffers belong to the model's memory. */
  dispose(): void {
    this.#buffers?.querySet.destroy();
  }

  #create(): Buffers {
    return {
      querySet: this.#device.createQuerySet({ label: "webinfer slices", type: "timestamp", count: SLOTS * 2 }),
      resolved: this.#memory.create("query", SLOTS * SLOT_BYTES, "slice times"),
      mapped: this.#memory.create("readback", SLOTS * SLOT_BYTES, "slice times"),
    };
  }

  async #read(mapped: GPUBuffer, measured: readonly Measured[]): Promise<void> {
    try {
      await mapped.mapAsync(MapMode.READ);
      const stamps = new BigInt64Array(mapped.getMappedRange());
      const now = performance.now();
      for (const { slot, encodedAt, report } of measured) {
        const at = (slot * SLOT_BYTES) / 8;
        const [begin = 0n, end = 0n] = [stamps[at], stamps[at + 1]];
        const ms = Number(end - begin) / 1e6;
        // No slice took longer than it is ago: some drivers answer with garbage.
        const sensible = begin !== this.#begins[slot] && ms <= now - encodedAt && report(ms);
        this.#useless = sensible ? 0 : this.#useless + 1;
        this.#begins[slot] = begin;
        this.#free.push(slot);
      }
      mapped.unmap();
      this.#collected += measured.length;
      this.#available = this.#useless < MAX_USELESS;
    } catch {
      // The model was disposed or the device lost: nothing is left to learn.
      return;
    }
    this.#mapping = false;
  }
}
