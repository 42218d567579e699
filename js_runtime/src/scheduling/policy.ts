// Orders the jobs of a frame: deadlines where they get tight, else priorities that grow with waiting. Pure.

/** A job as the policy sees it. */
export interface Candidate {
  /** Higher goes first. */
  readonly priority: number;
  /** Time on the scheduler's clock by which it should be done; Infinity for none. */
  readonly deadline: number;
  /** When it last got a piece, or came. */
  readonly servedAt: number;
  readonly remainingMs: number;
}

export interface Capacity {
  readonly now: number;
  /** Milliseconds of GPU time per frame, and milliseconds between frames. */
  readonly budgetMs: number;
  readonly frameMs: number;
}

/** Order of service. The first `forced` get one piece each, whatever it costs. */
export interface Order<T> {
  readonly jobs: readonly T[];
  readonly forced: 0 | 1;
}

/** A job that got nothing for this long gets a piece, one such job a frame. */
export const STARVING_MS = 1000;
/** Waiting this long is worth one priority. */
const AGING_MS = 250;
/** Share of the capacity that counts when deadlines are planned: budgets are not filled to the end, predictions err. */
const SAFETY = 0.5;
/** Frames of slack at which a deadline takes over. */
const TIGHT_FRAMES = 4;

/**
 * Deadlines go first, earliest first, as long as waiting any longer would miss one that can still be met: earliest
 * deadline first meets every feasible set (Liu and Layland 1973). Otherwise priority decides, plus one per AGING_MS of
 * waiting. The longest waiting job gets one piece where it starves.
 */
export function order<T extends Candidate>(candidates: readonly T[], capacity: Capacity): Order<T> {
  const urgent = tight(candidates, capacity);
  const rank = (job: T): number => job.priority + (capacity.now - job.servedAt) / AGING_MS;
  const rest = candidates.filter((job) => !urgent.includes(job)).sort((a, b) => rank(b) - rank(a));
  const jobs = [...urgent, ...rest];
  let starving: T | undefined;
  for (const job of jobs) {
    if (capacity.now - job.servedAt >= STARVING_MS && job.servedAt < (starving?.servedAt ?? Infinity)) starving = job;
  }
  if (starving === undefined || starving === jobs[0]) return { jobs, forced: 0 };
  const first = starving;
  return { jobs: [first, ...jobs.filter((job) => job !== first)], forced: 1 };
}

/** Jobs with deadlines, earliest first, if one of them leaves no slack; none of those that cannot be met any more. */
function tight<T extends Candidate>(candidates: readonly T[], { now, budgetMs, frameMs }: Capacity): readonly T[] {
  const dated = candidates.filter(({ deadline }) => deadline < Infinity).sort((a, b) => a.deadline - b.deadline);
  const feasible: T[] = [];
  let demand = 0;
  let slackFrames = Infinity;
  for (const job of dated) {
    const frames = (job.deadline - now) / frameMs;
    // Beyond the full capacity it is lost, and its work would only make others late.
    if (demand + job.remainingMs > frames * budgetMs) continue;
    demand += job.remainingMs;
    feasible.push(job);
    slackFrames = Math.min(slackFrames, frames - demand / (budgetMs * SAFETY));
  }
  return slackFrames <= TIGHT_FRAMES ? feasible : [];
}
