// Which of the programs that fit a device runs there: the only one, or the fastest by a measurement.

import { calibrate, heaviestNode } from "./calibration.js";
import { InputError } from "./errors.js";
import type { Sizes } from "./expressions.js";
import type { Kernel, Program } from "./generated/manifest.js";
import type { Pipelines } from "./pipelines.js";
import type { Shortlist } from "./tier.js";

/** A program, and why it was taken and the others were not. */
export interface Choice {
  readonly program: Program;
  readonly reasons: readonly string[];
}

/** Rejects with "unknown-tier" where the package has no program at all. */
export async function chooseProgram(
  device: GPUDevice,
  { candidates, reasons }: Shortlist,
  pipelines: Pipelines,
  kernels: ReadonlyMap<string, Kernel>,
  sizes: Sizes,
): Promise<Choice> {
  const [first] = candidates;
  if (first === undefined) throw new InputError("unknown-tier", "the package has no program");
  if (candidates.length === 1) return { program: first, reasons };
  const node = heaviestNode(candidates);
  if (node === undefined) return { program: first, reasons: [...reasons, `${first.tier}: nothing heavy to measure`] };
  const { milliseconds } = await calibrate(device, candidates, node, pipelines, kernels, sizes);
  const ranked = candidates
    .map((program, index) => ({ program, ms: milliseconds[index] ?? Infinity }))
    .sort((a, b) => a.ms - b.ms);
  const measured = ranked.map(({ program, ms }) => `${program.tier} ${ms.toFixed(2)} ms`).join(", ");
  return { program: ranked[0]?.program ?? first, reasons: [...reasons, `measured ${node}: ${measured}`] };
}
