// Which of several ways is fastest, measured within a bound on the time that it takes. Pure: no clock, no GPU.

/** Of the work of one measurement: what it took, and how much it was; 1 is the whole once. */
export interface Sample {
  readonly ms: number;
  readonly amount: number;
}

const MAX_ROUNDS = 8;
/** Growth from one round to the next, while what was measured is mostly latency. */
const GROWTH = 8;

/**
 * Milliseconds of the whole for each of `count` ways. `measure(way, wanted)` does about `wanted` of it, at 0 the least that
 * it can. Rounds are interleaved, so that other load hits all alike, and grow until they fill `budgetMs`: what is left is
 * never exceeded by more than the first, smallest, samples take, because a small sample never flatters.
 */
export async function contest(
  count: number,
  measure: (way: number, wanted: number) => Promise<Sample>,
  budgetMs: number,
): Promise<readonly number[]> {
  const ways = Array.from({ length: count }, () => ({ best: Infinity, amount: 0, smallest: 0 }));
  // All rounds after the growth fit in.
  const targetMs = budgetMs / (4 * count);
  let leftMs = budgetMs;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (const [index, way] of ways.entries()) {
      const wanted = round === 0 ? 0 : Math.min(targetMs / way.best, way.amount * GROWTH);
      // The least that can be done may be more than what is wanted.
      if (round > 0 && Math.max(wanted, way.smallest) * way.best > leftMs) return ways.map(({ best }) => best);
      const { ms, amount } = await measure(index, wanted);
      leftMs -= ms;
      if (amount > way.amount * 1.5) way.best = ms / amount;
      else way.best = Math.min(way.best, ms / amount);
      way.amount = Math.max(way.amount, amount);
      if (round === 0) way.smallest = amount;
    }
  }
  return ways.map(({ best }) => best);
}
