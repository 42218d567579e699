// Keeps bytes under names on the player's device: in OPFS, else in the Cache API, else in this page's memory.

/** One stored entry. */
export interface StoredEntry {
  readonly key: string;
  readonly sizeBytes: number;
}

/**
 * Bytes under keys of [0-9a-z-]. Every method may reject: callers treat that as a store that does not have the entry.
 * It promises no integrity (callers hash what they read) and no room: `put` rejects with a QuotaExceededError when full.
 */
export interface Store {
  /** Named in reports: "opfs", "cache", "memory", or the name of a store of your own. */
  readonly kind: string;
  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** All of the bytes or none of them: a put that is cut off leaves what was there. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Does nothing where there is no such entry. */
  delete(key: string): Promise<void>;
  list(): Promise<readonly StoredEntry[]>;
}

const NAME = "webinfer";
const MEMORY_STORE_BYTES = 256 * 1024 * 1024;

let memory: MemoryStore | undefined;

/** The best store of this browser. A private window may offer an interface and refuse its use, hence the attempts. */
export async function openStore(): Promise<Store> {
  for (const open of [openOpfsStore, openCacheStore]) {
    try {
      const store = await open();
      if (store !== undefined) return store;
    } catch {
      // Refused by this window's settings: the next kind may work.
    }
  }
  memory ??= new MemoryStore(MEMORY_STORE_BYTES);
  return memory;
}

/** The origin's private file system; undefined where it is missing or cannot be written from this thread. */
export async function openOpfsStore(): Promise<Store | undefined> {
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage as
    Partial<StorageManager> | undefined;
  if (storage?.getDirectory === undefined) return undefined;
  // Safari before 26 writes through synchronous handles in workers only.
  if (!("createWritable" in FileSystemFileHandle.prototype)) return undefined;
  const root = await storage.getDirectory();
  return new OpfsStore(await root.getDirectoryHandle(NAME, { create: true }));
}

/** The Cache API; undefined where it is missing. */
export async function openCacheStore(): Promise<Store | undefined> {
  const caches = (globalThis as { readonly caches?: CacheStorage }).caches;
  return caches === undefined ? undefined : new CacheStore(await caches.open(NAME));
}

class OpfsStore implements Store {
  readonly kind = "opfs";
  readonly #folder: FileSystemDirectoryHandle;

  constructor(folder: FileSystemDirectoryHandle) {
    this.#folder = folder;
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const handle = await ifFound(this.#folder.getFileHandle(key));
    return handle === undefined ? undefined : new Uint8Array(await (await handle.getFile()).arrayBuffer());
  }

  async put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const handle = await this.#folder.getFileHandle(key, { create: true });
    // Written aside by the browser; close() puts it in place.
    const writable = await handle.createWritable();
    try {
      await writable.write(bytes);
      await writable.close();
    } catch (cause) {
      await writable.abort().catch(() => undefined);
      throw cause;
    }
  }

  async delete(key: string): Promise<void> {
    await ifFound(this.#folder.removeEntry(key));
  }

  async list(): Promise<readonly StoredEntry[]> {
    const entries: StoredEntry[] = [];
    for await (const [key, handle] of this.#folder.entries()) {
      if (handle.kind === "file") entries.push({ key, sizeBytes: (await handle.getFile()).size });
    }
    return entries;
  }
}

async function ifFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && error.name === "NotFoundError") return undefined;
    throw error;
  }
}

class CacheStore implements Store {
  readonly kind = "cache";
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const response = await this.#cache.match(address(key));
    return response === undefined ? undefined : new Uint8Array(await response.arrayBuffer());
  }

  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const headers = { "content-length": String(bytes.length), "content-type": "application/octet-stream" };
    return this.#cache.put(address(key), new Response(bytes, { headers }));
  }

  async delete(key: string): Promise<void> {
    await this.#cache.delete(address(key));
  }

  async list(): Promise<readonly StoredEntry[]> {
    const entries: StoredEntry[] = [];
    for (const request of await this.#cache.keys()) {
      const response = await this.#cache.match(request);
      const key = new URL(request.url).pathname.slice(1);
      entries.push({ key, sizeBytes: Number(response?.headers.get("content-length") ?? 0) });
    }
    return entries;
  }
}

/** The Cache API wants addresses; this one belongs to nobody (RFC 2606), so that no request can meet an entry. */
function address(key: string): string {
  return `https://${NAME}.invalid/${key}`;
}

/** Keeps entries as long as the page lives, up to a number of bytes. */
export class MemoryStore implements Store {
  readonly kind = "memory";
  readonly #limitBytes: number;
  readonly #entries = new Map<string, Uint8Array<ArrayBuffer>>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return Promise.resolve(this.#entries.get(key)?.slice());
  }

  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    let held = bytes.length;
    for (const [other, entry] of this.#entries) if (other !== key) held += entry.length;
    if (held > this.#limitBytes) {
      const message = `${String(held)} bytes do not fit into ${String(this.#limitBytes)}`;
      return Promise.reject(new DOMException(message, "QuotaExceededError"));
    }
    this.#entries.set(key, bytes.slice());
    return Promise.resolve();
  }

  delete(key: string): Promise<void> {
    this.#entries.delete(key);
    return Promise.resolve();
  }

  list(): Promise<readonly StoredEntry[]> {
    return Promise.resolve([...this.#entries].map(([key, bytes]) => ({ key, sizeBytes: bytes.length })));
  }
}
