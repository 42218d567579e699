// Downloads files over HTTP: in parallel ranges, resumed where they were cut, retried within limits.

import { PackageError, throwIfAborted } from "./errors.js";

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

/** A failure that another request may heal. */
class Interrupted extends Error {
  readonly pauseMs: number;

  constructor(message: string, pauseMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.pauseMs = pauseMs;
  }
}

/** Why a request without news is aborted. */
const STALLED = new Error("the server went silent");

/** Statuses of servers that are busy or broken for the moment (RFC 9110; 425 is RFC 8470). */
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Downloads of one package: they share the connections. */
export class Downloader {
  readonly #fetch: typeof fetch;
  readonly #clock: DownloadClock;
  readonly #settings: DownloadSettings;
  readonly #slots: Slots;

  constructor(fetcher: typeof fetch, clock: DownloadClock, settings: DownloadSettings) {
    this.#fetch = fetcher;
    this.#clock = clock;
    this.#settings = settings;
    this.#slots = new Slots(settings.connections);
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
    const job = new Job(url, sizeBytes, options);
    const parts = options.fresh === true ? [{ start: 0, end: sizeBytes, at: 0 }] : this.#parts(sizeBytes);
    const stop = new AbortController();
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
    try {
      const [first, ...others] = parts;
      if (first !== undefined) await this.#part(job, first, signal);
      if (job.received < sizeBytes) await Promise.all(others.map((part) => this.#part(job, part, signal)));
      return job.bytes();
    } catch (cause) {
      stop.abort();
      options.onBytes?.(-job.received);
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

  async #part(job: Job, part: Part, signal: AbortSignal): Promise<void> {
    // Small files do not wait behind large ones.
    const release = job.sizeBytes > this.#settings.partBytes ? await this.#slots.take() : undefined;
    try {
      await this.#retry(job.url, this.#settings.failures, signal, () => this.#fetchPart(job, part, signal), part);
    } finally {
      release?.();
    }
  }

  async #fetchPart(job: Job, part: Part, signal: AbortSignal): Promise<void> {
    if (part.at >= part.end && job.sizeBytes > 0) return;
    const ranged = part.at > 0 || part.end < job.sizeBytes;
    const headers = new Headers();
    if (ranged) headers.set("range", `bytes=${String(part.at)}-${String(part.end - 1)}`);
    // Across origins this header would cost a preflight that many servers refuse; the hash decides in any case.
    if (ranged && job.etag !== undefined && isSameOrigin(job.url)) headers.set("if-range", job.etag);
    const { url, cache } = job;
    await this.#request({ url, headers, cache, signal, stallMs: this.#settings.stallMs }, async (response, note) => {
      let at = job.begin(response, part);
      for await (const chunk of chunksOf(response)) {
        note();
        at = job.take(response, part, at, chunk);
        // The whole file came in answer to a range, which is complete.
        if (response.status === 200 && part.at >= part.end && part.end < job.sizeBytes) break;
      }
      if (part.at < part.end) throw job.short(response, part);
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

/** A range of a file; `at` is where its next byte goes. */
interface Part {
  readonly start: number;
  end: number;
  at: number;
}

/** One file while it arrives. */
class Job {
  readonly url: URL;
  readonly sizeBytes: number;
  readonly cache: RequestCache;
  readonly #onBytes: ((count: number) => void) | undefined;
  #bytes = new Uint8Array(0);
  #contentType = "";
  #wrongLength: number | undefined;
  /** A strong entity tag: every range must come from the same version of the file. */
  etag: string | undefined;
  received = 0;

  constructor(url: URL, sizeBytes: number, options: DownloadOptions) {
    this.url = url;
    this.sizeBytes = sizeBytes;
    this.cache = options.fresh === true ? "reload" : "default";
    this.#onBytes = options.onBytes;
  }

  /** Check the head of an answer; returns the position of its first byte. Throws what cannot become this file. */
  begin(response: Response, part: Part): number {
    this.#contentType = response.headers.get("content-type") ?? "";
    const etag = response.headers.get("etag") ?? undefined;
    if (response.status === 416) throw this.#mismatch(`has no bytes from ${String(part.at)} on`);
    if (response.status !== 200 && response.status !== 206) throw refusal(this.url, response);
    if (this.etag !== undefined && etag !== undefined && etag !== this.etag) {
      throw new PackageError("hash-mismatch", `${this.url.href}: it changed on the server while it was downloaded`);
    }
    if (etag !== undefined && !etag.startsWith("W/")) this.etag = etag;
    const announced = announcedLength(this.url, response);
    if (response.status === 200) {
      // Said with the first bytes, which tell whether this is an HTML page.
      if (announced !== undefined && announced !== this.sizeBytes) this.#wrongLength = announced;
      else if (announced !== undefined) this.#reserve(this.sizeBytes);
      // A server without ranges: the first request takes all that comes, and no other one follows.
      if (part.start === 0) part.end = this.sizeBytes;
      return 0;
    }
    // Across origins the header is hidden unless the server exposes it; the length and the hash remain.
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
    if (range === null && isSameOrigin(this.url)) throw this.#mismatch("found a range without Content-Range");
    if (range !== null) {
      const [, first, last, total] = range;
      if (total !== "*" && Number(total) !== this.sizeBytes) throw this.#mismatch(`found ${String(total)}`);
      if (Number(first) !== part.at || Number(last) >= part.end) throw this.#mismatch("found another range");
    }
    this.#reserve(this.sizeBytes);
    return part.at;
  }

  /** Put a chunk that starts at byte `at` of the file in its place; returns where the next one starts. */
  take(response: Response, part: Part, at: number, chunk: Uint8Array): number {
    if (this.#wrongLength !== undefined) throw this.#mismatch(`found ${String(this.#wrongLength)}`, chunk);
    const next = at + chunk.length;
    if (next > (response.status === 206 ? part.end : this.sizeBytes)) {
      throw this.#mismatch("found more", at === 0 ? chunk : undefined);
    }
    const [from, to] = [Math.max(at, part.at), Math.min(next, part.end)];
    if (from >= to) return next;
    this.#reserve(to);
    this.#bytes.set(chunk.subarray(from - at, to - at), from);
    part.at = to;
    this.received += to - from;
    this.#onBytes?.(to - from);
    return next;
  }

  /** The error of an answer that ended before its part was full. */
  short(response: Response, part: Part): Error {
    const html = response.status === 200 && isHtml(this.#bytes, this.#contentType);
    if (html || this.#wrongLength !== undefined) return this.#mismatch(`found ${String(part.at)}`);
    return new Interrupted(`cut off after ${String(part.at)} of ${String(this.sizeBytes)} bytes`);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.sizeBytes);
  }

  /** Room for so many bytes. Where no server has confirmed the manifest's size, it only grows with what arrives. */
  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const grown =
      length === this.sizeBytes ? length : Math.min(this.sizeBytes, Math.max(length, 65_536, 2 * this.#bytes.length));
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      bytes = new Uint8Array(grown);
    } catch (cause) {
      throw new PackageError("out-of-memory", `${this.url.href}: no room for ${String(grown)} bytes`, { cause });
    }
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }

  #mismatch(found: string, head: Uint8Array = this.#bytes): PackageError {
    const html = isHtml(head, this.#contentType);
    return new PackageError(
      html ? "html-answer" : "size-mismatch",
      `${this.url.href}: expected ${String(this.sizeBytes)} bytes, ${found}; ${html ? HTML_HINT : UPLOAD_HINT}`,
    );
  }
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

/** What to do about an HTML page where data was expected. */
export const HTML_HINT = "the server answered with an HTML page: check the URL and the server's fallback route";
/** What to do about other damage. */
export const UPLOAD_HINT = "upload the package again";

/** True for what a server's fallback route answers in place of a missing file. */
export function isHtml(bytes: Uint8Array, contentType: string): boolean {
  const head = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return contentType.includes("text/html") || head.startsWith("<!doctype") || head.startsWith("<html");
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

/** Bytes that the body will have, where the answer tells. Content-Length counts before decoding. */
function announcedLength(url: URL, response: Response): number | undefined {
  const length = response.headers.get("content-length");
  // Across origins the encoding may be hidden: then the length proves nothing.
  return length === null || response.headers.has("content-encoding") || !isSameOrigin(url) ? undefined : Number(length);
}

function isSameOrigin(url: URL): boolean {
  return typeof location === "undefined" || url.origin === location.origin;
}

function refusal(url: URL, response: Response): Error {
  const message = `the server answered ${String(response.status)}`;
  if (!TRANSIENT.has(response.status)) return new PackageError("fetch", `${url.href}: ${message}`);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new Interrupted(message, Number.isFinite(seconds) ? seconds * 1000 : 0);
}

function tooLong(url: URL, maxBytes: number, response: Response, head: Uint8Array): PackageError {
  const html = isHtml(head, response.headers.get("content-type") ?? "");
  const hint = html ? HTML_HINT : UPLOAD_HINT;
  const message = `${url.href}: expected at most ${String(maxBytes)} bytes, found more; ${hint}`;
  return new PackageError(html ? "html-answer" : "size-mismatch", message);
}

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
