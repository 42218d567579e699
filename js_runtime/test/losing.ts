// A GPU that fails at given moments: loses its device for real, has no memory, refuses work. It counts calls as time.

import { gpu, trackBuffers } from "./dawn.js";

/** What goes wrong at the call with that number, of all calls on all devices. */
export interface Fault {
  readonly at: number;
  /** "later": not during the call, but in one of the next tasks. */
  readonly kind: "lose" | "later" | "no-memory" | "refuse";
}

/** Calls that count. Losing a device before or after any other is the same as before or after one of these. */
const DEVICE_CALLS = [
  "createBuffer",
  "createBindGroup",
  "createShaderModule",
  "createComputePipelineAsync",
  "createCommandEncoder",
  "popErrorScope",
] as const;
const QUEUE_CALLS = ["submit", "writeBuffer", "onSubmittedWorkDone"] as const;

type Methods = Record<string, (...args: unknown[]) => unknown>;

export class LosingGpu {
  readonly devices: GPUDevice[] = [];
  /** Buffers that were made and not destroyed. */
  readonly live = new Set<GPUBuffer>();
  calls = 0;
  /** Devices that were lost. */
  readonly lost = new Set<GPUDevice>();
  /** Errors that reached the handler of whoever made the device. */
  readonly uncaptured: string[] = [];
  /** How often there is no adapter after a loss. */
  missing = 0;
  /** Limits of the adapter that comes after a loss, where it is another one. */
  later: Readonly<Record<string, number>> = {};
  readonly #faults: Fault[];
  readonly #scopes: GPUErrorFilter[] = [];
  #unfit = 0;
  #noMemory = false;
  #refuse = false;
  #refused: GPUErrorFilter | undefined;

  constructor(faults: readonly Fault[] = []) {
    this.#faults = [...faults].sort((a, b) => a.at - b.at);
  }

  /** For `load`. */
  readonly gpu = {
    requestAdapter: async (options?: GPURequestAdapterOptions) => {
      if (this.#unfit > 0) {
        this.#unfit -= 1;
        return null;
      }
      const adapter = await gpu.requestAdapter(options);
      if (adapter === null) return null;
      const { info, features } = adapter;
      const later = this.lost.size > 0 ? this.later : {};
      const limits = new Proxy(adapter.limits, {
        get: (target, name) => later[String(name)] ?? (Reflect.get(target, name, target) as unknown),
      });
      const requestDevice = async (descriptor?: GPUDeviceDescriptor): Promise<GPUDevice> =>
        this.#watch(await adapter.requestDevice(descriptor));
      return { info, features, limits, requestDevice };
    },
  } as unknown as GPU;

  /** As an engine would make it. */
  async device(): Promise<GPUDevice> {
    const adapter = await gpu.requestAdapter();
    if (adapter === null) throw new Error("no WebGPU adapter: install mesa-vulkan-drivers");
    return this.#watch(await adapter.requestDevice());
  }

  /** As a driver that is reset. */
  lose(device: GPUDevice): void {
    this.lost.add(device);
    this.#unfit = this.missing;
    device.destroy();
  }

  #watch(device: GPUDevice): GPUDevice {
    this.devices.push(device);
    device.addEventListener("uncapturederror", (event) => {
      this.uncaptured.push(event.error.message);
    });
    const methods = device as unknown as Methods;
    const real = device.queue;
    const queue: Methods = {};
    for (const [target, source, names] of [
      [methods, device, DEVICE_CALLS],
      [queue, real, QUEUE_CALLS],
    ] as const) {
      for (const name of names) {
        const method = (source as unknown as Methods)[name]?.bind(source);
        if (method === undefined) throw new Error(`no ${name}`);
        target[name] = (...args): unknown => {
          this.#tick(device);
          return method(...args);
        };
      }
    }
    Object.defineProperty(device, "queue", { value: queue });
    this.#refuseOnPurpose(device, queue);
    trackBuffers(device, this.live);
    return device;
  }

  /** Errors that the next scopes of their kind will hear of. */
  #refuseOnPurpose(device: GPUDevice, queue: Methods): void {
    const [createBuffer, popErrorScope, pushErrorScope] = [
      device.createBuffer.bind(device),
      device.popErrorScope.bind(device),
      device.pushErrorScope.bind(device),
    ];
    const { submit } = queue;
    device.pushErrorScope = (filter): undefined => {
      this.#scopes.push(filter);
      pushErrorScope(filter);
    };
    device.popErrorScope = async (): Promise<GPUError | null> => {
      const mine = this.#scopes.pop() === this.#refused;
      if (mine) this.#refused = undefined;
      const error = await popErrorScope();
      return mine ? { message: "on purpose" } : error;
    };
    device.createBuffer = (descriptor): GPUBuffer => {
      const buffer = createBuffer(descriptor);
      if (this.#noMemory) this.#refused = "out-of-memory";
      this.#noMemory = false;
      return buffer;
    };
    queue["submit"] = (...args): unknown => {
      if (this.#refuse) this.#refused = "validation";
      const refused = this.#refuse;
      this.#refuse = false;
      return refused ? undefined : submit?.(...args);
    };
  }

  #tick(device: GPUDevice): void {
    this.calls += 1;
    const next = this.#faults[0];
    if (next === undefined || this.calls < next.at) return;
    this.#faults.shift();
    const lose = (): void => {
      this.lose(device);
    };
    switch (next.kind) {
      case "lose":
        lose();
        break;
      case "later":
        setTimeout(lose, this.calls % 4);
        break;
      case "no-memory":
        this.#noMemory = true;
        break;
      case "refuse":
        this.#refuse = true;
    }
  }
}
