// Delivery under faults: each download ends whole or with its typed error, and no wrong byte gets through.

import { createHash } from "node:crypto";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import type { Manifest } from "../src/generated/manifest.js";
import { WebinferError } from "../src/index.js";
import { Package, type DeliveryOptions } from "../src/package.js";
import { MemoryStore, type Store } from "../src/store.js";
import { FaultyServer, FaultyStore, quickClock, randomOf, Site, type Behaviour } from "./delivery.js";
import { failure, goldenFiles } from "./golden.js";

const SHARD = "weights-00001-of-00001.safetensors";
const BIG = "big.bin";
const PART = 4096;
const quick: DeliveryOptions = {
  clock: quickClock,
  cache: "none",
  download: { partBytes: PART, progressBytes: 512, stallMs: 8_000 },
};
/** For tests without a silent server: on a busy machine a right one may be silent for the time of `quick`. */
const calm: DeliveryOptions = { ...quick, download: { ...quick.download, stallMs: 3_000_000 } };

let server: FaultyServer;
let sites = 0;
beforeAll(async () => {
  server = await FaultyServer.start();
});
afterAll(() => server.close());

/** The golden package with one more file, larger than a range. `version` changes that file. */
function files(version = 1): Map<string, Buffer> {
  const found = goldenFiles();
  const random = randomOf(version);
  const big = Buffer.from(Array.from({ length: 5 * PART + 123 }, () => Math.floor(random() * 256)));
  const manifest = JSON.parse(String(found.get("manifest.json"))) as Manifest;
  const sha256 = createHash("sha256").update(big).digest("hex");
  manifest.files.push({ path: BIG, sha256, size_bytes: big.length });
  found.set(BIG, big);
  found.set("manifest.json", Buffer.from(JSON.stringify(manifest)));
  return found;
}

/** A site that behaves as listed for its files, one behaviour per request and right afterwards. */
function publish(faults: Record<string, readonly Behaviour[]>, ranges = true): { url: string; site: Site } {
  const left = new Map(Object.entries(faults).map(([path, list]) => [path, [...list]]));
  const site = new Site(files(), (path) => left.get(path)?.shift() ?? "right", ranges);
  sites += 1;
  return { url: server.add(`site-${String(sites)}`, site), site };
}

function ranges(site: Site, path = BIG): (string | undefined)[] {
  return site.requests.filter((request) => request.path === path).map(({ range }) => range);
}

