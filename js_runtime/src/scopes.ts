// Error scopes around the runtime's own GPU calls: what is refused becomes a typed error, and no handler of the game sees it.

import { GpuError } from "./errors.js";

/** What `work` returned, and what the GPU says about it. */
export interface Watched<T> {
  readonly result: T;
  /** Rejects with "validation" or "out-of-memory" where any of it was refused; may be left alone. */
  readonly verdict: Promise<void>;
}

/** Run `work`, which must not wait for anything, under error scopes. What it throws is thrown on. */
export function watch<T>(device: GPUDevice, what: string, work: () => T): Watched<T> {
  device.pushErrorScope("validation");
  device.pushErrorScope("out-of-memory");
  let result: T;
  let verdict: Promise<void> = Promise.resolve();
  try {
    result = work();
  } finally {
    // Popped in the same turn: scopes are a stack that the game's own code uses too.
    const memory = device.popErrorScope();
    const validation = device.popErrorScope();
    verdict = judge(what, memory, validation);
    verdict.catch(() => undefined);
  }
  return { result, verdict };
}

/** Run `work` under error scopes and wait for the verdict. */
export async function checked<T>(device: GPUDevice, what: string, work: () => T): Promise<T> {
  const { result, verdict } = watch(device, what, work);
  await verdict;
  return result;
}

async function judge(
  what: string,
  memoryScope: Promise<GPUError | null>,
  validationScope: Promise<GPUError | null>,
): Promise<void> {
  // Both at once: a lost device may reject them, and no rejection may be left alone. The loss is told elsewhere.
  const [memory, validation] = await Promise.all(
    [memoryScope, validationScope].map((scope) => scope.catch(() => null)),
  );
  if (memory) {
    const next = "free other GPU memory or use a smaller model";
    throw new GpuError("out-of-memory", `${what}: ${memory.message}; ${next}`);
  }
  if (validation) throw new GpuError("validation", `${what}: ${validation.message}`);
}
