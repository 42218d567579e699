// What leaves the page: batches and their pauses, beacons, and OTLP/HTTP JSON, against a local server.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { BeaconSink, ConsoleSink, OtlpSink, type TelemetryRecord, type WindowEvent } from "../src/telemetry/index.js";
import { Batch, type Sent } from "../src/telemetry/batch.js";

const subject = { vendor: "acme", architecture: "gen-1", software: true, model: "terrain", version: "3fa9" };
const record = (event: TelemetryRecord["event"], timeUnixMs = 1_700_000_000_123.25): TelemetryRecord => ({
  event,
  timeUnixMs,
  subject,
});
const tier = record({
  type: "tier",
  at: 5,
  model: "terrain",
  tier: "fp32-register",
  reasons: ["asked for", "measured"],
});
const failed = record({ type: "failure", at: 6, model: "terrain", during: "run", code: "out-of-memory" });
const phase = record({ type: "phase", at: 6, ms: 12.5, model: "terrain", phase: "compile" });
const window: WindowEvent = {
  type: "window",
  at: 0,
  ms: 30_000,
  slices: 10,
  sliceP50Ms: 2.5,
  sliceP95Ms: 4,
  sliceP99Ms: 4.5,
  slicesOverBudget: 3,
  overshootMaxMs: 0.5,
  overshootExcessMaxMs: 0.1,
  frames: 100,
  framesInferring: 60,
  framesDropped: 2,
  framesSaturated: 5,
  jobsDone: 4,
  jobsCancelled: 1,
  jobsFailed: 0,
  memoryBytes: 1000,
  memoryPeakBytes: 2000,
};

describe("batches", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const sending = (answer: (items: readonly number[]) => Sent) => {
    const sent: (readonly number[])[] = [];
    const batch = new Batch<number>(
      (items) => {
        sent.push(items);
        return Promise.resolve(answer(items));
      },
      { intervalMs: 1000, batchSize: 3, capacity: 5, random: () => 1 },
    );
    return { batch, sent };
  };
  const takeAll = (items: readonly number[]): Sent => ({ taken: items.length });

  test("go after the interval, or at once when full", async () => {
    const { batch, sent } = sending(takeAll);
    batch.add(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toEqual([[1]]);
    for (const item of [2, 3, 4, 5]) batch.add(item);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([[1], [2, 3, 4], [5]]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.length).toBe(3);
  });

  test("what was not taken is tried again with growing pauses, and the oldest gives way", async () => {
    const { batch, sent } = sending(() => ({ taken: 0 }));
    const times: number[] = [];
    for (let item = 1; item <= 8; item += 1) batch.add(item);
    for (let second = 0; second < 60; second += 1) {
      const before = sent.length;
      await vi.advanceTimersByTimeAsync(1000);
      if (sent.length > before) times.push(second + 1);
    }
    expect(times).toEqual([5, 15, 35]);
    expect(sent.slice(0, 2)).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(batch.dropped).toBe(3);
  });

  test("the server's own pause is kept, and a success ends it", async () => {
    let busy = true;
    const { batch, sent } = sending((items) => (busy ? { taken: 1, retryAfterMs: 90_000 } : takeAll(items)));
    for (const item of [1, 2, 3]) batch.add(item);
    await vi.advanceTimersByTimeAsync(89_999);
    expect(sent).toEqual([[1, 2, 3]]);
    busy = false;
    await vi.advanceTimersByTimeAsync(1);
    expect(sent[1]).toEqual([2, 3]);
    for (const item of [4, 5, 6]) batch.add(item);
    await vi.advanceTimersByTimeAsync(0);
    expect(sent[2]).toEqual([4, 5, 6]);
  });
});

