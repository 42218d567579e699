// Self-tests on Dawn: wrong kernels, right hashes; what is found lasts to the next load, and another program steps in.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { load, Package, type LoadOptions, type Model, type RecordStore, type RuntimeEvent } from "../src/index.js";
import { gpu } from "./dawn.js";
import { failure, goldenFeeds, PackageServer, reference } from "./golden.js";
import { Records } from "./records.js";

const WORKGROUP = "kernels/matmul_workgroup.wgsl";

let server: PackageServer;
const models: Model[] = [];
beforeEach(async () => {
  server = await PackageServer.start();
});
afterEach(async () => {
  for (const model of models.splice(0)) model.dispose();
  await server.close();
});

/** What earlier visits left. Says that tiles in workgroup memory were measured to be faster. */
class Visits extends Records {
  override get(key: string): Promise<string | undefined> {
    return key.startsWith("calibration/") ? Promise.resolve("2 1") : super.get(key);
  }
}

/** Dawn's adapter under a name that nobody takes for a CPU. */
const unknownGpu = {
  async requestAdapter(): Promise<unknown> {
    const adapter = await gpu.requestAdapter();
    if (adapter === null) return null;
    const info = { vendor: "acme", architecture: "gen-1", device: "", description: "", isFallbackAdapter: false };
    const { features, limits } = adapter;
    const requestDevice = (descriptor?: GPUDeviceDescriptor): Promise<GPUDevice> => adapter.requestDevice(descriptor);
    return { info, features, limits, requestDevice };
  },
} as unknown as GPU;

interface Loaded {
  readonly model: Model;
  readonly tests: readonly Extract<RuntimeEvent, { type: "self-test" }>[];
}

async function open(records: RecordStore, options: LoadOptions = {}): Promise<Loaded> {
  const events: RuntimeEvent[] = [];
  const telemetry = { emit: (event: RuntimeEvent) => events.push(event) };
  const own = { gpu: unknownGpu, backend: "webgpu", cache: "none", records, telemetry } as const;
  const model = await load(server.url, { ...own, ...options });
  models.push(model);
  return { model, tests: events.filter((event) => event.type === "self-test") };
}

async function alter(path: string, change: (wgsl: string) => string): Promise<void> {
  const before = server.file(path).toString();
  const after = change(before);
  expect(after).not.toBe(before);
  await server.replace(path, after);
}

async function expectRight(model: Model): Promise<void> {
  const y = (await (await model.run(goldenFeeds())).get("y")?.read()) ?? [];
  for (const [index, value] of reference.outputs.y.flat().entries()) expect(Number(y[index])).toBeCloseTo(value, 3);
}

