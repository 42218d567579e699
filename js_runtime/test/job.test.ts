// Jobs of the golden package on Dawn: slices give the numbers of a run, and every end is a typed one.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { FrameScheduler, load, type LoadOptions, type Model } from "../src/index.js";
import { partWgsl } from "../src/parts.js";
import { gameDevice, gpu } from "./dawn.js";
import { expectReference, failure, goldenFeeds, PackageServer, reference } from "./golden.js";
import { Records } from "./records.js";

let server: PackageServer;
const models: Model[] = [];
beforeEach(async () => {
  server = await PackageServer.start();
});
afterEach(async () => {
  for (const model of models.splice(0)) model.dispose();
  await server.close();
});

async function open(options: LoadOptions = {}): Promise<Model> {
  const model = await load(server.url, { gpu, tier: "fp32-register", records: new Records(), ...options });
  models.push(model);
  return model;
}

/** One element per workgroup instead of sixteen in one. */
async function narrowWorkgroups(): Promise<void> {
  for (const [path, bytes] of server.files) {
    if (!path.endsWith(".wgsl")) continue;
    await server.replace(path, bytes.toString().replace(/@workgroup_size\(\d+/, "@workgroup_size(1"));
  }
  server.editManifest((manifest) => {
    for (const kernel of manifest.kernels) kernel.workgroup_size = [1, 1, 1];
    for (const program of manifest.components[0]?.programs ?? []) {
      for (const [index, dispatch] of program.dispatches.entries()) dispatch.workgroups = [[2, 8, 4][index] ?? 1, 1, 1];
      for (const dispatch of program.prepare) dispatch.workgroups = [12, 1, 1];
    }
  });
}

/** Smaller than any dispatch: one piece per slice. */
const TINY = { budgetMs: 1e-9, divideAboveMs: Infinity };

describe("slices", () => {
  test("one dispatch per step gives the numbers of a run", async () => {
    const model = await open();
    const job = model.start(goldenFeeds());
    expect(job.state).toBe("queued");
    expect(job.step(TINY).dispatches).toBe(0);
    await job.started;
    const seen = [];
    while (job.state === "running") {
      const step = job.step(TINY);
      expect(step.dispatches).toBe(1);
      await step.finished;
      seen.push(job.progress.dispatches);
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(job.progress.fraction).toBe(1);
    await expectReference(await job.done);
    expect(job.state).toBe("done");
  });

  test("a slice in the engine's encoder runs in its submit", async () => {
    const device = await gameDevice();
    const model = await open({ device });
    const job = model.start(goldenFeeds());
    await job.started;
    while (job.state === "running") {
      const encoder = device.createCommandEncoder();
      expect(job.encode(encoder, TINY).dispatches).toBe(1);
      device.queue.submit([encoder.finish()]);
      await Promise.resolve();
    }
    await expectReference(await job.done);
    model.dispose();
    device.destroy();
  });

  test("a job that follows waits until the engine has submitted", async () => {
    const device = await gameDevice();
    const model = await open({ device });
    const first = model.start(goldenFeeds());
    const second = model.run({ ...goldenFeeds(), gain: new Float32Array([100]) });
    await first.started;
    const encoder = device.createCommandEncoder();
    first.encode(encoder, { budgetMs: 1e9 });
    // As an engine that awaits something between encoding and submitting.
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    device.queue.submit([encoder.finish()]);
    await expectReference(await first.done);
    await second;
    device.destroy();
  });

  test("inputs from the CPU and from a GPUBuffer are read with the first slice", async () => {
    const device = await gameDevice();
    const model = await open({ device });
    const buffer = device.createBuffer({ size: 32, usage: 0x4 | 0x8 });
    const job = model.start({ ...goldenFeeds(), x: { buffer } });
    await job.started;
    device.queue.writeBuffer(buffer, 0, new Float32Array(reference.feeds.x.flat()));
    while (job.state === "running") job.step(TINY);
    await expectReference(await job.done);
    device.destroy();
  });

  test("dispatches beyond the budget are divided by workgroups", async () => {
    await narrowWorkgroups();
    const model = await open();
    const job = model.start(goldenFeeds());
    await job.started;
    let pieces = 0;
    while (job.state === "running") {
      const step = job.step({ budgetMs: 1e-9 });
      pieces += step.dispatches;
      // The first slices wait for the divided forms.
      await (step.dispatches === 0 ? new Promise((resolve) => setTimeout(resolve, 1)) : step.finished);
    }
    expect(pieces).toBe(2 + 8 + 4);
    await expectReference(await job.done);
  });

  test("prepared, a job never waits for a compilation, and predicts from measurements", async () => {
    await narrowWorkgroups();
    const model = await open();
    const stale = await model.run(goldenFeeds());
    await model.prepareSlices({ budgetMs: 1e-9 });
    expect((await failure(() => stale.get("y")?.read())).code).toBe("stale-output");
    const before = model.memory();
    const job = model.start(goldenFeeds());
    await job.started;
    while (job.state === "running") expect(job.step({ budgetMs: 1e-9 }).dispatches).toBe(1);
    await job.done;
    expect(model.memory()).toEqual(before);
    await expectReference(await job.done);
  });

  test("outputs of the run before stay valid until the first slice", async () => {
    const model = await open();
    const before = await model.run(goldenFeeds());
    const job = model.start({ ...goldenFeeds(), gain: new Float32Array([100]) });
    await job.started;
    await expectReference(before);
    job.step(TINY);
    expect((await failure(() => before.get("y")?.read())).code).toBe("stale-output");
    job.cancel();
  });

  test("nothing allocates after the first job", async () => {
    const model = await open();
    const once = async (): Promise<void> => {
      const job = model.start(goldenFeeds());
      await job.started;
      while (job.state === "running") await job.step(TINY).finished;
      await job.done;
    };
    await once();
    const before = model.memory();
    for (let count = 0; count < 100; count += 1) await once();
    expect(model.memory()).toEqual(before);
  });

  test("what a visit measured serves the next one", async () => {
    const records = new Records();
    const model = await open({ records });
    for (let count = 0; count < 20; count += 1) await model.run(goldenFeeds());
    const [key = ""] = [...records.texts.keys()].filter((name) => name.startsWith("costs/"));
    expect(key).toMatch(/\/golden\/fp32-register\/[0-9a-f]+$/);
    const text = records.texts.get(key) ?? "";
    const { ms } = JSON.parse(text) as { ms: number[] };
    const again = await open({ records });
    const job = again.start(goldenFeeds());
    await job.started;
    expect(job.remainingMs / ms.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 2);
    job.cancel();
  });
});

describe("ends", () => {
  test("cancel: the job rejects, what it had is refused, the next run is right", async () => {
    const model = await open();
    const job = model.start(goldenFeeds());
    const next = model.run(goldenFeeds());
    await job.started;
    job.step(TINY);
    job.cancel();
    job.cancel();
    expect(job.state).toBe("cancelled");
    expect(job.step(TINY).dispatches).toBe(0);
    expect((await failure(() => job.done)).code).toBe("aborted");
    await expectReference(await next);
  });

  test("a job that is cancelled before its turn touches nothing", async () => {
    const model = await open();
    const outputs = await model.run(goldenFeeds());
    const controller = new AbortController();
    const job = model.start({}, { signal: controller.signal });
    controller.abort();
    expect((await failure(() => job.done)).code).toBe("aborted");
    await job.started;
    await expectReference(outputs);
    expect(model.start(goldenFeeds(), { signal: controller.signal }).state).toBe("cancelled");
  });

  test("pause and resume", async () => {
    const model = await open();
    const job = model.start(goldenFeeds());
    await job.started;
    job.step(TINY);
    job.pause();
    expect(job.state).toBe("paused");
    expect(job.step(TINY).dispatches).toBe(0);
    job.resume();
    while (job.state === "running") job.step(TINY);
    await expectReference(await job.done);
  });

  test("wrong inputs reject the job and leave the model usable", async () => {
    const model = await open();
    const job = model.start({});
    expect((await failure(() => job.done)).code).toBe("missing-input");
    expect(job.state).toBe("failed");
    await job.started;
    await expectReference(await model.run(goldenFeeds()));
  });

  test("dispose ends the running and the waiting jobs", async () => {
    const model = await open();
    const jobs = [model.start(goldenFeeds()), model.start(goldenFeeds())];
    await jobs[0]?.started;
    jobs[0]?.step(TINY);
    model.dispose();
    for (const job of jobs) expect((await failure(() => job.done)).code).toBe("disposed");
    expect(jobs.map(({ state }) => state)).toEqual(["failed", "failed"]);
  });

  test("a lost device ends the running and the waiting jobs", async () => {
    const device = await gameDevice();
    const model = await open({ device });
    const jobs = [model.start(goldenFeeds()), model.start(goldenFeeds())];
    await jobs[0]?.started;
    jobs[0]?.step(TINY);
    device.destroy();
    for (const job of jobs) expect((await failure(() => job.done)).code).toBe("device-lost");
  });
});

describe("FrameScheduler on a device", () => {
  test.each([false, true])("two models share frames, engine's encoder: %s", async (foreign) => {
    const device = await gameDevice();
    const [a, b] = [await open({ device }), await open({ device })];
    const scheduler = new FrameScheduler(device, { budgetMs: 1e-9, pressure: () => () => undefined });
    const jobs = [a, b].map((model) => scheduler.add(model.start(goldenFeeds())));
    await Promise.all(jobs.map((job) => job.started));
    let frames = 0;
    while (scheduler.jobs.length > 0) {
      frames += 1;
      expect(frames).toBeLessThan(1000);
      if (foreign) {
        const encoder = device.createCommandEncoder();
        scheduler.frame({ encoder });
        device.queue.submit([encoder.finish()]);
      } else {
        scheduler.frame();
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    for (const job of jobs) await expectReference(await job.done);
    scheduler.dispose();
    device.destroy();
  });
});

describe("partWgsl", () => {
  const folder = join(import.meta.dirname, "..", "..", "tests", "golden", "package", "kernels");

  test("offsets the ids, states the whole count, and keeps the rest", () => {
    const wgsl =
      "@compute @workgroup_size(8) fn main(@builtin(workgroup_id) wid: vec3<u32>,\n  @builtin(num_workgroups) num: vec3<u32>, @builtin(local_invocation_index) lane: u32) { body(); }";
    expect(partWgsl(wgsl, [8, 1, 1])).toContain(
      "fn main(@builtin(workgroup_id) webinfer_wid: vec3<u32>, @builtin(local_invocation_index) lane: u32) " +
        "{ let wid = webinfer_wid + webinfer_part.first; let num = webinfer_part.whole; body(); }",
    );
    expect(partWgsl(readFileSync(join(folder, "double.wgsl"), "utf8"), [4, 1, 1])).toContain(
      "let id = webinfer_id + webinfer_part.first * vec3<u32>(4u, 1u, 1u);",
    );
  });

  test("every kernel of the compiler can be divided", () => {
    const root = join(import.meta.dirname, "..", "..", "wgsl");
    const templates = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".j2"));
    const entries = templates.map((path) => [path, readFileSync(join(root, path), "utf8")] as const);
    const kernels = entries.filter(([, text]) => text.includes("fn main("));
    expect(kernels.length).toBeGreaterThan(20);
    for (const [path, text] of kernels) expect(partWgsl(text, [1, 1, 1]), path).toBeDefined();
  });

  test("gives up on builtins that it does not know", () => {
    expect(partWgsl("fn main(@builtin(subgroup_id) id: u32) {}", [1, 1, 1])).toBeUndefined();
    expect(partWgsl("fn other() {}", [1, 1, 1])).toBeUndefined();
  });
});
