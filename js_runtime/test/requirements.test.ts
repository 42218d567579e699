// requirements() on Dawn: an engine that asks its adapter for them gets a device that runs the package.

import { afterEach, beforeEach, expect, test } from "vitest";

import { load, Package, requirements, type Model } from "../src/index.js";
import { gpu } from "./dawn.js";
import { failure, goldenFeeds, PackageServer, reference } from "./golden.js";

let server: PackageServer;
beforeEach(async () => {
  server = await PackageServer.start();
});
afterEach(() => server.close());

async function adapter(): Promise<GPUAdapter> {
  const found = await gpu.requestAdapter();
  if (found === null) throw new Error("no WebGPU adapter: install mesa-vulkan-drivers");
  return found;
}

test("an engine's device with them runs the package, and the manifest is fetched once", async () => {
  const source = await Package.open(server.url, { cache: "none" });
  const needs = await requirements(source, { gpu });
  const device = await (await adapter()).requestDevice(needs);
  let model: Model | undefined;
  try {
    model = await load(source, { device });
    const y = (await model.run(goldenFeeds())).get("y");
    expect((await y?.read())?.[0]).toBeCloseTo(reference.outputs.y[0]?.[0] ?? NaN, 4);
    expect(server.requests.filter((path) => path === "manifest.json")).toHaveLength(1);
  } finally {
    model?.dispose();
    device.destroy();
  }
});

test("they hold what tiers require and buffers imply, and timestamps where the adapter has them", async () => {
  const { limits, features } = await adapter();
  const most = limits.maxComputeWorkgroupStorageSize;
  server.editManifest(({ components }) => {
    for (const program of components.flatMap((component) => component.programs)) {
      program.requires.limits["maxComputeWorkgroupStorageSize"] = most;
    }
  });
  const { requiredFeatures, requiredLimits, powerPreference } = await requirements(server.url, {
    gpu,
    cache: "none",
    powerPreference: "low-power",
  });
  expect(requiredLimits["maxComputeWorkgroupStorageSize"]).toBe(most);
  expect(requiredLimits["maxBufferSize"]).toBeGreaterThan(0);
  expect(requiredFeatures.includes("timestamp-query")).toBe(features.has("timestamp-query"));
  expect(powerPreference).toBe("low-power");
});

test("a package beyond the adapter, and unknown names, are refused before an engine is made", async () => {
  const options = { gpu, cache: "none" } as const;
  expect(await failure(() => requirements(server.url, { ...options, component: "vae" }))).toMatchObject({
    code: "unknown-component",
    message: "component vae: choose one of golden",
  });
  expect((await failure(() => requirements(server.url, { ...options, tier: "fp4" }))).code).toBe("unknown-tier");
  server.editManifest(({ components }) => {
    for (const program of components.flatMap((component) => component.programs)) {
      program.requires.limits["maxBufferSize"] = 2 ** 52;
    }
  });
  expect((await failure(() => requirements(server.url, options))).code).toBe("limits");
});
