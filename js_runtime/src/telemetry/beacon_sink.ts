// Sends reported events as JSON by navigator.sendBeacon, which outlives the page.

import { Batch, type BatchOptions, type Sent } from "./batch.js";
import type { Sink, TelemetryRecord } from "./stream.js";

export interface BeaconOptions extends BatchOptions {
  /** In place of `navigator.sendBeacon`, or of a fetch with `keepalive` in workers, which have none. */
  readonly send?: ((url: string | URL, body: Blob) => boolean) | undefined;
  /** Largest body. Browsers refuse beacons that would bring those on their way above 64 KiB; default 60,000. */
  readonly maxBytes?: number | undefined;
}

/**
 * Posts `{ "records": [{ "event", "timeUnixMs", "subject" }] }` as text/plain, which needs no preflight from another
 * origin. Waiting records go when the page is hidden.
 */
export class BeaconSink implements Sink {
  readonly #url: string | URL;
  readonly #send: (url: string | URL, body: Blob) => boolean;
  readonly #maxBytes: number;
  readonly #batch: Batch<string>;

  constructor(url: string | URL, options: BeaconOptions = {}) {
    this.#url = url;
    this.#send = options.send ?? sendBeacon;
    this.#maxBytes = options.maxBytes ?? 60_000;
    this.#batch = new Batch((items) => Promise.resolve(this.#post(items)), options);
  }

  write(record: TelemetryRecord): void {
    const text = JSON.stringify(record);
    // It would be refused for ever, and hold up the others.
    if (sizeOf(text) <= this.#maxBytes) this.#batch.add(text);
  }

  flush(hiding: boolean): Promise<void> {
    return this.#batch.flush(hiding);
  }

  #post(items: readonly string[]): Sent {
    let taken = 0;
    while (taken < items.length) {
      let end = taken;
      for (let bytes = 0; end < items.length; end += 1) {
        bytes += sizeOf(items[end] ?? "");
        if (bytes > this.#maxBytes) break;
      }
      const body = new Blob([`{"records":[${items.slice(taken, end).join(",")}]}`], { type: "text/plain" });
      if (!this.#send(this.#url, body)) break;
      taken = end;
    }
    return { taken };
  }
}

function sendBeacon(url: string | URL, body: Blob): boolean {
  const { navigator } = globalThis as { readonly navigator?: Partial<Navigator> };
  const sent = navigator?.sendBeacon?.(url, body);
  if (sent !== undefined) return sent;
  // Like a beacon, nobody learns what became of it.
  fetch(url, { method: "POST", body, keepalive: true, mode: "no-cors" }).catch(() => undefined);
  return true;
}

/** Bytes of a record, and of what separates it from others. */
function sizeOf(record: string): number {
  return new TextEncoder().encode(record).length + 16;
}
