// What the engines' adapters do without an engine: options that keep the game's own wishes, and waiting for a new device.
// tests/browser/test_adapters.py runs them inside the engines.

import { expect, test } from "vitest";

import { BabylonBridge, engineOptions } from "../src/adapters/babylon.js";
import { liveDevice } from "../src/adapters/live_device.js";
import { deviceOptions, PlayCanvasBridge } from "../src/adapters/playcanvas.js";
import { rendererParameters, ThreeBridge } from "../src/adapters/three.js";
import { gameDevice } from "./dawn.js";
import { failure } from "./golden.js";

const needs = {
  requiredFeatures: ["shader-f16", "timestamp-query"] satisfies GPUFeatureName[],
  requiredLimits: { maxBufferSize: 500, maxStorageBufferBindingSize: 400 },
  powerPreference: "high-performance",
} as const;
const requirements = { ...needs, requiredFeatures: [...needs.requiredFeatures] };

test("three.js: the larger of each limit", () => {
  const own = {
    antialias: true,
    requiredLimits: { maxBufferSize: 900, maxStorageBufferBindingSize: 100, maxBindGroups: 6 },
  };
  expect(rendererParameters(requirements, own)).toEqual({
    antialias: true,
    powerPreference: "high-performance",
    requiredLimits: { maxBufferSize: 900, maxStorageBufferBindingSize: 400, maxBindGroups: 6 },
  });
});

test("PlayCanvas: WebGPU or nothing, on the adapter that was asked", () => {
  expect(deviceOptions(requirements, { antialias: false })).toEqual({
    antialias: false,
    deviceTypes: ["webgpu"],
    powerPreference: "high-performance",
  });
});

test("Babylon.js: features of both sides and the larger of each limit, unless it takes all anyway", () => {
  const deviceDescriptor = {
    requiredFeatures: ["subgroups"],
    requiredLimits: { maxBufferSize: 900 },
  } as GPUDeviceDescriptor;
  expect(engineOptions(requirements, { stencil: true, deviceDescriptor })).toEqual({
    stencil: true,
    powerPreference: "high-performance",
    deviceDescriptor: {
      requiredFeatures: ["subgroups", "shader-f16", "timestamp-query", "float32-filterable"],
      requiredLimits: { maxBufferSize: 900, maxStorageBufferBindingSize: 400 },
    },
  });
  const all = engineOptions(requirements, { enableAllFeatures: true, setMaximumLimits: true });
  expect(all.deviceDescriptor).toEqual({});
});

test("an engine on WebGL has no device to take", async () => {
  const observable = { add: () => null, addOnce: () => null, remove: () => true };
  const engine = { onBeginFrameObservable: observable, onContextRestoredObservable: observable };
  const app = { graphicsDevice: {}, on: () => ({ off: () => undefined }) };
  const renderer = { backend: {}, getAnimationLoop: () => null, setAnimationLoop: () => undefined };
  for (const device of [
    () => new ThreeBridge(renderer, { ExternalTexture: Object }),
    () => new PlayCanvasBridge(app, { Texture: Object }).device,
    () => new BabylonBridge(engine, { BaseTexture: Object }).device,
  ]) {
    expect((await failure(device)).code).toBe("no-webgpu");
  }
});

test("recovery waits until the engine has a device that lives, and not where it has one already", async () => {
  const [first, second] = [await gameDevice(), await gameDevice()];
  let current = first;
  let waits = 0;
  let restore = (): void => undefined;
  const restored = (): Promise<void> => {
    waits += 1;
    return new Promise((resolve) => {
      restore = resolve;
    });
  };
  const wait = (): Promise<GPUDevice> => liveDevice(() => current, restored);
  expect(await wait()).toBe(first);
  first.destroy();
  await first.lost;
  const next = wait();
  while (waits === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  current = second;
  restore();
  expect(await next).toBe(second);
  expect(await wait()).toBe(second);
  expect(waits).toBe(1);
  second.destroy();
});
