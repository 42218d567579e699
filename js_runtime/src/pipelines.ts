// Compiles kernels to pipelines, each once, asynchronously and in parallel.

import { GpuError, throwIfAborted } from "./errors.js";
import type { Kernel } from "./generated/manifest.js";
import type { Package } from "./package.js";
import { SILENT, type Telemetry } from "./telemetry/events.js";
import { ShaderStage } from "./webgpu_flags.js";

/** A kernel ready to dispatch: storage bindings come first in the layout, then the uniform struct. */
export interface CompiledKernel {
  readonly kernel: Kernel;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  /** Of group 1, where the kernel reads or writes textures. */
  readonly images?: GPUBindGroupLayout;
  readonly wgsl: string;
}

/** What earlier loads compiled, for callers that load several packages on one device; it lives as long as they keep it. */
export class PipelineCache {
  readonly #devices = new WeakMap<GPUDevice, Map<string, Promise<CompiledKernel>>>();

  /** Whether `get` need not compile, and thus not fetch. */
  has(device: GPUDevice, key: string): boolean {
    return this.#devices.get(device)?.has(key) ?? false;
  }

  /** The kernel of that source and layout, compiled at the first call. What fails is not kept. */
  async get(device: GPUDevice, key: string, compile: () => Promise<CompiledKernel>): Promise<CompiledKernel> {
    const known = this.#devices.get(device) ?? new Map<string, Promise<CompiledKernel>>();
    this.#devices.set(device, known);
    const compiling = known.get(key) ?? compile();
    known.set(key, compiling);
    try {
      return await compiling;
    } catch (cause) {
      known.delete(key);
      throw cause;
    }
  }
}

/** Kernels that compile at a time. Browsers parse shaders where they also present the page's frames, which come between. */
const CONCURRENT = 4;

/** Pipelines of one package on one device, keyed by kernel name (names are unique within a package). */
export class Pipelines {
  readonly #device: GPUDevice;
  readonly #package: Package;
  readonly #signal: AbortSignal | undefined;
  readonly #onBytes: ((count: number) => void) | undefined;
  readonly #cache: PipelineCache | undefined;
  readonly #telemetry: Telemetry;
  readonly #kernels: ReadonlyMap<string, Kernel>;
  readonly #compiled = new Map<string, Promise<CompiledKernel>>();
  readonly #lanes: Promise<CompiledKernel>[] = [];
  #started = 0;

  constructor(
    device: GPUDevice,
    source: Package,
    options: {
      signal?: AbortSignal | undefined;
      onBytes?: (count: number) => void;
      cache?: PipelineCache | undefined;
      telemetry?: Telemetry;
    },
  ) {
    this.#device = device;
    this.#package = source;
    this.#signal = options.signal;
    this.#onBytes = options.onBytes;
    this.#cache = options.cache;
    this.#telemetry = options.telemetry ?? SILENT;
    this.#kernels = new Map(source.manifest.kernels.map((kernel) => [kernel.name, kernel]));
  }

  /** Compile all the named kernels; rejects with "compile" naming the first that the browser refuses. */
  async all(names: Iterable<string>): Promise<ReadonlyMap<string, CompiledKernel>> {
    const compiled = await Promise.all([...new Set(names)].map((name) => this.#get(name)));
    return new Map(compiled.map((entry) => [entry.kernel.name, entry]));
  }

  #get(name: string): Promise<CompiledKernel> {
    const known = this.#compiled.get(name);
    if (known !== undefined) return known;
    const kernel = this.#kernels.get(name);
    if (kernel === undefined) throw new GpuError("compile", `kernel ${name} is not part of the package`);
    const compiling = this.#cache === undefined ? this.#compile(kernel) : this.#cached(kernel, this.#cache);
    this.#compiled.set(name, compiling);
    return compiling;
  }

  async #cached(kernel: Kernel, cache: PipelineCache): Promise<CompiledKernel> {
    const key = JSON.stringify([this.#package.sha256Of(kernel.file), kernel.bindings, kernel.params.length > 0]);
    if (cache.has(this.#device, key)) this.#onBytes?.(this.#package.sizeOf(kernel.file));
    const compiled = await cache.get(this.#device, key, () => this.#compile(kernel));
    return { ...compiled, kernel };
  }

  async #compile(kernel: Kernel): Promise<CompiledKernel> {
    const bytes = await this.#package.read(kernel.file, { signal: this.#signal, onBytes: this.#onBytes });
    const lane = this.#started % CONCURRENT;
    this.#started += 1;
    const create = (): Promise<CompiledKernel> => this.#create(kernel, bytes);
    const created = (this.#lanes[lane] ?? Promise.resolve()).then(create, create);
    this.#lanes[lane] = created;
    return created;
  }

  async #create(kernel: Kernel, bytes: Uint8Array<ArrayBuffer>): Promise<CompiledKernel> {
    throwIfAborted(this.#signal);
    const device = this.#device;
    const at = performance.now();
    device.pushErrorScope("validation");
    const wgsl = new TextDecoder().decode(bytes);
    const shader = device.createShaderModule({ label: kernel.name, code: wgsl });
    const layout = device.createBindGroupLayout({ label: kernel.name, entries: layoutEntries(kernel) });
    const scope = device.popErrorScope();
    const pipeline = device.createComputePipelineAsync({
      label: kernel.name,
      layout: device.createPipelineLayout({ label: kernel.name, bindGroupLayouts: [layout] }),
      compute: { module: shader },
    });
    // Both are awaited below; whichever fails first must not leave the other one's rejection unhandled.
    pipeline.catch(() => undefined);
    const invalid = await scope;
    try {
      if (invalid === null) {
        const compiled = { kernel, layout, wgsl, pipeline: await pipeline };
        const ms = performance.now() - at;
        this.#telemetry.emit({ type: "compile", at, ms, model: this.#package.manifest.name, kernel: kernel.name });
        return compiled;
      }
    } catch (cause) {
      throw await refusal(kernel, shader, cause instanceof Error ? cause.message : String(cause), cause);
    }
    throw await refusal(kernel, shader, invalid.message, undefined);
  }
}

function layoutEntries(kernel: Kernel): GPUBindGroupLayoutEntry[] {
  const entries: GPUBindGroupLayoutEntry[] = kernel.bindings.map((binding, index) => ({
    binding: index,
    visibility: ShaderStage.COMPUTE,
    buffer: { type: binding.access === "read" ? "read-only-storage" : "storage" },
  }));
  if (kernel.params.length > 0) {
    entries.push({ binding: entries.length, visibility: ShaderStage.COMPUTE, buffer: { type: "uniform" } });
  }
  return entries;
}

async function refusal(kernel: Kernel, shader: GPUShaderModule, message: string, cause: unknown): Promise<GpuError> {
  const info = await shader.getCompilationInfo();
  const first = info.messages.find((entry) => entry.type === "error");
  const detail = first === undefined ? message : `line ${String(first.lineNum)}: ${first.message}`;
  return new GpuError("compile", `kernel ${kernel.name} (${kernel.file}): ${detail}`, { cause });
}
