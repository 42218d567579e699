// Files of packages by their SHA-256 in a store: shared between packages, checked on every read, evicted when room is short.

import { sha256 } from "./digest.js";
import type { Store } from "./store.js";

/** Bytes that may wait to be stored before `write` waits as well. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024;

/**
 * The version of a package that was last loaded whole from a URL. Stored under a name made of the URL; everything else
 * in the store is content under its hash, so that a damaged record can only lead to a miss.
 */
interface PackageRecord {
  readonly url: string;
  readonly manifest: string;
  readonly usedAt: number;
  /** Hashes of the manifest and of all files that it lists, stored or not. */
  readonly contents: readonly string[];
}

/** A store never fails a load: what goes wrong with it is a miss, and a line in `notes`. */
export class ContentStore {
  readonly #store: Store;
  readonly #notes: string[] = [];
  readonly #pending = new Set<Promise<void>>();
  #pendingBytes = 0;
  #full = false;

  constructor(store: Store) {
    this.#store = store;
  }

  get kind(): string {
    return this.#store.kind;
  }

  /** What went wrong or was evicted so far, for people. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  /** Bytes that really have this hash; an entry that does not is evicted. */
  async read(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const bytes = await this.#attempt("read", () => this.#store.get(hash));
    if (bytes === undefined) return undefined;
    if ((await sha256(bytes)) === hash) return bytes;
    this.#note(`entry ${hash} was damaged and is fetched again`);
    await this.#attempt("delete", () => this.#store.delete(hash));
    return undefined;
  }

  /**
   * Keep bytes whose hash the caller has checked. Resolves early, to let the caller go on; `settle` waits for the rest.
   * Where room is short, contents of other packages go, least recently used first; those in `keep` stay.
   */
  async write(hash: string, bytes: Uint8Array<ArrayBuffer>, keep: ReadonlySet<string>): Promise<void> {
    while (this.#pendingBytes > MAX_PENDING_BYTES) await Promise.race(this.#pending);
    this.#pendingBytes += bytes.length;
    const put: Promise<void> = this.#put(hash, bytes, keep).finally(() => {
      this.#pending.delete(put);
      this.#pendingBytes -= bytes.length;
    });
    this.#pending.add(put);
  }

  /** Resolves once everything that was written is stored or given up. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Manifest of the version that was last loaded whole from this URL. */
  async recall(url: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const record = await this.#record(await recordKey(url));
    return record?.url === url ? this.read(record.manifest) : undefined;
  }

  /** Note that this version was loaded whole from this URL; what only its predecessor needed is dropped. */
  async remember(url: string, manifest: Uint8Array<ArrayBuffer>, files: Iterable<string>, now: number): Promise<void> {
    const hash = await sha256(manifest);
    const contents = new Set([hash, ...files]);
    const key = await recordKey(url);
    const before = await this.#record(key);
    // A version that found no room must not replace one that is whole.
    if (this.#full && before?.manifest !== hash) return;
    if (before?.manifest !== hash || (await this.read(hash)) === undefined) await this.#put(hash, manifest, contents);
    const record: PackageRecord = { url, manifest: hash, usedAt: now, contents: [...contents] };
    await this.#put(key, new TextEncoder().encode(JSON.stringify(record)), contents);
    if (before === undefined || before.manifest === hash) return;
    const used = new Set((await this.#records()).flatMap((other) => other.contents));
    for (const old of before.contents) {
      if (!used.has(old)) await this.#attempt("delete", () => this.#store.delete(old));
    }
  }

  async #put(key: string, bytes: Uint8Array<ArrayBuffer>, keep: ReadonlySet<string>): Promise<void> {
    if (this.#full) return;
    for (const last of [false, true]) {
      try {
        await this.#store.put(key, bytes);
        return;
      } catch (error) {
        const isFull = error instanceof Error && error.name === "QuotaExceededError";
        if (!last && isFull && (await this.#makeRoom(bytes.length, keep))) continue;
        this.#full ||= isFull;
        const consequence = isFull ? "the store is full; this and what follows is not kept" : "not kept";
        this.#note(`${consequence} (${describe(error)})`);
        return;
      }
    }
  }

  /** Evict at least so many bytes: first what no package that was loaded whole needs, then package by package. */
  async #makeRoom(bytes: number, keep: ReadonlySet<string>): Promise<boolean> {
    const entries = (await this.#attempt("list", () => this.#store.list())) ?? [];
    const left = new Map(entries.map(({ key, sizeBytes }) => [key, sizeBytes]));
    const records = (await this.#records()).sort((a, b) => a.usedAt - b.usedAt);
    const needed = new Set([...keep, ...records.flatMap((record) => record.contents)]);
    let freed = 0;
    const evict = async (key: string): Promise<void> => {
      const size = left.get(key);
      if (size === undefined) return;
      left.delete(key);
      await this.#attempt("delete", () => this.#store.delete(key));
      freed += size;
    };
    for (const key of [...left.keys()]) {
      if (!isRecordKey(key) && !needed.has(key) && freed < bytes) await evict(key);
    }
    for (const record of records) {
      if (freed >= bytes) break;
      if (keep.has(record.manifest)) continue;
      this.#note(`${record.url} was evicted to make room`);
      // The record goes first: a version that is not whole must not be recalled.
      await evict(await recordKey(record.url));
      for (const key of record.contents) if (!keep.has(key)) await evict(key);
    }
    return freed >= bytes;
  }

  async #records(): Promise<PackageRecord[]> {
    const entries = (await this.#attempt("list", () => this.#store.list())) ?? [];
    const found = await Promise.all(entries.filter(({ key }) => isRecordKey(key)).map(({ key }) => this.#record(key)));
    return found.filter((record) => record !== undefined);
  }

  async #record(key: string): Promise<PackageRecord | undefined> {
    const bytes = await this.#attempt("read", () => this.#store.get(key));
    if (bytes === undefined) return undefined;
    try {
      const document: unknown = JSON.parse(new TextDecoder().decode(bytes));
      if (isRecord(document)) return document;
    } catch {
      // Not JSON: damaged, and dropped like any other damage.
    }
    await this.#attempt("delete", () => this.#store.delete(key));
    return undefined;
  }

  async #attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#note(`the store could not ${what} (${describe(error)})`);
      return undefined;
    }
  }

  #note(text: string): void {
    this.#notes.push(`${this.kind}: ${text}`);
  }
}

async function recordKey(url: string): Promise<string> {
  return `url-${await sha256(new TextEncoder().encode(url))}`;
}

function isRecordKey(key: string): boolean {
  return key.startsWith("url-");
}

function isRecord(document: unknown): document is PackageRecord {
  if (typeof document !== "object" || document === null) return false;
  const { url, manifest, usedAt, contents } = document as Record<string, unknown>;
  return (
    typeof url === "string" &&
    typeof manifest === "string" &&
    typeof usedAt === "number" &&
    Array.isArray(contents) &&
    contents.every((hash) => typeof hash === "string")
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
