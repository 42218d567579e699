// The fallback: ONNX Runtime Web in place of WebGPU, on the golden package and against its reference; who gives way to whom.

import * as ort from "onnxruntime-web/wasm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { fromOrt, toOrt } from "../src/fallback/tensors.js";
import type { OrtModule } from "../src/fallback/onnx_runtime.js";
import { BackendError, FrameScheduler, load, type LoadOptions, type Model, type RuntimeEvent } from "../src/index.js";
import { MemoryStore } from "../src/store.js";
import type { DType } from "../src/tensor.js";
import { BufferUsage, MapMode, TextureUsage } from "../src/webgpu_flags.js";
import { gameDevice, gpu } from "./dawn.js";
import { failure, goldenFeeds, PackageServer, reference } from "./golden.js";

let server: PackageServer;
let events: RuntimeEvent[];
const models: Model[] = [];

beforeEach(async () => {
  server = await PackageServer.start();
  events = [];
});

afterEach(async () => {
  vi.unstubAllGlobals();
  for (const model of models.splice(0)) model.dispose();
  await server.close();
});

/** Load from the server; disposed after the test. */
async function open(options: LoadOptions = {}): Promise<Model> {
  const telemetry = { emit: (event: RuntimeEvent): void => void events.push(event) };
  const model = await load(server.url, { cache: "none", telemetry, ...options });
  models.push(model);
  return model;
}

async function expectReference(model: Model): Promise<void> {
  const outputs = await model.run(goldenFeeds());
  const y = outputs.get("y");
  const z = outputs.get("z");
  if (y === undefined || z === undefined) throw new Error("an output is missing");
  const expected = reference.outputs.y.flat();
  const found = Array.from((await y.read()) as Float32Array);
  expect(found).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs((found[index] ?? NaN) - value)).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(value)));
  }
  expect(Array.from((await z.read()) as BigInt64Array)).toEqual(reference.outputs.z.map(BigInt));
}

const fallbacks = (): readonly unknown[] =>
  events.flatMap((event) => (event.type === "fallback" ? [[event.from, event.to, event.reason]] : []));

