// Losses of the device at seeded random moments: every job ends right, none hangs, nothing is left behind.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  DeviceError,
  deviceMemory,
  FrameScheduler,
  GpuError,
  load,
  Package,
  type Feeds,
  type Job,
  type LoadOptions,
  type LossEvent,
  type Model,
  type Outputs,
  type RuntimeEvent,
  type StepsOptions,
} from "../src/index.js";
import { MemoryStore } from "../src/store.js";
import { quickClock } from "./delivery.js";
import { expectReference, failure, goldenFeeds, PackageServer, reference } from "./golden.js";
import { LosingGpu, type Fault } from "./losing.js";
import { Random } from "./random.js";

const TINY = { budgetMs: 1e-9, divideAboveMs: Infinity };
const WATCHDOG_MS = 10_000;

let server: PackageServer;
/** Opened once; its files are in the store after the first load. */
let source: Package;
beforeAll(async () => {
  server = await PackageServer.start();
  source = await Package.open(server.url, { cache: new MemoryStore(1e6) });
  (await open(new LosingGpu())).dispose();
});
afterAll(async () => {
  await server.close();
});

function open(losing: LosingGpu, options: LoadOptions = {}): Promise<Model> {
  return load(source, {
    gpu: losing.gpu,
    backend: "webgpu",
    tier: "fp32-register",
    clock: quickClock,
    selfTest: "never",
    ...options,
  });
}

