// Replays the dispatches of one program: derived from (program, device, kernels), and dropped as a whole.

import type { KernelTrail } from "./diagnosis.js";
import { GpuError } from "./errors.js";
import type { Extent, Sizes } from "./expressions.js";
import type { Dispatch, Kernel, Program, Span } from "./generated/manifest.js";
import { bufferBytes, type ModelMemory } from "./memory.js";
import type { CompiledKernel } from "./pipelines.js";
import type { DevicePool } from "./pool.js";
import type { Slot } from "./slots.js";
import { checked } from "./scopes.js";
import { padded } from "./tensor.js";

/** A dispatch with its resources bound, ready to be encoded. */
export interface BoundDispatch {
  readonly kernel: string;
  readonly node: string;
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  /** Group 1 of a kernel that reads or writes textures. */
  readonly images?: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
}

/** Another form of a kernel, which reads or writes textures, with its group 1. */
export interface Substitute {
  readonly compiled: CompiledKernel;
  readonly images: GPUBindGroup;
}

export const NO_SUBSTITUTES: ReadonlyMap<number, Substitute> = new Map();

type Triple = [number, number, number];

/** Set a dispatch's bind groups, and its pipeline or another form of it. */
export function setUp(
  pass: GPUComputePassEncoder,
  { pipeline, bindGroup, images }: BoundDispatch,
  form: GPUComputePipeline = pipeline,
): void {
  pass.setPipeline(form);
  pass.setBindGroup(0, bindGroup);
  if (images !== undefined) pass.setBindGroup(1, images);
}

/** Encode bound dispatches into one compute pass. */
export function encodePass(
  encoder: GPUCommandEncoder,
  dispatches: readonly BoundDispatch[],
  timestampWrites?: GPUComputePassTimestampWrites,
): void {
  if (dispatches.length === 0) return;
  const pass = encoder.beginComputePass(timestampWrites === undefined ? {} : { timestampWrites });
  for (const dispatch of dispatches) {
    setUp(pass, dispatch);
    pass.dispatchWorkgroups(...dispatch.workgroups);
  }
  pass.end();
}

/** Activation buffers, and the dispatches once they are bound to them. */
interface Arrangement {
  readonly slots: readonly Slot[];
  readonly dispatches?: readonly BoundDispatch[];
}

/** Arrangements that are kept. With many models in turns, a run may meet any of a few. */
const MAX_ARRANGEMENTS = 8;

/**
 * Buffers, uniforms and bind groups of a program. Activation buffers are leased for every run; staging buffers are made
 * on demand and destroyed early.
 */
export class Executor {
  readonly program: Program;
  /** Notes what is encoded. */
  readonly trail: KernelTrail;
  readonly #pool: DevicePool;
  readonly #device: GPUDevice;
  readonly #memory: ModelMemory;
  readonly #buffers: (GPUBuffer | undefined)[];
  /** Indices of activation buffers. */
  readonly #activations: readonly number[];
  readonly #uniforms: UniformBlock;
  readonly #prepareUniforms: UniformBlock;
  readonly #sizes: Sizes;
  readonly #workgroups: readonly Triple[];
  readonly #varying: readonly { readonly workgroups: Triple; readonly extents: readonly Extent[] }[];
  #changes: number;
  /** The present arrangement first, then the last ones. */
  #arrangements: readonly Arrangement[] = [];
  #kernels: ReadonlyMap<string, CompiledKernel> = new Map();
  #substitutes = NO_SUBSTITUTES;
  /** The dispatches with the last substitutes that there were. */
  #substituted: readonly BoundDispatch[] = [];
  #substitutedFor: readonly unknown[] = [];

