// three.js: the device of a WebGPURenderer, outputs as its textures, and slices of inference in its animation loop.

import { DeviceError, type FrameScheduler, type Requirements } from "../index.js";

/** What is used of a WebGPURenderer. */
export interface ThreeRenderer {
  readonly backend: object;
  getAnimationLoop(): FrameCallback | null;
  setAnimationLoop(callback: FrameCallback | null): unknown;
}

/** As in three.js: the time of the frame in milliseconds, and WebXR's frame where there is one. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- WebXR's types are the game's choice
type FrameCallback = (time: number, frame?: any) => void;

interface RendererParameters {
  readonly requiredLimits?: Readonly<Record<string, number>> | undefined;
}

/** three.js numbers formats and types as WebGL does: RedFormat, RGBAFormat; FloatType, HalfFloatType, UnsignedByteType. */
const FORMATS: Readonly<Record<string, { readonly format: number; readonly type: number }>> = {
  r32float: { format: 1028, type: 1015 },
  rgba16float: { format: 1023, type: 1016 },
  rgba8unorm: { format: 1023, type: 1009 },
};
const LINEAR_FILTER = 1006;

/**
 * Parameters for `new WebGPURenderer(...)`, so that its device runs the package. Features need no word: three.js asks for
 * all that it knows and the adapter offers, those of packages among them.
 *
 *     const source = await Package.open(url);
 *     const renderer = new WebGPURenderer(rendererParameters(await requirements(source), { antialias: true }));
 *     await renderer.init();
 *     const bridge = new ThreeBridge(renderer, { ExternalTexture });
 *     const model = await load(source, { device: bridge.device });
 *     const scheduler = new FrameScheduler(model.device, { budgetMs: 4 });
 *     await renderer.setAnimationLoop(() => renderer.render(scene, camera));
 *     bridge.run(scheduler);
 *
 *     const job = scheduler.add(model.start(feeds, { textures: { height: { format: "r32float" } } }));
 *     const outputs = await job.done;
 *     material.positionNode = displace(bridge.texture(outputs.get("height").texture()));
 */
export function rendererParameters<P extends object>(
  { requiredLimits, powerPreference }: Requirements,
  parameters: P & RendererParameters,
): P & { requiredLimits: Record<string, number>; powerPreference: GPUPowerPreference } {
  const own = Object.entries(parameters.requiredLimits ?? {});
  const larger = own.map(([name, value]) => [name, Math.max(value, requiredLimits[name] ?? 0)] as const);
  return { ...parameters, powerPreference, requiredLimits: { ...requiredLimits, ...Object.fromEntries(larger) } };
}

/**
 * Between a WebGPURenderer (r187) and models on its device. three.js does not survive the loss of its device: make a new
 * renderer then, and answer `load`'s `recover` with the `device` of a new bridge.
 */
export class ThreeBridge<Texture extends object> {
  /** The renderer's: hand it to `load`. */
  readonly device: GPUDevice;
  readonly #renderer: ThreeRenderer;
  readonly #ExternalTexture: new (source: GPUTexture) => Texture;
  readonly #textures = new WeakMap<GPUTexture, Texture>();

  /** Throws "no-webgpu" before `renderer.init()` has resolved, or where three.js fell back to WebGL. */
  constructor(
    renderer: ThreeRenderer,
    { ExternalTexture }: { readonly ExternalTexture: new (source: GPUTexture) => Texture },
  ) {
    const { device } = renderer.backend as { readonly device?: GPUDevice | null };
    if (device === undefined || device === null) {
      throw new DeviceError(
        "no-webgpu",
        "the renderer has no GPUDevice: await renderer.init() first; on its WebGL backend, load without a device",
      );
    }
    this.device = device;
    this.#renderer = renderer;
    this.#ExternalTexture = ExternalTexture;
  }

  /**
   * A three.js texture whose GPU memory is the model's own: nothing is copied, and later runs show in it. The same object
   * for the same GPUTexture, so ask again after every run. Row 0 of the output is at v = 0. A float32 output is filtered
   * where the device has "float32-filterable", else the nearest texel is taken. `dispose` leaves the model's memory alone.
   */
  texture(source: GPUTexture): Texture {
    let texture = this.#textures.get(source);
    if (texture === undefined) {
      texture = Object.assign(new this.#ExternalTexture(source), {
        ...FORMATS[source.format],
        minFilter: LINEAR_FILTER,
        magFilter: LINEAR_FILTER,
        generateMipmaps: false,
        image: { width: source.width, height: source.height },
      });
      this.#textures.set(source, texture);
    }
    return texture;
  }

  /**
   * Give the scheduler its slice in every frame, ahead of the render callback that the renderer has now; call it after
   * `setAnimationLoop`. Slices are submitted apart: three.js keeps its encoders to itself. Returns how to stop.
   */
  run(scheduler: FrameScheduler): () => void {
    const renderer = this.#renderer;
    const render = renderer.getAnimationLoop();
    void renderer.setAnimationLoop((now, frame) => {
      scheduler.frame({ now });
      render?.(now, frame);
    });
    return () => void renderer.setAnimationLoop(render);
  }
}
