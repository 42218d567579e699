// Runs a program once and reads values of its graph, each right after the dispatch that completes it.

import { encodePass } from "./executor.js";
import type { CapturedTensor } from "./model.js";
import { encodeRead, finishRead, type PendingRead } from "./readback.js";
import type { Residence } from "./residence.js";
import { checked } from "./scopes.js";

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
    const reading = await checked(device, "captured values", () => {
      device.queue.submit([encoder.finish()]);
      return { all: Promise.all(pending.map(({ read }) => finishRead(memory, read))) };
    });
    for (const [index, bytes] of (await reading.all).entries()) {
      const of = pending[index];
      if (of === undefined) continue;
      const { dtype, shape } = of.read.range;
      captured.set(of.name, { name: of.name, dtype, shape, bytes });
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
