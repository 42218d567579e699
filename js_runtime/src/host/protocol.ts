// The command loop of a device host: takes JSON commands from the Python side by long polling and runs them.

import {
  describeAdapter,
  load,
  PipelineCache,
  WebinferError,
  type Feed,
  type Model,
  type OutputTensor,
  type RunTensor,
} from "../index.js";

/** A tensor whose bytes lie under /data/. */
interface TensorReference extends RunTensor {
  readonly data: string;
}

type Command =
  | ({ readonly id: number; readonly op: "load" } & LoadCommand)
  | ({ readonly id: number; readonly op: "run" } & RunCommand)
  | {
      readonly id: number;
      readonly op: "compile";
      readonly kernels: readonly { readonly name: string; readonly wgsl: string }[];
    }
  | { readonly id: number; readonly op: "dispose"; readonly handle: number }
  | { readonly id: number; readonly op: "memory" }
  | { readonly id: number; readonly op: "exit" };

interface LoadCommand {
  readonly package: string;
  readonly tier?: string;
  /** Load on the host's own device, which keeps compiled kernels for the next package. */
  readonly shared?: boolean;
  /** Run the package's golden inputs first. Else only what the host is asked for runs. */
  readonly selfTest?: boolean;
}

interface RunCommand {
  readonly handle: number;
  readonly feeds: readonly { readonly name: string; readonly data: string; readonly shape: readonly number[] }[];
  readonly outputs?: readonly string[];
  readonly capture?: readonly string[];
  readonly profile?: boolean;
  readonly warmup?: number;
  readonly repeat?: number;
  readonly read?: boolean;
}

/** The limits that tiers name. */
const LIMITS = [
  "maxBufferSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupStorageSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
] as const;

export interface HostOptions {
  readonly base: URL;
  readonly session: string;
  readonly gpu: GPU | undefined;
  readonly userAgent: string;
  readonly compatibility: boolean;
}

/** Serves one session until "exit" or until the server cannot be reached. */
export class Host {
  readonly #options: HostOptions;
  readonly #models = new Map<number, Model>();
  #nextHandle = 1;
  #nextData = 1;
  readonly #pipelines = new PipelineCache();
  #device: Promise<GPUDevice> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  /** Announce the adapter, then work. Resolves after "exit"; rejects when the server is gone. */
  async serve(): Promise<void> {
    await this.#post(0, () => this.#greet());
    for (;;) {
      const response = await fetch(this.#url(`next?session=${this.#options.session}`));
      if (response.status === 204) continue;
      if (!response.ok) throw new Error(`/next answered ${String(response.status)}`);
      const command = (await response.json()) as Command;
      await this.#post(command.id, () => this.#execute(command));
      if (command.op === "exit") return;
    }
  }

  async #greet(): Promise<unknown> {
    const adapter = await this.#adapter();
    const limits: Record<string, number> = {};
    // Limits are getters of the prototype, so spreading the object would miss them.
    for (const name in adapter.limits) {
      const value: unknown = (adapter.limits as unknown as Record<string, unknown>)[name];
      if (typeof value === "number") limits[name] = value;
    }
    const info: Partial<GPUAdapterInfo> = adapter.info;
    return {
      // null where the browser does not tell, which is not the same as "no".
      adapter: { ...describeAdapter(info), isFallbackAdapter: info.isFallbackAdapter ?? null },
      features: [...adapter.features].sort(),
      limits,
      userAgent: this.#options.userAgent,
    };
  }

