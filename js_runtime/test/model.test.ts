// The golden package on Dawn: numbers, life cycle, concurrency, memory, faults of devices.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { LimitsError, load as loadPackage, type LoadOptions, type Model, type OutputTensor } from "../src/index.js";
import { gameDevice, gpu } from "./dawn.js";
import { expectReference, failure, goldenFeeds, PackageServer, reference } from "./golden.js";

let server: PackageServer;
const models: Model[] = [];
beforeEach(async () => {
  server = await PackageServer.start();
});
afterEach(async () => {
  for (const model of models.splice(0)) model.dispose();
  await server.close();
});

/** Without a store: tests must not see each other's files. */
function load(url: string, options: LoadOptions = {}): Promise<Model> {
  return loadPackage(url, { cache: "none", backend: "webgpu", ...options });
}

async function open(options: LoadOptions = {}): Promise<Model> {
  const model = await load(server.url, { gpu, ...options });
  models.push(model);
  return model;
}

function output(outputs: ReadonlyMap<string, OutputTensor>, name: string): OutputTensor {
  const found = outputs.get(name);
  if (found === undefined) throw new Error(`no output ${name}`);
  return found;
}

describe("run", () => {
  test.each(["fp32-register", "fp32-workgroup"])("%s agrees with ONNX Runtime", async (tier) => {
    const model = await open({ tier });
    expect(model.info.tier).toBe(tier);
    await expectReference(await model.run(goldenFeeds()));
  });

  test("measures both tilings on an adapter that may be a GPU, and says so", async () => {
    const silent = adapterNamed("acme");
    const model = await open({ gpu: silent });
    expect(model.info.reasons.join()).toMatch(/measured Gemm_0: fp32-\w+ [\d.]+ ms, fp32-\w+ [\d.]+ ms/);
    await expectReference(await model.run(goldenFeeds()));
  });

  test("values in between are read right after their dispatch", async () => {
    const model = await open();
    const [hidden, input] = await model.capture(goldenFeeds(), ["h", "x"]);
    const h = new Float32Array(hidden?.bytes.buffer ?? new ArrayBuffer(0));
    // y = h * gain + offset, with y from the reference.
    const { gain, offset } = reference.feeds;
    const expected = reference.outputs.y.flatMap((row) => row.map((y, column) => (y - (offset[column] ?? NaN)) / gain));
    for (const [index, value] of expected.entries()) {
      const cancelled = Math.abs(offset[index % 4] ?? 0) * 1e-7;
      expect(Math.abs((h[index] ?? NaN) - value) <= 1e-5 + cancelled).toBe(true);
    }
    expect([...new Float32Array(input?.bytes.buffer ?? new ArrayBuffer(0), 0, 6)]).toEqual(reference.feeds.x.flat());
    expect((await failure(() => model.capture(goldenFeeds(), ["other"]))).code).toBe("unknown-tensor");
  });

  test("a profile has every dispatch, none with a negative time", async () => {
    const model = await open();
    const { clock, dispatches, dropped } = await model.profile(goldenFeeds());
    expect(clock).toBe("timestamp");
    expect(dispatches.length + dropped).toBe(3);
    expect(dispatches.every(({ ms }) => ms >= 0)).toBe(true);
  });

  test("inputs may come from a GPUBuffer of the same device", async () => {
    const device = await gameDevice();
    const model = await open({ device });
    const buffer = device.createBuffer({ size: 64, usage: 0x4 | 0x8 });
    device.queue.writeBuffer(buffer, 16, new Float32Array(reference.feeds.x.flat()));
    await expectReference(await model.run({ ...goldenFeeds(), x: { buffer, offset: 16 } }));
    model.dispose();
    device.destroy();
  });

  test("calls made at once are queued, and each caller can read its own result", async () => {
    const model = await open();
    const gains = [1, 2, 3, 4];
    const results = await Promise.all(
      gains.map(async (gain) => {
        const outputs = await model.run({ ...goldenFeeds(), gain: new Float32Array([gain]) });
        return output(outputs, "y").read();
      }),
    );
    const { gain: base, offset } = reference.feeds;
    for (const [call, gain] of gains.entries()) {
      const expected = reference.outputs.y.flatMap((row) =>
        row.map((y, column) => ((y - (offset[column] ?? NaN)) / base) * gain + (offset[column] ?? NaN)),
      );
      for (const [index, value] of expected.entries()) {
        const error = Math.abs(Number(results[call]?.[index]) - value);
        expect(error <= 1e-4 + 1e-6 * Math.abs(value)).toBe(true);
      }
    }
  });

  test("overlapping reads of one output agree", async () => {
    const model = await open();
    const y = output(await model.run(goldenFeeds()), "y");
    const reads = await Promise.all([y.read(), y.read(), y.readBytes()]);
    expect(reads[0]).toEqual(reads[1]);
    expect(new Uint8Array((reads[0] as Float32Array<ArrayBuffer>).buffer)).toEqual(reads[2]);
  });

  test("an output that a later run overwrote is refused, not misread", async () => {
    const model = await open();
    const first = await model.run(goldenFeeds());
    await model.run(goldenFeeds());
    expect((await failure(() => output(first, "y").read())).code).toBe("stale-output");
    expect((await failure(() => output(first, "y").buffer)).code).toBe("stale-output");
  });

  test("zero-size inputs and outputs need no memory and cost nothing", async () => {
    server.editManifest((manifest) => {
      for (const component of manifest.components) {
        component.golden = null;
        component.inputs.push({ name: "past", dtype: "float32", shape: [2, 0] });
        component.outputs.push({ name: "rest", dtype: "int64", shape: [0] });
      }
    });
    const model = await open();
    const outputs = await model.run({ ...goldenFeeds(), past: new Float32Array(0) });
    expect(await output(outputs, "rest").read()).toEqual(new BigInt64Array(0));
    await expectReference(outputs);
  });

  test("a wrong input leaves the model usable", async () => {
    const model = await open();
    expect((await failure(() => model.run({}))).code).toBe("missing-input");
    const narrow = { ...goldenFeeds(), offset: new Int32Array(4) };
    expect((await failure(() => model.run(narrow))).code).toBe("input-dtype");
    await expectReference(await model.run(goldenFeeds()));
  });
});

