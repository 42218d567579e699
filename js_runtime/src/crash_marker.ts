// Remembers in which phase a page died, so that the next load asks less of the device.
//
// The mark of a phase is written before it begins and cleared after it ended, also by an error, and while the page is
// hidden or left. One that is found by a later load belongs to a page that died, unless that page is alive elsewhere.

import type { Program } from "./generated/manifest.js";
import type { RecordStore } from "./record_store.js";

/** Where drivers and tabs die. */
export type RiskyPhase = "calibration" | "compile" | "weights" | "warm-up" | "first run";

/** A tier that killed a page, or lost the device again and again. */
export interface Crash {
  readonly tier: string;
  readonly rank: number;
  readonly during: RiskyPhase | "losses";
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A tier that crashed is tried again after this long, and with every version of the package. */
const FORGET_MS = 7 * 24 * 3600 * 1000;
/** So many losses within so long are as good as a crash. */
const LOSSES = 3;
const LOSSES_MS = 10 * 60 * 1000;

type Tier = Pick<Program, "tier" | "rank">;

interface CrashRecord {
  readonly version: string;
  /** The risky phase that is under way, or was when the page died. */
  readonly mark?: Crash | undefined;
  readonly crashes: readonly Crash[];
  readonly losses: readonly Crash[];
}

/** What a page knows about itself and others; injected by tests. */
export interface Surroundings {
  readonly now: () => number;
  /** Whether leaving is told. Where it is not, as in workers, leaving looks like dying: it then takes two. */
  readonly tellsLeaving: boolean;
  /**
   * Let other pages see that `name` is in use by one that is alive, until the returned function is called. `onShown` hears
   * when the page is hidden or left, and shown again.
   */
  readonly attend: (name: string, onShown: (shown: boolean) => void) => () => void;
  readonly attended: (name: string) => Promise<boolean>;
}

/** The marks of one package on one adapter. */
export class CrashMarker {
  readonly #store: RecordStore;
  readonly #key: string;
  readonly #around: Surroundings;
  readonly #open: Crash[] = [];
  #record: CrashRecord;
  #shown = true;
  #leave: () => void = () => undefined;

  private constructor(store: RecordStore, key: string, around: Surroundings, record: CrashRecord) {
    this.#store = store;
    this.#key = key;
    this.#around = around;
    this.#record = record;
  }

  /** Read what earlier pages left. A store that fails has nothing to say. */
  static async open(
    store: RecordStore,
    key: string,
    version: string,
    around: Surroundings = pageSurroundings,
  ): Promise<CrashMarker> {
    const now = around.now();
    const text = await store.get(key).catch(() => undefined);
    const found = text === undefined ? undefined : parse(text);
    const recent = ({ at }: Crash): boolean => now - at < FORGET_MS;
    let record: CrashRecord = { version, crashes: [], losses: [] };
    if (found?.version === version) {
      record = { version, crashes: found.crashes.filter(recent), losses: found.losses.filter(recent) };
    }
    const marker = new CrashMarker(store, key, around, record);
    const mark = found?.version === version ? found.mark : undefined;
    if (mark !== undefined && recent(mark) && !(await around.attended(key))) {
      if (around.tellsLeaving) marker.#crash(mark);
      else marker.#count(mark, 2, FORGET_MS);
      await marker.#write();
    }
    return marker;
  }

  /** Tiers that are to be avoided, the latest crash at the end. */
  get crashes(): readonly Crash[] {
    return this.#record.crashes;
  }

  /** When a crash is forgotten. */
  forgottenAt({ at }: Crash): Date {
    return new Date(at + FORGET_MS);
  }