describe("self-test", () => {
  test("a right device passes three runs, once", async () => {
    const records = new Visits();
    const first = await open(records);
    expect(first.model.info.tier).toBe("fp32-workgroup");
    expect(first.tests).toMatchObject([{ passed: true, runs: 3, quarantined: [] }]);
    expect(first.tests[0]?.drift).toBeLessThan(0.1);
    expect(first.model.info.reasons.join()).toMatch(/self-test: fp32-workgroup passed 3 runs, drift [\d.e-]+/);
    const second = await open(records);
    expect(second.tests).toEqual([]);
    expect(second.model.info.reasons.join()).toContain("self-test: passed on an earlier visit");
    expect((await open(records, { selfTest: "always" })).tests).toHaveLength(1);
    await expectRight(second.model);
  });

  test("a wrong kernel is named and left out, another program takes its place, also on the next visit", async () => {
    await alter(WORKGROUP, (wgsl) => wgsl.replace("= sum; }", "= sum * 1.001; }"));
    const records = new Visits();
    const { model, tests } = await open(records);
    expect(model.info.tier).toBe("fp32-register");
    expect(tests).toMatchObject([
      { passed: false, tier: "fp32-workgroup", runs: 1, quarantined: ["matmul_workgroup"] },
      { passed: true, tier: "fp32-register", runs: 3, quarantined: [] },
    ]);
    expect(model.info.reasons.join()).toContain("fp32-workgroup: kernel matmul_workgroup is wrong on this adapter");
    await expectRight(model);
    const next = await open(records);
    expect(next.model.info.tier).toBe("fp32-register");
    expect(next.tests).toEqual([]);
  });

  test("a kernel that is right in the first run only is found", async () => {
    server.editManifest((manifest) => {
      // Room for a counter behind the value in between.
      const [, program] = manifest.components[0]?.programs ?? [];
      Object.assign(program?.buffers[0] ?? {}, { size_bytes: 64 });
      Object.assign(program?.dispatches[0]?.args[4] ?? {}, { size_bytes: 64 });
    });
    // The warm-up counts as well.
    await alter(WORKGROUP, (wgsl) =>
      wgsl.replace(/ {2}if \(local < P\.rows\).*\n/, (store) => {
        const count = "  let runs = h[3].x;\n  storageBarrier();\n  if (local == 0u) { h[3].x = runs + 1.0; }\n";
        return count + store.replace("= sum;", "= select(sum, sum + 1.0, runs > 1.5);");
      }),
    );
    const { model, tests } = await open(new Visits());
    expect(tests).toMatchObject([
      { passed: false, runs: 2, quarantined: ["matmul_workgroup"] },
      { passed: true, tier: "fp32-register" },
    ]);
    await expectRight(model);
  });

  test("NaN is wrong", async () => {
    await alter(WORKGROUP, (wgsl) =>
      wgsl.replace("= sum; }", "= bitcast<vec4<f32>>(vec4<u32>(0x7fc00000u) + vec4<u32>(P.rows)); }"),
    );
    const { tests } = await open(new Visits());
    expect(tests[0]).toMatchObject({ passed: false, drift: Number.MAX_VALUE });
  });

  test("where the kernel that is wrong is in every program, none is left", async () => {
    await alter("kernels/double.wgsl", (wgsl) => wgsl.replace("v.x << 1u", "v.x << 2u"));
    const records = new Visits();
    const error = await failure(() => open(records));
    expect(error.code).toBe("self-test");
    expect(error.message).toContain("kernel double is wrong on this adapter");
    expect((await failure(() => open(records))).code).toBe("self-test");
    // Whoever turns the test off answers for it.
    expect((await open(records, { selfTest: "never" })).model.info.reasons.join()).toContain("self-test: turned off");
  });

  test("a tier that was asked for is tested too", async () => {
    await alter(WORKGROUP, (wgsl) => wgsl.replace("= sum; }", "= sum * 1.001; }"));
    expect((await failure(() => open(new Visits(), { tier: "fp32-workgroup" }))).code).toBe("self-test");
  });

  test("on a CPU adapter it is left out, with its reason", async () => {
    const { model, tests } = await open(new Visits(), { gpu });
    expect(tests).toEqual([]);
    expect(model.info.reasons.join()).toContain("self-test: left out, the adapter runs shaders on the CPU");
  });
});

describe("crashes", () => {
  const crash = async (rank: number): Promise<Visits> => {
    const records = new Visits();
    const { version } = await Package.open(server.url, { cache: "none" });
    const crashes = [
      { tier: rank === 2 ? "fp32-workgroup" : "fp32-register", rank, during: "compile", at: Date.now() },
    ];
    records.texts.set("crash/acme/gen-1/golden/golden", JSON.stringify({ version, crashes, losses: [] }));
    return records;
  };

  test("the tier below the one that died is taken, and the reason is told", async () => {
    const { model } = await open(await crash(2));
    expect(model.info.tier).toBe("fp32-register");
    expect(model.info.reasons.join()).toMatch(
      /fp32-workgroup: an earlier load died during compile; lower tiers until 20/,
    );
    await expectRight(model);
  });

  test("after the lowest none is left, unless the caller asks for a tier", async () => {
    const records = await crash(1);
    const error = await failure(() => open(records));
    expect(error.code).toBe("crashed");
    const { model } = await open(records, { tier: "fp32-workgroup" });
    expect(model.info.tier).toBe("fp32-workgroup");
    expect(model.info.reasons.join()).toContain("but it was asked for");
  });

  test("a load that ends leaves no mark, nor does the first run", async () => {
    const records = new Visits();
    const { model } = await open(records);
    await model.run(goldenFeeds());
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(records.texts.get("crash/acme/gen-1/golden/golden")).not.toContain("mark");
  });
});
