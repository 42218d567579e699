// The memory of a device by simulation: what goes first, and that no schedule of models exceeds the budget or hangs.

import { describe, expect, test } from "vitest";

import { fit, victims, type Candidate } from "../src/arbiter.js";
import type { ModelMemory } from "../src/memory.js";
import { DevicePool } from "../src/pool.js";
import type { Slot } from "../src/slots.js";
import { failure } from "./golden.js";
import { Random } from "./random.js";

describe("victims", () => {
  const old: Candidate = { kind: "weights", bytes: 10, usedAt: 1 };
  const recent: Candidate = { kind: "weights", bytes: 10, usedAt: 9 };
  const slot: Candidate = { kind: "activations", bytes: 4, usedAt: 8 };
  const oldSlot: Candidate = { kind: "activations", bytes: 4, usedAt: 2 };

  test("activations before weights, the least recently used before others, no more than needed", () => {
    const all = [recent, slot, old, oldSlot];
    expect(victims(0, all)).toEqual([]);
    expect(victims(4, all)).toEqual([oldSlot]);
    expect(victims(5, all)).toEqual([oldSlot, slot]);
    expect(victims(9, all)).toEqual([oldSlot, slot, old]);
    expect(victims(28, all)).toEqual([oldSlot, slot, old, recent]);
  });

  test("nothing goes where all would be too little", () => {
    expect(victims(29, [recent, slot, old, oldSlot])).toBeUndefined();
  });
});

test("fit: the smallest that is large enough and at most twice as large, each once", () => {
  expect(fit([100, 50], [200, 120, 60])).toEqual([1, 2]);
  expect(fit([50, 100], [110, 110])).toEqual([undefined, 0]);
  expect(fit([30, 60], [60, 59])).toEqual([1, 0]);
  expect(fit([10], [])).toEqual([undefined]);
});

/** A device that only counts. */
class FakeDevice {
  live = 0;

  createBuffer({ size, label }: GPUBufferDescriptor): GPUBuffer {
    this.live += size;
    const destroy = (): undefined => {
      this.live -= size;
    };
    return { size, label, destroy } as unknown as GPUBuffer;
  }

  pushErrorScope(): void {
    // Nothing fails here.
  }

  popErrorScope(): Promise<null> {
    return Promise.resolve(null);
  }
}

function turns(count: number): Promise<void> {
  return count <= 0 ? Promise.resolve() : Promise.resolve().then(() => turns(count - 1));
}

/** A model as the pool sees it: takes turns, is installed when it was evicted. */
class SimulatedModel {
  readonly weightBytes: number;
  readonly sizes: readonly number[];
  readonly #pool: DevicePool;
  readonly #leased: Set<Slot>;
  #memory: ModelMemory | undefined;
  #slots: readonly Slot[] = [];
  installs = 0;

  constructor(pool: DevicePool, leased: Set<Slot>, random: Random) {
    this.#pool = pool;
    this.#leased = leased;
    this.weightBytes = 16 * Math.ceil(random.between(1, 64));
    this.sizes = Array.from({ length: Math.ceil(random.between(0, 4)) }, () => 16 * Math.ceil(random.between(1, 32)));
  }

  get needBytes(): number {
    return this.sizes.reduce((sum, size) => sum + size, this.weightBytes);
  }

  /** One run that holds its activations for `held` turns of the microtask queue. */
  async run(held: number): Promise<void> {
    const memory = await this.#occupied(held);
    for (const slot of this.#slots) {
      if (this.#leased.has(slot)) throw new Error("one slot, two runs");
      this.#leased.add(slot);
    }
    await turns(held);
    for (const slot of this.#slots) this.#leased.delete(slot);
    this.#pool.vacate(memory);
  }

  dispose(): void {
    if (this.#memory !== undefined) this.#pool.close(this.#memory);
  }

  async #occupied(held: number): Promise<ModelMemory> {
    const pool = this.#pool;
    const present = this.#memory;
    if (present !== undefined) {
      const again = (): readonly Slot[] =>
        pool.leaseAgain(present, this.#slots) ? this.#slots : pool.lease(present, this.sizes);
      const slots = await pool.admit(present, again);
      if (slots !== undefined) {
        this.#slots = slots;
        return present;
      }
    }
    const memory = pool.open(this, "simulated");
    try {
      const install = (): readonly Slot[] => {
        const slots = pool.lease(memory, this.sizes);
        memory.makeRoom(this.weightBytes, "the model");
        memory.create("weight", this.weightBytes, "weights");
        return slots;
      };
      this.#slots = (await pool.admit(memory, install)) ?? [];
    } catch (cause) {
      pool.close(memory);
      throw cause;
    }
    this.installs += 1;
    await turns(held);
    this.#memory = memory;
    pool.mayEvict(memory, () => {
      this.#memory = undefined;
      pool.close(memory);
    });
    return memory;
  }
}

test("500 random schedules: within the budget, no slot twice, none hangs, refused only what can never fit", async () => {
  let evictions = 0;
  let refusals = 0;
  for (let seed = 0; seed < 500; seed += 1) {
    const random = new Random(seed);
    const device = new FakeDevice();
    const pool = new DevicePool(device as unknown as GPUDevice);
    const leased = new Set<Slot>();
    const models = Array.from(
      { length: Math.ceil(random.between(1, 5)) },
      () => new SimulatedModel(pool, leased, random),
    );
    const largest = Math.max(...models.map(({ needBytes }) => needBytes));
    pool.budgetBytes = Math.floor(largest * random.between(0.8, 2.5));
    const work = models.map(async (model) => {
      for (let run = 0; run < 6; run += 1) {
        await turns(Math.floor(random.between(0, 30)));
        const held = Math.floor(random.between(0, 30));
        if (model.needBytes <= pool.budgetBytes) {
          await model.run(held);
        } else {
          expect((await failure(() => model.run(held))).code).toBe("memory-budget");
          refusals += 1;
        }
        if (device.live > pool.budgetBytes || pool.use().bytes !== device.live) throw new Error(`seed ${String(seed)}`);
      }
    });
    await Promise.all(work);
    expect(pool.use().peakBytes).toBeLessThanOrEqual(pool.budgetBytes);
    for (const { installs } of models) evictions += Math.max(0, installs - 1);
    for (const model of models) model.dispose();
    expect(device.live).toBe(0);
    expect(pool.use()).toMatchObject({ bytes: 0, models: [] });
  }
  // The simulation is worth nothing where there is room for all.
  expect(evictions).toBeGreaterThan(500);
  expect(refusals).toBeGreaterThan(50);
});
