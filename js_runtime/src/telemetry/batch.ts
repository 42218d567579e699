// Collects what is to be sent, sends it in batches, and tries again later with growing pauses.

/** What became of a batch: so many from its begin are done with, and the rest may be tried again after a pause. */
export interface Sent {
  readonly taken: number;
  /** As the server asks. */
  readonly retryAfterMs?: number | undefined;
}

export interface BatchOptions {
  /** Longest that something waits; default 10,000. */
  readonly intervalMs?: number | undefined;
  /** Sent at once when so many wait; default 100. */
  readonly batchSize?: number | undefined;
  /** The oldest are dropped beyond that; default 1,000. */
  readonly capacity?: number | undefined;
  /** For the jitter of pauses. */
  readonly random?: (() => number) | undefined;
}

const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 300_000;

/** A queue in front of a server. */
export class Batch<T> {
  readonly #send: (items: readonly T[], hiding: boolean) => Promise<Sent>;
  readonly #intervalMs: number;
  readonly #batchSize: number;
  readonly #capacity: number;
  readonly #random: () => number;
  readonly #waiting: T[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #dropped = 0;

  /** `send` takes at most `batchSize` items and must not reject. */
  constructor(send: (items: readonly T[], hiding: boolean) => Promise<Sent>, options: BatchOptions) {
    this.#send = send;
    this.#intervalMs = options.intervalMs ?? 10_000;
    this.#batchSize = options.batchSize ?? 100;
    this.#capacity = options.capacity ?? 1000;
    this.#random = options.random ?? Math.random;
  }

  /** Items that found no room. */
  get dropped(): number {
    return this.#dropped;
  }

  add(item: T): void {
    this.#waiting.push(item);
    this.#makeRoom();
    if (this.#waiting.length >= this.#batchSize && this.#failures === 0) void this.flush(false);
    else this.#timer ??= setTimeout(() => void this.flush(false), this.#intervalMs);
  }

  /** Send everything now, until the server asks for a pause. A page that goes does not wait for what is on its way. */
  flush(hiding: boolean): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending !== undefined && !hiding) return this.#sending;
    if (this.#waiting.length === 0) return Promise.resolve();
    this.#sending = this.#drain(hiding);
    return this.#sending;
  }

  async #drain(hiding: boolean): Promise<void> {
    while (this.#waiting.length > 0) {
      const items = this.#waiting.splice(0, this.#batchSize);
      const { taken, retryAfterMs = 0 } = await this.#send(items, hiding);
      if (taken === items.length) {
        this.#failures = 0;
        continue;
      }
      this.#waiting.unshift(...items.slice(taken));
      this.#makeRoom();
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
      this.#failures += 1;
      clearTimeout(this.#timer);
      const waitMs = Math.max(pauseMs * (0.5 + this.#random() / 2), retryAfterMs);
      this.#timer = setTimeout(() => void this.flush(false), waitMs);
      break;
    }
    this.#sending = undefined;
  }

  #makeRoom(): void {
    const excess = Math.max(0, this.#waiting.length - this.#capacity);
    this.#waiting.splice(0, excess);
    this.#dropped += excess;
  }
}
