// Posts reported events to an OpenTelemetry collector by OTLP/HTTP with JSON.

import { Batch, type BatchOptions, type Sent } from "./batch.js";
import { logsBody, metricsBody, type Service } from "./otlp.js";
import type { Sink, TelemetryRecord } from "./stream.js";

export interface OtlpOptions extends BatchOptions {
  readonly service: Service;
  /** Say, for a token of the collector. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** Answers after which the same request may be sent again (OTLP/HTTP, Retryable Response Codes). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** `endpoint` is the collector's base URL; "/v1/logs" and "/v1/metrics" are appended. */
export class OtlpSink implements Sink {
  readonly #endpoint: string;
  readonly #options: OtlpOptions;
  readonly #logs: Batch<TelemetryRecord>;
  readonly #metrics: Batch<TelemetryRecord>;

  constructor(endpoint: string, options: OtlpOptions) {
    const { service } = options;
    this.#endpoint = endpoint.replace(/\/$/, "");
    this.#options = options;
    // Apart, so that what the collector took of one is not sent again with the other.
    this.#logs = new Batch(
      (records, hiding) => this.#post("logs", logsBody(service, records), records.length, hiding),
      options,
    );
    this.#metrics = new Batch(
      (records, hiding) => this.#post("metrics", metricsBody(service, records), records.length, hiding),
      options,
    );
  }

  write(record: TelemetryRecord): void {
    (record.event.type === "window" ? this.#metrics : this.#logs).add(record);
  }

  async flush(hiding: boolean): Promise<void> {
    await Promise.all([this.#logs.flush(hiding), this.#metrics.flush(hiding)]);
  }

  async #post(signal: "logs" | "metrics", body: unknown, count: number, hiding: boolean): Promise<Sent> {
    const { fetch: fetcher = fetch, headers } = this.#options;
    try {
      const response = await fetcher(`${this.#endpoint}/v1/${signal}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
        credentials: "omit",
        // Outlives the page; browsers limit such bodies to 64 KiB, so only then.
        keepalive: hiding,
      });
      await response.body?.cancel();
      if (!RETRYABLE.has(response.status)) return { taken: count };
      return { taken: 0, retryAfterMs: retryAfterMs(response) };
    } catch {
      return { taken: 0 };
    }
  }
}

/** Seconds, as collectors send it; a date is left to the usual pause. */
function retryAfterMs(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? NaN);
  return seconds > 0 ? seconds * 1000 : undefined;
}
