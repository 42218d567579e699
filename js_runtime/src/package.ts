// Fetches a package: manifest first, then files, each checked for size and SHA-256 before anyone sees its bytes.

import { PackageError, StoppedError, throwIfAborted } from "./errors.js";
import { FORMAT_VERSION, type FileEntry, type Manifest } from "./generated/manifest.js";
import { validateManifest } from "./generated/validate_manifest.js";
import { checkReferences } from "./manifest_check.js";

/** A manifest beyond this is not one: refused before it fills memory. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

export interface FetchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of each chunk as they arrive. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** A package behind a URL. Holds no bytes but the manifest: what `read` returns belongs to the caller. */
export class Package {
  readonly url: URL;
  readonly manifest: Manifest;
  readonly #files: ReadonlyMap<string, FileEntry>;

  private constructor(url: URL, manifest: Manifest) {
    this.url = url;
    this.manifest = manifest;
    this.#files = new Map(manifest.files.map((file) => [file.path, file]));
  }

  /** Fetch and validate the manifest of the package folder at `url` (with or without the closing slash). */
  static async open(url: string | URL, options: FetchOptions = {}): Promise<Package> {
    // Node has no location: there, only absolute URLs make sense.
    const base = new URL(url, typeof location === "undefined" ? undefined : location.href);
    if (!base.pathname.endsWith("/")) base.pathname += "/";
    const at = new URL("manifest.json", base);
    const response = await request(at, options.signal);
    const bytes = await readBody(response, at, MAX_MANIFEST_BYTES, options);
    return new Package(base, parseManifest(bytes, at, response.headers.get("content-type") ?? ""));
  }

  /** Size that the manifest declares for `path`; throws "missing-file" when it is not listed. */
  sizeOf(path: string): number {
    return this.#entry(path).size_bytes;
  }

  /** Hex SHA-256 that the manifest declares for `path`; throws "missing-file" when it is not listed. */
  sha256Of(path: string): string {
    return this.#entry(path).sha256;
  }

  /** Fetch one file; rejects with "size-mismatch" or "hash-mismatch" unless it is exactly what the manifest pins. */
  async read(path: string, options: FetchOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const entry = this.#entry(path);
    const at = new URL(path, this.url);
    const response = await request(at, options.signal);
    const bytes = await readBody(response, at, entry.size_bytes, options);
    const html = looksLikeHtml(bytes, response.headers.get("content-type") ?? "");
    const hint = html
      ? "the server answered with an HTML page: check the URL and the server's fallback route"
      : "upload the package again";
    if (bytes.length !== entry.size_bytes) {
      throw new PackageError(
        "size-mismatch",
        `${path}: expected ${String(entry.size_bytes)} bytes, found ${String(bytes.length)}; ${hint}`,
      );
    }
    const found = hex(await crypto.subtle.digest("SHA-256", bytes));
    if (found !== entry.sha256) {
      throw new PackageError("hash-mismatch", `${path}: expected SHA-256 ${entry.sha256}, found ${found}; ${hint}`);
    }
    throwIfAborted(options.signal);
    return bytes;
  }

  #entry(path: string): FileEntry {
    const entry = this.#files.get(path);
    if (entry === undefined) throw new PackageError("missing-file", `${path} is not listed in the package's manifest`);
    return entry;
  }
}

function parseManifest(bytes: Uint8Array, url: URL, contentType: string): Manifest {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    const found = looksLikeHtml(bytes, contentType) ? "an HTML page" : "something that does not parse";
    throw new PackageError("not-json", `${url.href}: expected JSON, found ${found}; is this the package's folder?`, {
      cause,
    });
  }
  const version: unknown =
    typeof document === "object" && document !== null && "format_version" in document
      ? document.format_version
      : undefined;
  if (version !== undefined && version !== FORMAT_VERSION) {
    const found = typeof version === "number" || typeof version === "string" ? String(version) : typeof version;
    throw new PackageError(
      "format-version",
      `${url.href}: this runtime reads package format ${String(FORMAT_VERSION)}, found ${found}; ` +
        "use the runtime that belongs to the webinfer version which wrote the package",
    );
  }
  if (!validateManifest(document)) {
    const first = validateManifest.errors?.[0];
    const where = first?.instancePath === "" ? "the document" : (first?.instancePath ?? "the document");
    throw new PackageError("manifest-invalid", `${url.href}: ${where} ${first?.message ?? "is not valid"}`);
  }
  checkReferences(document);
  return document;
}

async function request(url: URL, signal: AbortSignal | undefined): Promise<Response> {
  throwIfAborted(signal);
  let response: Response;
  try {
    response = await fetch(url, signal === undefined ? {} : { signal });
  } catch (cause) {
    throwIfAborted(signal);
    throw new PackageError("fetch", `${url.href}: the request failed (${reason(cause)})`, { cause });
  }
  if (!response.ok) {
    throw new PackageError("fetch", `${url.href}: the server answered ${String(response.status)}`);
  }
  return response;
}

async function readBody(
  response: Response,
  url: URL,
  maxBytes: number,
  options: FetchOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array(0);
  // Allocate at once only where the server itself announces the size: a manifest alone must not cause an allocation.
  const announced = Number(response.headers.get("content-length") ?? Number.NaN);
  const whole = announced === maxBytes ? new Uint8Array(maxBytes) : undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (length + value.length > maxBytes) {
        await reader.cancel();
        throw new PackageError(
          "size-mismatch",
          `${url.href}: expected at most ${String(maxBytes)} bytes, found more; upload the package again`,
        );
      }
      if (whole === undefined) chunks.push(value);
      else whole.set(value, length);
      length += value.length;
      options.onBytes?.(value.length);
    }
  } catch (cause) {
    if (cause instanceof PackageError) throw cause;
    throwIfAborted(options.signal);
    throw new PackageError("fetch", `${url.href}: cut off after ${String(length)} bytes (${reason(cause)})`, { cause });
  }
  if (whole !== undefined) return whole.subarray(0, length);
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

function looksLikeHtml(bytes: Uint8Array, contentType: string): boolean {
  const head = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().toLowerCase();
  return contentType.includes("text/html") || head.startsWith("<!doctype") || head.startsWith("<html");
}

function hex(digest: ArrayBuffer): string {
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function reason(cause: unknown): string {
  if (cause instanceof StoppedError) return cause.message;
  return cause instanceof Error ? cause.message : String(cause);
}
