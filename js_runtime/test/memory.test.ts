// GPU memory of the golden package on Dawn, counted at the device: flat, shared, within a budget, right after eviction.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import {
  deviceMemory,
  FrameScheduler,
  load,
  type Job,
  type LoadOptions,
  type Model,
  type Outputs,
} from "../src/index.js";
import { MemoryStore } from "../src/store.js";
import { CountingDevice } from "./counting.js";
import { expectReference, failure, goldenFeeds, PackageServer } from "./golden.js";

const COPY_DST = 0x8;
const INSIST = { backend: "webgpu", tier: "fp32-register" } as const;

let server: PackageServer;
let counting: CountingDevice;
let device: GPUDevice;
const models: Model[] = [];
beforeEach(async () => {
  [server, counting] = await Promise.all([PackageServer.start(), CountingDevice.make()]);
  ({ device } = counting);
});
afterEach(async () => {
  for (const model of models.splice(0)) model.dispose();
  device.destroy();
  await server.close();
});

async function open(options: LoadOptions = {}): Promise<Model> {
  const model = await load(server.url, { device, tier: "fp32-register", cache: "none", backend: "webgpu", ...options });
  models.push(model);
  return model;
}

/** Activations and weights worth a budget: 64 kB and 32 kB on top of the golden package's few bytes. */
function enlarge(): void {
  server.editManifest((manifest) => {
    for (const program of manifest.components[0]?.programs ?? []) {
      for (const buffer of program.buffers) {
        if (buffer.kind === "activation") buffer.size_bytes = 65536;
        if (buffer.kind === "weight") buffer.size_bytes = 32768;
      }
    }
  });
}

async function takeTurns(jobs: readonly Job<Outputs>[]): Promise<void> {
  await Promise.all(jobs.map((job) => job.started));
  while (jobs.some((job) => job.state === "running")) {
    for (const job of jobs) await job.step({ budgetMs: 1e-9, divideAboveMs: Infinity }).finished;
  }
}

/** The bytes that the device's buffers take are the bytes on the pool's account, and its models' sum. */
function expectExact(): void {
  const { bytes, buffers, models: parts } = deviceMemory(device).use();
  expect(bytes).toBe(counting.liveBytes());
  expect(buffers).toBe(counting.live.size);
  expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(bytes);
}