describe("memory", () => {
  test("buffers and bytes are flat over 100 runs with reads", async () => {
    const model = await open();
    const warm = async (): Promise<void> => {
      const outputs = await model.run(goldenFeeds());
      await Promise.all([...outputs.values()].map((tensor) => tensor.read()));
    };
    await warm();
    const before = model.memory();
    for (let count = 0; count < 100; count += 1) await warm();
    expect(model.memory()).toEqual(before);
  });

  test("load keeps what the plan says; staging is gone", async () => {
    const model = await open();
    const { byKind } = model.memory();
    expect(byKind.staging).toEqual({ buffers: 0, bytes: 0 });
    expect(byKind.weight.bytes).toBe(model.info.plan.weightBytes);
    expect(byKind.activation.bytes).toBe(model.info.plan.activationPeakBytes);
    expect(model.memory().stagingPeakBytes).toBe(48);
    expect(model.memory().bytes).toBeLessThanOrEqual(model.info.plan.gpuBytes);
  });

  test("dispose frees everything, twice does no harm, later use is refused", async () => {
    const model = await open();
    const outputs = await model.run(goldenFeeds());
    model.dispose();
    model.dispose();
    expect(model.memory().buffers).toBe(0);
    expect(model.memory().bytes).toBe(0);
    expect((await failure(() => model.run(goldenFeeds()))).code).toBe("disposed");
    expect((await failure(() => output(outputs, "y").read())).code).toBe("disposed");
  });

  test("dispose while runs wait rejects them", async () => {
    const model = await open();
    const waiting = [1, 2, 3].map(() => failure(() => model.run(goldenFeeds())));
    model.dispose();
    for (const error of await Promise.all(waiting)) expect(error.code).toBe("disposed");
  });
});