  /** For within `DevicePool.admit`; throws "memory-budget". The activation buffers are leased. */
  constructor(
    pool: DevicePool,
    memory: ModelMemory,
    program: Program,
    kernels: ReadonlyMap<string, Kernel>,
    sizes: Sizes,
    trail: KernelTrail,
  ) {
    this.trail = trail;
    this.#sizes = sizes;
    this.#changes = sizes.changes;
    this.program = program;
    this.#pool = pool;
    this.#device = pool.device;
    this.#memory = memory;
    this.#workgroups = program.dispatches.map((dispatch) => workgroupsOf(dispatch, sizes));
    this.#varying = program.dispatches.flatMap(({ workgroups: extents }, index) => {
      const workgroups = this.#workgroups[index];
      const varies = extents.some((extent) => typeof extent === "string");
      return varies && workgroups !== undefined ? [{ workgroups, extents }] : [];
    });
    this.#activations = [...program.buffers.keys()].filter((index) => program.buffers[index]?.kind === "activation");
    this.#buffers = program.buffers.map(() => undefined);
    this.acquire();
    const lasting = [...program.buffers.entries()].filter(
      ([, { kind }]) => kind !== "staging" && kind !== "activation",
    );
    const bytes = lasting.reduce((sum, [, { size_bytes }]) => sum + bufferBytes(size_bytes), 0);
    // At once: nobody gives way to half a model.
    memory.makeRoom(bytes, "the model");
    for (const [index, { kind, size_bytes }] of lasting) {
      if (kind === "activation") continue;
      this.#buffers[index] = memory.create(kind, size_bytes, `${kind} ${String(index)}`);
    }
    this.#uniforms = new UniformBlock(this.#device, memory, program.dispatches, kernels, sizes);
    this.#prepareUniforms = new UniformBlock(this.#device, memory, program.prepare, kernels, sizes);
  }

  /** The dispatches of a run, in order; empty before `bind`. */
  get dispatches(): readonly BoundDispatch[] {
    const planned = this.#arrangements[0]?.dispatches ?? [];
    if (this.#substitutes.size === 0) return planned;
    if (this.#substitutedFor[0] !== planned || this.#substitutedFor[1] !== this.#substitutes) {
      this.#substitutedFor = [planned, this.#substitutes];
      this.#substituted = planned.map((dispatch, index) => {
        const form = this.#substitutes.get(index);
        if (form === undefined) return dispatch;
        const { compiled, images } = form;
        return { ...dispatch, kernel: compiled.kernel.name, pipeline: compiled.pipeline, images };
      });
    }
    return this.#substituted;
  }

  /** From now on use other forms of some kernels; keys are indices into Program.dispatches. */
  substitute(forms: ReadonlyMap<number, Substitute>): void {
    this.#substitutes = forms;
  }

  /**
   * Lease activation buffers for a run: those of an earlier run where they are free. For within `DevicePool.admit`;
   * throws "memory-budget".
   */
  acquire(): void {
    const known = this.#arrangements.find(({ slots }) => this.#pool.leaseAgain(this.#memory, slots));
    const present = known ?? {
      slots: this.#pool.lease(
        this.#memory,
        this.#activations.map((index) => this.#size(index)),
      ),
    };
    this.#arrange(present);
    for (const [at, index] of this.#activations.entries()) this.#buffers[index] = present.slots[at]?.buffer;
  }

  /** The compiled kernel of a bound dispatch. */
  kernel(name: string): CompiledKernel {
    const form = [...this.#substitutes.values()].find(({ compiled: { kernel } }) => kernel.name === name);
    const compiled = form?.compiled ?? this.#kernels.get(name);
    if (compiled === undefined) throw new GpuError("compile", `kernel ${name} was not compiled`);
    return compiled;
  }

  /** The GPUBuffer of a span; creates a staging buffer at its first use. */
  buffer(index: number): GPUBuffer {
    const known = this.#buffers[index];
    if (known !== undefined) return known;
    const created = this.#memory.create("staging", this.#size(index), `staging ${String(index)}`);
    this.#buffers[index] = created;
    return created;
  }

  /** Destroy a staging buffer whose work was submitted. */
  releaseStaging(index: number): void {
    const buffer = this.#buffers[index];
    if (buffer === undefined) return;
    this.#memory.destroy(buffer);
    this.#buffers[index] = undefined;
  }

  /** Bind one load-time dispatch (an index into Program.prepare). */
  bindPrepare(index: number, kernels: ReadonlyMap<string, CompiledKernel>): BoundDispatch {
    const dispatch = this.program.prepare[index];
    if (dispatch === undefined) throw new RangeError(`prepare has no dispatch ${String(index)}`);
    return this.#bind(dispatch, this.#prepareUniforms, kernels);
  }

  /** Free what only the load-time dispatches needed; they have all been submitted. */
  releasePrepare(): void {
    this.#prepareUniforms.release();
    for (const index of this.program.buffers.keys()) {
      if (this.program.buffers[index]?.kind === "staging") this.releaseStaging(index);
    }
  }

  /** Bind the dispatches to the leased buffers; nothing to do where they were bound to these before. */
  async bind(kernels: ReadonlyMap<string, CompiledKernel> = this.#kernels): Promise<void> {
    const [present] = this.#arrangements;
    if (present === undefined || present.dispatches !== undefined) return;
    this.#kernels = kernels;
    const dispatches = await checked(this.#device, "bind groups", () =>
      this.program.dispatches.map((dispatch, index) =>
        this.#bind(dispatch, this.#uniforms, kernels, this.#workgroups[index]),
      ),
    );
    this.#arrange({ ...present, dispatches });
  }

  /** Bring uniforms and workgroup counts up to the sizes of the next run; nothing to do where no size changed. */
  resize(): void {
    if (this.#changes === this.#sizes.changes) return;
    this.#changes = this.#sizes.changes;
    this.#uniforms.write();
    for (const { workgroups, extents } of this.#varying) fill(workgroups, extents, this.#sizes);
  }

  /** Dispatch one workgroup of every kernel: several drivers compile a shader only at its first dispatch. */
  async warmUp(): Promise<void> {
    const first = new Map(this.dispatches.map((dispatch, index) => [dispatch.kernel, { dispatch, index }]));
    // One at a time: each may take seconds, and a renderer gets its turn in between.
    for (const { dispatch, index } of first.values()) {
      this.trail.note(dispatch.kernel);
      await checked(this.#device, "warm-up", () => {
        const encoder = this.#device.createCommandEncoder({ label: "webinfer warm-up" });
        this.clear(encoder, index);
        encodePass(encoder, [{ ...dispatch, workgroups: [1, 1, 1] }]);
        this.#device.queue.submit([encoder.finish()]);
      });
      await this.#device.queue.onSubmittedWorkDone();
    }
  }

  /**
   * Zero the activations that a dispatch is bound to. What runs out of order would else take what lies there, maybe
   * another model's values, for a count, and loop for minutes.
   */
  clear(encoder: GPUCommandEncoder, dispatch: number): void {
    for (const { buffer, offset, size_bytes } of this.program.dispatches[dispatch]?.args ?? []) {
      if (this.#activations.includes(buffer)) encoder.clearBuffer(this.buffer(buffer), offset, size_bytes);
    }
  }

  #size(index: number): number {
    return this.program.buffers[index]?.size_bytes ?? 0;
  }

  #arrange(present: Arrangement): void {
    const others = this.#arrangements.filter(({ slots }) => slots !== present.slots);
    this.#arrangements = [present, ...others].slice(0, MAX_ARRANGEMENTS);
  }

  #bind(
    dispatch: Dispatch,
    uniforms: UniformBlock,
    kernels: ReadonlyMap<string, CompiledKernel>,
    workgroups: Triple = workgroupsOf(dispatch, this.#sizes),
  ): BoundDispatch {
    const compiled = kernels.get(dispatch.kernel);
    if (compiled === undefined) throw new GpuError("compile", `kernel ${dispatch.kernel} was not compiled`);
    const entries: GPUBindGroupEntry[] = dispatch.args.map((span: Span, binding) => ({
      binding,
      resource: { buffer: this.buffer(span.buffer), offset: span.offset, size: span.size_bytes },
    }));
    const uniform = uniforms.resource(dispatch);
    if (uniform !== undefined) entries.push({ binding: entries.length, resource: uniform });
    return {
      kernel: dispatch.kernel,
      node: dispatch.node,
      pipeline: compiled.pipeline,
      bindGroup: this.#device.createBindGroup({ label: dispatch.kernel, layout: compiled.layout, entries }),
      workgroups,
    };
  }
}

