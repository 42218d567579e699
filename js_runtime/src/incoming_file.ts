// One file while it arrives: judges the server's answers and puts their bytes in place.

import { PackageError } from "./errors.js";

/** A failure that another request may heal. */
export class Interrupted extends Error {
  readonly pauseMs: number;

  constructor(message: string, pauseMs = 0, options?: ErrorOptions) {
    super(message, options);
    this.pauseMs = pauseMs;
  }
}

/** Statuses of servers that are busy or broken for the moment (RFC 9110; 425 is RFC 8470). */
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A range of a file; `at` is where its next byte goes. */
export interface Part {
  readonly start: number;
  end: number;
  at: number;
}

/** One file while it arrives. */
export class IncomingFile {
  readonly url: URL;
  readonly sizeBytes: number;
  readonly cache: RequestCache;
  readonly #fresh: boolean;
  readonly #onBytes: ((count: number) => void) | undefined;
  #bytes = new Uint8Array(0);
  #contentType = "";
  #wrongLength: number | undefined;
  /**
   * A strong entity tag: every range must come from one version of the file. A fresh download does without, because
   * servers behind one address may tag the same bytes differently; then the hash alone decides.
   */
  etag: string | undefined;
  received = 0;
  #closed = false;

  constructor(url: URL, sizeBytes: number, fresh: boolean, onBytes: ((count: number) => void) | undefined) {
    this.url = url;
    this.sizeBytes = sizeBytes;
    this.#fresh = fresh;
    this.cache = this.#fresh ? "reload" : "default";
    this.#onBytes = onBytes;
  }

  /** Check the head of an answer; returns the position of its first byte. Throws what cannot become this file. */
  begin(response: Response, part: Part): number {
    this.#contentType = response.headers.get("content-type") ?? "";
    const etag = response.headers.get("etag") ?? undefined;
    if (response.status === 416) throw this.#mismatch(`has no bytes from ${String(part.at)} on`);
    if (response.status !== 200 && response.status !== 206) throw refusal(this.url, response);
    if (etag !== undefined && !etag.startsWith("W/") && !this.#fresh) {
      if (this.etag !== undefined && etag !== this.etag) {
        throw new PackageError("hash-mismatch", `${this.url.href}: it changed on the server while it was downloaded`);
      }
      this.etag = etag;
    }
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
      if (total !== "*") this.#reserve(this.sizeBytes);
    }
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
    if (from >= to || this.#closed) return next;
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

  /** Take back what was reported; parts that still run add nothing any more. */
  close(): void {
    this.#closed = true;
    this.#onBytes?.(-this.received);
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

/** What to do about an HTML page where data was expected. */
export const HTML_HINT = "the server answered with an HTML page: check the URL and the server's fallback route";
/** What to do about other damage. */
export const UPLOAD_HINT = "upload the package again";

/** True for what a server's fallback route answers in place of a missing file. */
export function isHtml(bytes: Uint8Array, contentType: string): boolean {
  const head = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return contentType.includes("text/html") || head.startsWith("<!doctype") || head.startsWith("<html");
}

/** Bytes that the body will have, where the answer tells. Content-Length counts before decoding. */
function announcedLength(url: URL, response: Response): number | undefined {
  const length = response.headers.get("content-length");
  // Across origins the encoding may be hidden: then the length proves nothing.
  return length === null || response.headers.has("content-encoding") || !isSameOrigin(url) ? undefined : Number(length);
}

/** True where every header of an answer can be seen; Node has no origins. */
export function isSameOrigin(url: URL): boolean {
  return typeof location === "undefined" || url.origin === location.origin;
}

/** The error of a status that brings no file: one to try again, or a final one. */
export function refusal(url: URL, response: Response): Error {
  const message = `the server answered ${String(response.status)}`;
  if (!TRANSIENT.has(response.status)) return new PackageError("fetch", `${url.href}: ${message}`);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new Interrupted(message, Number.isFinite(seconds) ? seconds * 1000 : 0);
}

/** The error of an answer that has more bytes than anybody expects; `head` are its first ones. */
export function tooLong(url: URL, maxBytes: number, response: Response, head: Uint8Array): PackageError {
  const html = isHtml(head, response.headers.get("content-type") ?? "");
  const hint = html ? HTML_HINT : UPLOAD_HINT;
  const message = `${url.href}: expected at most ${String(maxBytes)} bytes, found more; ${hint}`;
  return new PackageError(html ? "html-answer" : "size-mismatch", message);
}
