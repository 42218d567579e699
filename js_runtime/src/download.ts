// Downloads files over HTTP: in parallel ranges, resumed where they were cut, retried within limits.

import { PackageError, throwIfAborted } from "./errors.js";
import { IncomingFile, Interrupted, isSameOrigin, refusal, tooLong, type Part } from "./incoming_file.js";

/** Time as a download sees it; replaced in tests. */
export interface DownloadClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after so many milliseconds, or as soon as the signal fires. */
  readonly wait: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Limits of a download; tests and unusual networks change them. */
export interface DownloadSettings {
  /** Ranges that are fetched at a time. Browsers open 6 connections per HTTP/1.1 host: some stay free for small files. */
  readonly connections: number;
  /** A larger file is fetched in ranges of this size. */
  readonly partBytes: number;
  /** A range is given up after so many failures in a row without at least `progressBytes` between them. */
  readonly failures: number;
  readonly progressBytes: number;
  /** Pause after the first failure; doubled at each further one. */
  readonly backoffMs: number;
  /** A server's Retry-After is respected up to this. */
  readonly longestPauseMs: number;
  /** A request without a new byte for so long counts as cut; shorter where the caller has another way. */
  readonly stallMs: number;
  readonly impatientMs: number;
}

export const DEFAULT_SETTINGS: DownloadSettings = {
  connections: 4,
  partBytes: 4 * 1024 * 1024,
  failures: 5,
  progressBytes: 64 * 1024,
  backoffMs: 250,
  longestPauseMs: 30_000,
  stallMs: 20_000,
  impatientMs: 5_000,
};

export interface DownloadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the size of each chunk that arrives, and with a negative number where bytes are dropped again. */
  readonly onBytes?: ((count: number) => void) | undefined;
  /** Ask past the browser's HTTP cache and in one piece: after an answer that was wrong. */
  readonly fresh?: boolean | undefined;
}

export interface Downloaded {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
}

/** Why a request without news is aborted. */
const STALLED = new Error("the server went silent");

/** Downloads of one package: they share the connections. */
export class Downloader {
  readonly #fetch: typeof fetch;
  readonly #clock: DownloadClock;
  readonly #settings: DownloadSettings;
  readonly #slots: Slots;
  #retries = 0;

  constructor(fetcher: typeof fetch, clock: DownloadClock, settings: DownloadSettings) {
    this.#fetch = fetcher;
    this.#clock = clock;
    this.#settings = settings;
    this.#slots = new Slots(settings.connections);
  }

  /** Requests that were made again. */
  get retries(): number {
    return this.#retries;
  }

