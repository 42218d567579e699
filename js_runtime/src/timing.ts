// Time per dispatch: GPU timestamps where the device has them, else the wall clock around one submit per dispatch.

import { encodePass, type BoundDispatch } from "./executor.js";
import type { ModelMemory } from "./memory.js";
import { checked, watch } from "./scopes.js";
import { MapMode } from "./webgpu_flags.js";

/** Time of one dispatch. */
export interface DispatchTime {
  readonly kernel: string;
  readonly node: string;
  readonly ms: number;
}

/** All dispatches of one run; `clock` says how they were measured. Impossible timestamps are left out. */
export interface Profile {
  readonly clock: "timestamp" | "wall";
  readonly dispatches: readonly DispatchTime[];
  /** Dispatches whose timestamps ran backwards. */
  readonly dropped: number;
}

/** WebGPU caps a query set at 4,096 entries; each dispatch takes two. */
const DISPATCHES_PER_QUERY_SET = 2048;

/** Run `dispatches` once and time each. Inputs must have been written. */
export async function profile(
  device: GPUDevice,
  memory: ModelMemory,
  dispatches: readonly BoundDispatch[],
): Promise<Profile> {
  if (!device.features.has("timestamp-query")) return profileByWallClock(device, dispatches);
  const times: DispatchTime[] = [];
  let dropped = 0;
  for (let start = 0; start < dispatches.length; start += DISPATCHES_PER_QUERY_SET) {
    const batch = dispatches.slice(start, start + DISPATCHES_PER_QUERY_SET);
    const stamps = await timestamps(
      device,
      memory,
      batch.map((dispatch) => [dispatch]),
    );
    for (const [index, { kernel, node }] of batch.entries()) {
      const elapsed = (stamps[index * 2 + 1] ?? 0n) - (stamps[index * 2] ?? 0n);
      if (elapsed < 0n) dropped += 1;
      else times.push({ kernel, node, ms: Number(elapsed) / 1e6 });
    }
  }
  return { clock: "timestamp", dispatches: times, dropped };
}

/** Milliseconds that `repeats` runs of `dispatches` take together, in one submit. */
export async function timeTogether(
  device: GPUDevice,
  memory: ModelMemory,
  dispatches: readonly BoundDispatch[],
  repeats: number,
): Promise<number> {
  const work = Array.from({ length: repeats }, () => dispatches).flat();
  const start = performance.now();
  if (!device.features.has("timestamp-query")) {
    await submitPass(device, work);
    await device.queue.onSubmittedWorkDone();
    return performance.now() - start;
  }
  // Firefox notices the end of work only every 100 ms, so the wall clock alone would compare nothing.
  const [begin = 0n, end = 0n] = await timestamps(device, memory, [work]);
  const wall = performance.now() - start;
  const elapsed = Number(end - begin) / 1e6;
  return elapsed > 0 && elapsed < wall ? elapsed : wall;
}

/** Run each group of dispatches as one pass; returns its begin and end, in nanoseconds. */
async function timestamps(
  device: GPUDevice,
  memory: ModelMemory,
  passes: readonly (readonly BoundDispatch[])[],
): Promise<BigInt64Array<ArrayBuffer>> {
  const count = passes.length * 2;
  const querySet = device.createQuerySet({ type: "timestamp", count });
  const resolved = memory.create("query", count * 8, "timestamps");
  const mapped = memory.create("readback", count * 8, "timestamps");
  try {
    const { result: mapping, verdict } = watch(device, "timestamps", () => {
      const encoder = device.createCommandEncoder({ label: "webinfer profile" });
      for (const [index, dispatches] of passes.entries()) {
        const timestampWrites = {
          querySet,
          beginningOfPassWriteIndex: index * 2,
          endOfPassWriteIndex: index * 2 + 1,
        };
        encodePass(encoder, dispatches, timestampWrites);
      }
      encoder.resolveQuerySet(querySet, 0, count, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, mapped, 0, count * 8);
      device.queue.submit([encoder.finish()]);
      return mapped.mapAsync(MapMode.READ);
    });
    await Promise.all([mapping, verdict]);
    return new BigInt64Array(mapped.getMappedRange().slice(0));
  } finally {
    querySet.destroy();
    memory.destroy(resolved);
    memory.destroy(mapped);
  }
}

function submitPass(device: GPUDevice, dispatches: readonly BoundDispatch[]): Promise<void> {
  return checked(device, "timing", () => {
    const encoder = device.createCommandEncoder({ label: "webinfer timing" });
    encodePass(encoder, dispatches);
    device.queue.submit([encoder.finish()]);
  });
}

async function profileByWallClock(device: GPUDevice, dispatches: readonly BoundDispatch[]): Promise<Profile> {
  const times: DispatchTime[] = [];
  await device.queue.onSubmittedWorkDone();
  for (const dispatch of dispatches) {
    const start = performance.now();
    await submitPass(device, [dispatch]);
    await device.queue.onSubmittedWorkDone();
    times.push({ kernel: dispatch.kernel, node: dispatch.node, ms: performance.now() - start });
  }
  return { clock: "wall", dispatches: times, dropped: 0 };
}
