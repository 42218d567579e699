// Divides dispatches by workgroup ranges: a second pipeline per kernel, made on demand, whose workgroup ids start anywhere.
//
// WebGPU orders nothing between the workgroups of a dispatch, so several dispatches that cover its workgroups compute the
// same, as long as each workgroup sees its own id and the whole count. The variant adds an offset to the entry point's
// builtins; whole dispatches keep the pipeline without it.

import { setUp, type BoundDispatch } from "./executor.js";
import type { Kernel } from "./generated/manifest.js";
import type { ModelMemory } from "./memory.js";
import type { CompiledKernel } from "./pipelines.js";
import { ShaderStage } from "./webgpu_flags.js";

/** The struct of a part: first: vec3<u32>, whole: vec3<u32>, each padded to 16 bytes. */
const PART_BYTES = 32;
/** Parts that may be encoded before the first is submitted; a slice has at most two. */
const SLOTS = 64;

const declaration = (group: number): string => `
struct WebinferPart { first: vec3<u32>, whole: vec3<u32> }
@group(${String(group)}) @binding(0) var<uniform> webinfer_part: WebinferPart;
`;

/** The kernel's WGSL with offset workgroup ids, from `group`; undefined where its entry point is not of a known form. */
export function partWgsl(wgsl: string, workgroupSize: Kernel["workgroup_size"], group = 1): string | undefined {
  const entry = /\bfn\s+main\s*\(/.exec(wgsl);
  if (entry === null) return undefined;
  const open = entry.index + entry[0].length;
  const parameters = splitParameters(wgsl, open);
  const body = parameters === undefined ? -1 : wgsl.indexOf("{", parameters.end);
  if (parameters === undefined || body < 0) return undefined;
  const kept: string[] = [];
  const lets: string[] = [];
  for (const text of parameters.texts) {
    const found = /@builtin\(\s*(\w+)\s*\)\s*(\w+)\s*:/.exec(text);
    if (found === null) return undefined;
    const [, builtin = "", name = ""] = found;
    const own = `webinfer_${name}`;
    const renamed = text.replace(new RegExp(`\\b${name}\\s*:`), `${own}:`);
    switch (builtin) {
      case "workgroup_id":
        kept.push(renamed);
        lets.push(`let ${name} = ${own} + webinfer_part.first;`);
        break;
      case "global_invocation_id": {
        const size = workgroupSize.map((count) => `${String(count)}u`).join(", ");
        kept.push(renamed);
        lets.push(`let ${name} = ${own} + webinfer_part.first * vec3<u32>(${size});`);
        break;
      }
      case "num_workgroups":
        lets.push(`let ${name} = webinfer_part.whole;`);
        break;
      case "local_invocation_id":
      case "local_invocation_index":
        kept.push(text);
        break;
      default:
        return undefined;
    }
  }
  const head = wgsl.slice(0, open) + kept.join(",") + wgsl.slice(parameters.end, body + 1);
  return `${head} ${lets.join(" ")}${wgsl.slice(body + 1)}${declaration(group)}`;
}

/** The parameters from `open` to the closing parenthesis, whose index is `end`. */
function splitParameters(wgsl: string, open: number): { readonly texts: string[]; readonly end: number } | undefined {
  const texts: string[] = [];
  let depth = 0;
  let start = open;
  for (let at = open; at < wgsl.length; at += 1) {
    const character = wgsl[at];
    if (character === "(") depth += 1;
    else if (character === "," && depth === 0) {
      texts.push(wgsl.slice(start, at));
      start = at + 1;
    } else if (character === ")") {
      depth -= 1;
      if (depth >= 0) continue;
      const last = wgsl.slice(start, at);
      if (last.trim() !== "") texts.push(last);
      return { texts, end: at };
    }
  }
  return undefined;
}

/** Workgroups `first` to `first + count` along `axis`. */
export interface WorkgroupRange {
  readonly axis: 0 | 1 | 2;
  readonly first: number;
  readonly count: number;
}

/** The axis along which a dispatch is divided: the one with the most workgroups. */
export function longestAxis([x, y, z]: readonly [number, number, number]): 0 | 1 | 2 {
  if (x >= y && x >= z) return 0;
  return y >= z ? 1 : 2;
}

/** The divided forms of one model's kernels. */
export class Parts {
  readonly #device: GPUDevice;
  readonly #memory: ModelMemory;
  readonly #pipelines = new Map<string, GPUComputePipeline | "none">();
  readonly #compiling = new Map<string, Promise<void>>();
  #table: { layout: GPUBindGroupLayout; buffer: GPUBuffer; group: GPUBindGroup; stride: number } | undefined;
  #next = 0;

  constructor(device: GPUDevice, memory: ModelMemory) {
    this.#device = device;
    this.#memory = memory;
  }

  /** Whether the kernel can be divided now; the first call starts the compilation. "none": it never can. */
  state(compiled: CompiledKernel): "ready" | "pending" | "none" {
    const known = this.#pipelines.get(compiled.kernel.name);
    if (known !== undefined) return typeof known === "string" ? known : "ready";
    void this.compile(compiled);
    return "pending";
  }

  /** Make the divided form, once; never rejects. */
  compile(compiled: CompiledKernel): Promise<void> {
    const { name } = compiled.kernel;
    const known = this.#compiling.get(name);
    if (known !== undefined) return known;
    const compiling = this.#compile(compiled).then((pipeline) => {
      this.#pipelines.set(name, pipeline);
    });
    this.#compiling.set(name, compiling);
    return compiling;
  }

  /** Encode a range of a dispatch whose kernel is "ready". */
  encode(pass: GPUComputePassEncoder, dispatch: BoundDispatch, { axis, first, count }: WorkgroupRange): void {
    const { kernel, images, workgroups } = dispatch;
    const pipeline = this.#pipelines.get(kernel);
    if (typeof pipeline !== "object") throw new RangeError(`kernel ${kernel} has no divided form`);
    const { buffer, group, stride } = this.#parts();
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    const words = new Uint32Array(PART_BYTES / 4);
    words[axis] = first;
    words.set(workgroups, 4);
    this.#device.queue.writeBuffer(buffer, slot * stride, words);
    const counts: [number, number, number] = [...workgroups];
    counts[axis] = count;
    setUp(pass, dispatch, pipeline);
    pass.setBindGroup(images === undefined ? 1 : 2, group, [slot * stride]);
    pass.dispatchWorkgroups(...counts);
  }

  async #compile({ kernel, layout, images, wgsl }: CompiledKernel): Promise<GPUComputePipeline | "none"> {
    const own = images === undefined ? [layout] : [layout, images];
    const code = partWgsl(wgsl, kernel.workgroup_size, own.length);
    if (code === undefined) return "none";
    const device = this.#device;
    const label = `${kernel.name} part`;
    device.pushErrorScope("validation");
    const bindGroupLayouts = [...own, this.#parts().layout];
    const made = device.createComputePipelineAsync({
      label,
      layout: device.createPipelineLayout({ label, bindGroupLayouts }),
      compute: { module: device.createShaderModule({ label, code }) },
    });
    const scope = device.popErrorScope();
    const [pipeline, error] = await Promise.allSettled([made, scope]);
    // A kernel that cannot be divided still runs whole.
    const valid = error.status === "fulfilled" && error.value === null;
    return pipeline.status === "fulfilled" && valid ? pipeline.value : "none";
  }

  /** The ring of parts, made when the first kernel is divided. */
  #parts() {
    if (this.#table !== undefined) return this.#table;
    const device = this.#device;
    const stride = Math.max(PART_BYTES, device.limits.minUniformBufferOffsetAlignment);
    const buffer = this.#memory.create("uniform", stride * SLOTS, "parts");
    const layout = device.createBindGroupLayout({
      label: "webinfer part",
      entries: [
        {
          binding: 0,
          visibility: ShaderStage.COMPUTE,
          buffer: { type: "uniform", hasDynamicOffset: true, minBindingSize: PART_BYTES },
        },
      ],
    });
    const group = device.createBindGroup({
      label: "webinfer part",
      layout,
      entries: [{ binding: 0, resource: { buffer, size: PART_BYTES } }],
    });
    this.#table = { layout, buffer, group, stride };
    return this.#table;
  }
}
