// Measures the heaviest node of several programs on the device itself, to choose between their kernels.

import { checked, UniformBlock, workgroupsOf, type BoundDispatch } from "./executor.js";
import type { Sizes } from "./expressions.js";
import type { Dispatch, Kernel, Program } from "./generated/manifest.js";
import type { ModelMemory } from "./memory.js";
import type { CompiledKernel, Pipelines } from "./pipelines.js";
import { poolOf } from "./pool.js";
import { timeTogether } from "./timing.js";

/** Work per timed submit: well above the cost of waiting for one. */
const TARGET_MS = 10;
const MAX_REPEATS = 32;
const ROUNDS = 3;

/** What was measured: best time of the node per program, in the order of the programs. */
export interface Calibration {
  readonly node: string;
  readonly milliseconds: readonly number[];
}

/** The node with the most floating-point work that every program has; undefined where none has any. */
export function heaviestNode(programs: readonly Program[]): string | undefined {
  const totals = programs.map((program) => {
    const sums = new Map<string, number>();
    for (const { node, flops } of program.dispatches) sums.set(node, (sums.get(node) ?? 0) + flops);
    return sums;
  });
  let best: string | undefined;
  let most = 0;
  for (const [node, flops] of totals[0] ?? []) {
    if (flops > most && totals.every((sums) => sums.has(node))) [best, most] = [node, flops];
  }
  return best;
}

/** Time `node` in each program, rounds interleaved so that other load hits all alike. */
export async function calibrate(
  device: GPUDevice,
  programs: readonly Program[],
  node: string,
  pipelines: Pipelines,
  kernels: ReadonlyMap<string, Kernel>,
  sizes: Sizes,
): Promise<Calibration> {
  const pool = poolOf(device);
  const memory = pool.open({}, "calibration");
  try {
    const work: (readonly BoundDispatch[])[] = [];
    for (const program of programs) {
      const dispatches = program.dispatches.filter((dispatch) => dispatch.node === node);
      const compiled = await pipelines.all(dispatches.map((dispatch) => dispatch.kernel));
      const bind = (): readonly BoundDispatch[] => bindScratch(device, memory, dispatches, kernels, compiled, sizes);
      work.push(await checked(device, `measurement of ${node}`, bind));
    }
    await memory.settle();
    const plans: { readonly bound: readonly BoundDispatch[]; readonly repeats: number }[] = [];
    for (const bound of work) {
      // The first run compiles shaders on some drivers, so it is not timed.
      await timeTogether(device, memory, bound, 1);
      const once = await timeTogether(device, memory, bound, 1);
      plans.push({ bound, repeats: Math.min(MAX_REPEATS, Math.max(1, Math.ceil(TARGET_MS / once))) });
    }
    const milliseconds = plans.map(() => Infinity);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, { bound, repeats }] of plans.entries()) {
        const each = (await timeTogether(device, memory, bound, repeats)) / repeats;
        milliseconds[index] = Math.min(milliseconds[index] ?? Infinity, each);
      }
    }
    return { node, milliseconds };
  } finally {
    pool.close(memory);
  }
}

function bindScratch(
  device: GPUDevice,
  memory: ModelMemory,
  dispatches: readonly Dispatch[],
  kernels: ReadonlyMap<string, Kernel>,
  compiled: ReadonlyMap<string, CompiledKernel>,
  sizes: Sizes,
): readonly BoundDispatch[] {
  const uniforms = new UniformBlock(device, memory, dispatches, kernels, sizes);
  // One scratch buffer per span: the values do not matter, and the program's arena may not fit twice.
  const scratch = new Map<string, GPUBuffer>();
  return dispatches.flatMap((dispatch) => {
    const kernel = compiled.get(dispatch.kernel);
    if (kernel === undefined) return [];
    const entries: GPUBindGroupEntry[] = dispatch.args.map((span, binding) => {
      const key = `${String(span.buffer)}:${String(span.offset)}`;
      let buffer = scratch.get(key);
      if (buffer === undefined || buffer.size < span.size_bytes) {
        buffer = memory.create("activation", span.size_bytes, "calibration");
        scratch.set(key, buffer);
      }
      return { binding, resource: { buffer, size: span.size_bytes } };
    });
    const uniform = uniforms.resource(dispatch);
    if (uniform !== undefined) entries.push({ binding: entries.length, resource: uniform });
    return [
      {
        kernel: dispatch.kernel,
        node: dispatch.node,
        pipeline: kernel.pipeline,
        bindGroup: device.createBindGroup({ layout: kernel.layout, entries }),
        workgroups: workgroupsOf(dispatch, sizes),
      },
    ];
  });
}
