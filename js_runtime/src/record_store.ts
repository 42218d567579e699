// Keeps small records for the next visit: in IndexedDB where the browser has it, else as long as the page lives.

import type { Program } from "./generated/manifest.js";
import type { AdapterInfo } from "./tier.js";

/** Text by key: learned costs, measurements, results of self-tests. May fail: all of it is then learned again. */
export interface RecordStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string): Promise<void>;
}

/** Costs hold for a class of adapters, a program of a package, and its dispatches as they are. */
export function costKey(adapter: AdapterInfo, name: string, program: Program): string {
  const text = JSON.stringify(program.dispatches.map(({ kernel, params, workgroups }) => [kernel, params, workgroups]));
  return ["costs", adapter.vendor, adapter.architecture, name, program.tier, fnv1a(text)].join("/");
}

/** The store of this page or process. */
export function defaultRecords(): RecordStore {
  shared ??= typeof indexedDB === "undefined" ? new MemoryStore() : new DatabaseStore("webinfer-records");
  return shared;
}

let shared: RecordStore | undefined;

class MemoryStore implements RecordStore {
  readonly #texts = new Map<string, string>();

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.#texts.get(key));
  }

  set(key: string, text: string): Promise<void> {
    this.#texts.set(key, text);
    return Promise.resolve();
  }
}

const TABLE = "records";

class DatabaseStore implements RecordStore {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  async get(key: string): Promise<string | undefined> {
    const table = (await this.#open()).transaction(TABLE).objectStore(TABLE);
    const value: unknown = await settled(table.get(key) as IDBRequest<unknown>);
    return typeof value === "string" ? value : undefined;
  }

  async set(key: string, text: string): Promise<void> {
    const table = (await this.#open()).transaction(TABLE, "readwrite").objectStore(TABLE);
    await settled(table.put(text, key));
  }

  #open(): Promise<IDBDatabase> {
    if (this.#database === undefined) {
      const request = indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore(TABLE);
      };
      this.#database = settled(request);
    }
    return this.#database;
  }
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => {
      resolve(request.result);
    };
    request.onerror = () => {
      reject(request.error ?? new Error("IndexedDB failed"));
    };
  });
}

/** 32-bit FNV-1a of a text, in hex. */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16);
}