describe("flat", () => {
  test("1,000 runs: nothing is made from the third on", async () => {
    const model = await open();
    for (let run = 0; run < 2; run += 1) await expectReference(await model.run(goldenFeeds()));
    const [made, bytes, use] = [counting.made(), counting.liveBytes(), deviceMemory(device).use()];
    for (let run = 2; run < 1000; run += 1) await model.run(goldenFeeds());
    await expectReference(await model.run(goldenFeeds()));
    expect(counting.made()).toEqual(made);
    expect(counting.liveBytes()).toBe(bytes);
    expect(deviceMemory(device).use()).toEqual(use);
    expectExact();
  });

  test("100 loads: disposed, nothing is left", async () => {
    for (let cycle = 0; cycle < 100; cycle += 1) {
      const model = await load(server.url, { device, tier: "fp32-register", cache: "none", backend: "webgpu" });
      if (cycle % 10 === 0) await expectReference(await model.run(goldenFeeds()));
      model.dispose();
      expect(counting.live.size).toBe(0);
    }
    expect(deviceMemory(device).use()).toMatchObject({ buffers: 0, bytes: 0, models: [] });
  });

  test("jobs and frames of three models that interleave make nothing from the third on", async () => {
    const scheduler = new FrameScheduler(device, { budgetMs: 1e-9, pressure: () => () => undefined });
    const three = [await open(), await open(), await open()];
    const once = async (): Promise<void> => {
      const jobs = three.map((model) => model.start(goldenFeeds()));
      await takeTurns(jobs);
      for (const job of jobs) await job.done;
      const framed = three.map((model) => scheduler.add(model.start(goldenFeeds())));
      await Promise.all(framed.map((job) => job.started));
      while (scheduler.jobs.length > 0) {
        scheduler.frame();
        await device.queue.onSubmittedWorkDone();
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      for (const job of framed) await expectReference(await job.done);
      await Promise.all(three.map((model) => model.run(goldenFeeds())));
      for (const model of three) await model.run(goldenFeeds());
    };
    await once();
    await once();
    const made = counting.made();
    const use = deviceMemory(device).use();
    for (let round = 0; round < 20; round += 1) await once();
    expect(counting.made()).toEqual(made);
    expect(deviceMemory(device).use().bytes).toBe(use.bytes);
    expectExact();
    scheduler.dispose();
  });
});

describe("slots", () => {
  test("models in turns share activations; jobs that interleave each have their own", async () => {
    enlarge();
    const [a, b] = [await open(), await open()];
    const activations = (): number => deviceMemory(device).use().byKind.activation.bytes;
    for (const model of [a, b, a, b]) await expectReference(await model.run(goldenFeeds()));
    expect(activations()).toBe(65536);
    const jobs = [a, b].map((model) => model.start(goldenFeeds()));
    await takeTurns(jobs);
    for (const job of jobs) await expectReference(await job.done);
    expect(activations()).toBe(2 * 65536);
    expect(
      deviceMemory(device)
        .use()
        .models.map(({ name }) => name),
    ).toEqual(["golden", "golden"]);
    expectExact();
    a.dispose();
    await expectReference(await b.run(goldenFeeds()));
    expectExact();
  });

  test("what others left in a slot is never seen", async () => {
    enlarge();
    const poison = (): GPUBuffer => {
      const [slot] = [...counting.live].filter(({ label }) => label.includes("activation"));
      if (slot === undefined) throw new Error("no activations");
      device.queue.writeBuffer(slot, 0, new Uint8Array(slot.size).fill(0xff));
      return slot;
    };
    const model = await open();
    for (let run = 0; run < 3; run += 1) {
      poison();
      await expectReference(await model.run(goldenFeeds()));
    }
    // Nor by what a load and `prepareSlices` run out of order: stale counts would keep the GPU busy for minutes.
    server.editManifest((manifest) => {
      for (const program of manifest.components[0]?.programs ?? []) {
        for (const { args } of program.dispatches) {
          for (const span of args) if (program.buffers[span.buffer]?.kind === "activation") span.size_bytes = 64;
        }
      }
    });
    const slot = poison();
    const other = await open();
    expect(counting.live.has(slot)).toBe(true);
    const read = device.createBuffer({ size: 256, usage: 0x1 | COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(slot, 0, read, 0, 256);
    device.queue.submit([encoder.finish()]);
    await read.mapAsync(0x1);
    const bytes = new Uint8Array(read.getMappedRange());
    expect([...bytes.subarray(48, 64)]).toEqual(new Array(16).fill(0));
    expect([...bytes.subarray(64, 80)]).toEqual(new Array(16).fill(0xff));
    read.destroy();
    await expectReference(await other.run(goldenFeeds()));
  });
});

describe("budget", () => {
  /** Bytes of one loaded model, of which the activations could be shared. */
  async function measure(): Promise<number> {
    enlarge();
    const model = await open();
    await model.run(goldenFeeds());
    const { bytes } = deviceMemory(device).use();
    return bytes;
  }

  test("idle activations go first, and come back", async () => {
    const one = await measure();
    const memory = deviceMemory(device);
    const [first] = models;
    const second = await open();
    const job = second.start(goldenFeeds());
    const other = first?.start(goldenFeeds());
    if (other === undefined) throw new Error("no model");
    await takeTurns([job, other]);
    await Promise.all([job.done, other.done]);
    expect(memory.use().byKind.activation.bytes).toBe(2 * 65536);
    memory.budgetBytes = 2 * one - 65536;
    expect(memory.use().byKind.activation.bytes).toBe(65536);
    expect(memory.use().byKind.weight.bytes).toBe(2 * 32768);
    for (const model of [first, second, first, second]) {
      if (model !== undefined) await expectReference(await model.run(goldenFeeds()));
    }
    expect(memory.use().bytes).toBeLessThanOrEqual(memory.budgetBytes);
    expectExact();
  });

  test("then weights, least recently used; their next run restores them from the store", async () => {
    const store = new MemoryStore(2 ** 20);
    enlarge();
    const a = await open({ cache: store });
    const memory = deviceMemory(device);
    const one = memory.use().bytes;
    memory.budgetBytes = one + 2048;
    const kept = await a.run(goldenFeeds());
    const b = await open({ cache: store });
    expect(memory.use().byKind.weight.bytes).toBe(32768);
    // Its buffers are gone but for those that its caller may still use.
    expect(a.memory().byKind).toMatchObject({ weight: { bytes: 0 }, output: { bytes: 64 } });
    await expectReference(kept);
    const [reading, next] = [expectReference(kept), a.run(goldenFeeds())];
    await reading;
    await expectReference(await next);
    const asked = server.requests.length;
    for (const model of [b, a, b, a]) {
      await expectReference(await model.run(goldenFeeds()));
      expect(memory.use().bytes).toBeLessThanOrEqual(memory.budgetBytes);
      expectExact();
    }
    expect((await failure(() => kept.get("y")?.read())).code).toBe("stale-output");
    expect(server.requests.length).toBe(asked);
    expect(memory.use().byKind.weight.bytes).toBe(32768);
  });

  test("a job that finds no room waits for the one that runs", async () => {
    const one = await measure();
    const [a] = models;
    if (a === undefined) throw new Error("no model");
    const b = await open();
    deviceMemory(device).budgetBytes = one + 40000;
    const first = a.start(goldenFeeds());
    await first.started;
    first.step({ budgetMs: 1e-9, divideAboveMs: Infinity });
    const second = b.start(goldenFeeds());
    const third = b.start(goldenFeeds());
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect([first.state, second.state, third.state]).toEqual(["running", "queued", "queued"]);
    await takeTurns([first]);
    await expectReference(await first.done);
    await takeTurns([second]);
    await expectReference(await second.done);
    third.cancel();
    // Who waits is let go by dispose.
    const again = a.start(goldenFeeds());
    await again.started;
    const waiting = b.run(goldenFeeds());
    b.dispose();
    expect((await failure(() => waiting)).code).toBe("disposed");
    await takeTurns([again]);
    await expectReference(await again.done);
  });

  test("what cannot fit is refused with numbers, and leaves what is there alone", async () => {
    const one = await measure();
    const [model] = models;
    const memory = deviceMemory(device);
    memory.budgetBytes = one + 1000;
    server.editManifest((manifest) => {
      for (const program of manifest.components[0]?.programs ?? []) {
        program.buffers.push({ kind: "weight", size_bytes: 2 ** 20 });
      }
    });
    const before = memory.use();
    const error = await failure(() => load(server.url, { ...INSIST, device, cache: "none" }));
    expect(error.code).toBe("memory-budget");
    expect(error.message).toMatch(
      /golden: .* needs 108\d+ bytes more, the budget is 9\d+; 9\d+ bytes are held: golden/,
    );
    expect(memory.use()).toEqual(before);
    if (model !== undefined) await expectReference(await model.run(goldenFeeds()));
    expectExact();
  });

  test("out of memory: what is idle goes, once; then a typed error, and nothing of the load is left", async () => {
    const store = new MemoryStore(2 ** 20);
    const a = await open({ cache: store });
    counting.exhausted = 1;
    const b = await open({ cache: store });
    expect(a.memory().byKind.weight.bytes).toBe(0);
    for (const model of [a, b]) await expectReference(await model.run(goldenFeeds()));
    expectExact();
    const before = counting.live.size;
    counting.exhausted = 1000;
    const error = await failure(() => open({ cache: store }));
    counting.exhausted = 0;
    expect(error.code).toBe("out-of-memory");
    expect(error.message).toMatch(/no memory left; \d+ bytes are held/);
    expect(counting.live.size).toBeLessThanOrEqual(before);
    for (const model of [a, b]) await expectReference(await model.run(goldenFeeds()));
    expectExact();
  });
});