describe("devices", () => {
  let device: GPUDevice;
  beforeAll(async () => {
    device = await gameDevice();
  });
  afterAll(() => {
    device.destroy();
  });

  test("a game's device is adopted: its handler stays, dispose does not destroy it", async () => {
    const handler = (): void => undefined;
    device.onuncapturederror = handler;
    const model = await open({ device });
    await expectReference(await model.run(goldenFeeds()));
    model.dispose();
    expect(device.onuncapturederror).toBe(handler);
    const again = await open({ device });
    await expectReference(await again.run(goldenFeeds()));
  });

  test("a lost device is reported as that", async () => {
    const doomed = await gameDevice();
    const model = await open({ device: doomed });
    doomed.destroy();
    await doomed.lost;
    expect((await failure(() => model.run(goldenFeeds()))).code).toBe("device-lost");
  });

  test("no WebGPU, no adapter, an adapter that throws", async () => {
    expect((await failure(() => load(server.url))).code).toBe("no-webgpu");
    expect((await failure(() => load(server.url, { gpu: fakeGpu(() => Promise.resolve(null)) }))).code).toBe(
      "no-adapter",
    );
    const broken = fakeGpu(() => Promise.reject(new Error("no suitable backends")));
    expect((await failure(() => load(server.url, { gpu: broken }))).code).toBe("no-adapter");
  });

  test("an adapter below the needed limits: the error names limit, need and offer", async () => {
    server.editManifest((manifest) => {
      for (const component of manifest.components) {
        for (const program of component.programs) program.requires.limits["maxComputeInvocationsPerWorkgroup"] = 1e6;
      }
    });
    const error = await failure(() => load(server.url, { gpu }));
    expect(error).toBeInstanceOf(LimitsError);
    expect(error.message).toMatch(/maxComputeInvocationsPerWorkgroup 1000000 \(it offers \d+\)/);
  });

  test("a game's device without the needed limits is refused before use", async () => {
    server.editManifest((manifest) => {
      for (const component of manifest.components) {
        for (const program of component.programs) program.requires.limits["maxComputeInvocationsPerWorkgroup"] = 512;
      }
    });
    expect((await failure(() => load(server.url, { device }))).code).toBe("limits");
    await open();
  });
});