test("without WebGPU the model runs on WebAssembly, and says why", async () => {
  const model = await open({ gpu: undefined });
  expect(model.info.backend).toBe("wasm");
  const reasons = model.info.reasons.join("\n");
  expect(reasons).toMatch(/webgpu: navigator\.gpu is missing/);
  expect(reasons).toMatch(/webnn: the browser offers no WebNN/);
  expect(reasons).toMatch(
    /1\.30\.0: WebAssembly in the calling thread, 1 thread \(the page is not cross-origin isolated/,
  );
  expect(fallbacks()).toEqual([
    ["webgpu", "webnn", "no-webgpu"],
    ["webnn", "wasm", "not-on-backend"],
  ]);
  await expectReference(model);
  expect(server.requests.filter((path) => !path.startsWith("kernels/")).sort()).toEqual([
    "golden.onnx",
    "manifest.json",
    "weights-00001-of-00001.safetensors",
  ]);
  expect(server.requests).toHaveLength(3);
});

test("an adapter of null, one that is too small, and a GPU that refuses the model give way, too", async () => {
  const none = { requestAdapter: () => Promise.resolve(null) } as unknown as GPU;
  expect((await open({ gpu: none })).info.backend).toBe("wasm");
  server.editManifest(({ components }) => {
    for (const { programs } of components)
      for (const { requires } of programs) requires.limits["maxBufferSize"] = 2 ** 50;
  });
  const small = await open({ gpu });
  expect(small.info.reasons.join("\n")).toMatch(/webgpu: no program of the package fits this adapter/);
  await expectReference(small);
  expect(fallbacks()).toContainEqual(["webgpu", "webnn", "limits"]);
});

test("who insists gets that backend or its error", async () => {
  expect((await failure(() => open({ gpu: undefined, backend: "webgpu" }))).code).toBe("no-webgpu");
  expect((await open({ gpu, backend: "webgpu" })).info.backend).toBe("webgpu");
  const wasm = await open({ gpu, backend: "wasm" });
  expect(wasm.info.backend).toBe("wasm");
  expect(wasm.info.reasons[0]).toBe("wasm: asked for");
  await expectReference(wasm);
  expect((await failure(() => open({ gpu, backend: "webnn" }))).code).toBe("not-on-backend");
});

test("when nothing works, one error lists what was tried", async () => {
  const module = (): Promise<unknown> => Promise.reject(new Error("404 ort.mjs"));
  const error = await failure(() => open({ gpu: undefined, portable: { module } }));
  if (!(error instanceof BackendError)) throw error;
  expect(error.code).toBe("no-backend");
  expect(error.attempts.map(({ backend, code }) => [backend, code])).toEqual([
    ["webgpu", "no-webgpu"],
    ["webnn", "not-on-backend"],
    ["wasm", "portable-missing"],
  ]);
  expect(error.message).toMatch(
    /wasm: onnxruntime-web could not be imported \(404 ort\.mjs\); install onnxruntime-web/,
  );
  const insisted = await failure(() => open({ backend: "wasm", portable: { module } }));
  expect(insisted.code).toBe("portable-missing");
  expect(events.at(-1)).toMatchObject({ type: "failure", during: "load", code: "portable-missing" });
});

test("what is wrong everywhere is not tried elsewhere", async () => {
  expect((await failure(() => open({ gpu: undefined, component: "other" }))).code).toBe("unknown-component");
  expect((await failure(() => open({ gpu: undefined, admit: () => Promise.resolve(false) }))).code).toBe(
    "not-admitted",
  );
  const shard = "weights-00001-of-00001.safetensors";
  server.files.set(shard, Buffer.alloc(server.file(shard).length));
  expect((await failure(() => open({ gpu: undefined }))).code).toBe("hash-mismatch");
  expect(fallbacks()).toEqual([]);
});

test("feeds are checked as on WebGPU", async () => {
  const model = await open({ backend: "wasm" });
  const feeds = goldenFeeds();
  expect((await failure(() => model.run({ ...feeds, other: new Float32Array(1) }))).code).toBe("unknown-input");
  expect((await failure(() => model.run({}))).code).toBe("missing-input");
  expect((await failure(() => model.run({ ...feeds, x: new Float32Array(5) }))).code).toBe("input-shape");
  expect((await failure(() => model.run({ ...feeds, x: new Int32Array(6) }))).code).toBe("input-dtype");
  expect(events.filter(({ type }) => type === "failure")).toHaveLength(4);
  await expectReference(model);
});

test("an output is stale after the next run, and its bytes are the caller's own", async () => {
  const model = await open({ backend: "wasm" });
  const first = (await model.run(goldenFeeds())).get("y");
  const once = await first?.readBytes();
  once?.fill(0);
  expect(await first?.readBytes()).not.toEqual(once);
  await model.run(goldenFeeds());
  expect((await failure(() => first?.read())).code).toBe("stale-output");
});

test("jobs need no slices: a scheduler takes them, they pause, resume and end", async () => {
  const model = await open({ backend: "wasm" });
  const scheduler = new FrameScheduler(await gameDevice(), { budgetMs: 4 });
  const job = model.start(goldenFeeds());
  job.pause();
  scheduler.add(job);
  expect(job.state).toBe("paused");
  expect(scheduler.frame().dispatches).toBe(0);
  expect(job.step({ budgetMs: 1 }).dispatches).toBe(0);
  const next = model.start(goldenFeeds());
  job.resume();
  await job.started;
  expect(job.state).toBe("submitted");
  const outputs = await job.done;
  expect(job.progress.fraction).toBe(1);
  expect(outputs.get("y")?.shape).toEqual([2, 4]);
  await next.done;
  scheduler.frame();
  expect(scheduler.jobs).toEqual([]);
  scheduler.dispose();
});

test("cancel and dispose end jobs at once, paused ones, too", async () => {
  const model = await open({ backend: "wasm" });
  const stop = new AbortController();
  const running = model.start(goldenFeeds(), { signal: stop.signal });
  await running.started;
  stop.abort();
  expect((await failure(() => running.done)).code).toBe("aborted");
  const paused = model.start(goldenFeeds());
  paused.pause();
  paused.cancel();
  expect((await failure(() => paused.done)).code).toBe("aborted");
  const last = model.start(goldenFeeds());
  await last.started;
  model.dispose();
  expect((await failure(() => last.done)).code).toBe("disposed");
  expect((await failure(() => model.run(goldenFeeds()))).code).toBe("disposed");
});

test("with the caller's device, outputs are buffers there, and inputs may be", async () => {
  const device = await gameDevice();
  const model = await open({ backend: "wasm", device });
  const { x } = goldenFeeds();
  if (!(x instanceof Float32Array)) throw new Error("x is an array of floats");
  const given = device.createBuffer({ size: 32, usage: BufferUsage.COPY_SRC | BufferUsage.COPY_DST });
  device.queue.writeBuffer(given, 0, x.slice());
  for (let run = 0; run < 3; run += 1) {
    const outputs = await model.run({ ...goldenFeeds(), x: { buffer: given } });
    const y = outputs.get("y");
    if (y === undefined) throw new Error("there is no y");
    const staging = device.createBuffer({ size: 32, usage: BufferUsage.MAP_READ | BufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(y.buffer, 0, staging, 0, 32);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(MapMode.READ);
    expect(new Float32Array(staging.getMappedRange())).toEqual(await y.read());
    staging.destroy();
  }
  const { buffers, byKind } = model.memory();
  expect([buffers, byKind.output.bytes]).toEqual([2, 32]);
  model.dispose();
  expect(model.memory().bytes).toBe(0);
  device.destroy();
});

test("images are read as WebGPU reads them, at their size and at others", async () => {
  const device = await gameDevice();
  const onGpu = await open({ backend: "webgpu", device });
  const onCpu = await open({ backend: "wasm" });
  for (const [width, height] of [
    [3, 2],
    [5, 7],
    [2, 1],
  ] as const) {
    const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, index) => (index * 67 + 31) % 256);
    const image = { data, width, height, colorSpace: "srgb" } as unknown as ImageData;
    const feeds = { ...goldenFeeds(), x: { image, mean: 0.25, std: 0.5 } };
    const [expected, found] = await Promise.all(
      [onGpu, onCpu].map(async (model) => (await (await model.run(feeds)).get("y")?.read()) as Float32Array),
    );
    for (const [index, value] of (expected ?? []).entries()) {
      expect(Math.abs((found?.[index] ?? NaN) - value)).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(value)));
    }
  }
  onGpu.dispose();
  device.destroy();
});

