// What calls of a model have in common on every backend: they take turns, and how a job ended is reported.

import { StoppedError, WebinferError } from "./errors.js";
import type { Job } from "./job.js";
import type { Outputs } from "./model.js";
import { nextTask } from "./task.js";
import type { Telemetry } from "./telemetry/events.js";

/** Calls of one model, one after the other. */
export class Turns {
  #tail: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Queue behind earlier calls. A call that had to wait starts in a new task, so that the earlier caller can read. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const queued = this.#waiting > 0;
    this.#waiting += 1;
    const turn = this.#tail.then(async () => {
      if (queued) await nextTask();
      return work();
    });
    this.#tail = turn.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Resolves when all calls so far have ended. */
  async ended(): Promise<void> {
    await this.#tail;
  }
}

/** Let `signal` cancel a job, tell telemetry how it ended, and call `then`. */
export function attend(
  job: Job<Outputs>,
  model: string,
  telemetry: Telemetry,
  signal: AbortSignal | undefined,
  then: () => void,
): void {
  if (signal?.aborted) job.cancel();
  const cancel = job.cancel.bind(job);
  signal?.addEventListener("abort", cancel);
  const at = performance.now();
  const end = (cause?: unknown): void => {
    signal?.removeEventListener("abort", cancel);
    const now = performance.now();
    const outcome = cause === undefined ? "done" : cause instanceof StoppedError ? "cancelled" : "failed";
    telemetry.emit({ type: "job", at, ms: now - at, model, outcome });
    if (outcome === "failed") {
      const code = cause instanceof WebinferError ? cause.code : "unknown";
      telemetry.emit({ type: "failure", at: now, model, during: "run", code });
    }
    then();
  };
  job.done.then(() => {
    end();
  }, end);
}
