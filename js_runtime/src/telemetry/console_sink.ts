// Shows reported events on the console.

import { isTrouble } from "./events.js";
import type { Sink, TelemetryRecord } from "./stream.js";

/** One line per event; losses and failures as warnings. */
export class ConsoleSink implements Sink {
  readonly #console: Pick<Console, "info" | "warn">;

  constructor(target: Pick<Console, "info" | "warn"> = globalThis.console) {
    this.#console = target;
  }

  write({ event }: TelemetryRecord): void {
    const level = isTrouble(event) ? "warn" : "info";
    this.#console[level](`webinfer ${event.type}`, event);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }
}