test("with the caller's device, textures go in and out", async () => {
  const device = await gameDevice();
  const model = await open({ backend: "wasm", device });
  const usage = TextureUsage.COPY_DST | TextureUsage.TEXTURE_BINDING;
  const texture = device.createTexture({ size: [3, 2], format: "r32float", usage });
  const { x } = goldenFeeds();
  if (!(x instanceof Float32Array)) throw new Error("x is an array of floats");
  device.queue.writeTexture({ texture }, x.slice(), { bytesPerRow: 12 }, [3, 2]);
  const textures = { y: { format: "r32float", scale: 2 } } as const;
  const filled = new Set<GPUTexture>();
  for (let run = 0; run < 3; run += 1) {
    const outputs = await model.run({ ...goldenFeeds(), x: { texture } }, { textures });
    const y = outputs.get("y");
    if (y === undefined) throw new Error("there is no y");
    filled.add(y.texture());
    const staging = device.createBuffer({ size: 512, usage: BufferUsage.MAP_READ | BufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.copyTextureToBuffer({ texture: y.texture() }, { buffer: staging, bytesPerRow: 256 }, [4, 2]);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(MapMode.READ);
    const rows = new Float32Array(staging.getMappedRange());
    for (const [row, values] of reference.outputs.y.entries()) {
      for (const [column, value] of values.entries()) {
        const found = rows[64 * row + column] ?? NaN;
        expect(Math.abs(found - 2 * value)).toBeLessThanOrEqual(2e-5 * Math.max(1, Math.abs(value)));
      }
    }
    staging.destroy();
    expect((await failure(() => outputs.get("z")?.texture())).code).toBe("no-texture");
  }
  expect(filled.size).toBe(1);
  model.dispose();
  expect(model.memory().bytes).toBe(0);
  const bare = await open({ backend: "wasm" });
  expect((await failure(() => bare.run({ ...goldenFeeds(), x: { texture } }))).code).toBe("not-on-backend");
  expect((await failure(() => bare.run(goldenFeeds(), { textures }))).code).toBe("not-on-backend");
  expect((await failure(() => bare.run(goldenFeeds(), { textures: { other: {} } }))).code).toBe("unknown-tensor");
  device.destroy();
});

test("a model whose device is lost for good goes on elsewhere, and its jobs with it", async () => {
  const recover = (): Promise<GPUDevice> => Promise.reject(new Error("the engine has no other"));
  const model = await open({ gpu, recover });
  const job = model.start(goldenFeeds());
  await job.started;
  const waiting = model.run(goldenFeeds());
  model.device.destroy();
  expect(Array.from((await (await job.done).get("z")?.read()) as BigInt64Array)).toEqual(
    reference.outputs.z.map(BigInt),
  );
  await waiting;
  expect(model.info.backend).toBe("wasm");
  expect(model.info.reasons[0]).toMatch(/webgpu: .*the GPU device was lost, and `recover` gave no other/);
  await expectReference(model);
  expect(fallbacks()).toEqual([
    ["webgpu", "webnn", "device-lost"],
    ["webnn", "wasm", "not-on-backend"],
  ]);
  model.dispose();
  expect((await failure(() => model.run(goldenFeeds()))).code).toBe("disposed");
  const insisted = await open({ gpu, recover, backend: "webgpu" });
  const lost = insisted.start(goldenFeeds());
  await lost.started;
  insisted.device.destroy();
  expect((await failure(() => lost.done)).code).toBe("device-lost");
});

test("several runs as one job carry values over, and stop between them", async () => {
  const model = await open({ backend: "wasm" });
  const zeros = new BigInt64Array(4);
  const feeds = (): ReturnType<typeof goldenFeeds> => ({ ...goldenFeeds(), offset: zeros });
  const once = (await (await model.run(feeds())).get("z")?.read()) as BigInt64Array;
  const again = (await (await model.run({ ...feeds(), offset: once })).get("z")?.read()) as BigInt64Array;
  const job = model.startSteps({ steps: 2, feeds, carry: { z: "offset" } });
  expect(await (await job.done).get("z")?.read()).toEqual(again);
  const long = model.startSteps({ steps: 1000, feeds, carry: { z: "offset" } });
  await long.started;
  long.cancel();
  expect((await failure(() => long.done)).code).toBe("aborted");
  await expectReference(model);
});

test("what only WebGPU has is refused by name", async () => {
  const model = await open({ backend: "wasm" });
  const outputs = await model.run(goldenFeeds());
  for (const use of [
    (): unknown => outputs.get("y")?.buffer,
    (): unknown => model.device,
    (): unknown => model.profile(goldenFeeds()),
    (): unknown => model.capture(goldenFeeds(), ["y"]),
  ]) {
    expect((await failure(use)).code).toBe("not-on-backend");
  }
  expect(model.memory().bytes).toBe(0);
});

/** Make the first program look slow: a contest is worth it from 100 ms on. */
function slow(): void {
  server.editManifest(({ components }) => {
    for (const { programs } of components) {
      for (const { dispatches } of programs) for (const dispatch of dispatches) dispatch.flops = 1e12;
    }
  });
}

test("on a software adapter a measurement decides, and tells its numbers", async () => {
  expect((await open({ gpu })).info.backend).toBe("webgpu");
  slow();
  const model = await open({ gpu });
  expect(model.info.backend).toBe("wasm");
  expect(model.info.reasons.join("\n")).toMatch(/predicted fp32-register \d+ ms, measured wasm \d+ ms/);
  expect(fallbacks()).toEqual([["webgpu", "wasm", "faster"]]);
  await expectReference(model);
});

test("WebGPU stays where the other one is slower, fails or is missing", async () => {
  slow();
  const released = vi.fn(() => Promise.resolve());
  const fake = (run: () => Promise<unknown>): LoadOptions => ({
    gpu,
    portable: {
      module: () =>
        Promise.resolve({
          ...ort,
          InferenceSession: { create: () => Promise.resolve({ run, release: released }) },
        }),
    },
  });
  const clock = vi.spyOn(performance, "now");
  const start = performance.now();
  const lazy = await open(
    fake(() => {
      clock.mockReturnValue(start + 1e9);
      return Promise.resolve({});
    }),
  );
  clock.mockRestore();
  expect(lazy.info.backend).toBe("webgpu");
  expect(lazy.info.reasons.join("\n")).toMatch(/measured wasm \d{9,} ms/);
  expect(released).toHaveBeenCalledOnce();
  const broken = await open(fake(() => Promise.reject(new Error("no kernel for Conv"))));
  expect(broken.info.reasons.join("\n")).toMatch(/there is nothing else: .*no kernel for Conv/);
  await expectReference(broken);
  server.faults.set("golden.onnx", (response) => response.writeHead(404).end());
  const bare = await open({ gpu });
  expect(bare.info.reasons.join("\n")).toMatch(/there is nothing else: .*golden\.onnx.*404/);
  server.faults.clear();
  const missing = await open({ gpu, portable: { module: () => Promise.resolve({}) } });
  expect(missing.info.reasons.join("\n")).toMatch(/there is nothing else: onnxruntime-web could not be imported/);
  expect(fallbacks()).toEqual([
    ["wasm", "webgpu", "portable-failed"],
    ["wasm", "webgpu", "fetch"],
    ["wasm", "webgpu", "portable-missing"],
  ]);
  expect(released).toHaveBeenCalledTimes(2);
});

test("WebNN goes first where the browser offers it, and gives way where it refuses the model", async () => {
  vi.stubGlobal("navigator", { ml: { createContext: () => Promise.resolve({}) } });
  const asked: unknown[] = [];
  const fake = (refuses: boolean): LoadOptions => ({
    gpu: undefined,
    portable: {
      module: () =>
        Promise.resolve({
          ...ort,
          InferenceSession: {
            create: (model: Uint8Array, options: { readonly executionProviders: readonly unknown[] }) => {
              asked.push(...options.executionProviders);
              if (refuses && typeof options.executionProviders[0] === "object")
                return Promise.reject(new Error("int64"));
              return ort.InferenceSession.create(model, { ...options, executionProviders: ["wasm"] });
            },
          },
        }),
    },
  });
  const model = await open(fake(false));
  expect(model.info.backend).toBe("webnn");
  expect(model.info.adapter.isCpu).toBe(false);
  await expectReference(model);
  const refused = await open(fake(true));
  expect(refused.info.backend).toBe("wasm");
  expect(refused.info.reasons.join("\n")).toMatch(
    /webnn: ONNX Runtime Web \(webnn\) made no session of the model: int64/,
  );
  expect(asked).toEqual([{ name: "webnn", deviceType: "gpu" }, { name: "webnn", deviceType: "gpu" }, "wasm"]);
  expect(server.requests.filter((path) => path.endsWith(".safetensors"))).toHaveLength(2);
});

test("WebGPU and the fallback share what the store holds", async () => {
  const store = new MemoryStore(2 ** 20);
  await open({ backend: "webgpu", gpu, cache: store });
  server.requests.length = 0;
  await expectReference(await open({ backend: "wasm", cache: store }));
  expect(server.requests).toEqual(["manifest.json", "golden.onnx"]);
  const offline = await open({ backend: "wasm", cache: store, fetch: () => Promise.reject(new TypeError("offline")) });
  expect(offline.info.delivery).toMatchObject({ manifest: "store", networkBytes: 0 });
  await expectReference(offline);
});

test.each<[DType, readonly number[]]>([
  ["int4", [0, 7, 0xf8, 0xff, 3]],
  ["uint4", [0, 15, 1, 8, 9]],
  ["bool", [0, 1, 1, 0, 1]],
  ["int8", [0, 127, 128, 255, 1]],
  ["int16", [0, 128, 255, 127, 1, 0]],
  ["float16", [0, 0x3c, 0xff, 0x7b]],
  ["uint64", [255, 255, 255, 255, 255, 255, 255, 255]],
])("%s survives the way there and back", (dtype, bytes) => {
  const wire = Uint8Array.from(bytes);
  const width = { int16: 2, float16: 2, uint64: 8 }[dtype as string] ?? 1;
  const tensor = toOrt(ort as unknown as OrtModule, "t", dtype, [bytes.length / width], wire);
  expect(fromOrt(dtype, tensor)).toEqual(wire);
});
