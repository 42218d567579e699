// What the engines' adapters do without a GPU: options that keep the game's own wishes, formats by the engines' own
// numbers, and waiting for a new device. tests/browser/test_adapters.py runs them inside the engines.

import { Constants } from "@babylonjs/core/Engines/constants.js";
import * as playcanvas from "playcanvas/build/playcanvas/src/platform/graphics/constants.js";
import * as three from "three";
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

const animation = { getAnimationLoop: () => null, setAnimationLoop: () => undefined };
const observable = { add: () => null, addOnce: () => null, remove: () => true };

/** As much of a GPUTexture and of its device as wrapping looks at. */
function picture(format: GPUTextureFormat, filterable: boolean): { texture: GPUTexture; device: GPUDevice } {
  const features = new Set(filterable ? ["float32-filterable"] : []);
  return {
    texture: { format, width: 8, height: 4, label: "height" } as GPUTexture,
    device: { features } as unknown as GPUDevice,
  };
}

test.each([
  ["r32float", three.RedFormat, three.FloatType],
  ["rgba16float", three.RGBAFormat, three.HalfFloatType],
  ["rgba8unorm", three.RGBAFormat, three.UnsignedByteType],
] as const)("three.js: %s, one texture object for one GPUTexture", (gpuFormat, format, type) => {
  const { texture: source, device } = picture(gpuFormat, true);
  const bridge = new ThreeBridge({ backend: { device }, ...animation }, three);
  const texture = bridge.texture(source);
  const expected = { sourceTexture: source, format, type, generateMipmaps: false, minFilter: three.LinearFilter };
  expect(texture).toMatchObject(expected);
  expect(texture.image).toEqual({ width: 8, height: 4 });
  expect(bridge.texture(source)).toBe(texture);
});

test.each([
  ["r32float", true, playcanvas.PIXELFORMAT_R32F, playcanvas.FILTER_LINEAR],
  ["r32float", false, playcanvas.PIXELFORMAT_R32F, playcanvas.FILTER_NEAREST],
  ["rgba16float", false, playcanvas.PIXELFORMAT_RGBA16F, playcanvas.FILTER_LINEAR],
  ["rgba8unorm", false, playcanvas.PIXELFORMAT_RGBA8, playcanvas.FILTER_LINEAR],
] as const)(
  "PlayCanvas: %s, filterable: %s; destroying the texture spares the model's",
  (gpuFormat, can, format, filter) => {
    const { texture: source, device } = picture(gpuFormat, can);
    const destroyed: unknown[] = [];
    const own = { destroy: () => destroyed.push("own") } as unknown as GPUTexture;
    class Texture {
      readonly impl = {
        gpuTexture: own as GPUTexture | null,
        view: null,
        createView: () => this.impl.gpuTexture,
        destroy: () => destroyed.push(this.impl.gpuTexture),
      };
      constructor(
        _: object,
        readonly options: object,
      ) {}
    }
    const app = { graphicsDevice: { wgpu: device }, on: () => ({ off: () => undefined }) };
    const bridge = new PlayCanvasBridge(app, { Texture });
    const { options, impl } = bridge.texture(source);
    const clamp = playcanvas.ADDRESS_CLAMP_TO_EDGE;
    expect(options).toMatchObject({ width: 8, height: 4, format, mipmaps: false, minFilter: filter, addressU: clamp });
    expect(impl).toMatchObject({ gpuTexture: source, view: source });
    impl.destroy();
    expect(destroyed).toEqual(["own", null]);
  },
);

test.each([
  ["r32float", true, Constants.TEXTUREFORMAT_R, Constants.TEXTURETYPE_FLOAT, Constants.TEXTURE_BILINEAR_SAMPLINGMODE],
  ["r32float", false, Constants.TEXTUREFORMAT_R, Constants.TEXTURETYPE_FLOAT, Constants.TEXTURE_NEAREST_SAMPLINGMODE],
  [
    "rgba16float",
    false,
    Constants.TEXTUREFORMAT_RGBA,
    Constants.TEXTURETYPE_HALF_FLOAT,
    Constants.TEXTURE_BILINEAR_SAMPLINGMODE,
  ],
  [
    "rgba8unorm",
    false,
    Constants.TEXTUREFORMAT_RGBA,
    Constants.TEXTURETYPE_UNSIGNED_BYTE,
    Constants.TEXTURE_BILINEAR_SAMPLINGMODE,
  ],
] as const)("Babylon.js: %s, filterable: %s; disposing the texture spares the model's", (...row) => {
  const [gpuFormat, can, format, type, samplingMode] = row;
  const { texture: source, device } = picture(gpuFormat, can);
  const calls: string[] = [];
  const hardware = { release: () => calls.push("release"), reset: () => calls.push("reset") };
  const internal = { _hardwareTexture: hardware };
  const engine = {
    _device: device,
    onBeginFrameObservable: observable,
    onContextRestoredObservable: observable,
    wrapWebGPUTexture: () => internal,
    updateWrappedWebGPUTexture: () => calls.push("view"),
  };
  class BaseTexture {
    constructor(
      _: object,
      readonly internal: object,
    ) {}
  }
  const texture = new BabylonBridge(engine, { BaseTexture }).texture(source);
  expect(texture.internal).toMatchObject({ format, type, samplingMode });
  expect(texture).toMatchObject({ wrapU: Constants.TEXTURE_CLAMP_ADDRESSMODE });
  hardware.release();
  expect(calls).toEqual(["view", "reset"]);
});

test("an engine on WebGL has no device to take", async () => {
  const engine = { onBeginFrameObservable: observable, onContextRestoredObservable: observable };
  const app = { graphicsDevice: {}, on: () => ({ off: () => undefined }) };
  const renderer = { backend: {}, ...animation };
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