describe("load", () => {
  test("progress ends at the total", async () => {
    const seen: { loadedBytes: number; totalBytes: number }[] = [];
    await open({ onProgress: (progress) => seen.push(progress) });
    expect(seen.at(-1)?.loadedBytes).toBe(seen[0]?.totalBytes);
    expect(seen.every((entry, index) => entry.loadedBytes >= (seen[index - 1]?.loadedBytes ?? 0))).toBe(true);
  });

  test("each file is fetched once, those of the other tier not at all", async () => {
    await open({ tier: "fp32-register" });
    expect([...server.requests].sort()).toEqual([
      "kernels/double.wgsl",
      "kernels/matmul_register.wgsl",
      "kernels/scale_shift.wgsl",
      "kernels/transpose.wgsl",
      "manifest.json",
      "weights-00001-of-00001.safetensors",
    ]);
  });

  test("an abort while weights arrive frees everything", async () => {
    const controller = new AbortController();
    server.faults.set("weights-00001-of-00001.safetensors", (response, file) => {
      response.writeHead(200, { "content-length": file.length });
      response.write(file.subarray(0, 8), () => {
        controller.abort();
      });
    });
    expect((await failure(() => load(server.url, { gpu, signal: controller.signal }))).code).toBe("aborted");
  });

  test("load-time dispatches wait for shards and for each other, and staging goes as soon as it can", async () => {
    const [first, second] = ["weights-00001-of-00001.safetensors", "weights-00002-of-00002.safetensors"] as const;
    server.files.set(second, server.file(first));
    server.editManifest((manifest) => {
      const entry = manifest.files.find((file) => file.path === first);
      if (entry !== undefined) manifest.files.push({ ...entry, path: second });
      for (const { weights, programs } of manifest.components) {
        // The bias comes last, the weight that is re-packed first.
        for (const weight of weights) if (weight.name === "b") weight.file = second;
        for (const { buffers, prepare } of programs) {
          const [dispatch] = prepare;
          const [source, packed] = dispatch?.args ?? [];
          if (dispatch === undefined || source === undefined || packed === undefined) continue;
          const there = { ...source, buffer: buffers.push({ kind: "staging", size_bytes: 48 }) - 1 };
          const back = { ...source, buffer: buffers.push({ kind: "staging", size_bytes: 48 }) - 1 };
          const [rows = 0, columns = 0] = dispatch.params;
          prepare.unshift(
            { ...dispatch, args: [source, there] },
            { ...dispatch, args: [there, back], params: [columns, rows] },
          );
          dispatch.args = [back, packed];
        }
      }
    });
    const model = await open();
    await expectReference(await model.run(goldenFeeds()));
    expect(model.memory().byKind.staging.buffers).toBe(0);
    expect(server.requests.filter((path) => path.startsWith("weights"))).toEqual([first, second]);
  });

  test("a shader that does not compile is named, with its line", async () => {
    await server.replace("kernels/double.wgsl", "\nfn main( {");
    const error = await failure(() => load(server.url, { gpu }));
    expect(error.code).toBe("compile");
    expect(error.message).toMatch(/double.*line 2/);
  });

  test("a shader that does not fit its bindings is named", async () => {
    const source = "@group(0) @binding(5) var<storage, read_write> z: array<u32>;\n";
    await server.replace("kernels/double.wgsl", `${source}@compute @workgroup_size(1) fn main() { z[0] = 1u; }`);
    const error = await failure(() => load(server.url, { gpu }));
    expect(error.code).toBe("compile");
    expect(error.message).toContain("double");
  });

  test("a span that WebGPU cannot bind is a validation error", async () => {
    server.editManifest((manifest) => {
      const args = manifest.components[0]?.programs[0]?.dispatches[0]?.args;
      if (args?.[1] !== undefined) args[1].offset = 252;
    });
    expect((await failure(() => load(server.url, { gpu, tier: "fp32-register" }))).code).toBe("validation");
  });

  test("a buffer that no GPU can hold is out of memory or refused by limit, typed either way", async () => {
    server.editManifest((manifest) => {
      manifest.components[0]?.programs[0]?.buffers.push({ kind: "activation", size_bytes: 2 ** 40 });
    });
    const error = await failure(() => load(server.url, { gpu, tier: "fp32-register" }));
    expect(error.code).toBe("limits");
    expect(error.message).toContain("maxBufferSize");
  });

  test("an unknown component is refused with the names that exist", async () => {
    const error = await failure(() => load(server.url, { gpu, component: "vae" }));
    expect(error.code).toBe("unknown-component");
    expect(error.message).toContain("golden");
  });
});

function fakeGpu(requestAdapter: () => Promise<GPUAdapter | null>): GPU {
  return { requestAdapter } as unknown as GPU;
}

/** The real adapter under another name, and not flagged as a fallback. */
function adapterNamed(vendor: string): GPU {
  return fakeGpu(async () => {
    const adapter = await gpu.requestAdapter();
    if (adapter === null) return null;
    const info = { vendor, architecture: "", device: "", description: "", isFallbackAdapter: false };
    const { features, limits } = adapter;
    const requestDevice = (descriptor?: GPUDeviceDescriptor): Promise<GPUDevice> => adapter.requestDevice(descriptor);
    return { info, features, limits, requestDevice } as unknown as GPUAdapter;
  });
}
