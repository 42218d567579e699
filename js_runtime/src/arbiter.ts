// Decides what makes room on a device when a budget is short. Pure: no GPU, no clock.

/** Something that could be given up. `usedAt` grows with every use. */
export interface Candidate {
  readonly kind: "activations" | "weights";
  readonly bytes: number;
  readonly usedAt: number;
}

/**
 * What to give up so that `bytes` become free: activations first, which cost nothing to make again, then weights; within
 * each the least recently used first. Undefined where all together are too little: then nothing should go.
 */
export function victims<T extends Candidate>(bytes: number, candidates: readonly T[]): readonly T[] | undefined {
  const order = [...candidates].sort((a, b) => rank(a) - rank(b) || a.usedAt - b.usedAt);
  const taken: T[] = [];
  let freed = 0;
  for (const candidate of order) {
    if (freed >= bytes) break;
    taken.push(candidate);
    freed += candidate.bytes;
  }
  return freed >= bytes ? taken : undefined;
}

/**
 * Which idle buffers serve for `sizes`, by index into `idle`: the smallest that fits and is at most twice as large, each
 * once, large sizes first. Undefined where one has to be made.
 */
export function fit(sizes: readonly number[], idle: readonly number[]): readonly (number | undefined)[] {
  const free = new Set(idle.keys());
  const chosen = sizes.map((): number | undefined => undefined);
  for (const [at, size] of [...sizes.entries()].sort(([, a], [, b]) => b - a)) {
    let best: number | undefined;
    for (const index of free) {
      const bytes = idle[index] ?? 0;
      if (bytes < size || bytes > size * 2 || (best !== undefined && bytes >= (idle[best] ?? 0))) continue;
      best = index;
    }
    if (best === undefined) continue;
    free.delete(best);
    chosen[at] = best;
  }
  return chosen;
}

function rank({ kind }: Candidate): number {
  return kind === "activations" ? 0 : 1;
}
