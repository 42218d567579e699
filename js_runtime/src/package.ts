// A package: its manifest, and its files, each checked for size and SHA-256 before anyone sees its bytes.

import { ContentStore } from "./content_store.js";
import { sha256 } from "./digest.js";
import { DEFAULT_SETTINGS, Downloader, systemClock, type DownloadClock, type DownloadSettings } from "./download.js";
import { PackageError, throwIfAborted } from "./errors.js";
import { FORMAT_VERSION, type FileEntry, type Manifest } from "./generated/manifest.js";
import { MANIFEST_SCHEMA } from "./generated/manifest_schema.js";
import { HTML_HINT, isHtml, UPLOAD_HINT } from "./incoming_file.js";
import { checkReferences } from "./manifest_check.js";
import { schemaFault } from "./schema.js";
import { openSource, type PackageLocation, type Source } from "./source.js";
import { openStore, type Store } from "./store.js";

/** How files get here. */
export interface DeliveryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Where files are kept for the next visit: the best store of the browser ("auto"), none, or one of your own. */
  readonly cache?: "auto" | "none" | Store | undefined;
  /** In place of the browser's, say to add headers. It must honour `signal` and `headers`. */
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: DownloadClock | undefined;
  readonly download?: Partial<DownloadSettings> | undefined;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of each chunk that arrives; with a negative number where bytes turn out to be wrong. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** Where the bytes of a package came from. */
export interface Delivery {
  /** The store's kind, or "none". */
  readonly store: string;
  /** "store": the server could not be reached, and this is the version that was last loaded whole. */
  readonly manifest: "network" | "store" | "file";
  readonly networkBytes: number;
  readonly storedBytes: number;
  /** Requests that were made again after they failed or were cut. */
  readonly retries: number;
  /** What went wrong with the store and was worked around: evictions, damage, no room. */
  readonly notes: readonly string[];
}

/** Damage that another download may not have. */
const HEALABLE: ReadonlySet<string> = new Set(["size-mismatch", "hash-mismatch", "html-answer"]);

/** A package at a location. Holds no bytes but the manifest's: what `read` returns belongs to the caller. */
export class Package {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest, in hex. It pins every file, and so tells versions apart. */
  readonly version: string;
  readonly #downloader: Downloader;
  readonly #source: Source;
  readonly #store: ContentStore | undefined;
  readonly #clock: DownloadClock;
  readonly #manifestBytes: Uint8Array<ArrayBuffer>;
  readonly #manifestFrom: Delivery["manifest"];
  readonly #files: ReadonlyMap<string, FileEntry>;
  readonly #hashes: ReadonlySet<string>;
  #networkBytes = 0;
  #storedBytes = 0;

  private constructor(
    source: Source,
    store: ContentStore | undefined,
    clock: DownloadClock,
    downloader: Downloader,
    { bytes, manifest, version, from }: OpenedManifest,
  ) {
    this.#source = source;
    this.#store = store;
    this.#clock = clock;
    this.#manifestBytes = bytes;
    this.#manifestFrom = from;
    this.manifest = manifest;
    this.version = version;
    this.#downloader = downloader;
    this.#files = new Map(manifest.files.map((file) => [file.path, file]));
    this.#hashes = new Set(manifest.files.map((file) => file.sha256));
  }

  /** Fetch and validate a package's manifest. Where the server is out of reach, the stored version is opened. */
  static async open(location: PackageLocation, options: DeliveryOptions = {}): Promise<Package> {
    const { signal, cache = "auto", clock = systemClock } = options;
    throwIfAborted(signal);
    // Called as a function of its own: the browser's fetch refuses to be another object's method.
    const fetcher: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
    const downloader = new Downloader(fetcher, clock, { ...DEFAULT_SETTINGS, ...options.download });
    const source = await openSource(location, downloader);
    // Local files are at hand already.
    const wanted = source.url === undefined ? "none" : cache;
    const store = wanted === "none" ? undefined : new ContentStore(wanted === "auto" ? await openStore() : wanted);
    return new Package(source, store, clock, downloader, await openManifest(source, store, signal));
  }

  /** Size that the manifest declares for `path`; throws "missing-file" when it is not listed. */
  sizeOf(path: string): number {
    return this.#entry(path).size_bytes;
  }

  /** Hex SHA-256 that the manifest declares for `path`; throws "missing-file" when it is not listed. */
  sha256Of(path: string): string {
    return this.#entry(path).sha256;
  }