describe("beacons", () => {
  const beacons = async (records: readonly TelemetryRecord[], options: { maxBytes?: number; accept?: number } = {}) => {
    const bodies: Blob[] = [];
    const sink = new BeaconSink("/telemetry", {
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
      send: (url, body) => {
        expect(url).toBe("/telemetry");
        if (bodies.length >= (options.accept ?? Infinity)) return false;
        bodies.push(body);
        return true;
      },
    });
    for (const each of records) sink.write(each);
    await sink.flush(true);
    const parsed = await Promise.all(
      bodies.map(async (body) => JSON.parse(await body.text()) as { readonly records: readonly TelemetryRecord[] }),
    );
    return { sink, bodies, records: parsed.map((body) => body.records) };
  };

  test("carry all records in order, in bodies below the limit", async () => {
    const written = Array.from({ length: 40 }, (_, index) => record({ ...window, at: index }));
    const { bodies, records } = await beacons(written, { maxBytes: 5000 });
    expect(bodies.length).toBeGreaterThan(1);
    for (const { size, type } of bodies) {
      expect(size).toBeLessThanOrEqual(5000);
      expect(type).toBe("text/plain");
    }
    expect(records.flat()).toEqual(written);
  });

  test("go through the browser's navigator", async () => {
    class Beacons {
      readonly #urls: string[] = [];

      // Throws like the browser's where it is called as a function of its own.
      sendBeacon(url: string): boolean {
        this.#urls.push(url);
        return true;
      }

      get urls(): readonly string[] {
        return this.#urls;
      }
    }
    const navigator = new Beacons();
    vi.stubGlobal("navigator", navigator);
    const sink = new BeaconSink("/telemetry");
    sink.write(tier);
    await sink.flush(true);
    vi.unstubAllGlobals();
    expect(navigator.urls).toEqual(["/telemetry"]);
  });

  test("what the browser refuses waits; what no beacon holds is left out", async () => {
    const refused = await beacons([tier, failed], { accept: 0 });
    expect(refused.records).toEqual([]);
    const huge = record({ type: "tier", at: 0, model: "", tier: "x".repeat(3000), reasons: [] });
    const { records } = await beacons([huge, failed], { maxBytes: 2000 });
    expect(records).toEqual([[failed]]);
  });
});

