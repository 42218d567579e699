// Measures the heaviest node of several programs on the device itself, to choose between their kernels.

import { UniformBlock, workgroupsOf, type BoundDispatch } from "./executor.js";
import type { Sizes } from "./expressions.js";
import type { Dispatch, Kernel, Program } from "./generated/manifest.js";
import type { ModelMemory } from "./memory.js";
import type { CompiledKernel, Pipelines } from "./pipelines.js";
import { poolOf } from "./pool.js";
import { contest } from "./scheduling/contest.js";
import { checked } from "./scopes.js";
import { timeTogether } from "./timing.js";

/** GPU time that a calibration may take in all. */
const BUDGET_MS = 50;
const MAX_REPEATS = 32;

/** What was measured: milliseconds of the node per program, in the order of the programs. */
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

/** Time `node` in each program, on some of its workgroups where the whole would take too long. */
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
    // Several drivers compile a shader only at its first dispatch.
    for (const dispatches of work) await timeTogether(device, memory, portion(dispatches, 0).dispatches, 1);
    const milliseconds = await contest(
      work.length,
      async (index, wanted) => {
        const { dispatches, share } = portion(work[index] ?? [], wanted);
        const repeats = Math.min(MAX_REPEATS, Math.max(1, Math.floor(wanted)));
        return { ms: await timeTogether(device, memory, dispatches, repeats), amount: share * repeats };
      },
      BUDGET_MS,
    );
    return { node, milliseconds };
  } finally {
    pool.close(memory);
  }
}

/** The first workgroups of dispatches, about `wanted` of all, at least one; `share` is what it came to. */
export function portion(
  dispatches: readonly BoundDispatch[],
  wanted: number,
): { readonly dispatches: readonly BoundDispatch[]; readonly share: number } {
  let all = 0;
  let kept = 0;
  const parts = dispatches.map((dispatch) => {
    const workgroups: [number, number, number] = [...dispatch.workgroups];
    const total = workgroups[0] * workgroups[1] * workgroups[2];
    let excess = Math.max(1, Math.min(total, 1 / wanted));
    for (const axis of [2, 1, 0] as const) {
      const count = workgroups[axis];
      workgroups[axis] = Math.ceil(count / excess);
      excess = Math.max(1, (excess * workgroups[axis]) / count);
    }
    all += total;
    kept += workgroups[0] * workgroups[1] * workgroups[2];
    return { ...dispatch, workgroups };
  });
  return { dispatches: parts, share: all === 0 ? 1 : kept / all };
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
