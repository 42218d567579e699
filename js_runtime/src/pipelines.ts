// Compiles kernels to pipelines, each once, asynchronously and in parallel.

import { GpuError } from "./errors.js";
import type { Kernel } from "./generated/manifest.js";
import type { Package } from "./package.js";
import { ShaderStage } from "./webgpu_flags.js";

/** A kernel ready to dispatch: storage bindings come first in the layout, then the uniform struct. */
export interface CompiledKernel {
  readonly kernel: Kernel;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
}

/** Pipelines of one package on one device, keyed by kernel name (names are unique within a package). */
export class Pipelines {
  readonly #device: GPUDevice;
  readonly #package: Package;
  readonly #signal: AbortSignal | undefined;
  readonly #onBytes: ((count: number) => void) | undefined;
  readonly #kernels: ReadonlyMap<string, Kernel>;
  readonly #compiled = new Map<string, Promise<CompiledKernel>>();

  constructor(device: GPUDevice, source: Package, signal?: AbortSignal, onBytes?: (count: number) => void) {
    this.#device = device;
    this.#package = source;
    this.#signal = signal;
    this.#onBytes = onBytes;
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
    const compiling = this.#compile(kernel);
    this.#compiled.set(name, compiling);
    return compiling;
  }

  async #compile(kernel: Kernel): Promise<CompiledKernel> {
    const bytes = await this.#package.read(kernel.file, { signal: this.#signal, onBytes: this.#onBytes });
    const device = this.#device;
    device.pushErrorScope("validation");
    const shader = device.createShaderModule({ label: kernel.name, code: new TextDecoder().decode(bytes) });
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
      if (invalid === null) return { kernel, layout, pipeline: await pipeline };
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
