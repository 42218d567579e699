// A device that counts the GPU objects that are made on it, and knows which buffers are alive.

import { gameDevice, trackBuffers } from "./dawn.js";

/** What a game must not see made in its frames; encoders and passes are made anew by nature. */
const COUNTED = [
  "createBuffer",
  "createTexture",
  "createSampler",
  "createBindGroup",
  "createBindGroupLayout",
  "createPipelineLayout",
  "createShaderModule",
  "createComputePipeline",
  "createComputePipelineAsync",
  "createRenderPipeline",
  "createRenderPipelineAsync",
  "createQuerySet",
] as const;

type Made = Readonly<Record<(typeof COUNTED)[number], number>>;

export class CountingDevice {
  readonly device: GPUDevice;
  /** Buffers that were made and not destroyed. */
  readonly live = new Set<GPUBuffer>();
  /** How many of the next buffers the GPU has no memory for. */
  exhausted = 0;
  readonly #made = new Map<string, number>();

  private constructor(device: GPUDevice) {
    this.device = device;
    const methods = device as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of COUNTED) {
      const method = methods[name]?.bind(device);
      if (method === undefined) throw new Error(`no ${name}`);
      methods[name] = (...args): unknown => {
        this.#made.set(name, (this.#made.get(name) ?? 0) + 1);
        return method(...args);
      };
    }
    trackBuffers(device, this.live);
    const createBuffer = device.createBuffer.bind(device);
    const popErrorScope = device.popErrorScope.bind(device);
    let failing = false;
    device.createBuffer = (descriptor): GPUBuffer => {
      failing = this.exhausted > 0;
      if (failing) this.exhausted -= 1;
      return createBuffer(descriptor);
    };
    device.popErrorScope = async (): Promise<GPUError | null> => {
      const failed = failing;
      failing = false;
      const error = await popErrorScope();
      return failed ? { message: "no memory left" } : error;
    };
  }

  static async make(): Promise<CountingDevice> {
    return new CountingDevice(await gameDevice());
  }

  /** Objects made so far, by method. */
  made(): Made {
    return Object.fromEntries(COUNTED.map((name) => [name, this.#made.get(name) ?? 0])) as Made;
  }

  liveBytes(): number {
    return [...this.live].reduce((sum, { size }) => sum + size, 0);
  }
}
