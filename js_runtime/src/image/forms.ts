// Decides which tensors of a run the model's own kernels read from or write to textures, and compiles these forms.

import type { Executor } from "../executor.js";
import type { CompiledKernel } from "../pipelines.js";
import { ShaderStage } from "../webgpu_flags.js";
import { imageWgsl, type Port } from "./form.js";
import type { Layout, OutputFormat } from "./picture.js";
import { extentsOf, type ImageDType } from "./texels.js";
import type { Geometry } from "./picture.js";
import type { Program } from "../generated/manifest.js";

/** Dispatches that may read one texture: each converts every texel again. */
const MAX_READERS = 2;
/**
 * Operations per element of an input beyond which a kernel with tiles in registers is taken to read elements very often.
 * CPU adapters run these, and there a texel costs much more than a word of a buffer.
 */
const MAX_OPERATIONS = 128;

/** A tensor of a run that is to be read from, or written to, a texture. */
export interface Wish {
  readonly tensor: string;
  readonly dtype: ImageDType;
  readonly geometry: Geometry;
  /** The same in every run. */
  readonly fixed: boolean;
  readonly way: { readonly read: Layout } | { readonly write: OutputFormat };
  /** Why it must be converted whatever the kernels are; empty if nothing speaks against fusion. */
  readonly refusal: string;
}

/** A kernel's form: its group 1 has the textures of `tensors` in order, each followed by its uniform. */
export interface Form {
  readonly compiled: CompiledKernel;
  readonly images: GPUBindGroupLayout;
  readonly tensors: readonly string[];
}

/** What becomes of the wishes of a run. */
export interface Fusion {
  /** By index of the dispatch. */
  readonly forms: ReadonlyMap<number, Form>;
  /** Tensors that are converted, and why. */
  readonly refusals: ReadonlyMap<string, string>;
}

interface Touch {
  readonly dispatch: number;
  readonly binding: number;
  readonly writes: boolean;
  /** Element 0 of the binding is element 0 of the tensor. */
  readonly whole: boolean;
}

/** The forms of one program's kernels. */
export class Forms {
  readonly #device: GPUDevice;
  readonly #executor: Executor;
  readonly #outputs: readonly string[];
  readonly #fusions = new Map<string, Promise<Fusion>>();
  readonly #forms = new Map<string, Promise<Form | undefined>>();

  /** The executor must be bound; `outputs` are the model's. */
  constructor(device: GPUDevice, executor: Executor, outputs: readonly string[]) {
    this.#device = device;
    this.#executor = executor;
    this.#outputs = outputs;
  }

  /** Fuse what can be; never rejects. The same wishes get the same answer. */
  fuse(wishes: readonly Wish[]): Promise<Fusion> {
    const key = JSON.stringify(wishes);
    const known = this.#fusions.get(key) ?? this.#fuse(wishes);
    this.#fusions.set(key, known);
    return known;
  }

