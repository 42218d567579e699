// Crash marks on an invented store and page: no device is needed.

import { describe, expect, test } from "vitest";

import { CrashMarker, type Surroundings } from "../src/crash_marker.js";
import type { RecordStore } from "../src/index.js";
import { Records } from "./records.js";

const HIGH = { tier: "fp32-workgroup", rank: 6 };
const DAY_MS = 24 * 3600 * 1000;

/** Pages of one browser: `show` tells the page that is open. */
class Browser {
  readonly disk = new Records();
  time = 1_000_000_000_000;
  tellsLeaving = true;
  readonly attended = new Set<string>();
  show: (shown: boolean) => void = () => undefined;

  page(version = "v1"): Promise<CrashMarker> {
    const around: Surroundings = {
      now: () => this.time,
      tellsLeaving: this.tellsLeaving,
      attend: (name, onShown) => {
        this.show = onShown;
        this.attended.add(name);
        return () => this.attended.delete(name);
      },
      attended: (name) => Promise.resolve(this.attended.has(name)),
    };
    return CrashMarker.open(this.disk, "crash/acme/model", version, around);
  }

  /** A page that dies in `phase`: its work never ends, and the browser lets go of its lock. */
  async dies(phase: "compile" | "first run" = "compile", tier = HIGH): Promise<void> {
    const marker = await this.page();
    let begun: () => void = () => undefined;
    const working = new Promise<void>((resolve) => {
      begun = resolve;
    });
    void marker.during(phase, tier, () => {
      begun();
      return new Promise(() => undefined);
    });
    await working;
    this.attended.clear();
  }
}

describe("crash marker", () => {
  test("the mark is on the disk before the phase begins, and gone after it", async () => {
    const browser = new Browser();
    const marker = await browser.page();
    let within = "";
    await marker.during("warm-up", HIGH, () => {
      within = [...browser.disk.texts.values()].join();
      return Promise.resolve();
    });
    expect(within).toContain('"during":"warm-up"');
    expect([...browser.disk.texts.values()].join()).not.toContain("mark");
    expect((await browser.page()).crashes).toEqual([]);
  });

  test("a page that died in a phase is found by the next load, with phase and tier", async () => {
    const browser = new Browser();
    await browser.dies("first run");
    const [crash] = (await browser.page()).crashes;
    expect(crash).toMatchObject({ tier: "fp32-workgroup", rank: 6, during: "first run" });
    // And by later ones.
    expect((await browser.page()).crashes).toHaveLength(1);
  });

  test("a lower tier that dies as well is added", async () => {
    const browser = new Browser();
    await browser.dies();
    await browser.dies("compile", { tier: "fp32-register", rank: 5 });
    expect((await browser.page()).crashes.map(({ rank }) => rank)).toEqual([6, 5]);
  });

  test("an error and an abort are no crash", async () => {
    const browser = new Browser();
    const marker = await browser.page();
    const failing = marker.during("compile", HIGH, () => Promise.reject(new Error("refused")));
    await expect(failing).rejects.toThrow("refused");
    expect((await browser.page()).crashes).toEqual([]);
  });

  test("leaving or hiding the page during a phase is no crash, coming back marks it again", async () => {
    const browser = new Browser();
    await browser.dies();
    // The page of `dies` still runs in truth: it hears that it is left.
    browser.show(false);
    expect((await browser.page()).crashes).toEqual([]);
    browser.show(true);
    expect((await browser.page()).crashes).toHaveLength(1);
  });

  test("a phase of another page that is alive is no crash", async () => {
    const browser = new Browser();
    const alive = await browser.page();
    let end: () => void = () => undefined;
    const done = alive.during("compile", HIGH, () => new Promise<void>((resolve) => (end = resolve)));
    await Promise.resolve();
    expect((await browser.page()).crashes).toEqual([]);
    end();
    await done;
  });

  test("in a worker, which does not hear of leaving, it takes two", async () => {
    const browser = new Browser();
    browser.tellsLeaving = false;
    await browser.dies();
    await browser.dies();
    expect((await browser.page()).crashes).toHaveLength(1);
    const once = new Browser();
    once.tellsLeaving = false;
    await once.dies();
    expect((await once.page()).crashes).toEqual([]);
  });

  test("a crash is forgotten after a week and by another version of the package", async () => {
    const browser = new Browser();
    await browser.dies();
    expect((await browser.page("v2")).crashes).toEqual([]);
    browser.time += 6 * DAY_MS;
    expect((await browser.page()).crashes).toHaveLength(1);
    browser.time += 2 * DAY_MS;
    expect((await browser.page()).crashes).toEqual([]);
  });

  test("three losses within ten minutes are as good as a crash, spread over hours they are not", async () => {
    const browser = new Browser();
    const marker = await browser.page();
    for (let loss = 0; loss < 5; loss += 1) {
      await marker.noteLoss(HIGH);
      browser.time += DAY_MS / 24;
    }
    expect(marker.crashes).toEqual([]);
    for (let loss = 0; loss < 3; loss += 1) await marker.noteLoss(HIGH);
    expect(marker.crashes).toMatchObject([{ tier: "fp32-workgroup", during: "losses" }]);
  });

  test.each(["", "{", "null", '{"version":"v1"}', '{"version":"v1","crashes":[{}],"losses":[]}'])(
    "a damaged record %j says nothing",
    async (text) => {
      const browser = new Browser();
      browser.disk.texts.set("crash/acme/model", text);
      expect((await browser.page()).crashes).toEqual([]);
    },
  );

  test("a store that fails stops nothing", async () => {
    const broken: RecordStore = {
      get: () => Promise.reject(new Error("no")),
      set: () => Promise.reject(new Error("no")),
    };
    const marker = await CrashMarker.open(broken, "key", "v1");
    expect(await marker.during("compile", HIGH, () => Promise.resolve(7))).toBe(7);
  });
});