  #execute(command: Command): Promise<unknown> {
    switch (command.op) {
      case "load":
        return this.#load(command);
      case "run":
        return this.#run(command);
      case "compile":
        return this.#compile(command.kernels);
      case "dispose":
        this.#model(command.handle).dispose();
        this.#models.delete(command.handle);
        return Promise.resolve({});
      case "memory":
        return Promise.resolve(this.#memory());
      case "exit":
        for (const model of this.#models.values()) model.dispose();
        this.#models.clear();
        return Promise.resolve({});
    }
  }

  async #load({ package: path, tier, shared, selfTest: tested = false }: LoadCommand): Promise<unknown> {
    const own = { gpu: this.#options.gpu, featureLevel: this.#featureLevel() };
    const on = shared === true ? { device: await this.#sharedDevice(), pipelineCache: this.#pipelines } : own;
    const selfTest = tested ? "always" : "never";
    const model = await load(this.#url(path), { tier, backend: "webgpu", cache: "none", selfTest, ...on });
    const handle = this.#nextHandle;
    this.#nextHandle += 1;
    this.#models.set(handle, model);
    const { tier: chosen, reasons, timings, adapter, dispatches, plan } = model.info;
    return { handle, tier: chosen, reasons, timings, adapter, dispatches, plan, memory: model.memory() };
  }

  async #run(command: RunCommand): Promise<unknown> {
    const model = this.#model(command.handle);
    const feeds: Record<string, Feed> = {};
    for (const { name, data, shape } of command.feeds) feeds[name] = { bytes: await this.#download(data), shape };
    for (let count = 0; count < (command.warmup ?? 0); count += 1) await model.run(feeds);
    await model.device.queue.onSubmittedWorkDone();
    const wallMs: number[] = [];
    let outputs: ReadonlyMap<string, OutputTensor> = new Map();
    for (let count = 0; count < (command.repeat ?? 1); count += 1) {
      const start = performance.now();
      outputs = await model.run(feeds);
      await model.device.queue.onSubmittedWorkDone();
      wallMs.push(performance.now() - start);
    }
    const read: TensorReference[] = [];
    let readMs: number | null = null;
    if (command.read !== false) {
      for (const name of command.outputs ?? model.outputs.map((output) => output.name)) {
        const output = outputs.get(name);
        if (output === undefined) throw new WebinferError("unknown-tensor", `the model has no output ${name}`);
        const start = performance.now();
        const bytes = await output.readBytes();
        readMs = (readMs ?? 0) + performance.now() - start;
        read.push(await this.#upload(output, bytes));
      }
    }
    const captured: TensorReference[] = [];
    if (command.capture !== undefined && command.capture.length > 0) {
      for (const tensor of await model.capture(feeds, command.capture)) {
        captured.push(await this.#upload(tensor, tensor.bytes));
      }
    }
    const profile = command.profile === true ? await model.profile(feeds) : undefined;
    const kernels = profile === undefined ? {} : { kernels: profile.dispatches, clock: profile.clock };
    return { outputs: read, captured, wallMs, readMs, memory: model.memory(), ...kernels };
  }

  async #compile(kernels: readonly { readonly name: string; readonly wgsl: string }[]): Promise<unknown> {
    const device = await this.#sharedDevice();
    const compiled = kernels.map(({ name, wgsl }) => {
      // The scope keeps a faulty shader out of the uncaptured errors; the messages below say what is wrong.
      device.pushErrorScope("validation");
      const shader = device.createShaderModule({ label: name, code: wgsl });
      const scope = device.popErrorScope();
      return { name, info: shader.getCompilationInfo(), scope };
    });
    const messages: { name: string; type: string; text: string; line: number }[] = [];
    for (const { name, info, scope } of compiled) {
      const found = (await info).messages;
      for (const { type, message, lineNum } of found) messages.push({ name, type, text: message, line: lineNum });
      const error = await scope;
      if (error !== null && !found.some(({ type }) => type === "error")) {
        messages.push({ name, type: "error", text: error.message, line: 0 });
      }
    }
    return { messages };
  }

  #memory(): unknown {
    const uses = [...this.#models.values()].map((model) => model.memory());
    return {
      models: uses.length,
      buffers: uses.reduce((sum, use) => sum + use.buffers, 0),
      bytes: uses.reduce((sum, use) => sum + use.bytes, 0),
    };
  }

  #model(handle: number): Model {
    const model = this.#models.get(handle);
    if (model === undefined) throw new WebinferError("disposed", `no model with handle ${String(handle)}`);
    return model;
  }

  #featureLevel(): "core" | "compatibility" {
    return this.#options.compatibility ? "compatibility" : "core";
  }

  async #adapter(): Promise<GPUAdapter> {
    const gpu: GPU | undefined = this.#options.gpu ?? (navigator as { readonly gpu?: GPU }).gpu;
    if (gpu === undefined) throw new WebinferError("no-webgpu", "navigator.gpu is missing in this host");
    const options: GPURequestAdapterOptions & { featureLevel: string } = { featureLevel: this.#featureLevel() };
    let adapter: GPUAdapter | null;
    try {
      adapter = await gpu.requestAdapter(options);
    } catch (cause) {
      throw new WebinferError("no-adapter", cause instanceof Error ? cause.message : String(cause), { cause });
    }
    if (adapter === null) throw new WebinferError("no-adapter", "WebGPU offers no adapter in this host");
    return adapter;
  }

  /** One device with all that the adapter offers and packages ask for; another one after it was lost. */
  #sharedDevice(): Promise<GPUDevice> {
    this.#device ??= this.#requestDevice();
    return this.#device;
  }

  async #requestDevice(): Promise<GPUDevice> {
    const adapter = await this.#adapter();
    const limits = adapter.limits as unknown as Readonly<Record<string, number>>;
    const device = await adapter.requestDevice({
      label: "webinfer host",
      requiredFeatures: [...adapter.features] as GPUFeatureName[],
      requiredLimits: Object.fromEntries(LIMITS.map((name) => [name, limits[name]])),
    });
    void device.lost.then(() => {
      this.#device = undefined;
    });
    return device;
  }

  async #download(data: string): Promise<Uint8Array<ArrayBuffer>> {
    const response = await fetch(this.#url(`data/${data}`));
    if (!response.ok) throw new Error(`/data/${data} answered ${String(response.status)}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  async #upload({ name, dtype, shape }: RunTensor, bytes: Uint8Array<ArrayBuffer>): Promise<TensorReference> {
    const data = `${this.#options.session}-${String(this.#nextData)}`;
    this.#nextData += 1;
    const response = await fetch(this.#url(`data/${data}`), { method: "POST", body: bytes });
    if (!response.ok) throw new Error(`/data/${data} answered ${String(response.status)}`);
    return { name, dtype, shape, data };
  }

  async #post(id: number, work: () => Promise<unknown>): Promise<void> {
    let body: unknown;
    try {
      body = { id, ok: true, value: await work() };
    } catch (error) {
      const code = error instanceof WebinferError ? error.code : "internal";
      if (code === "internal") console.error(error);
      body = { id, ok: false, error: { code, message: error instanceof Error ? error.message : String(error) } };
    }
    const response = await fetch(this.#url(`result?session=${this.#options.session}`), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`/result answered ${String(response.status)}`);
  }

  #url(path: string): URL {
    return new URL(path, this.#options.base);
  }
}