describe("ranges", () => {
  test("a large file comes in parallel ranges, a small one in one piece", async () => {
    const { url, site } = publish({});
    const source = await Package.open(url, calm);
    expect(Buffer.from(await source.read(BIG)).equals(site.files.get(BIG) ?? Buffer.alloc(0))).toBe(true);
    await source.read(SHARD);
    expect(ranges(site)).toHaveLength(6);
    expect(ranges(site, SHARD)).toEqual([undefined]);
  });

  test("after a cut the rest is asked for, and progress counts every byte once", async () => {
    const { url, site } = publish({ [BIG]: ["cut"] });
    let seen = 0;
    await (await Package.open(url, calm)).read(BIG, { onBytes: (count) => (seen += count) });
    expect(ranges(site)[1]).toBe(`bytes=${String(PART / 2)}-${String(PART - 1)}`);
    expect(seen).toBe(site.files.get(BIG)?.length);
  });

  test("a server without ranges is read in one piece, and after a cut from its start", async () => {
    const { url, site } = publish({ [BIG]: ["cut"] }, false);
    let seen = 0;
    await (await Package.open(url, calm)).read(BIG, { onBytes: (count) => (seen += count) });
    expect(ranges(site)).toHaveLength(2);
    expect(seen).toBe(site.files.get(BIG)?.length);
  });

  test("a file that changes while it comes is fetched again as a whole", async () => {
    const { url, site } = publish({});
    const before = site.answer.bind(site);
    let count = 0;
    site.answer = (path, request, response) => {
      if (path === BIG) count += 1;
      site.etag = count > 2 ? '"2"' : '"1"';
      before(path, request, response);
    };
    await (await Package.open(url, calm)).read(BIG);
    expect(ranges(site).at(-1)).toBeUndefined();
  });

  test("a server that tags every answer differently is read all the same", async () => {
    const { url, site } = publish({ [BIG]: ["cut", "right", "cut", "cut"] });
    const before = site.answer.bind(site);
    let count = 0;
    site.answer = (path, request, response) => {
      count += 1;
      site.etag = `"${String(count)}"`;
      before(path, request, response);
    };
    let seen = 0;
    const bytes = await (await Package.open(url, calm)).read(BIG, { onBytes: (more) => (seen += more) });
    expect(seen).toBe(bytes.length);
  });

  test("another origin hides most headers: ranges, cuts and damage are handled all the same", async () => {
    vi.stubGlobal("location", new URL("http://game.example/"));
    const asked: Headers[] = [];
    const opaque: typeof fetch = async (input, init) => {
      asked.push(new Headers(init?.headers));
      const { status, headers, body } = await fetch(input, init);
      const type = headers.get("content-type");
      return new Response(body, { status, headers: type === null ? {} : { "content-type": type } });
    };
    try {
      const { url, site } = publish({ [BIG]: ["right", "cut", "wrong-byte"], [SHARD]: ["html", "html"] });
      const source = await Package.open(url, { ...calm, fetch: opaque });
      expect(Buffer.from(await source.read(BIG)).equals(site.files.get(BIG) ?? Buffer.alloc(0))).toBe(true);
      expect((await failure(() => source.read(SHARD))).code).toBe("html-answer");
      // Anything else than a range would cost a preflight.
      expect(new Set(asked.flatMap((headers) => [...headers.keys()]))).toEqual(new Set(["range"]));
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test("a wrong range is not put in its place", async () => {
    const { url } = publish({ [BIG]: ["right", "other-range"] });
    expect((await (await Package.open(url, calm)).read(BIG)).length).toBe(5 * PART + 123);
  });
});

describe("failures", () => {
  test.each<[string, Behaviour, string]>([
    ["a connection that always breaks", "cut", "fetch"],
    ["a server that stays busy", "busy", "fetch"],
    ["a server that goes silent", "stall", "fetch"],
    ["a file that is not there", "gone", "fetch"],
    ["a page in place of a file", "html", "html-answer"],
    ["a wrong byte in every answer", "wrong-byte", "hash-mismatch"],
  ])("%s", async (_, behaviour, code) => {
    const { url, site } = publish({ [SHARD]: Array<Behaviour>(20).fill(behaviour) });
    const source = await Package.open(url, quick);
    let seen = 0;
    const error = await failure(() => source.read(SHARD, { onBytes: (count) => (seen += count) }));
    expect(error.code).toBe(code);
    expect([seen, source.delivery.networkBytes]).toEqual([0, 0]);
    expect(site.requests.length).toBeLessThanOrEqual(12);
    if (behaviour === "cut" || behaviour === "stall") expect(error.cause).toBeInstanceOf(Error);
    if (behaviour === "stall") expect(error.message).toContain("no byte for");
  });

  test("a wrong answer that does not come twice heals, past the HTTP cache", async () => {
    for (const behaviour of ["html", "wrong-byte"] as const) {
      const { url } = publish({ [SHARD]: [behaviour], [BIG]: [behaviour] });
      const source = await Package.open(url, quick);
      await source.read(SHARD);
      await source.read(BIG);
    }
  });

  test("an abort ends the waiting at once", async () => {
    const { url } = publish({ [BIG]: Array<Behaviour>(20).fill("busy") });
    const source = await Package.open(url, { ...quick, clock: { now: Date.now, wait: forever } });
    const controller = new AbortController();
    const reading = failure(() => source.read(BIG, { signal: controller.signal }));
    setTimeout(() => {
      controller.abort();
    }, 20);
    expect((await reading).code).toBe("aborted");
  });
});

/** Resolves when the signal fires, and never otherwise. */
function forever(_: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener("abort", () => {
      resolve();
    });
  });
}

describe("store", () => {
  const open = (url: string, cache: Store): Promise<Package> => Package.open(url, { ...quick, cache });
  const visit = async (url: string, cache: Store): Promise<Package> => {
    const source = await open(url, cache);
    for (const path of [SHARD, BIG]) await source.read(path);
    await source.remember();
    return source;
  };

  test("the second visit asks for the manifest alone, and works without a server", async () => {
    const store = new MemoryStore(1e6);
    const { url, site } = publish({});
    expect((await visit(url, store)).delivery).toMatchObject({ manifest: "network", storedBytes: 0 });
    site.requests.length = 0;
    expect((await visit(url, store)).delivery).toMatchObject({ manifest: "network", networkBytes: 0 });
    expect(site.requests.map(({ path }) => path)).toEqual(["manifest.json"]);
    const offline: typeof fetch = () => Promise.reject(new TypeError("fetch failed"));
    const source = await Package.open(url, { ...quick, cache: store, fetch: offline });
    expect(source.delivery.manifest).toBe("store");
    expect((await source.read(BIG)).length).toBe(5 * PART + 123);
    const elsewhere = failure(() => Package.open(`${url}other/`, { ...quick, cache: store, fetch: offline }));
    expect((await elsewhere).code).toBe("fetch");
  });

  test("a server that does not answer in time counts as out of reach", async () => {
    const store = new MemoryStore(1e6);
    const { url } = publish({ "manifest.json": ["right", "stall", "busy"] });
    await visit(url, store);
    for (let count = 0; count < 2; count += 1) expect((await open(url, store)).delivery.manifest).toBe("store");
    expect((await open(`${url}?token=2#part`, store)).delivery.manifest).toBe("network");
  });

  test("a server that answers is believed: no stored version in place of a removed one", async () => {
    const store = new MemoryStore(1e6);
    const { url, site } = publish({});
    await visit(url, store);
    site.files.delete("manifest.json");
    expect((await failure(() => open(url, store))).code).toBe("fetch");
  });

  test("packages share files by content, and a new version drops what only the old one needed", async () => {
    const store = new MemoryStore(1e6);
    const [one, two] = [publish({}), publish({})];
    await visit(one.url, store);
    expect((await visit(two.url, store)).delivery.networkBytes).toBe(0);
    const count = (await store.list()).length;
    for (const [path, file] of files(2)) one.site.files.set(path, file);
    await visit(one.url, store);
    expect((await store.list()).length).toBe(count + 2);
    for (const [path, file] of files(2)) two.site.files.set(path, file);
    await visit(two.url, store);
    expect((await store.list()).length).toBe(count);
  });

  test("damaged entries are evicted and fetched again", async () => {
    const store = new MemoryStore(1e6);
    const { url } = publish({});
    await visit(url, store);
    for (const { key } of await store.list()) await store.put(key, new TextEncoder().encode("<!doctype html>"));
    const healed = await visit(url, store);
    expect(healed.delivery.notes.join()).toContain("damaged");
    expect((await visit(url, store)).delivery).toMatchObject({ networkBytes: 0, notes: [] });
  });

  test("a full store gives up the package that was used least recently, then itself", async () => {
    const sizes = [...files(1).values()].reduce((sum, file) => sum + file.length, 0);
    const store = new MemoryStore(2.2 * sizes);
    const first = publish({});
    await visit(first.url, store);
    const others = [2, 3].map((version) => {
      const { url, site } = publish({});
      for (const [path, file] of files(version)) site.files.set(path, file);
      return url;
    });
    let last: Package | undefined;
    for (const url of others) last = await visit(url, store);
    expect(last?.delivery.notes.join()).toContain(`${first.url} was evicted`);
    for (const url of others) expect((await visit(url, store)).delivery.networkBytes).toBe(0);
    const tiny = await visit(first.url, new MemoryStore(1000));
    expect(tiny.delivery.notes.join()).toContain("the store is full");
  });
});

test("500 downloads with faults from seeds end whole or with a typed error", async () => {
  const kinds: readonly Behaviour[] = [
    ...(["right", "right", "right", "trickle", "no-length", "cut", "wrong-byte"] as const),
    ...(["html", "busy", "other-range", "gone", "stall"] as const),
  ];
  const outcomes = new Map<string, number>();
  const original = files();
  const one = async (seed: number): Promise<void> => {
    const random = randomOf(seed);
    const faultRate = random() * 0.6;
    const behave = (): Behaviour =>
      random() < faultRate ? (kinds[Math.floor(random() * kinds.length)] ?? "right") : "right";
    const url = server.add(`seed-${String(seed)}`, new Site(original, behave, random() < 0.8));
    const store = new FaultyStore(random() < 0.3 ? 20_000 : 1e6, random, random() * 0.3);
    // Twice: the second visit meets what the first one left in the store.
    for (const visit of [1, 2]) {
      let outcome = "whole";
      try {
        const source = await Package.open(url, { ...quick, cache: store });
        await Promise.all(
          [BIG, SHARD].map(async (path) => {
            const bytes = await source.read(path);
            expect(Buffer.from(bytes).equals(original.get(path) ?? Buffer.alloc(0))).toBe(true);
          }),
        );
        await source.remember();
      } catch (error) {
        if (!(error instanceof WebinferError)) throw error;
        outcome = error.code;
      }
      outcomes.set(`${String(visit)}: ${outcome}`, (outcomes.get(`${String(visit)}: ${outcome}`) ?? 0) + 1);
    }
    // Whatever happened, content in the store is what its name says.
    for (const { key } of await store.inner.list()) {
      const bytes = await store.inner.get(key);
      if (!key.startsWith("url-"))
        expect(
          createHash("sha256")
            .update(bytes ?? "")
            .digest("hex"),
        ).toBe(key);
    }
    server.sites.delete(`seed-${String(seed)}`);
  };
  const lanes = Array.from({ length: 16 }, async (_, lane) => {
    for (let seed = lane; seed < 250; seed += 16) await one(seed);
  });
  await Promise.all(lanes);
  const codes = new Set([...outcomes.keys()].map((key) => key.slice(3)));
  expect(
    [...codes].filter(
      (code) => !["fetch", "hash-mismatch", "html-answer", "not-json", "size-mismatch", "whole"].includes(code),
    ),
  ).toEqual([]);
  // A run in which nothing fails, or nothing succeeds, has tested nothing.
  expect(outcomes.get("1: whole")).toBeGreaterThan(60);
  expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBe(500);
  expect(codes.size).toBeGreaterThan(3);
});