/** Workgroup counts of a dispatch at the present sizes. */
export function workgroupsOf(dispatch: Dispatch, sizes: Sizes): Triple {
  const workgroups: Triple = [0, 0, 0];
  fill(workgroups, dispatch.workgroups, sizes);
  return workgroups;
}

function fill(workgroups: Triple, extents: readonly Extent[], sizes: Sizes): void {
  for (let axis = 0; axis < 3; axis += 1) workgroups[axis] = sizes.valueOf(extents[axis] ?? 1);
}

/** One uniform that depends on the sizes: its place in the block. */
interface Varying {
  readonly at: number;
  readonly extent: string;
}

/** The uniform structs of all given dispatches in one buffer; equal structs of a kernel share a place. */
export class UniformBlock {
  readonly #device: GPUDevice;
  readonly #sizes: Sizes;
  readonly #varying: Varying[] = [];
  readonly #block: DataView<ArrayBuffer>;
  readonly #memory: ModelMemory;
  readonly #buffer: GPUBuffer | undefined;
  readonly #places = new Map<Dispatch, { readonly offset: number; readonly size: number }>();

  constructor(
    device: GPUDevice,
    memory: ModelMemory,
    dispatches: readonly Dispatch[],
    kernels: ReadonlyMap<string, Kernel>,
    sizes: Sizes,
  ) {
    this.#device = device;
    this.#memory = memory;
    this.#sizes = sizes;
    const alignment = device.limits.minUniformBufferOffsetAlignment;
    const shared = new Map<string, { readonly offset: number; readonly size: number }>();
    let end = 0;
    for (const dispatch of dispatches) {
      if (dispatch.params.length === 0) continue;
      const key = [dispatch.kernel, ...dispatch.params].join();
      const place = shared.get(key);
      if (place !== undefined) {
        this.#places.set(dispatch, place);
        continue;
      }
      // Uniform structs are rounded up to 16 bytes so that no implementation sees a binding that is too small.
      const size = padded(dispatch.params.length * 4);
      shared.set(key, { offset: end, size });
      this.#places.set(dispatch, { offset: end, size });
      end += Math.ceil(size / alignment) * alignment;
    }
    this.#block = new DataView(new ArrayBuffer(end));
    if (end === 0) return;
    const written = new Set<number>();
    for (const [dispatch, { offset }] of this.#places) {
      if (written.has(offset)) continue;
      written.add(offset);
      const types = kernels.get(dispatch.kernel)?.params ?? [];
      for (const [index, param] of dispatch.params.entries()) {
        const at = offset + index * 4;
        // JSON has no infinities: these are strings.
        if (types[index]?.type === "f32") this.#block.setFloat32(at, Number(param), true);
        else if (typeof param === "string") this.#varying.push({ at, extent: param });
        else this.#block.setInt32(at, param, true);
      }
    }
    this.#buffer = memory.create("uniform", end, "uniforms");
    this.write();
  }

  /** Write the uniforms at the present sizes. */
  write(): void {
    if (this.#buffer === undefined) return;
    // Signed and unsigned members take the same bits.
    for (const { at, extent } of this.#varying) this.#block.setInt32(at, this.#sizes.valueOf(extent), true);
    this.#device.queue.writeBuffer(this.#buffer, 0, this.#block.buffer);
  }

  /** Destroy the buffer; the work that uses it was submitted. */
  release(): void {
    if (this.#buffer !== undefined) this.#memory.destroy(this.#buffer);
  }

  /** The binding of a dispatch's struct; undefined for a kernel without parameters. */
  resource(dispatch: Dispatch): GPUBufferBinding | undefined {
    const place = this.#places.get(dispatch);
    return this.#buffer === undefined || place === undefined ? undefined : { buffer: this.#buffer, ...place };
  }
}
