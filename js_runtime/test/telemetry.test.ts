// Telemetry on Dawn and by simulation: what the runtime reports, who is told, and the session's trace.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import {
  deviceMemory,
  FrameScheduler,
  load,
  type LoadOptions,
  type Model,
  type RuntimeEvent,
  type Subject,
} from "../src/index.js";
import {
  Hud,
  KillSwitch,
  TelemetryStream,
  TraceRecorder,
  type Observer,
  type Sink,
  type TelemetryOptions,
  type TelemetryRecord,
  type TraceEvent,
} from "../src/telemetry/index.js";
import { percentile, Summary } from "../src/telemetry/summary.js";
import { gpu } from "./dawn.js";
import { failure, goldenFeeds, PackageServer } from "./golden.js";

class Kept implements Observer, Sink {
  readonly events: RuntimeEvent[] = [];
  readonly records: TelemetryRecord[] = [];
  readonly flushes: boolean[] = [];

  observe(event: RuntimeEvent): void {
    this.events.push(event);
  }

  write(record: TelemetryRecord): void {
    this.records.push(record);
  }

  flush(hiding: boolean): Promise<void> {
    this.flushes.push(hiding);
    return Promise.resolve();
  }

  of<T extends RuntimeEvent["type"]>(type: T): Extract<RuntimeEvent, { readonly type: T }>[] {
    return this.events.filter((event): event is Extract<RuntimeEvent, { readonly type: T }> => event.type === type);
  }

  get types(): readonly string[] {
    return this.records.map(({ event }) => event.type);
  }
}

const adapter = (members: Partial<Subject> = {}): RuntimeEvent => ({
  type: "adapter",
  at: 0,
  vendor: "acme",
  architecture: "gen-1",
  software: false,
  model: "terrain",
  version: "3fa9c0de",
  ...members,
});
const tier = (at = 0): RuntimeEvent => ({ type: "tier", at, model: "terrain", tier: "fp32-register", reasons: [] });
const slice = (at: number, ms: number, budgetMs = 4): RuntimeEvent => ({
  type: "slice",
  at,
  ms,
  model: "terrain",
  clock: "timestamp",
  budgetMs,
  predictedMs: ms,
  longestMs: 3,
  pieces: [
    { kernel: "conv", ms: 3 },
    { kernel: "norm", ms: 1 },
  ],
});
const selfTest = (passed: boolean): RuntimeEvent => ({
  type: "self-test",
  at: 970,
  ms: 12,
  model: "terrain",
  tier: "fp32-register",
  passed,
  runs: 3,
  drift: passed ? 0.1 : 7,
  quarantined: passed ? [] : ["conv"],
});
const frame = (at: number, dispatches = 1): RuntimeEvent => ({
  type: "frame",
  at,
  encodeMs: 0.2,
  targetMs: 16,
  budgetMs: 4,
  predictedMs: 3,
  dispatches,
  jobs: 1,
  saturated: false,
});