/** Rejects where `work` takes too long: a hang has to be a failure with a name. */
async function within<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${what} hangs`));
    }, WATCHDOG_MS);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

const task = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Read what a run left. It may be gone before it is read: then, and only then, run again. */
async function readRight(model: Model, outputs: Outputs): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await expectReference(attempt === 0 ? outputs : await model.run(goldenFeeds()));
      return;
    } catch (cause) {
      if ((cause as { code?: string }).code !== "device-lost" || attempt > 4) throw cause;
      expect(cause).toHaveProperty("diagnosis.what", "device-lost");
    }
  }
}

/** Step jobs by hand, one dispatch at a time, until they end. */
async function stepAll(jobs: readonly Job<Outputs>[]): Promise<void> {
  const ended = new Set(["done", "cancelled", "failed"]);
  while (jobs.some(({ state }) => !ended.has(state))) {
    for (const job of jobs) job.step(TINY);
    await task();
  }
}

/** A chain of golden runs: the offset doubles from step to step, which is what output z is. */
const OFFSET = [3, -7, 5, 0];
const CHAIN: StepsOptions = {
  steps: 6,
  checkpointEvery: 2,
  carry: { z: "offset" },
  feeds: (step) => {
    const { x, gain } = goldenFeeds() as { x: Float32Array; gain: Float32Array };
    return step === 0 ? { x, gain, offset: BigInt64Array.from(OFFSET, BigInt) } : { x, gain };
  },
};

/** From the reference of one run, whose y is its offset and something that all steps have alike. */
async function expectChain(outputs: Outputs): Promise<void> {
  const [y = [], z] = await Promise.all([outputs.get("y")?.read(), outputs.get("z")?.read()]);
  expect(z).toEqual(BigInt64Array.from(OFFSET, (value) => BigInt(value) << BigInt(CHAIN.steps)));
  for (const [row, values] of reference.outputs.y.entries()) {
    for (const [column, value] of values.entries()) {
      const single = reference.feeds.offset[column] ?? NaN;
      // Beside a large offset nothing is left of the rest.
      if (single > 1e6) continue;
      const expected = value - single + (OFFSET[column] ?? NaN) * 2 ** (CHAIN.steps - 1);
      const error = Math.abs(Number(y[row * values.length + column]) - expected);
      expect(error <= 1e-4, `element ${String(row)}, ${String(column)}`).toBe(true);
    }
  }
}

interface Session {
  readonly losing: LosingGpu;
  readonly random: Random;
  readonly options: LoadOptions;
}

/** What a game may do with a model. Each ends with the models disposed. */
const SESSIONS: readonly ((session: Session) => Promise<void>)[] = [
  async function runs({ losing, options }): Promise<void> {
    const model = await within("load", open(losing, options));
    const reading = [0, 1, 2].map(async () => readRight(model, await model.run(goldenFeeds())));
    await within("overlapping runs", Promise.all(reading));
    await within(
      "a run",
      model.run(goldenFeeds()).then((outputs) => readRight(model, outputs)),
    );
    model.dispose();
  },

  async function jobs({ losing, options, random }): Promise<void> {
    const model = await within("load", open(losing, options));
    const [stepped, cancelled, paused] = [0, 1, 2].map(() => model.start(goldenFeeds()));
    if (stepped === undefined || cancelled === undefined || paused === undefined) return;
    paused.pause();
    const cancel = setTimeout(
      () => {
        cancelled.cancel();
        paused.resume();
      },
      random.integer(0, 20),
    );
    const outcome = cancelled.done.then(
      () => "done",
      (cause: unknown) => (cause as { code?: string }).code,
    );
    const right = [stepped, paused].map((job) => job.done.then((outputs) => readRight(model, outputs)));
    await within("jobs", Promise.all([stepAll([stepped, cancelled, paused]), ...right]));
    expect(["done", "aborted"]).toContain(await outcome);
    clearTimeout(cancel);
    model.dispose();
  },

  async function steps({ losing, options }): Promise<void> {
    const model = await within("load", open(losing, options));
    const scheduler = new FrameScheduler(model.device, { budgetMs: 1e-9, pressure: () => () => undefined });
    const job = scheduler.add(model.startSteps(CHAIN));
    const frames = async (): Promise<void> => {
      while (scheduler.jobs.length > 0) {
        scheduler.frame();
        await task();
      }
    };
    await within("frames", frames());
    expect(job.progress).toMatchObject({ fraction: 1, dispatches: 18, of: 18 });
    try {
      await expectChain(await job.done);
    } catch (cause) {
      expect(cause).toHaveProperty("code", "device-lost");
    }
    scheduler.dispose();
    model.dispose();
  },

  async function engine({ losing, options }): Promise<void> {
    let device = await losing.device();
    let replacing: Promise<GPUDevice> | undefined;
    // Whoever asks first makes the engine replace its device; the other model gets the same one.
    const recover = async (): Promise<GPUDevice> => {
      const lost = device;
      replacing ??= losing.device().then((made) => {
        replacing = undefined;
        return made;
      });
      const next = await replacing;
      if (device === lost) device = next;
      return device;
    };
    const onEngine = { ...options, recover };
    const both = Promise.all([open(losing, { ...onEngine, device }), open(losing, { ...onEngine, device })]);
    const [a, b] = await within("two loads", both);
    const scheduler = new FrameScheduler(device, { budgetMs: 1e-9, pressure: () => () => undefined });
    const jobs = [a, b].map((model) => scheduler.add(model.start(goldenFeeds())));
    const frames = async (): Promise<void> => {
      for (let frame = 0; scheduler.jobs.length > 0; frame += 1) {
        const encoder = device.createCommandEncoder();
        const { queue } = device;
        scheduler.frame(frame % 3 === 0 ? {} : { encoder, device });
        queue.submit([encoder.finish()]);
        await task();
      }
    };
    await within("frames of two models", frames());
    for (const [index, model] of [a, b].entries()) {
      await within("a job", readRight(model, (await jobs[index]?.done) ?? new Map()));
    }
    scheduler.dispose();
    a.dispose();
    b.dispose();
    device.destroy();
  },
];

/** Up to `most` of them, at calls of a session that makes about so many. */
function randomFaults(seed: number, calls: number, most: number, kinds: readonly Fault["kind"][]): readonly Fault[] {
  const random = new Random(seed);
  let at = 0;
  return Array.from({ length: random.integer(1, most) }, (): Fault => {
    at += random.integer(1, calls);
    return { at, kind: kinds[random.integer(0, kinds.length - 1)] ?? "lose" };
  });
}

/** One session with faults; returns how it went. */
async function play(index: number, seed: number, faults: readonly Fault[]): Promise<LosingGpu> {
  const losing = new LosingGpu(faults);
  const random = new Random(seed);
  losing.missing = random.integer(0, 2);
  const events: LossEvent[] = [];
  const options = {
    onLoss: (event: LossEvent) => {
      events.push(event);
    },
  };
  try {
    await SESSIONS[index]?.({ losing, random, options });
  } catch (cause) {
    expect(losing.uncaptured).toEqual([]);
    throw new Error(`seed ${String(seed)}, session ${String(index)}, ${JSON.stringify(faults)}`, { cause });
  }
  for (const { recovered } of events) {
    // Disposed before that.
    await within(
      "recovered",
      recovered.catch((cause: unknown) => {
        expect(cause).toHaveProperty("code", "disposed");
      }),
    );
  }
  for (const { diagnosis } of events) {
    expect(diagnosis).toMatchObject({ what: "device-lost", reason: "destroyed", model: "golden" });
  }
  for (const device of losing.devices) {
    expect(deviceMemory(device).use()).toMatchObject({ buffers: 0, bytes: 0, models: [] });
  }
  expect(losing.live.size).toBe(0);
  expect(losing.uncaptured).toEqual([]);
  return losing;
}

describe("losses", () => {
  test("200 at random moments: every job ends right, none hangs, memory is flat", async () => {
    const calls: number[] = [];
    for (const index of SESSIONS.keys()) calls.push((await play(index, 0, [])).calls);
    const before = server.requests.length;
    let losses = 0;
    for (let seed = 1; losses < 200; seed += 1) {
      const index = seed % SESSIONS.length;
      losses += (await play(index, seed, randomFaults(seed, calls[index] ?? 1, 3, ["lose", "later"]))).lost.size;
    }
    // The weights came from the store.
    expect(server.requests.slice(before)).toEqual([]);
  }, 120_000);

  test("memory that runs out and work that is refused: right, or typed with a diagnosis; no handler hears of it", async () => {
    const calls = (await play(0, 0, [])).calls;
    const codes = new Map<string, number>();
    for (let seed = 1; seed <= 40; seed += 1) {
      const faults = randomFaults(seed, calls, 2, ["no-memory", "refuse"]);
      try {
        await play(0, seed, faults);
      } catch (cause) {
        const error = cause instanceof Error ? cause.cause : cause;
        expect(error).toBeInstanceOf(GpuError);
        const { code, diagnosis } = error as GpuError;
        expect(["out-of-memory", "validation"]).toContain(code);
        expect(diagnosis).toMatchObject({ what: code, model: "golden" });
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    }
    expect(codes.get("out-of-memory") ?? 0).toBeGreaterThan(0);
    expect(codes.get("validation") ?? 0).toBeGreaterThan(0);
  }, 60_000);
});

describe("what callers see", () => {
  test("a device of the caller's, no `recover`: all that is pending and all that follows says so, with a diagnosis", async () => {
    const losing = new LosingGpu();
    const device = await losing.device();
    const events: LossEvent[] = [];
    const model = await open(losing, { device, onLoss: (event) => events.push(event) });
    const outputs = await model.run(goldenFeeds());
    const jobs = [model.start(goldenFeeds()), model.start(goldenFeeds())];
    await jobs[0]?.started;
    jobs[0]?.step(TINY);
    device.destroy();
    for (const job of jobs) {
      const error = await failure(() => job.done);
      expect(error).toBeInstanceOf(DeviceError);
      const { code, message, diagnosis } = error as unknown as Pick<DeviceError, "code" | "message" | "diagnosis">;
      expect(code).toBe("device-lost");
      expect(message).toMatch(/load it again/);
      expect(diagnosis).toMatchObject({
        what: "device-lost",
        reason: "destroyed",
        adapter: { isCpu: true },
        model: "golden",
        tier: "fp32-register",
        job: { dispatches: 1, of: 3 },
      });
      expect(diagnosis?.lastKernels.at(-1)).toBe("matmul_register");
      expect(diagnosis?.memory.bytes).toBeGreaterThan(0);
    }
    expect((await failure(() => model.run(goldenFeeds()))).code).toBe("device-lost");
    expect((await failure(() => outputs.get("y")?.read())).code).toBe("device-lost");
    expect((await failure(() => outputs.get("y")?.buffer)).code).toBe("device-lost");
    expect(events).toHaveLength(1);
    expect((await failure(() => events[0]?.recovered)).code).toBe("device-lost");
    expect(model.memory().bytes).toBe(0);
  });

  test("one event per loss, and the telemetry of it; outputs of before are gone, the job goes on", async () => {
    const losing = new LosingGpu();
    const told: RuntimeEvent[] = [];
    const events: LossEvent[] = [];
    const telemetry = { emit: (event: RuntimeEvent): unknown => told.push(event) };
    const model = await open(losing, { telemetry, onLoss: (event) => events.push(event) });
    const before = await model.run(goldenFeeds());
    const lost = model.device;
    const job = model.start(goldenFeeds());
    await job.started;
    job.step(TINY);
    expect(job.device).toBe(lost);
    lost.destroy();
    await lost.lost;
    await events[0]?.recovered;
    expect(model.device).not.toBe(lost);
    expect((await failure(() => before.get("y")?.read())).code).toBe("device-lost");
    await job.started;
    expect(job.device).toBe(model.device);
    expect(job.progress.dispatches).toBe(0);
    await stepAll([job]);
    await expectReference(await job.done);
    expect(events).toHaveLength(1);
    const types = told.map(({ type }) => type).filter((type) => type === "device-lost" || type === "recovered");
    expect(types).toEqual(["device-lost", "recovered"]);
    expect(told).toContainEqual(expect.objectContaining({ type: "recovered", tier: "fp32-register", jobs: 1 }));
    expect(told.filter(({ type }) => type === "failure")).toEqual([]);
    model.dispose();
  });

  test("a device that is lost again and again is given up, with the reason", async () => {
    // During the load, then in every run.
    const losing = new LosingGpu([{ at: 60, kind: "lose" }]);
    const events: LossEvent[] = [];
    const model = await open(losing, { onLoss: (event) => events.push(event) });
    const error = await failure(async () => {
      for (;;) {
        losing.lose(model.device);
        await model.run(goldenFeeds());
      }
    });
    expect(error.code).toBe("device-lost");
    expect(error.message).toMatch(/lost 5 times within 120 s.*lower tier/);
    expect(losing.lost.size).toBe(5);
    expect(events).toHaveLength(5);
    expect((await failure(() => events[4]?.recovered)).code).toBe("device-lost");
    expect((await failure(() => model.run(goldenFeeds()))).code).toBe("device-lost");
    expect(losing.live.size).toBe(0);
  });

  test("no adapter for long, or an engine without another device: the end is typed", async () => {
    const gone = new LosingGpu();
    gone.missing = 100;
    const model = await open(gone);
    gone.lose(model.device);
    const nothing = await failure(() => model.run(goldenFeeds()));
    expect(nothing.code).toBe("device-lost");
    expect(nothing.message).toMatch(/no other is to be had.*no adapter/);
    const device = await gone.device();
    const recover = (): Promise<GPUDevice> => Promise.reject(new Error("the engine gave up"));
    const other = await open(gone, { device, recover });
    device.destroy();
    const error = await failure(() => other.run(goldenFeeds()));
    expect(error.code).toBe("device-lost");
    expect(error.message).toMatch(/the engine gave up/);
  });

  test("another adapter gets another program", async () => {
    const special = await PackageServer.start();
    special.editManifest((manifest) => {
      for (const { programs } of manifest.components) {
        for (const { tier, requires } of programs) {
          if (tier === "fp32-register") requires.limits["maxComputeInvocationsPerWorkgroup"] = 256;
        }
      }
    });
    const losing = new LosingGpu();
    losing.later = { maxComputeInvocationsPerWorkgroup: 128 };
    const model = await load(special.url, { gpu: losing.gpu, backend: "webgpu", cache: "none", clock: quickClock });
    expect(model.info.tier).toBe("fp32-register");
    losing.lose(model.device);
    await expectReference(await model.run(goldenFeeds()));
    expect(model.info.tier).toBe("fp32-workgroup");
    expect(model.info.reasons.join()).toMatch(/maxComputeInvocationsPerWorkgroup/);
    model.dispose();
    await special.close();
  });

  test("inputs on the lost device: a typed end, or asked for again", async () => {
    const losing = new LosingGpu();
    const model = await open(losing);
    const upload = (): GPUBuffer => {
      const buffer = model.device.createBuffer({ size: 32, usage: 0x4 | 0x8 });
      model.device.queue.writeBuffer(buffer, 0, new Float32Array(reference.feeds.x.flat()));
      return buffer;
    };
    const fixed = model.start({ ...goldenFeeds(), x: { buffer: upload() } });
    const asked = model.start(() => ({ ...goldenFeeds(), x: { buffer: upload() } }));
    await fixed.started;
    losing.lose(model.device);
    const error = await failure(() => fixed.done);
    expect(error.code).toBe("input-lost");
    expect(error.message).toMatch(/input x .* function/);
    const right = asked.done.then(expectReference);
    await stepAll([asked]);
    await right;
    model.dispose();
  });

  test("dispose ends what waits for an engine that never answers", async () => {
    const losing = new LosingGpu();
    const device = await losing.device();
    const model = await open(losing, { device, recover: () => new Promise(() => undefined) });
    const jobs = [model.start(goldenFeeds()), model.start(goldenFeeds())];
    await jobs[0]?.started;
    device.destroy();
    await device.lost;
    await task();
    expect(jobs.map(({ state }) => state)).toEqual(["queued", "queued"]);
    model.dispose();
    for (const job of jobs)
      expect(
        (
          await within(
            "a job",
            failure(() => job.done),
          )
        ).code,
      ).toBe("disposed");
  });
});

describe("jobs of several steps", () => {
  const bytesOf = async (outputs: Outputs): Promise<readonly Uint8Array[]> =>
    Promise.all([...outputs.values()].map((output) => output.readBytes()));

  test("go on from the last checkpoint, and end with the bits of an uninterrupted job", async () => {
    const losing = new LosingGpu();
    const model = await open(losing);
    const whole = model.startSteps(CHAIN);
    const undisturbed = whole.done.then(bytesOf);
    await stepAll([whole]);
    const asked: number[] = [];
    const feeds = (step: number): Feeds => {
      asked.push(step);
      return CHAIN.feeds(step);
    };
    const job = model.startSteps({ ...CHAIN, feeds });
    const resumed = job.done.then(bytesOf);
    await job.started;
    const seen: number[] = [];
    while (job.progress.dispatches < 14) {
      await job.step(TINY).finished;
      seen.push(job.progress.fraction);
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    // The checkpoint of step 4 arrives.
    await new Promise((resolve) => setTimeout(resolve, 20));
    losing.lose(model.device);
    await model.device.lost;
    await task();
    expect(job.state).toBe("queued");
    await job.started;
    expect(job.progress).toMatchObject({ dispatches: 12, of: 18 });
    await stepAll([job]);
    expect(asked).toEqual([0, 1, 2, 3, 4, 4, 5]);
    expect(await resumed).toEqual(await undisturbed);
    model.dispose();
  });

  test("encoders of the engine get them right, and nothing allocates after the first job", async () => {
    const losing = new LosingGpu();
    const device = await losing.device();
    const model = await open(losing, { device });
    const once = async (): Promise<void> => {
      const job = model.startSteps(CHAIN);
      const right = job.done.then(expectChain);
      await job.started;
      while (job.state === "running") {
        const encoder = device.createCommandEncoder();
        // Twice: the second step must not begin in the encoder of the first.
        job.encode(encoder, { budgetMs: 1e9 });
        job.encode(encoder, { budgetMs: 1e9 });
        device.queue.submit([encoder.finish()]);
        await task();
      }
      await right;
      // The last checkpoint has arrived.
      await device.queue.onSubmittedWorkDone();
      await task();
    };
    for (let count = 0; count < 3; count += 1) await once();
    const { readback: first, ...before } = model.memory().byKind;
    for (let count = 0; count < 20; count += 1) await once();
    const { readback, ...after } = model.memory().byKind;
    expect(after).toEqual(before);
    // Two outputs and two checkpoints may be under way at a time.
    expect(first.buffers).toBeLessThanOrEqual(4);
    expect(readback.buffers).toBeLessThanOrEqual(4);
    model.dispose();
    device.destroy();
  });

  test("what cannot be carried is refused at the start", async () => {
    const model = await open(new LosingGpu());
    expect((await failure(() => model.startSteps({ ...CHAIN, carry: { w: "offset" } }))).code).toBe("unknown-tensor");
    expect((await failure(() => model.startSteps({ ...CHAIN, carry: { y: "offset" } }))).code).toBe("input-dtype");
    expect((await failure(() => model.startSteps({ ...CHAIN, steps: 0 }))).code).toBe("input-shape");
    const job = model.startSteps({ ...CHAIN, feeds: goldenFeeds, carry: { y: "x" } });
    const ended = failure(() => job.done);
    await stepAll([job]);
    expect((await ended).code).toBe("input-shape");
    model.dispose();
  });
});
