// Babylon.js: the device of a WebGPUEngine, outputs as its textures, and slices of inference in its frames.

import { DeviceError, type FrameScheduler, type Requirements } from "../index.js";
import { liveDevice } from "./live_device.js";

/** What is used of Babylon's observables. */
interface Observable {
  add(callback: () => void): unknown;
  addOnce(callback: () => void): unknown;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Babylon's Observer type is its own
  remove(observer: any): boolean;
}

/** What is used of a WebGPUEngine. */
export interface BabylonEngine {
  readonly onBeginFrameObservable: Observable;
  readonly onContextRestoredObservable: Observable;
}

/** A WebGPUEngine's own device, and textures around GPUTextures that others made (9.35). */
interface Engine extends BabylonEngine {
  readonly _device?: GPUDevice;
  wrapWebGPUTexture(source: GPUTexture): InternalTexture;
  updateWrappedWebGPUTexture(texture: InternalTexture, source: GPUTexture): void;
}

interface InternalTexture {
  format: number;
  type: number;
  samplingMode: number;
  readonly _hardwareTexture: { release(): void; reset(): void };
}

interface EngineOptions {
  readonly deviceDescriptor?: GPUDeviceDescriptor | undefined;
  readonly enableAllFeatures?: boolean | undefined;
  readonly setMaximumLimits?: boolean | undefined;
}

type TextureClass<Texture> = new (
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the engine, and what it wrapped
  ...parts: any[]
) => Texture;

/** Babylon's constants: TEXTUREFORMAT_R, TEXTUREFORMAT_RGBA; TEXTURETYPE_FLOAT, _HALF_FLOAT, _UNSIGNED_BYTE. */
const FORMATS: Readonly<Record<string, { readonly format: number; readonly type: number }>> = {
  r32float: { format: 6, type: 1 },
  rgba16float: { format: 5, type: 2 },
  rgba8unorm: { format: 5, type: 0 },
};
const NEAREST_SAMPLINGMODE = 1;
const BILINEAR_SAMPLINGMODE = 2;
const CLAMP_ADDRESSMODE = 0;

/**
 * Options for `new WebGPUEngine(canvas, ...)`, so that its device runs the package. Adds "float32-filterable", which
 * Babylon leaves out by itself where the adapter lacks it: float32 outputs are then filtered like other textures.
 *
 *     const source = await Package.open(url);
 *     const engine = new WebGPUEngine(canvas, engineOptions(await requirements(source), {}));
 *     await engine.initAsync();
 *     const bridge = new BabylonBridge(engine, { BaseTexture });
 *     const model = await load(source, { device: bridge.device, recover: bridge.recover });
 *     const scheduler = new FrameScheduler(model.device, { budgetMs: 4 });
 *     bridge.run(scheduler);
 *
 *     const job = scheduler.add(model.start(feeds, { textures: { height: { format: "r32float" } } }));
 *     const outputs = await job.done;
 *     material.setTexture("heightMap", bridge.texture(outputs.get("height").texture()));
 */
export function engineOptions<P extends object>(
  { requiredFeatures, requiredLimits, powerPreference }: Requirements,
  options: P & EngineOptions,
): P & { deviceDescriptor: GPUDeviceDescriptor; powerPreference: GPUPowerPreference } {
  const { deviceDescriptor = {}, enableAllFeatures = false, setMaximumLimits = false } = options;
  const descriptor = { ...deviceDescriptor };
  if (!enableAllFeatures) {
    const own = deviceDescriptor.requiredFeatures ?? [];
    descriptor.requiredFeatures = [...new Set([...own, ...requiredFeatures, "float32-filterable" as const])];
  }
  if (!setMaximumLimits) {
    descriptor.requiredLimits = { ...requiredLimits };
    for (const [name, value] of Object.entries(deviceDescriptor.requiredLimits ?? {})) {
      descriptor.requiredLimits[name] = Math.max(value ?? 0, requiredLimits[name] ?? 0);
    }
  }
  return { ...options, powerPreference, deviceDescriptor: descriptor };
}

/** Between a WebGPUEngine (9.35) and models on its device. */
export class BabylonBridge<Texture extends object> {
  readonly #engine: Engine;
  readonly #BaseTexture: TextureClass<Texture>;
  readonly #textures = new WeakMap<GPUTexture, Texture>();

  constructor(engine: BabylonEngine, { BaseTexture }: { readonly BaseTexture: TextureClass<Texture> }) {
    this.#engine = engine as Engine;
    this.#BaseTexture = BaseTexture;
  }

  /**
   * The engine's: hand it to `load`. Another one after a loss. Throws "no-webgpu" before `engine.initAsync()` has
   * resolved, or where the engine renders with WebGL.
   */
  get device(): GPUDevice {
    const { _device: device } = this.#engine;
    if (device === undefined) {
      throw new DeviceError(
        "no-webgpu",
        "the engine has no GPUDevice: await engine.initAsync() first; on a WebGL engine, load without a device",
      );
    }
    return device;
  }

  /** For `load`'s `recover`: Babylon makes a new device by itself, and models follow it. */
  readonly recover = (): Promise<GPUDevice> =>
    liveDevice(
      () => this.device,
      () =>
        new Promise((resolve) => {
          this.#engine.onContextRestoredObservable.addOnce(resolve);
        }),
    );

  /**
   * A Babylon texture whose GPU memory is the model's own: nothing is copied, and later runs show in it. The same object
   * for the same GPUTexture, so ask again after every run: after a loss the model has a new one. Row 0 of the output is
   * at v = 0. A float32 output is filtered where the device has "float32-filterable", else the nearest texel is taken.
   * `dispose` leaves the model's memory alone.
   */
  texture(source: GPUTexture): Texture {
    let texture = this.#textures.get(source);
    if (texture === undefined) {
      texture = this.#wrap(source);
      this.#textures.set(source, texture);
    }
    return texture;
  }

  /**
   * Give the scheduler its slice at the begin of every frame, submitted apart: Babylon keeps its encoders to itself.
   * Returns how to stop.
   */
  run(scheduler: FrameScheduler): () => void {
    const { onBeginFrameObservable } = this.#engine;
    const observer = onBeginFrameObservable.add(() => {
      scheduler.frame();
    });
    return () => {
      onBeginFrameObservable.remove(observer);
    };
  }

  #wrap(source: GPUTexture): Texture {
    const engine = this.#engine;
    const filterable = source.format !== "r32float" || this.device.features.has("float32-filterable");
    const internal = engine.wrapWebGPUTexture(source);
    // Wrapping alone makes no view.
    engine.updateWrappedWebGPUTexture(internal, source);
    const hardware = internal._hardwareTexture;
    hardware.release = hardware.reset.bind(hardware);
    const samplingMode = filterable ? BILINEAR_SAMPLINGMODE : NEAREST_SAMPLINGMODE;
    Object.assign(internal, FORMATS[source.format], { samplingMode });
    const texture = new this.#BaseTexture(engine, internal);
    return Object.assign(texture, { wrapU: CLAMP_ADDRESSMODE, wrapV: CLAMP_ADDRESSMODE });
  }
}