  async #fuse(wishes: readonly Wish[]): Promise<Fusion> {
    const refusals = new Map<string, string>();
    for (const wish of wishes) {
      const refusal = wish.refusal || this.#refusal(wish);
      if (refusal !== "") refusals.set(wish.tensor, refusal);
    }
    // A form that does not compile sends all its tensors back, and with them the other readers' forms.
    for (;;) {
      const ports = this.#ports(wishes.filter(({ tensor }) => !refusals.has(tensor)));
      const forms = new Map<number, Form>();
      const failed = new Map<string, string>();
      await Promise.all(
        [...ports].map(async ([dispatch, own]) => {
          const { kernel } = this.#dispatch(dispatch);
          const form = await this.#form(kernel, own);
          if (form !== undefined) forms.set(dispatch, form);
          else for (const { tensor } of own) failed.set(tensor, `kernel ${kernel} has no form for it`);
        }),
      );
      if (failed.size === 0) return { forms, refusals };
      for (const [tensor, reason] of failed) refusals.set(tensor, reason);
    }
  }

  /** Why a tensor cannot be fused, as far as the plan tells. */
  #refusal({ tensor, dtype, geometry, way }: Wish): string {
    if (dtype === "uint8") return "its elements are integers";
    const touches = this.#touches(tensor);
    const sharing = this.#outputs.find((other) => other !== tensor && this.#overlap(tensor, other));
    if (sharing !== undefined) return `it shares memory with output ${sharing}`;
    if (!touches.every(({ whole }) => whole)) return "a kernel uses a part of it";
    if ("write" in way) {
      if (touches.length !== 1 || touches[0]?.writes !== true) {
        return `${String(touches.length)} dispatches write or read it`;
      }
      const texels = geometry.channels === 1 || (geometry.channels === 4 && geometry.layout === "nhwc");
      return texels ? "" : "a kernel stores no whole texels";
    }
    if (touches.some(({ writes }) => writes)) return "a kernel writes to it";
    if (touches.length === 0 || touches.length > MAX_READERS) return `${String(touches.length)} dispatches read it`;
    const elements = geometry.width * geometry.height * geometry.channels;
    const heavy = touches.find(({ dispatch }) => this.#dispatch(dispatch).flops > MAX_OPERATIONS * elements);
    if (heavy === undefined || this.#program.tiling === "workgroup") return "";
    return `${this.#dispatch(heavy.dispatch).node} reads its elements too often`;
  }

  #ports(wishes: readonly Wish[]): ReadonlyMap<number, readonly Port[]> {
    const ports = new Map<number, Port[]>();
    for (const { tensor, dtype, geometry, fixed, way } of wishes) {
      if (dtype === "uint8") continue;
      for (const { dispatch, binding } of this.#touches(tensor)) {
        const own = { binding, tensor, dtype, extents: (uniform: string) => extentsOf(uniform, geometry, fixed) };
        const port: Port =
          "read" in way
            ? { ...own, way: "read", layout: way.read }
            : { ...own, way: "write", format: way.write, channels: geometry.channels === 1 ? 1 : 4 };
        ports.set(dispatch, [...(ports.get(dispatch) ?? []), port]);
      }
    }
    return ports;
  }

  #form(kernel: string, ports: readonly Port[]): Promise<Form | undefined> {
    const key = JSON.stringify([kernel, ports.map(({ extents, ...port }) => [port, extents("")])]);
    const known = this.#forms.get(key) ?? this.#compile(kernel, ports, this.#forms.size);
    this.#forms.set(key, known);
    return known;
  }

  async #compile(kernel: string, ports: readonly Port[], number: number): Promise<Form | undefined> {
    const planned = this.#executor.kernel(kernel);
    const code = imageWgsl(planned.wgsl, planned.kernel, ports);
    if (code === undefined) return undefined;
    const device = this.#device;
    const label = `${kernel} image ${String(number)}`;
    device.pushErrorScope("validation");
    const images = device.createBindGroupLayout({ label, entries: ports.flatMap(entriesOf) });
    const module = device.createShaderModule({ label, code });
    const layout = device.createPipelineLayout({ label, bindGroupLayouts: [planned.layout, images] });
    const made = device.createComputePipelineAsync({ label, layout, compute: { module } });
    const scope = device.popErrorScope();
    const [pipeline, error] = await Promise.allSettled([made, scope]);
    // A kernel without such a form still runs: its images are converted.
    if (pipeline.status === "rejected" || error.status === "rejected" || error.value !== null) return undefined;
    const own = { ...planned.kernel, name: label };
    const compiled = { kernel: own, pipeline: pipeline.value, layout: planned.layout, images, wgsl: code };
    return { compiled, images, tensors: ports.map(({ tensor }) => tensor) };
  }

  /** The arguments of dispatches that overlap a tensor. */
  #touches(name: string): readonly Touch[] {
    const { dispatches, tensors } = this.#program;
    const span = tensors[name]?.span;
    if (span === undefined) return [];
    return dispatches.flatMap(({ args, kernel }, dispatch) =>
      args.flatMap((arg, binding) => {
        if (!overlap(arg, span)) return [];
        const writes = this.#executor.kernel(kernel).kernel.bindings[binding]?.access === "read_write";
        return [{ dispatch, binding, writes, whole: arg.offset === span.offset }];
      }),
    );
  }

  #overlap(tensor: string, other: string): boolean {
    const [a, b] = [this.#program.tensors[tensor]?.span, this.#program.tensors[other]?.span];
    return a !== undefined && b !== undefined && overlap(a, b);
  }

  #dispatch(index: number): Program["dispatches"][number] {
    const dispatch = this.#program.dispatches[index];
    if (dispatch === undefined) throw new RangeError(`no dispatch ${String(index)}`);
    return dispatch;
  }

  get #program(): Program {
    return this.#executor.program;
  }
}

interface Range {
  readonly buffer: number;
  readonly offset: number;
  readonly size_bytes: number;
}

function overlap(a: Range, b: Range): boolean {
  return a.buffer === b.buffer && a.offset < b.offset + b.size_bytes && b.offset < a.offset + a.size_bytes;
}

function entriesOf(port: Port, place: number): GPUBindGroupLayoutEntry[] {
  const visibility = ShaderStage.COMPUTE;
  const texels: GPUBindGroupLayoutEntry =
    port.way === "read"
      ? { binding: 2 * place, visibility, texture: { sampleType: "unfilterable-float" } }
      : { binding: 2 * place, visibility, storageTexture: { format: port.format } };
  return [texels, { binding: 2 * place + 1, visibility, buffer: { type: "uniform" } }];
}
