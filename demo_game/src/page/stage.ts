// The renderer and, beside it on the same device, the model.

import {
  FrameScheduler,
  load,
  Package,
  requirements,
  type Model,
  type Progress,
  type RuntimeEvent,
} from "@webinfer/runtime";
import { rendererParameters, ThreeBridge } from "@webinfer/runtime/three";
import { ExternalTexture, LinearSRGBColorSpace, NoToneMapping, WebGPURenderer, type Texture } from "three/webgpu";

import type { Settings } from "./settings.js";
// As files of their own: ONNX Runtime Web starts its worker and its threads from the address that it was loaded from.
import ortUrl from "onnxruntime-web/wasm?url";
import ortWasmUrl from "onnxruntime-web/ort-wasm-simd-threaded.wasm?url";

const PACKAGE_URL = new URL("terrain.webinfer/", document.baseURI).href;

/** What inference did in the last frames, for the HUD. */
export interface SliceUse {
  budgetMs: number;
  predictedMs: number;
}

/** What inference gets of every frame, in milliseconds of GPU time. */
interface InferenceShare {
  readonly budgetMs: number;
  /** Also where frames come late; default an eighth. */
  readonly minBudgetMs?: number;
}

/** Made once per page. Without WebGPU it draws with WebGL 2 and has no bridge. */
export class Stage {
  readonly renderer: WebGPURenderer;
  readonly bridge: ThreeBridge<Texture> | undefined;
  readonly slices: SliceUse = { budgetMs: 0, predictedMs: 0 };
  /** Why there is no package, if there is none. */
  readonly packageFault: unknown;
  readonly #package: Package | undefined;
  #model: Model | undefined;
  #scheduler: FrameScheduler | undefined;
  #stop: () => void = () => undefined;

  private constructor(renderer: WebGPURenderer, source: Package | undefined, fault: unknown) {
    this.renderer = renderer;
    this.#package = source;
    this.packageFault = fault;
    const { device } = renderer.backend as { readonly device?: GPUDevice | null };
    this.bridge = device === undefined || device === null ? undefined : new ThreeBridge(renderer, { ExternalTexture });
  }

  /** Asks for a device that suits the package where both are to be had; rejects only where not even WebGL 2 starts. */
  static async open(canvas: HTMLCanvasElement, settings: Settings): Promise<Stage> {
    let source: Package | undefined;
    let fault: unknown;
    if (settings.inference) {
      try {
        source = await Package.open(PACKAGE_URL);
      } catch (cause) {
        fault = cause;
      }
    }
    const webgpu = !settings.webgl && (await hasWebGpu());
    const basic = { canvas, antialias: settings.quality !== "low", forceWebGL: !webgpu };
    const wanted = webgpu && source !== undefined ? await requirements(source).catch(() => undefined) : undefined;
    const renderer = new WebGPURenderer(wanted === undefined ? basic : rendererParameters(wanted, basic));
    // Materials encode their colours themselves: no second pass over the picture.
    renderer.outputColorSpace = LinearSRGBColorSpace;
    renderer.toneMapping = NoToneMapping;
    await renderer.init();
    return new Stage(renderer, source, fault);
  }

  get model(): Model | undefined {
    return this.#model;
  }

  get scheduler(): FrameScheduler | undefined {
    return this.#scheduler;
  }

  /** Load the model, on the renderer's device where there is one. Rejects where neither WebGPU nor a fallback runs it. */
  async loadModel({ backend, tier }: Settings, onProgress: (progress: Progress) => void): Promise<Model> {
    if (this.#package === undefined) throw this.packageFault;
    this.#model = await load(this.#package, {
      backend,
      onProgress,
      portable: { module: () => import(/* @vite-ignore */ ortUrl), wasmPaths: { wasm: ortWasmUrl } },
      ...(this.bridge === undefined ? {} : { device: this.bridge.device }),
      ...(tier === "" ? {} : { tier }),
    });
    return this.#model;
  }

  /** Draw with `frame` from now on, and give inference its share of every frame before it. */
  start(frame: (now: number) => void, { budgetMs, minBudgetMs }: InferenceShare): void {
    this.stop();
    void this.renderer.setAnimationLoop(frame);
    const { bridge } = this;
    if (bridge === undefined) return;
    const emit = (event: RuntimeEvent): void => {
      if (event.type !== "frame") return;
      this.slices.budgetMs = event.budgetMs;
      this.slices.predictedMs = event.predictedMs;
    };
    const scheduler = new FrameScheduler(bridge.device, { budgetMs, minBudgetMs, telemetry: { emit } });
    const stop = bridge.run(scheduler);
    this.#scheduler = scheduler;
    this.#stop = (): void => {
      stop();
      scheduler.dispose();
    };
  }

  /** No more frames, and no more inference. */
  stop(): void {
    this.#stop();
    this.#stop = (): void => undefined;
    this.#scheduler = undefined;
    void this.renderer.setAnimationLoop(null);
  }
}

async function hasWebGpu(): Promise<boolean> {
  // Typed as always there, which it is not.
  const gpu = navigator.gpu as GPU | undefined;
  return ((await gpu?.requestAdapter().catch(() => null)) ?? null) !== null;
}
