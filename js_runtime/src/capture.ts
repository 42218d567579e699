// Runs a program once and reads values of its graph, each right after the dispatch that completes it.

import { encodePass } from "./executor.js";
import type { CapturedTensor } from "./model.js";
import { encodeRead, finishRead, type PendingRead } from "./readback.js";
import type { Residence } from "./residence.js";

/** Bytes that are copied before the GPU is waited for. */
const BATCH_BYTES = 64 * 1024 * 1024;

/** Read the named values; inputs must have been written. Throws "unknown-tensor". */
export async function capture(residence: Residence, names: readonly string[]): Promise<readonly CapturedTensor[]> {
  const { device, memory, executor } = residence;
  const planned = names.map((name) => ({ name, tensor: residence.planned(name) }));
  planned.sort((a, b) => a.tensor.producer - b.tensor.producer);
  const captured = new Map<string, CapturedTensor>();
  const { dispatches } = executor;
  let next = 0;
  let batchBytes = 0;
  let pending: { name: string; read: PendingRead }[] = [];
  let encoder = device.createCommandEncoder({ label: "webinfer capture" });
  const flush = async (): Promise<void> => {
    device.queue.submit([encoder.finish()]);
    for (const { name, read } of pending) {
      const { dtype, shape } = read.range;
      captured.set(name, { name, dtype, shape, bytes: await finishRead(memory, read) });
    }
    pending = [];
    batchBytes = 0;
    encoder = device.createCommandEncoder({ label: "webinfer capture" });
  };
  for (const { name, tensor } of planned) {
    encodePass(encoder, dispatches.slice(next, tensor.producer + 1));
    next = Math.max(next, tensor.producer + 1);
    pending.push({ name, read: encodeRead(encoder, memory, residence.range(tensor)) });
    batchBytes += tensor.span.size_bytes;
    if (batchBytes > BATCH_BYTES) await flush();
  }
  encodePass(encoder, dispatches.slice(next));
  await flush();
  return names.flatMap((name) => captured.get(name) ?? []);
}