describe("on a device", () => {
  let server: PackageServer;
  const models: Model[] = [];
  const kept = (): { readonly all: Kept; readonly options: LoadOptions } => {
    const all = new Kept();
    const telemetry = new TelemetryStream({ observers: [all] });
    return { all, options: { gpu, cache: "none", telemetry, download: { backoffMs: 1 } } };
  };
  beforeEach(async () => {
    server = await PackageServer.start();
  });
  afterEach(async () => {
    for (const model of models.splice(0)) model.dispose();
    await server.close();
  });

  test("a load, jobs and frames are told, and the trace shows them", async () => {
    const trace = new TraceRecorder();
    const all = new Kept();
    const telemetry = new TelemetryStream({ observers: [all, trace] });
    const model = await load(server.url, { gpu, cache: "none", telemetry });
    models.push(model);

    const [subject] = all.of("adapter");
    expect(subject).toMatchObject({ model: "golden", software: true, vendor: model.info.adapter.vendor });
    expect(subject?.version).toMatch(/^[0-9a-f]{64}$/);
    expect(
      all
        .of("phase")
        .map(({ phase }) => phase)
        .sort(),
    ).toEqual(["compile", "device", "manifest", "tier", "warm-up", "weights"]);
    expect(new Set(all.of("compile").map(({ kernel }) => kernel)).size).toBe(all.of("compile").length);
    expect(all.of("tier")).toMatchObject([{ tier: model.info.tier, reasons: model.info.reasons }]);
    const { networkBytes, storedBytes } = model.info.delivery;
    expect(all.of("loaded")).toMatchObject([{ networkBytes, storedBytes, retries: 0, store: "none" }]);

    const scheduler = new FrameScheduler(model.device, { budgetMs: 4, telemetry, pressure: () => () => undefined });
    const job = scheduler.add(model.start(goldenFeeds()));
    await job.started;
    while (scheduler.jobs.length > 0) {
      scheduler.frame();
      await model.device.queue.onSubmittedWorkDone();
    }
    await job.done;
    // A measurement is read with a later slice, once the GPU has it.
    let runs = 0;
    do {
      await model.run(goldenFeeds());
      await model.device.queue.onSubmittedWorkDone();
      runs += 1;
    } while (all.of("slice").length === 0 && runs < 100);
    expect(all.of("frame").some(({ dispatches, jobs }) => dispatches > 0 && jobs === 1)).toBe(true);
    expect(all.of("job")).toHaveLength(runs + 1);
    for (const { model: name, outcome } of all.of("job")) expect([name, outcome]).toEqual(["golden", "done"]);
    expect(all.of("memory").at(-1)).toMatchObject({ bytes: model.memory().bytes });
    const slices = all.of("slice");
    expect(slices.length).toBeGreaterThan(0);
    for (const { ms, pieces } of slices) {
      expect(ms).toBeGreaterThan(0);
      expect(pieces.length).toBeGreaterThan(0);
    }

    trace.profile(await model.profile(goldenFeeds()));
    const { traceEvents } = JSON.parse(trace.export()) as { readonly traceEvents: readonly TraceEvent[] };
    const named = traceEvents.filter(({ cat }) => cat === "kernel" || cat === "profile");
    const kernels = new Set(slices.flatMap(({ pieces }) => pieces.map(({ kernel }) => kernel)));
    expect(new Set(named.map(({ name }) => name))).toEqual(kernels);
  });

  test("no event carries a URL, a message or a device string", async () => {
    const { all, options } = kept();
    const model = await load(server.url, options);
    models.push(model);
    await model.run(goldenFeeds());
    const text = JSON.stringify(all.events);
    const { device, description } = model.info.adapter;
    for (const secret of [server.url, "127.0.0.1", description, device]) {
      if (secret !== "") expect(text).not.toContain(secret);
    }
  });

  test("failures are told by their code, retries are counted", async () => {
    const { all, options } = kept();
    let cuts = 1;
    server.faults.set("manifest.json", (response, file) => {
      response.writeHead(200, { "content-length": file.length });
      if (cuts-- > 0) response.write(file.subarray(0, 10), () => response.destroy());
      else response.end(file);
    });
    const model = await load(server.url, options);
    models.push(model);
    expect(all.of("loaded")).toMatchObject([{ retries: 1 }]);
    await expect(model.run({})).rejects.toThrow("missing");
    server.files.delete("manifest.json");
    server.faults.clear();
    await failure(() => load(server.url, options));
    expect(all.of("failure")).toMatchObject([
      { during: "run", model: "golden", code: "missing-input" },
      { during: "load", model: "", code: "fetch" },
    ]);
    expect(all.of("job")).toMatchObject([{ outcome: "failed" }]);
  });

  test("a lost device is told once; disposing a model is no loss, and cancelling no failure", async () => {
    const { all, options } = kept();
    const model = await load(server.url, options);
    const job = model.start(goldenFeeds());
    job.cancel();
    await failure(() => job.done);
    expect(all.of("job")).toMatchObject([{ outcome: "cancelled" }]);
    expect(all.of("failure")).toEqual([]);
    model.dispose();
    await model.device.lost;
    expect(all.of("device-lost")).toEqual([]);

    const other = await load(server.url, options);
    models.push(other);
    other.device.destroy();
    await other.device.lost;
    expect(all.of("device-lost")).toMatchObject([{ model: "golden", reason: "destroyed" }]);
  });

  test("memory that is refused is told with what was held", async () => {
    const { all, options } = kept();
    const model = await load(server.url, options);
    models.push(model);
    deviceMemory(model.device).budgetBytes = 1;
    const error = await failure(() => load(server.url, { ...options, device: model.device, tier: model.info.tier }));
    expect(error.code).toBe("memory-budget");
    expect(all.of("out-of-memory")).toMatchObject([{ model: "golden", refusedBy: "budget" }]);
    expect(all.of("failure")).toMatchObject([{ during: "load", code: "memory-budget" }]);
  });

  test("admit is asked with the adapter's class before anything is compiled", async () => {
    const { all, options } = kept();
    const subjects: Subject[] = [];
    const admit = (subject: Subject): Promise<boolean> => {
      subjects.push(subject);
      return Promise.resolve(false);
    };
    expect((await failure(() => load(server.url, { ...options, admit }))).code).toBe("not-admitted");
    expect(subjects).toMatchObject([{ model: "golden" }]);
    expect(all.of("compile")).toEqual([]);
    expect(server.requests).toEqual(["manifest.json"]);
  });
});

