// The activation buffers of a device: leased to a run, and taken by other models in between.
//
// Nobody sees what another model left in a slot. The memory plan gives every value of a run a span that a dispatch of
// that run writes before any reads it; that the last 16 bytes of a value may be padding which nobody wrote changes no
// result, because values of one run overwrite each other's spans in the same way. What runs out of order (warm-up) is
// given zeros.

import { fit } from "./arbiter.js";
import { bufferBytes, type ModelMemory } from "./memory.js";

/** An activation buffer. */
export interface Slot {
  readonly buffer: GPUBuffer;
}

interface SlotState extends Slot {
  /** On whose account it is: that of its last run. */
  holder: ModelMemory;
  /** Those that have bound it. */
  readonly users: Set<ModelMemory>;
  /** What its last run needed of it. */
  needBytes: number;
  leased: boolean;
  usedAt: number;
}

/** Slots that could be destroyed now. */
export interface IdleSlot {
  readonly slot: Slot;
  readonly bytes: number;
  readonly usedAt: number;
}

/** All slots of one device. */
export class Slots {
  readonly #states = new Map<Slot, SlotState>();
  #uses = 0;

  /** Lease the slots of an earlier run; false where one is leased or gone. */
  leaseAgain(memory: ModelMemory, slots: readonly Slot[]): boolean {
    const states = slots.map((slot) => this.#alive(slot));
    if (!states.every((state) => state?.leased === false)) return false;
    for (const state of states) if (state !== undefined) this.#take(memory, state, state.buffer.size);
    return true;
  }

  /** Lease one slot per size, idle ones where they fit. Throws "memory-budget"; then nothing is leased. */
  lease(memory: ModelMemory, sizes: readonly number[]): readonly Slot[] {
    const idle = this.#idle();
    const needs = sizes.map(bufferBytes);
    const chosen = fit(
      needs,
      idle.map(({ buffer }) => buffer.size),
    ).map((index) => (index === undefined ? undefined : idle[index]));
    // Leased first: making room must not destroy them.
    for (const [at, state] of chosen.entries()) if (state !== undefined) this.#take(memory, state, needs[at] ?? 0);
    try {
      memory.makeRoom(
        chosen.reduce((sum, state, at) => sum + (state === undefined ? (needs[at] ?? 0) : 0), 0),
        "activations",
      );
      return needs.map((bytes, at) => chosen[at] ?? this.#make(memory, bytes));
    } catch (cause) {
      for (const state of chosen) if (state !== undefined) state.leased = false;
      throw cause;
    }
  }

  /** End the lease of all slots of `memory`. */
  release(memory: ModelMemory): void {
    for (const state of this.#states.values()) if (state.holder === memory) state.leased = false;
  }

  /** Forget a model: its slots go to others that have bound them, or are destroyed. */
  leave(memory: ModelMemory): void {
    for (const state of this.#states.values()) {
      state.users.delete(memory);
      if (state.holder !== memory) continue;
      const [heir] = state.users;
      state.leased = false;
      if (heir === undefined) this.destroy(state);
      else this.#move(state, heir);
    }
  }

  /** Destroy a slot that is not leased. */
  destroy(slot: Slot): void {
    const state = this.#states.get(slot);
    if (state === undefined) return;
    this.#states.delete(slot);
    state.holder.destroy(state.buffer);
  }

  /**
   * Destroy the slots of a model that are larger than it needs: they may be what is too much. False where there are
   * none.
   */
  destroyOversize(memory: ModelMemory): boolean {
    const oversize = this.#idle().filter(
      ({ holder, buffer, needBytes }) => holder === memory && buffer.size > needBytes,
    );
    for (const slot of oversize) this.destroy(slot);
    return oversize.length > 0;
  }

  /** Those that are not leased. */
  idle(): readonly IdleSlot[] {
    return this.#idle().map((slot) => ({ slot, bytes: slot.buffer.size, usedAt: slot.usedAt }));
  }

  /** A slot's state; one whose creation the GPU refused is forgotten. */
  #alive(slot: Slot): SlotState | undefined {
    const state = this.#states.get(slot);
    if (state === undefined || state.holder.owns(state.buffer)) return state;
    this.#states.delete(slot);
    return undefined;
  }

  #idle(): readonly SlotState[] {
    return [...this.#states.keys()].flatMap((slot) => {
      const state = this.#alive(slot);
      return state?.leased === false ? [state] : [];
    });
  }

  #make(memory: ModelMemory, bytes: number): Slot {
    const buffer = memory.create("activation", bytes, "activation");
    const state: SlotState = { buffer, holder: memory, users: new Set(), needBytes: bytes, leased: false, usedAt: 0 };
    this.#states.set(state, state);
    this.#take(memory, state, bytes);
    return state;
  }

  #take(memory: ModelMemory, state: SlotState, needBytes: number): void {
    state.leased = true;
    state.needBytes = needBytes;
    state.users.add(memory);
    this.#uses += 1;
    state.usedAt = this.#uses;
    if (state.holder !== memory) this.#move(state, memory);
  }

  #move(state: SlotState, to: ModelMemory): void {
    state.holder.surrender(state.buffer);
    state.holder = to;
    to.adopt(state.buffer, "activation");
  }
}
