// PlayCanvas: the device of its GraphicsDevice, outputs as its textures, and slices of inference in its frames.

import { DeviceError, type FrameScheduler, type Requirements } from "../index.js";
import { liveDevice } from "./live_device.js";

/** What is used of an AppBase or Application. */
export interface PlayCanvasApp {
  readonly graphicsDevice: object;
  on(name: string, callback: () => void): { off(): void };
}

/** The parts of a WebgpuGraphicsDevice that its types keep private or untyped (2.23). */
interface Graphics {
  readonly wgpu?: GPUDevice | null;
  getCommandEncoder(): GPUCommandEncoder;
  once(name: string, callback: () => void): unknown;
}

/** What is used of PlayCanvas's Texture. */
interface PlayCanvasTexture {
  readonly impl?: unknown;
}

/** A WebgpuTexture: owns a GPUTexture, which is replaced by the model's. */
interface TextureImpl {
  gpuTexture: GPUTexture | null;
  view: GPUTextureView | null;
  createView(): GPUTextureView;
  destroy(device: unknown): void;
}

type TextureClass<Texture, App extends PlayCanvasApp> = new (
  graphicsDevice: App["graphicsDevice"],
  options: object,
) => Texture;

/** PIXELFORMAT_R32F, PIXELFORMAT_RGBA16F, PIXELFORMAT_RGBA8 of PlayCanvas. */
const FORMATS: Readonly<Record<string, number>> = { r32float: 15, rgba16float: 12, rgba8unorm: 7 };
const FILTER_NEAREST = 0;
const FILTER_LINEAR = 1;
const ADDRESS_CLAMP_TO_EDGE = 1;

/**
 * Options for `createGraphicsDevice`, so that its device runs the package. PlayCanvas asks for every limit and all
 * features that it knows, those of packages among them; what it must be told is which adapter, and not to take WebGL.
 *
 *     const source = await Package.open(url);
 *     const graphics = await createGraphicsDevice(canvas, deviceOptions(await requirements(source), {}));
 *     ... // app.init with it, app.start()
 *     const bridge = new PlayCanvasBridge(app, { Texture });
 *     const model = await load(source, { device: bridge.device, recover: bridge.recover });
 *     const scheduler = new FrameScheduler(model.device, { budgetMs: 4 });
 *     bridge.run(scheduler);
 *
 *     const job = scheduler.add(model.start(feeds, { textures: { height: { format: "r32float" } } }));
 *     const outputs = await job.done;
 *     material.setParameter("heightMap", bridge.texture(outputs.get("height").texture()));
 */
export function deviceOptions<P extends object>(
  { powerPreference }: Requirements,
  options: P,
): P & { deviceTypes: string[]; powerPreference: GPUPowerPreference } {
  return { ...options, deviceTypes: ["webgpu"], powerPreference };
}

/** Between a PlayCanvas app on WebGPU (2.23) and models on its device. */
export class PlayCanvasBridge<Texture extends PlayCanvasTexture, App extends PlayCanvasApp> {
  readonly #app: App;
  readonly #Texture: TextureClass<Texture, App>;
  readonly #textures = new WeakMap<GPUTexture, Texture>();

  constructor(app: App, { Texture }: { readonly Texture: TextureClass<Texture, App> }) {
    this.#app = app;
    this.#Texture = Texture;
  }

  /** The app's: hand it to `load`. Another one after a loss. Throws "no-webgpu" where the app renders with WebGL. */
  get device(): GPUDevice {
    const { wgpu } = this.#graphics;
    if (wgpu === undefined || wgpu === null) {
      throw new DeviceError("no-webgpu", "the app has no GPUDevice: it renders with WebGL; load without a device");
    }
    return wgpu;
  }

  /** For `load`'s `recover`: PlayCanvas makes a new device by itself, and models follow it. */
  readonly recover = (): Promise<GPUDevice> =>
    liveDevice(
      () => this.device,
      () => new Promise((resolve) => this.#graphics.once("devicerestored", resolve)),
    );

  /**
   * A PlayCanvas texture whose GPU memory is the model's own: nothing is copied, and later runs show in it. The same
   * object for the same GPUTexture, so ask again after every run: after a loss the model has a new one. Row 0 of the
   * output is at v = 0. A float32 output is filtered where the device has "float32-filterable", else the nearest texel is
   * taken. `destroy` leaves the model's memory alone.
   */
  texture(source: GPUTexture): Texture {
    let texture = this.#textures.get(source);
    if (texture === undefined) {
      texture = this.#wrap(source);
      this.#textures.set(source, texture);
    }
    return texture;
  }

  /** Give the scheduler its slice in every frame that is rendered, in PlayCanvas's own encoder. Returns how to stop. */
  run(scheduler: FrameScheduler): () => void {
    const handle = this.#app.on("prerender", () => {
      scheduler.frame({ encoder: this.#graphics.getCommandEncoder(), device: this.device });
    });
    return () => {
      handle.off();
    };
  }

  get #graphics(): Graphics {
    return this.#app.graphicsDevice as Graphics;
  }

  #wrap(source: GPUTexture): Texture {
    const filterable = source.format !== "r32float" || this.device.features.has("float32-filterable");
    const filter = filterable ? FILTER_LINEAR : FILTER_NEAREST;
    const texture = new this.#Texture(this.#app.graphicsDevice, {
      name: source.label,
      width: source.width,
      height: source.height,
      format: FORMATS[source.format],
      mipmaps: false,
      minFilter: filter,
      magFilter: filter,
      addressU: ADDRESS_CLAMP_TO_EDGE,
      addressV: ADDRESS_CLAMP_TO_EDGE,
    });
    const impl = texture.impl as TextureImpl;
    // PlayCanvas makes one of its own, of the same size, which nothing has used yet.
    impl.gpuTexture?.destroy();
    impl.gpuTexture = source;
    impl.view = impl.createView();
    const destroy = impl.destroy.bind(impl);
    impl.destroy = (device): void => {
      // After a loss there is one of PlayCanvas's own again.
      if (impl.gpuTexture === source) impl.gpuTexture = null;
      destroy(device);
    };
    return texture;
  }
}