describe("who is told", () => {
  const stream = (options: TelemetryOptions): TelemetryStream =>
    new TelemetryStream({ sampleRate: 1, hide: () => () => undefined, ...options });

  test("the page sees every event, sinks those of sampled sessions", () => {
    let reported = 0;
    const draws = Array.from({ length: 100 }, (_, index) => index / 100);
    for (const draw of draws) {
      const kept = new Kept();
      const telemetry = stream({ observers: [kept], sinks: [kept], sampleRate: 0.25, random: () => draw });
      telemetry.emit(tier());
      expect(kept.events.length).toBe(1);
      expect(kept.records.length).toBe(telemetry.sampled ? 1 : 0);
      reported += kept.records.length;
    }
    expect(reported).toBe(25);
  });

  test("frequent events are summed up; each record says whose it is and when", async () => {
    const kept = new Kept();
    const telemetry = stream({ sinks: [kept] });
    telemetry.emit(adapter());
    telemetry.emit(adapter({ model: "faces", version: "77" }));
    telemetry.emit(tier(12));
    telemetry.emit(slice(20, 3));
    telemetry.emit(slice(40, 6));
    expect(kept.types).toEqual(["adapter", "adapter", "tier"]);
    expect(kept.records[2]).toMatchObject({
      subject: { model: "terrain", version: "3fa9c0de", vendor: "acme" },
      timeUnixMs: performance.timeOrigin + 12,
    });
    await telemetry.flush();
    expect(kept.records[3]?.event).toMatchObject({ type: "window", slices: 2, slicesOverBudget: 1, overshootMaxMs: 2 });
    expect(kept.flushes).toEqual([false]);
  });

  test("what a load did before it had an adapter is told with the adapter's class, or with the load's failure", () => {
    const kept = new Kept();
    const telemetry = stream({ sinks: [kept] });
    const fetched = (model: string): RuntimeEvent => ({ type: "phase", at: 1, ms: 3, model, phase: "manifest" });
    telemetry.emit(adapter({ model: "faces", version: "77" }));
    telemetry.emit(fetched("terrain"));
    telemetry.emit(fetched("voices"));
    expect(kept.types).toEqual(["adapter"]);
    telemetry.emit(adapter());
    expect(kept.records[2]).toMatchObject({ event: { type: "phase" }, subject: { model: "terrain" } });
    telemetry.emit({ type: "failure", at: 5, model: "voices", during: "load", code: "no-adapter" });
    expect(kept.types).toEqual(["adapter", "adapter", "phase", "failure", "phase"]);
  });

  test("a hidden page flushes at once, the open window included", () => {
    const kept = new Kept();
    let hide = (): void => undefined;
    const telemetry = stream({
      sinks: [kept],
      hide: (onHide) => {
        hide = onHide;
        return () => undefined;
      },
    });
    telemetry.emit(slice(0, 3));
    hide();
    expect(kept.types).toEqual(["window"]);
    expect(kept.flushes).toEqual([true]);
  });

  test("a part that throws is left out, and the others go on", () => {
    const kept = new Kept();
    const broken = {
      observe: () => {
        throw new Error("broken");
      },
    };
    const telemetry = stream({ observers: [broken, kept] });
    telemetry.emit(tier());
    telemetry.emit(tier());
    expect(kept.events.length).toBe(2);
    expect(telemetry.faults.length).toBe(1);
  });

  const ruled = (rules: unknown, calls: unknown[] = []): KillSwitch =>
    new KillSwitch("https://game.example/rules.json", {
      fetch: (url) => {
        calls.push(url);
        if (rules instanceof Error) return Promise.reject(rules);
        return Promise.resolve(Response.json(rules));
      },
    });
  const subject: Subject = {
    vendor: "acme",
    architecture: "gen-1",
    software: false,
    model: "terrain",
    version: "3fa9",
  };

  test.each([
    [{ stop: "inference" }, false],
    [{ stop: "inference", vendor: "acme" }, false],
    [{ stop: "inference", vendor: "acme", architecture: "gen-1", model: "terrain", version: "3f" }, false],
    [{ stop: "inference", vendor: "acme", version: "40" }, true],
    [{ stop: "inference", vendor: "other" }, true],
    [{ stop: "telemetry" }, true],
  ])("inference under %j: %s", async (rule, admitted) => {
    expect(await ruled({ rules: [rule] }).admit(subject)).toBe(admitted);
  });

  test.each([
    ["no rules", { rules: [] }, true],
    ["a rule for this class", { rules: [{ stop: "telemetry", vendor: "acme" }] }, false],
    ["a rule for another class", { rules: [{ stop: "telemetry", vendor: "other" }] }, true],
    ["a misspelt member", { rules: [{ stop: "telemetry", vender: "other" }] }, false],
    ["no document", "<!doctype html>", false],
    ["no server", new Error("offline"), false],
  ])("reports with %s: %s", async (_, rules, sent) => {
    const kept = new Kept();
    const calls: unknown[] = [];
    const killSwitch = ruled(rules, calls);
    const telemetry = stream({ sinks: [kept], killSwitch });
    telemetry.emit(adapter());
    telemetry.emit(tier());
    await telemetry.flush();
    telemetry.emit(tier());
    expect(kept.types).toEqual(sent ? ["adapter", "tier", "tier"] : []);
    // Inference goes on where the rules cannot be read.
    expect(await killSwitch.admit(subject)).toBe(true);
    expect(calls.length).toBe(1);
  });
});

