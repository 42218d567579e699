// Replays the dispatches of one program: derived from (program, device, kernels), and dropped as a whole.

import { GpuError } from "./errors.js";
import type { Dispatch, Kernel, Program, Span } from "./generated/manifest.js";
import type { DeviceMemory } from "./memory.js";
import type { CompiledKernel } from "./pipelines.js";
import { padded } from "./tensor.js";

/** A dispatch with its resources bound, ready to be encoded. */
export interface BoundDispatch {
  readonly kernel: string;
  readonly node: string;
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number, number];
}

/** Encode bound dispatches into one compute pass. */
export function encodePass(
  encoder: GPUCommandEncoder,
  dispatches: readonly BoundDispatch[],
  timestampWrites?: GPUComputePassTimestampWrites,
): void {
  if (dispatches.length === 0) return;
  const pass = encoder.beginComputePass(timestampWrites === undefined ? {} : { timestampWrites });
  for (const { pipeline, bindGroup, workgroups } of dispatches) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(...workgroups);
  }
  pass.end();
}

/** Run `work` under a validation scope; the promise rejects with "validation" when the GPU refused any of it. */
export async function checked<T>(device: GPUDevice, what: string, work: () => T): Promise<T> {
  device.pushErrorScope("validation");
  let result: T;
  let scope: Promise<GPUError | null>;
  try {
    result = work();
  } finally {
    // Popped in the same turn: scopes are a stack that the game's own code uses too.
    scope = device.popErrorScope();
  }
  const error = await scope;
  if (error !== null) throw new GpuError("validation", `${what}: ${error.message}`);
  return result;
}

/** All buffers, uniforms and bind groups of a program. Staging buffers are made on demand and destroyed early. */
export class Executor {
  readonly program: Program;
  readonly #device: GPUDevice;
  readonly #memory: DeviceMemory;
  readonly #buffers: (GPUBuffer | undefined)[];
  readonly #uniforms: UniformBlock;
  readonly #prepareUniforms: UniformBlock;
  #dispatches: readonly BoundDispatch[] = [];

  constructor(device: GPUDevice, memory: DeviceMemory, program: Program, kernels: ReadonlyMap<string, Kernel>) {
    this.program = program;
    this.#device = device;
    this.#memory = memory;
    this.#buffers = program.buffers.map(({ kind, size_bytes }, index) =>
      kind === "staging" ? undefined : memory.create(kind, size_bytes, `${kind} ${String(index)}`),
    );
    this.#uniforms = new UniformBlock(device, memory, program.dispatches, kernels);
    this.#prepareUniforms = new UniformBlock(device, memory, program.prepare, kernels);
  }

  /** The dispatches of a run, in order; empty before `bind`. */
  get dispatches(): readonly BoundDispatch[] {
    return this.#dispatches;
  }

  /** The GPUBuffer of a span; creates a staging buffer at its first use. */
  buffer(index: number): GPUBuffer {
    const known = this.#buffers[index];
    if (known !== undefined) return known;
    const size = this.program.buffers[index]?.size_bytes ?? 0;
    const created = this.#memory.create("staging", size, `staging ${String(index)}`);
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

  /** Build the bind groups of all dispatches, once. */
  async bind(kernels: ReadonlyMap<string, CompiledKernel>): Promise<void> {
    this.#dispatches = await checked(this.#device, "bind groups", () =>
      this.program.dispatches.map((dispatch) => this.#bind(dispatch, this.#uniforms, kernels)),
    );
  }

  /** Dispatch one workgroup of every kernel: several drivers compile a shader only at its first dispatch. */
  async warmUp(): Promise<void> {
    const first = new Map(this.#dispatches.map((dispatch) => [dispatch.kernel, dispatch]));
    await checked(this.#device, "warm-up", () => {
      const encoder = this.#device.createCommandEncoder({ label: "webinfer warm-up" });
      encodePass(
        encoder,
        [...first.values()].map((dispatch) => ({ ...dispatch, workgroups: [1, 1, 1] })),
      );
      this.#device.queue.submit([encoder.finish()]);
    });
    await this.#device.queue.onSubmittedWorkDone();
  }

  #bind(dispatch: Dispatch, uniforms: UniformBlock, kernels: ReadonlyMap<string, CompiledKernel>): BoundDispatch {
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
      workgroups: dispatch.workgroups,
    };
  }
}

/** The uniform structs of all given dispatches in one buffer, written once; equal structs of a kernel share a place. */
export class UniformBlock {
  readonly #memory: DeviceMemory;
  readonly #buffer: GPUBuffer | undefined;
  readonly #places = new Map<Dispatch, { readonly offset: number; readonly size: number }>();

  constructor(
    device: GPUDevice,
    memory: DeviceMemory,
    dispatches: readonly Dispatch[],
    kernels: ReadonlyMap<string, Kernel>,
  ) {
    this.#memory = memory;
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
    if (end === 0) return;
    const block = new DataView(new ArrayBuffer(end));
    for (const [dispatch, { offset }] of this.#places) {
      const types = kernels.get(dispatch.kernel)?.params ?? [];
      for (const [index, param] of dispatch.params.entries()) {
        const at = offset + index * 4;
        const value = Number(param); // JSON has no infinities: these are strings
        switch (types[index]?.type) {
          case "f32":
            block.setFloat32(at, value, true);
            break;
          case "i32":
            block.setInt32(at, value, true);
            break;
          case "u32":
          case undefined:
            block.setUint32(at, value, true);
            break;
        }
      }
    }
    this.#buffer = memory.create("uniform", end, "uniforms");
    device.queue.writeBuffer(this.#buffer, 0, block.buffer);
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
