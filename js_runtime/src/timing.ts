// Time per dispatch: GPU timestamps where the device has them, else the wall clock around one submit per dispatch.

import { encodePass, type BoundDispatch } from "./executor.js";
import { BufferUsage, MapMode } from "./webgpu_flags.js";

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
export async function profile(device: GPUDevice, dispatches: readonly BoundDispatch[]): Promise<Profile> {
  if (!device.features.has("timestamp-query")) return profileByWallClock(device, dispatches);
  const times: DispatchTime[] = [];
  let dropped = 0;
  for (let start = 0; start < dispatches.length; start += DISPATCHES_PER_QUERY_SET) {
    const batch = dispatches.slice(start, start + DISPATCHES_PER_QUERY_SET);
    const stamps = await timestamps(device, batch);
    for (const [index, { kernel, node }] of batch.entries()) {
      const elapsed = (stamps[index * 2 + 1] ?? 0n) - (stamps[index * 2] ?? 0n);
      if (elapsed < 0n) dropped += 1;
      else times.push({ kernel, node, ms: Number(elapsed) / 1e6 });
    }
  }
  return { clock: "timestamp", dispatches: times, dropped };
}

async function timestamps(device: GPUDevice, batch: readonly BoundDispatch[]): Promise<BigInt64Array> {
  const count = batch.length * 2;
  const querySet = device.createQuerySet({ type: "timestamp", count });
  const resolved = device.createBuffer({
    size: count * 8,
    usage: BufferUsage.QUERY_RESOLVE | BufferUsage.COPY_SRC,
  });
  const mapped = device.createBuffer({ size: count * 8, usage: BufferUsage.MAP_READ | BufferUsage.COPY_DST });
  try {
    const encoder = device.createCommandEncoder({ label: "webinfer profile" });
    for (const [index, dispatch] of batch.entries()) {
      const timestampWrites = {
        querySet,
        beginningOfPassWriteIndex: index * 2,
        endOfPassWriteIndex: index * 2 + 1,
      };
      encodePass(encoder, [dispatch], timestampWrites);
    }
    encoder.resolveQuerySet(querySet, 0, count, resolved, 0);
    encoder.copyBufferToBuffer(resolved, 0, mapped, 0, count * 8);
    device.queue.submit([encoder.finish()]);
    await mapped.mapAsync(MapMode.READ);
    return new BigInt64Array(mapped.getMappedRange().slice(0));
  } finally {
    querySet.destroy();
    resolved.destroy();
    mapped.destroy();
  }
}

async function profileByWallClock(device: GPUDevice, dispatches: readonly BoundDispatch[]): Promise<Profile> {
  const times: DispatchTime[] = [];
  await device.queue.onSubmittedWorkDone();
  for (const dispatch of dispatches) {
    const encoder = device.createCommandEncoder({ label: "webinfer profile" });
    encodePass(encoder, [dispatch]);
    const start = performance.now();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    times.push({ kernel: dispatch.kernel, node: dispatch.node, ms: performance.now() - start });
  }
  return { clock: "wall", dispatches: times, dropped: 0 };
}
