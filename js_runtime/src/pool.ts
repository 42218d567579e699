// All GPU memory of the runtime on one device: one budget, and slots that models share.

import { victims, type Candidate } from "./arbiter.js";
import { GpuError, throwIfAborted } from "./errors.js";
import { Account, ModelMemory, type Attempt, type BufferKind, type Ledger, type MemoryUse } from "./memory.js";
import { Slots, type Slot } from "./slots.js";

/** What one model holds; activation buffers count for the model that ran on them last. */
export interface ModelUse extends MemoryUse {
  readonly name: string;
}

/** What the runtime holds on a device, to the byte: the sum of its models. */
export interface DeviceUse extends MemoryUse {
  readonly budgetBytes: number;
  readonly models: readonly ModelUse[];
}

/** The runtime's memory on one device. */
export interface DeviceMemory {
  /**
   * Bytes that all models together may hold; default without limit. What does not fit makes idle models give up their
   * activation buffers and then their weights, which their next run gets back from the local store; where that is too
   * little, runs and loads wait for running ones, and at last reject with "memory-budget".
   */
  budgetBytes: number;
  use(): DeviceUse;
}

interface Tenant {
  readonly owner: object;
  readonly evict: (() => void) | undefined;
  /** From `admit` to `vacate`: nothing of it may go. */
  readonly occupied: boolean;
  readonly usedAt: number;
}

interface Victim extends Candidate {
  readonly go: () => void;
}

const pools = new WeakMap<GPUDevice, DevicePool>();

/** The pool of a device. */
export function poolOf(device: GPUDevice): DevicePool {
  const pool = pools.get(device) ?? new DevicePool(device);
  pools.set(device, pool);
  return pool;
}

/** The runtime's memory on a device: its budget, and what is in use by whom. */
export function deviceMemory(device: GPUDevice): DeviceMemory {
  return poolOf(device);
}

/** One per device, for everything that loads and runs there. */
export class DevicePool implements DeviceMemory, Ledger {
  readonly device: GPUDevice;
  readonly #total = new Account("device");
  readonly #tenants = new Map<ModelMemory, Tenant>();
  readonly #slots = new Slots();
  /** Those that wait to be admitted, first come first. */
  readonly #queue: object[] = [];
  readonly #waiting: (() => void)[] = [];
  #budgetBytes = Infinity;
  #uses = 0;

  constructor(device: GPUDevice) {
    this.device = device;
  }

  get budgetBytes(): number {
    return this.#budgetBytes;
  }