  /** Run a risky phase under its mark. */
  async during<T>(phase: RiskyPhase, { tier, rank }: Tier, work: () => Promise<T>): Promise<T> {
    const mark: Crash = { tier, rank, during: phase, at: this.#around.now() };
    this.#open.push(mark);
    if (this.#open.length === 1) this.#leave = this.#around.attend(this.#key, this.#onShown);
    try {
      await this.#write();
      return await work();
    } finally {
      this.#open.splice(this.#open.indexOf(mark), 1);
      if (this.#open.length === 0) this.#leave();
      await this.#write();
    }
  }

  /** The driver lost the device: repeated losses count like a crash. Not for devices that someone destroyed. */
  async noteLoss({ tier, rank }: Tier): Promise<void> {
    this.#count({ tier, rank, during: "losses", at: this.#around.now() }, LOSSES, LOSSES_MS);
    await this.#write();
  }

  readonly #onShown = (shown: boolean): void => {
    this.#shown = shown;
    void this.#write();
  };

  /** As good as a crash when it has happened `enough` times within `withinMs`. */
  #count(event: Crash, enough: number, withinMs: number): void {
    const losses = [...this.#record.losses.filter(({ at }) => event.at - at < withinMs), event];
    this.#record = { ...this.#record, losses };
    if (losses.filter(({ tier, during }) => tier === event.tier && during === event.during).length >= enough) {
      this.#crash(event);
    }
  }

  #crash(crash: Crash): void {
    const losses = this.#record.losses.filter(({ tier }) => tier !== crash.tier);
    this.#record = { ...this.#record, losses, crashes: [...this.#record.crashes, crash] };
  }

  async #write(): Promise<void> {
    const mark = this.#shown ? this.#open.at(-1) : undefined;
    // Without it a crash goes unnoticed, nothing else.
    await this.#store.set(this.#key, JSON.stringify({ ...this.#record, mark })).catch(() => undefined);
  }
}

/** Where marks are kept: a page that is left has no time for more than localStorage. */
export function markStore(records: RecordStore): RecordStore {
  try {
    const { localStorage: storage } = globalThis as { readonly localStorage?: Storage };
    if (storage === undefined || !("document" in globalThis)) return records;
    return {
      get: (key) => attempt(() => storage.getItem(`webinfer/${key}`) ?? undefined),
      set: (key, text) =>
        attempt(() => {
          storage.setItem(`webinfer/${key}`, text);
        }),
    };
  } catch {
    // Refused by this window's settings.
    return records;
  }
}

/** Done at once; what it throws rejects. */
function attempt<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}

/** Names that this page or worker attends, and how often. */
const own = new Map<string, number>();

const pageSurroundings: Surroundings = {
  now: () => Date.now(),
  tellsLeaving: "document" in globalThis,
  attend: (name, onShown) => {
    own.set(name, (own.get(name) ?? 0) + 1);
    const gone = new AbortController();
    const { signal } = gone;
    // A lock ends with its page, however that ends.
    const ended = new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
    void webLocks()
      ?.request(lockName(name), { mode: "shared" }, () => ended)
      .catch(() => undefined);
    const page = (globalThis as { readonly document?: Document }).document;
    if (page !== undefined) {
      const tell = (): void => {
        onShown(!page.hidden);
      };
      page.addEventListener("visibilitychange", tell, { signal });
      globalThis.addEventListener("pageshow", tell, { signal });
      globalThis.addEventListener(
        "pagehide",
        () => {
          onShown(false);
        },
        { signal },
      );
      if (page.hidden) tell();
    }
    return () => {
      own.set(name, (own.get(name) ?? 1) - 1);
      gone.abort();
    };
  },
  attended: async (name) => {
    if ((own.get(name) ?? 0) > 0) return true;
    const locks = await webLocks()
      ?.query()
      .catch(() => undefined);
    return locks?.held?.some((lock) => lock.name === lockName(name)) ?? false;
  },
};

function webLocks(): LockManager | undefined {
  return (globalThis.navigator as Partial<Navigator> | undefined)?.locks;
}

function lockName(name: string): string {
  return `webinfer/${name}`;
}

function parse(text: string): CrashRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<CrashRecord> | null;
    const sound = (list: unknown): boolean => Array.isArray(list) && list.every(isCrash);
    if (value === null || typeof value.version !== "string" || !sound(value.crashes) || !sound(value.losses))
      return undefined;
    return value.mark === undefined || isCrash(value.mark) ? (value as CrashRecord) : undefined;
  } catch {
    return undefined;
  }
}

function isCrash(value: unknown): value is Crash {
  const { tier, rank, at } = (value ?? {}) as Partial<Record<keyof Crash, unknown>>;
  return typeof tier === "string" && typeof rank === "number" && typeof at === "number";
}