test("the console gets a line per event, failures as warnings", () => {
  const target = { info: vi.fn(), warn: vi.fn() };
  const sink = new ConsoleSink(target);
  sink.write(tier);
  sink.write(failed);
  expect(target.info).toHaveBeenCalledExactlyOnceWith("webinfer tier", tier.event);
  expect(target.warn).toHaveBeenCalledExactlyOnceWith("webinfer failure", failed.event);
});

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const attributes = (list: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

describe("a local server", () => {
  let server: Server;
  let url: string;
  let answers: { readonly status: number; readonly headers?: Record<string, string> }[];
  const posted: { readonly path: string; readonly type: string | undefined; readonly body: string }[] = [];
  beforeEach(async () => {
    answers = [];
    posted.length = 0;
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString();
        posted.push({ path: request.url ?? "", type: request.headers["content-type"], body });
        const { status, headers } = answers.shift() ?? { status: 200 };
        response.writeHead(status, { "content-type": "application/json", ...headers }).end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const otlp = (): OtlpSink => new OtlpSink(`${url}/`, { service: { name: "game", version: "1.2" } });

  test("events are log records", async () => {
    const sink = otlp();
    for (const each of [tier, failed, phase]) sink.write(each);
    await sink.flush(false);
    expect(posted.map(({ path, type }) => [path, type])).toEqual([["/v1/logs", "application/json"]]);
    const { resourceLogs } = JSON.parse(posted[0]?.body ?? "") as {
      readonly resourceLogs: readonly {
        readonly resource: { readonly attributes: readonly Attribute[] };
        readonly scopeLogs: readonly {
          readonly logRecords: readonly { readonly attributes: readonly Attribute[] }[];
        }[];
      }[];
    };
    expect(resourceLogs).toHaveLength(1);
    expect(attributes(resourceLogs[0]?.resource.attributes ?? [])).toEqual({
      "service.name": "game",
      "service.version": "1.2",
      "webinfer.adapter.vendor": "acme",
      "webinfer.adapter.architecture": "gen-1",
      "webinfer.adapter.software": true,
      "webinfer.model": "terrain",
      "webinfer.version": "3fa9",
    });
    const records = resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
    // 64-bit integers as strings, enums as numbers, keys in lowerCamelCase.
    expect(records[0]).toEqual({
      timeUnixNano: "1700000000123250000",
      observedTimeUnixNano: "1700000000123250000",
      severityNumber: 9,
      severityText: "INFO",
      eventName: "webinfer.tier",
      body: { stringValue: "tier" },
      attributes: [
        { key: "webinfer.tier", value: { stringValue: "fp32-register" } },
        {
          key: "webinfer.reasons",
          value: { arrayValue: { values: [{ stringValue: "asked for" }, { stringValue: "measured" }] } },
        },
      ],
    });
    expect(records[1]).toMatchObject({ severityNumber: 17, eventName: "webinfer.failure" });
    expect(attributes(records[1]?.attributes ?? [])).toEqual({
      "webinfer.during": "run",
      "webinfer.code": "out-of-memory",
    });
    expect(attributes(records[2]?.attributes ?? [])).toEqual({ "webinfer.ms": 12.5, "webinfer.phase": "compile" });
  });

  test("windows are metrics", async () => {
    const sink = otlp();
    sink.write(record(window));
    await sink.flush(true);
    expect(posted.map(({ path }) => path)).toEqual(["/v1/metrics"]);
    const { resourceMetrics } = JSON.parse(posted[0]?.body ?? "") as {
      readonly resourceMetrics: readonly {
        readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
      }[];
    };
    const metrics = resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
    const named = new Map(metrics.map((metric) => [metric.name, metric]));
    const timeUnixNano = "1700000030123250000";
    expect(named.get("webinfer.slice.duration")).toEqual({
      name: "webinfer.slice.duration",
      unit: "ms",
      gauge: {
        dataPoints: [
          [0.5, 2.5],
          [0.95, 4],
          [0.99, 4.5],
        ].map(([quantile, asDouble]) => ({
          timeUnixNano,
          asDouble,
          attributes: [{ key: "quantile", value: { doubleValue: quantile } }],
        })),
      },
    });
    expect(named.get("webinfer.slices")).toEqual({
      name: "webinfer.slices",
      unit: "{slice}",
      sum: {
        aggregationTemporality: 1,
        isMonotonic: true,
        dataPoints: [
          ["within_budget", "7"],
          ["over_budget", "3"],
        ].map(([outcome, asInt]) => ({
          startTimeUnixNano: "1700000000123250000",
          timeUnixNano,
          asInt,
          attributes: [{ key: "outcome", value: { stringValue: outcome } }],
        })),
      },
    });
    expect([...named.keys()]).toEqual([
      "webinfer.slice.duration",
      "webinfer.slice.overshoot.max",
      "webinfer.slice.overshoot.excess.max",
      "webinfer.gpu.memory",
      "webinfer.slices",
      "webinfer.frames",
      "webinfer.frames.dropped",
      "webinfer.jobs",
    ]);
  });

  test("only what the specification calls retryable is sent again", async () => {
    const sink = otlp();
    for (const status of [429, 502, 503, 504]) answers.push({ status, headers: { "retry-after": "60" } });
    sink.write(tier);
    for (let attempt = 0; attempt < 5; attempt += 1) await sink.flush(false);
    expect(posted.length).toBe(5);
    expect(new Set(posted.map(({ body }) => body)).size).toBe(1);
    for (const status of [400, 413, 500]) {
      posted.length = 0;
      answers.push({ status });
      sink.write(tier);
      for (let attempt = 0; attempt < 2; attempt += 1) await sink.flush(false);
      expect(posted.length, String(status)).toBe(1);
    }
  });

  test("what the collector took of one signal is not sent again with the other", async () => {
    const sink = otlp();
    sink.write(tier);
    sink.write(record(window));
    answers.push({ status: 200 }, { status: 503 });
    await sink.flush(false);
    await sink.flush(false);
    expect(posted.length).toBe(3);
    expect(posted[2]?.path).toBe(posted[1]?.path);
  });

  test("a worker, which has no beacons, posts", async () => {
    // Node is like a worker here.
    const sink = new BeaconSink(`${url}/telemetry`);
    sink.write(failed);
    await sink.flush(false);
    await vi.waitFor(() => {
      expect(posted).toMatchObject([{ path: "/telemetry", body: JSON.stringify({ records: [failed] }) }]);
    });
  });

  test("a collector that is out of reach costs nothing but the records", async () => {
    const sink = new OtlpSink("http://127.0.0.1:1", { service: { name: "game" } });
    sink.write(tier);
    await sink.flush(false);
    await sink.flush(true);
  });
});