  get delivery(): Delivery {
    return {
      store: this.#store?.kind ?? "none",
      manifest: this.#manifestFrom,
      networkBytes: this.#networkBytes,
      storedBytes: this.#storedBytes,
      retries: this.#downloader.retries,
      notes: this.#store?.notes ?? [],
    };
  }

  /** One file, from the store or the source; rejects with a typed error unless it is exactly what the manifest pins. */
  async read(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const entry = this.#entry(path);
    throwIfAborted(options.signal);
    const stored = await this.#store?.read(entry.sha256);
    throwIfAborted(options.signal);
    if (stored !== undefined) {
      this.#storedBytes += stored.length;
      options.onBytes?.(stored.length);
      return stored;
    }
    const bytes = await this.#fetch(entry, options);
    await this.#store?.write(entry.sha256, bytes, this.#hashes);
    throwIfAborted(options.signal);
    return bytes;
  }

  /** Call when all that this page needs was read: from now on the package opens without its server. */
  async remember(): Promise<void> {
    const { url } = this.#source;
    if (this.#store === undefined || url === undefined) return;
    await this.#store.settle();
    await this.#store.remember(url.href, this.#manifestBytes, this.#hashes, this.#clock.now());
  }

  /** A damaged answer may lie in an HTTP cache on the way, or mix two versions: one more attempt asks past both. */
  async #fetch(entry: FileEntry, options: ReadOptions): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await this.#fetchOnce(entry, options, false);
    } catch (cause) {
      const heals = this.#source.url !== undefined && cause instanceof PackageError && HEALABLE.has(cause.code);
      if (!heals) throw cause;
      return this.#fetchOnce(entry, options, true);
    }
  }

  async #fetchOnce(
    { path, size_bytes: sizeBytes, sha256: expected }: FileEntry,
    { signal, onBytes }: ReadOptions,
    fresh: boolean,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const count = (arrived: number): void => {
      if (this.#source.url !== undefined) this.#networkBytes += arrived;
      onBytes?.(arrived);
    };
    const bytes = await this.#source.file(path, sizeBytes, { signal, fresh, onBytes: count });
    const found = await sha256(bytes);
    if (found === expected) return bytes;
    count(-bytes.length);
    const html = isHtml(bytes, "");
    throw new PackageError(
      html ? "html-answer" : "hash-mismatch",
      `${path}: expected SHA-256 ${expected}, found ${found}; ${html ? HTML_HINT : UPLOAD_HINT}`,
    );
  }

  #entry(path: string): FileEntry {
    const entry = this.#files.get(path);
    if (entry === undefined) throw new PackageError("missing-file", `${path} is not listed in the package's manifest`);
    return entry;
  }
}

interface OpenedManifest {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly manifest: Manifest;
  readonly version: string;
  readonly from: Delivery["manifest"];
}

async function openManifest(
  source: Source,
  store: ContentStore | undefined,
  signal: AbortSignal | undefined,
): Promise<OpenedManifest> {
  const remembered = source.url === undefined ? undefined : await store?.recall(source.url.href);
  try {
    const { bytes, contentType } = await source.manifest({ signal, patient: remembered === undefined });
    const from = source.url === undefined ? "file" : "network";
    return { bytes, manifest: parseManifest(bytes, source.name, contentType), version: await sha256(bytes), from };
  } catch (cause) {
    // Only a server that is out of reach (a failed request is the cause, an answer has none): what it answers is never
    // overruled by what it once answered.
    const unreachable = cause instanceof PackageError && cause.code === "fetch" && cause.cause !== undefined;
    if (remembered === undefined || !unreachable) throw cause;
    const manifest = parseManifest(remembered, source.name, "");
    return { bytes: remembered, manifest, version: await sha256(remembered), from: "store" };
  }
}

function parseManifest(bytes: Uint8Array, name: string, contentType: string): Manifest {
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    const found = isHtml(bytes, contentType) ? "an HTML page" : "something that does not parse";
    throw new PackageError("not-json", `${name}: expected JSON, found ${found}; is this the package's folder?`, {
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
      `${name}: this runtime reads package format ${String(FORMAT_VERSION)}, found ${found}; ` +
        "use the runtime that belongs to the webinfer version which wrote the package",
    );
  }
  const fault = schemaFault(document, MANIFEST_SCHEMA);
  if (fault !== undefined) throw new PackageError("manifest-invalid", `${name}: ${fault}; export the package again`);
  const manifest = document as Manifest;
  checkReferences(manifest);
  return manifest;
}