  /** A file of a size that nobody knows, at most `maxBytes`. `patient: false` gives up at the first failure. */
  async document(url: URL, maxBytes: number, options: DownloadOptions & { patient: boolean }): Promise<Downloaded> {
    const { failures, stallMs, impatientMs } = this.#settings;
    const request: FileRequest = {
      url,
      headers: new Headers(),
      cache: "no-cache",
      signal: options.signal,
      stallMs: options.patient ? stallMs : impatientMs,
    };
    return this.#retry(url, options.patient ? failures : 1, options.signal, async () => {
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      let length = 0;
      try {
        return await this.#request(request, async (response, note) => {
          if (response.status !== 200) throw refusal(url, response);
          for await (const chunk of chunksOf(response)) {
            note();
            if (length + chunk.length > maxBytes) throw tooLong(url, maxBytes, response, chunks[0] ?? chunk);
            chunks.push(chunk);
            length += chunk.length;
            options.onBytes?.(chunk.length);
          }
          const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
          return { bytes, contentType: response.headers.get("content-type") ?? "" };
        });
      } catch (cause) {
        options.onBytes?.(-length);
        throw cause;
      }
    });
  }

  /** A file of a known size. Its content is not checked here, except that an HTML page in its place is told. */
  async file(url: URL, sizeBytes: number, options: DownloadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const file = new IncomingFile(url, sizeBytes, options.fresh === true, options.onBytes);
    const parts = options.fresh === true ? [{ start: 0, end: sizeBytes, at: 0 }] : this.#parts(sizeBytes);
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    try {
      const [first, ...others] = parts;
      if (first !== undefined) await this.#part(file, first, signal);
      if (file.received < sizeBytes) await Promise.all(others.map((part) => this.#part(file, part, signal)));
      return file.bytes();
    } catch (cause) {
      stop.abort();
      file.close();
      throwIfAborted(options.signal);
      throw cause;
    }
  }

  #parts(sizeBytes: number): Part[] {
    const { partBytes } = this.#settings;
    // Not more parts than a file of 4 GiB has: a manifest may say any size.
    const length = Math.max(partBytes, Math.ceil(sizeBytes / 1024));
    const count = Math.max(1, Math.ceil(sizeBytes / length));
    return Array.from({ length: count }, (_, index) => {
      const start = index * length;
      return { start, end: Math.min(start + length, sizeBytes), at: start };
    });
  }

  async #part(file: IncomingFile, part: Part, signal: AbortSignal): Promise<void> {
    // Small files do not wait behind large ones.
    const release = file.sizeBytes > this.#settings.partBytes ? await this.#slots.take() : undefined;
    try {
      await this.#retry(file.url, this.#settings.failures, signal, () => this.#fetchPart(file, part, signal), part);
    } finally {
      release?.();
    }
  }

  async #fetchPart(file: IncomingFile, part: Part, signal: AbortSignal): Promise<void> {
    if (part.at >= part.end && file.sizeBytes > 0) return;
    const ranged = part.at > 0 || part.end < file.sizeBytes;
    const headers = new Headers();
    if (ranged) headers.set("range", `bytes=${String(part.at)}-${String(part.end - 1)}`);
    // Across origins this header would cost a preflight that many servers refuse; the hash decides in any case.
    if (ranged && file.etag !== undefined && isSameOrigin(file.url)) headers.set("if-range", file.etag);
    const { url, cache } = file;
    await this.#request({ url, headers, cache, signal, stallMs: this.#settings.stallMs }, async (response, note) => {
      let at = file.begin(response, part);
      for await (const chunk of chunksOf(response)) {
        note();
        at = file.take(response, part, at, chunk);
        // The whole file came in answer to a range, which is complete.
        if (response.status === 200 && part.at >= part.end && part.end < file.sizeBytes) break;
      }
      if (part.at < part.end) throw file.short(response, part);
    });
  }

  async #retry<T>(
    url: URL,
    limit: number,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
    part?: Part,
  ): Promise<T> {
    let failures = 0;
    for (;;) {
      const before = part?.at ?? 0;
      try {
        return await work();
      } catch (cause) {
        throwIfAborted(signal);
        if (!(cause instanceof Interrupted)) throw cause;
        failures = (part?.at ?? 0) - before >= this.#settings.progressBytes ? 1 : failures + 1;
        if (failures >= limit) {
          const attempts = limit === 1 ? "" : `; gave up after ${String(limit)} attempts`;
          throw new PackageError("fetch", `${url.href}: ${cause.message}${attempts}`, { cause: cause.cause ?? cause });
        }
        this.#retries += 1;
        const { backoffMs, longestPauseMs } = this.#settings;
        await this.#clock.wait(
          Math.min(Math.max(backoffMs * 2 ** (failures - 1), cause.pauseMs), longestPauseMs),
          signal,
        );
        throwIfAborted(signal);
      }
    }
  }

  /** One request, which is ended when `use` is done, fails, or calls `note` too rarely. */
  async #request<T>(
    { url, headers, cache, signal, stallMs }: FileRequest,
    use: (response: Response, note: () => void) => Promise<T>,
  ): Promise<T> {
    throwIfAborted(signal);
    const end = new AbortController();
    let noted = true;
    const watch = async (): Promise<void> => {
      while (noted && !end.signal.aborted) {
        noted = false;
        await this.#clock.wait(stallMs, end.signal);
      }
      end.abort(STALLED);
    };
    void watch();
    try {
      const both = signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]);
      const response = await this.#fetch(url, { headers, cache, signal: both });
      return await use(response, () => {
        noted = true;
      });
    } catch (cause) {
      throwIfAborted(signal);
      if (cause instanceof PackageError || cause instanceof Interrupted) throw cause;
      const what = end.signal.reason === STALLED ? `no byte for ${String(stallMs / 1000)} s` : reason(cause);
      throw new Interrupted(`the request failed (${what})`, 0, { cause });
    } finally {
      end.abort();
    }
  }
}

interface FileRequest {
  readonly url: URL;
  readonly headers: Headers;
  readonly cache: RequestCache;
  readonly signal: AbortSignal | undefined;
  readonly stallMs: number;
}

/** Lets so many in at a time, in order. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the slot back. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}

/** The clock of the browser. */
export const systemClock: DownloadClock = {
  now: () => Date.now(),
  wait: (milliseconds, signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      if (signal?.aborted === true) done();
      else signal?.addEventListener("abort", done);
    }),
};

async function* chunksOf(response: Response): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