describe("summary", () => {
  test("percentiles are nearest ranks", () => {
    const sorted = Array.from({ length: 100 }, (_, index) => index + 1);
    expect([0.5, 0.95, 0.99, 1].map((share) => percentile(sorted, share))).toEqual([50, 95, 99, 100]);
    expect([percentile([], 0.5), percentile([7], 0.01)]).toEqual([0, 7]);
  });

  test("memory is that of all models", () => {
    const summary = new Summary(1000);
    for (const [model, bytes] of [
      ["a", 5],
      ["b", 7],
      ["a", 1],
    ] as const) {
      summary.add({ type: "memory", at: 0, model, buffers: 1, bytes, peakBytes: bytes });
    }
    summary.add({ type: "job", at: 0, ms: 5, model: "a", outcome: "failed" });
    expect(summary.close()).toMatchObject([{ memoryBytes: 8, memoryPeakBytes: 12, jobsFailed: 1, jobsDone: 0 }]);
    expect(summary.close()).toEqual([]);
  });

  test("a window says what it saw", () => {
    const summary = new Summary(1000);
    for (let index = 1; index <= 100; index += 1) summary.add(slice(index, index / 10));
    // Two frames are missing after one with inference; after one without, nobody knows why.
    for (const event of [frame(100), frame(116), frame(164), frame(180, 0), frame(228)]) summary.add(event);
    expect(summary.add(frame(1200))).toMatchObject([
      {
        type: "window",
        at: 1,
        ms: 227,
        slices: 100,
        sliceP50Ms: 5,
        sliceP95Ms: 9.5,
        sliceP99Ms: 9.9,
        slicesOverBudget: 60,
        overshootMaxMs: 6,
        overshootExcessMaxMs: 3,
        frames: 5,
        framesInferring: 4,
        framesDropped: 2,
      },
    ]);
  });

  test("compile times of a load are summed up with it", () => {
    const summary = new Summary(1000);
    for (const [kernel, ms] of [
      ["conv", 40],
      ["norm", 5],
      ["gemm", 9],
    ] as const) {
      expect(summary.add({ type: "compile", at: 0, ms, model: "terrain", kernel })).toEqual([]);
    }
    const loaded: RuntimeEvent = {
      type: "loaded",
      at: 0,
      ms: 90,
      model: "terrain",
      dispatches: 3,
      gpuBytes: 1,
      store: "none",
      manifest: "network",
      networkBytes: 1,
      storedBytes: 0,
      retries: 0,
    };
    expect(summary.add(loaded)).toMatchObject([
      { type: "compiles", kernels: 3, compileP50Ms: 9, compileMaxMs: 40, slowestKernel: "conv" },
      { type: "loaded" },
    ]);
  });
});

