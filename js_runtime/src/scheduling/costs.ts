// Predicted milliseconds per dispatch: from operation counts at first, then from measured slices. Pure: no clock, no GPU.

/** What the package says about a dispatch, at the largest sizes. */
export interface DispatchWork {
  readonly flops: number;
  readonly bytes: number;
}

/** What an adapter of a class does in a millisecond: only a start, two measurements replace it. */
export interface Rates {
  readonly flopsPerMs: number;
  readonly bytesPerMs: number;
  /** Of a dispatch that does nothing. */
  readonly overheadMs: number;
}

/** An integrated GPU of a laptop or phone. */
export const GPU_RATES: Rates = { flopsPerMs: 3e8, bytesPerMs: 2e7, overheadMs: 0.01 };
/** A software adapter on a few cores. */
export const CPU_RATES: Rates = { flopsPerMs: 2e7, bytesPerMs: 4e6, overheadMs: 0.03 };

/** Milliseconds by the roofline, as `webinfer/cost.py` predicts them. */
export function priorMs({ flops, bytes }: DispatchWork, rates: Rates): number {
  return rates.overheadMs + Math.max(flops / rates.flopsPerMs, bytes / rates.bytesPerMs);
}

/** A part of a dispatch: `share` of the workgroups that it has at the largest sizes. */
export interface Share {
  readonly dispatch: number;
  readonly share: number;
}

/** A timestamp measures the slice itself; the wall clock also measures whatever else the GPU did meanwhile. */
export type Clock = "timestamp" | "wall";

/** No slice takes this long: the tab slept, or a driver returned nonsense. */
const MAX_MEASURED_MS = 30_000;
/** Measurements after which the whole model's scale is known well enough to doubt a single one. */
const TRUSTED_SAMPLES = 3;
/** A single measurement may claim at most this many times the prediction. */
const MAX_RATIO = 4;
/** Weight of one measurement. What is below half of the prediction proves it wrong; what is above may be a disturbance. */
const RATE = { timestamp: 0.25, wall: 0.1, low: 0.5 } as const;

interface Saved {
  readonly scale: number;
  readonly ms: readonly (number | null)[];
}

/** Costs of the dispatches of one program on one adapter. */
export class CostModel {
  readonly #prior: Float64Array;
  /** NaN where no measured slice held the dispatch. */
  readonly #learned: Float64Array;
  #scale = 1;
  #samples = 0;

  constructor(work: readonly DispatchWork[], rates: Rates) {
    this.#prior = Float64Array.from(work, (dispatch) => priorMs(dispatch, rates));
    this.#learned = new Float64Array(work.length).fill(NaN);
  }

  /** Measurements that were taken, and those of earlier visits. */
  get samples(): number {
    return this.#samples;
  }

  /** Whether predictions rest on measurements. */
  get trusted(): boolean {
    return this.#samples >= TRUSTED_SAMPLES;
  }

  /** Predicted milliseconds of a whole dispatch at the largest sizes. */
  ms(dispatch: number): number {
    const learned = this.#learned[dispatch] ?? NaN;
    return Number.isNaN(learned) ? (this.#prior[dispatch] ?? 0) * this.#scale : learned;
  }

  /**
   * Take the measured time of a slice. Every part is corrected by the same factor: over slices of different contents
   * that settles at the cost of each. Times that are negative, zero or absurd are refused: returns false.
   */
  learn(slice: readonly Share[], measuredMs: number, clock: Clock): boolean {
    if (!(measuredMs > 0 && measuredMs < MAX_MEASURED_MS)) return false;
    let predicted = 0;
    let prior = 0;
    for (const { dispatch, share } of slice) {
      predicted += this.ms(dispatch) * share;
      prior += (this.#prior[dispatch] ?? 0) * share;
    }
    if (predicted <= 0 || prior <= 0) return false;
    let ratio = measuredMs / predicted;
    let rate: number = ratio < 0.5 ? RATE.low : RATE[clock];
    if (this.trusted) ratio = Math.min(ratio, MAX_RATIO);
    else rate = Math.max(rate, 1 / (this.#samples + 1));
    const factor = 1 + rate * (ratio - 1);
    for (const { dispatch, share } of slice) {
      if (share > 0) this.#learned[dispatch] = this.ms(dispatch) * factor;
    }
    const scale = this.trusted ? Math.min(measuredMs / prior, this.#scale * MAX_RATIO) : measuredMs / prior;
    this.#scale += rate * (scale - this.#scale);
    this.#samples += 1;
    return true;
  }

  /** What was learned, for the next visit. */
  save(): string {
    const rounded = (ms: number): number | null => (Number.isNaN(ms) ? null : Number(ms.toPrecision(3)));
    return JSON.stringify({ scale: rounded(this.#scale), ms: Array.from(this.#learned, rounded) });
  }

  /** Start from an earlier visit; what this one measured already stays. Returns false for text of another program. */
  restore(text: string): boolean {
    const saved = parse(text);
    if (saved?.ms.length !== this.#learned.length) return false;
    for (const [dispatch, ms] of saved.ms.entries()) {
      if (ms !== null && Number.isNaN(this.#learned[dispatch])) this.#learned[dispatch] = ms;
    }
    if (this.#samples === 0) this.#scale = saved.scale;
    this.#samples = Math.max(this.#samples, TRUSTED_SAMPLES);
    return true;
  }
}

function parse(text: string): Saved | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("scale" in value) || !("ms" in value)) return undefined;
  const { scale, ms } = value;
  if (!positive(scale) || !Array.isArray(ms)) return undefined;
  return ms.every((entry): entry is number | null => entry === null || positive(entry)) ? { scale, ms } : undefined;
}

function positive(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value < MAX_MEASURED_MS;
}