  set budgetBytes(bytes: number) {
    this.#budgetBytes = bytes;
    for (const { go } of this.#victims(this.#total.bytes - bytes) ?? this.#idle()) go();
    this.shrank();
  }

  use(): DeviceUse {
    const accounts = new Set([...this.#tenants.keys()].map(({ account }) => account));
    const models = [...accounts].map((account) => ({ name: account.name, ...account.use() }));
    return { ...this.#total.use(), budgetBytes: this.#budgetBytes, models };
  }

  /** What the models of an owner hold. */
  useOf(owner: object): MemoryUse {
    return this.#accountOf(owner)?.use() ?? new Account("").use();
  }

  /** Memory for a residence; all of one owner count on one account. */
  open(owner: object, name: string): ModelMemory {
    const account = this.#accountOf(owner) ?? new Account(name, this.#total);
    const memory = new ModelMemory(this.device, account, this);
    this.#tenants.set(memory, { owner, evict: undefined, occupied: false, usedAt: 0 });
    return memory;
  }

  /** From now on `evict` may be called while the residence is vacant. It must close the memory. */
  mayEvict(memory: ModelMemory, evict: () => void): void {
    this.#update(memory, { evict });
  }

  /**
   * Allocate and occupy: `allocate` runs when it is the caller's turn, and again whenever memory was freed as long as the
   * budget refuses it and others that run may still make room. Who waits occupies nothing, so nobody waits for ever
   * unless a job is paused for ever. Undefined where the memory was closed meanwhile. Rejects with "memory-budget",
   * "out-of-memory", "validation" or "aborted"; then nothing of it is left.
   */
  async admit<T>(memory: ModelMemory, allocate: () => T, signal?: AbortSignal): Promise<T | undefined> {
    for (let attempt = 0; ; attempt += 1) {
      const made = await this.#enter(memory, allocate, signal);
      if (made === undefined) return undefined;
      try {
        await memory.settle();
        return made.value;
      } catch (cause) {
        made.undo();
        this.vacate(memory);
        const idle = this.#idle(memory);
        if (!(cause instanceof GpuError && cause.code === "out-of-memory") || attempt > 0 || idle.length === 0) {
          throw cause;
        }
        // The GPU has less than the budget says: what is idle goes, and it may do.
        for (const { go } of idle) go();
      }
    }
  }

  /** Lease activation buffers; for within `admit`. */
  lease(memory: ModelMemory, sizes: readonly number[]): readonly Slot[] {
    return this.#slots.lease(memory, sizes);
  }

  /** Lease those of an earlier run, where they are free; for within `admit`. */
  leaseAgain(memory: ModelMemory, slots: readonly Slot[]): boolean {
    return this.#slots.leaseAgain(memory, slots);
  }

  /** End what `admit` began; all work is in the queue. */
  vacate(memory: ModelMemory): void {
    this.#slots.release(memory);
    this.#uses += 1;
    this.#update(memory, { occupied: false, usedAt: this.#uses });
    this.shrank();
  }

  /** Close a memory, except for buffers of the kinds to keep. */
  close(memory: ModelMemory, ...keep: readonly BufferKind[]): void {
    this.#slots.leave(memory);
    memory.close(...keep);
    this.shrank();
  }

  makeRoom(memory: ModelMemory, bytes: number, label: string): void {
    const excess = this.#total.bytes + bytes - this.#budgetBytes;
    if (excess <= 0) return;
    const chosen = this.#victims(excess, memory);
    if (chosen === undefined) {
      throw new Refusal(
        `${memory.account.name}: ${label} needs ${String(bytes)} bytes more, the budget is ` +
          `${String(this.#budgetBytes)}; ${this.describe()}; dispose a model or raise deviceMemory(device).budgetBytes`,
        memory.bytes() + bytes > this.#budgetBytes,
      );
    }
    for (const { go } of chosen) go();
  }

  describe(): string {
    const held = [...this.#tenants].flatMap(([memory, { occupied, evict }]) => {
      const bytes = memory.bytes();
      const state = occupied ? "in use" : memory.closed || evict === undefined ? "kept" : "idle";
      return bytes === 0 ? [] : [`${memory.account.name} ${String(bytes)} (${state})`];
    });
    return `${String(this.#total.bytes)} bytes are held: ${held.join(", ") || "none"}`;
  }

  shrank(): void {
    for (const [memory] of this.#tenants) if (memory.closed && memory.bytes() === 0) this.#tenants.delete(memory);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #enter<T>(
    memory: ModelMemory,
    allocate: () => T,
    signal: AbortSignal | undefined,
  ): Promise<Attempt<T> | undefined> {
    const ticket = {};
    this.#queue.push(ticket);
    const wake = (): void => {
      this.shrank();
    };
    signal?.addEventListener("abort", wake);
    try {
      for (;;) {
        throwIfAborted(signal);
        if (memory.closed) return undefined;
        if (this.#queue[0] === ticket) {
          try {
            const made = memory.attempt(allocate);
            this.#update(memory, { occupied: true });
            return made;
          } catch (cause) {
            this.#slots.release(memory);
            if (cause instanceof Refusal && this.#slots.destroyOversize(memory)) continue;
            if (!this.#mayFit(memory, cause)) throw cause;
          }
        }
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
    } finally {
      signal?.removeEventListener("abort", wake);
      this.#queue.splice(this.#queue.indexOf(ticket), 1);
      this.shrank();
    }
  }

  /** Whether what the budget refused may fit once others have run. */
  #mayFit(memory: ModelMemory, cause: unknown): boolean {
    if (!(cause instanceof Refusal) || cause.final) return false;
    return [...this.#tenants].some(([other, { occupied }]) => occupied && other !== memory);
  }

  #victims(bytes: number, asker?: ModelMemory): readonly Victim[] | undefined {
    return victims(bytes, this.#idle(asker));
  }

  /** All that could go now, of others than `asker`. */
  #idle(asker?: ModelMemory): readonly Victim[] {
    const slots = this.#slots.idle().map(({ slot, bytes, usedAt }): Victim => {
      const go = (): void => {
        this.#slots.destroy(slot);
      };
      return { kind: "activations", bytes, usedAt, go };
    });
    const weights = [...this.#tenants].flatMap(([memory, { evict, occupied, usedAt }]): readonly Victim[] => {
      if (evict === undefined || occupied || memory.closed || memory === asker) return [];
      // What eviction keeps does not count, nor do its slots, which are listed above.
      const bytes = memory.bytes("weight", "uniform", "query");
      return [{ kind: "weights", bytes, usedAt, go: evict }];
    });
    return [...slots, ...weights];
  }

  #accountOf(owner: object): Account | undefined {
    for (const [memory, tenant] of this.#tenants) if (tenant.owner === owner) return memory.account;
    return undefined;
  }

  #update(memory: ModelMemory, change: Partial<Tenant>): void {
    const tenant = this.#tenants.get(memory);
    if (tenant !== undefined) this.#tenants.set(memory, { ...tenant, ...change });
  }
}

/** The budget refuses; `final` where it would even if nobody else held anything. */
class Refusal extends GpuError {
  readonly final: boolean;

  constructor(message: string, final: boolean) {
    super("memory-budget", message);
    this.final = final;
  }
}