describe("hud", () => {
  const element = (): HTMLElement => {
    const parts: unknown[] = [];
    return { style: {}, append: (...added: unknown[]) => parts.push(...added), textContent: "" } as never;
  };
  const shown = (events: readonly RuntimeEvent[]): Readonly<Record<string, string>> => {
    const made: HTMLElement[] = [];
    const make = (): HTMLElement => {
      const one = element();
      made.push(one);
      return one;
    };
    const page = { createElement: make };
    const hud = new Hud({ everyMs: 0, document: page });
    for (const event of events) hud.observe(event);
    return Object.fromEntries(made.map(({ className, textContent }) => [className, textContent]));
  };

  test("what went wrong stands beside the jobs until it is right again", () => {
    const lost: RuntimeEvent = { type: "device-lost", at: 1, model: "terrain", reason: "unknown" };
    const back: RuntimeEvent = { type: "recovered", at: 1, ms: 9, model: "terrain", tier: "fp32-workgroup", jobs: 1 };
    expect(shown([tier(), lost])["webinfer-hud-jobs"]).toBe("0, device lost");
    expect(shown([tier(), lost, back])).toMatchObject({
      "webinfer-hud-jobs": "0",
      "webinfer-hud-tier": "fp32-workgroup",
    });
    expect(shown([selfTest(true)])["webinfer-hud-jobs"]).toBe("0");
    expect(shown([selfTest(false)])["webinfer-hud-jobs"]).toBe("0, self-test failed");
  });
});

describe("trace", () => {
  const traced = (events: readonly RuntimeEvent[], capacity?: number): readonly TraceEvent[] => {
    const trace = new TraceRecorder(capacity === undefined ? {} : { capacity });
    for (const event of events) trace.observe(event);
    return (JSON.parse(trace.export()) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents;
  };

  test("every track has a name, times grow, and slices of a track do not overlap", () => {
    const events: RuntimeEvent[] = [adapter(), { type: "phase", at: 1, ms: 30, model: "terrain", phase: "compile" }];
    // Slices that are measured late, and longer than the frames in which they lie.
    for (let index = 0; index < 50; index += 1) events.push(frame(100 + index * 16), slice(101 + index * 16, 18.3));
    events.push({ type: "job", at: 100, ms: 800, model: "terrain", outcome: "done" });
    events.push({ type: "device-lost", at: 950, model: "terrain", reason: "unknown" });
    events.push({ type: "recovered", at: 950, ms: 40, model: "terrain", tier: "fp32-register", jobs: 1 });
    events.push(selfTest(false));
    const trace = traced(events);
    const names = new Map(
      trace
        .filter(({ name }) => name === "thread_name")
        .map(({ pid, tid, args }) => [`${String(pid)}/${String(tid)}`, args?.["name"]]),
    );
    const ends = new Map<string, number>();
    let last = 0;
    for (const { ph, ts, dur = 0, pid, tid } of trace) {
      expect(ts).toBeGreaterThanOrEqual(last);
      last = ts;
      if (ph !== "X") continue;
      const track = `${String(pid)}/${String(tid)}`;
      expect(names.get(track)).toBeTypeOf("string");
      expect(ts).toBeGreaterThanOrEqual((ends.get(track) ?? 0) - 1e-3);
      ends.set(track, ts + dur);
    }
    expect([...names.values()]).toEqual(["page", "frames", "encoding", "slices", "kernels", "profile"]);
    const begins = trace.filter(({ ph }) => ph === "b").map(({ id }) => id);
    expect(new Set(begins).size).toBe(begins.length);
    expect(
      trace
        .filter(({ ph }) => ph === "e")
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...begins].sort());
  });

  test("kernels share the measured time of their slice as predicted", () => {
    const kernels = traced([slice(10, 2)]).filter(({ cat }) => cat === "kernel");
    expect(kernels).toMatchObject([
      { name: "conv", ts: 10_000, dur: 1500, pid: 2 },
      { name: "norm", ts: 11_500, dur: 500, pid: 2 },
    ]);
  });

  test("a long session keeps its end", () => {
    const events = Array.from({ length: 1000 }, (_, index) => frame(index * 16));
    const frames = traced(events, 100).filter(({ name }) => name === "frame");
    expect(frames).toHaveLength(99);
    expect(frames.at(-1)?.ts).toBe(998 * 16_000);
  });
});
