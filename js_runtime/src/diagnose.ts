// Puts together what is known when the GPU fails, from where the model is at that moment.

import type { Diagnosis, KernelTrail } from "./diagnosis.js";
import { DeviceError, GpuError, WebinferError } from "./errors.js";
import type { Program } from "./generated/manifest.js";
import type { JobProgress } from "./job.js";
import { poolOf } from "./pool.js";
import type { Loss } from "./recovery.js";
import type { Assets } from "./residence.js";
import type { AdapterInfo } from "./tier.js";

/** Where a model is, as far as that is settled. */
export interface Whereabouts {
  readonly device: GPUDevice;
  readonly adapter: AdapterInfo;
  readonly program?: Program | undefined;
  readonly trail: KernelTrail;
}

/** Call it when it happens: memory and kernels are those of now. */
export function diagnose(
  { what, reason, message }: Pick<Diagnosis, "what" | "reason" | "message">,
  assets: Assets,
  { device, adapter, program, trail }: Whereabouts,
  job?: JobProgress,
): Diagnosis {
  const pool = poolOf(device);
  const { buffers, bytes } = pool.useOf(assets);
  const { vendor, architecture, isCpu } = adapter;
  return {
    what,
    reason,
    message,
    adapter: { vendor, architecture, isCpu },
    model: assets.source.manifest.name,
    tier: program?.tier ?? "",
    memory: { buffers, bytes, deviceBytes: pool.use().bytes },
    lastKernels: trail.labels,
    job,
  };
}

/** The loss of a device; says what to do where nobody recovers from it. */
export function lossOf(
  { reason, message }: Pick<GPUDeviceLostInfo, "reason" | "message">,
  assets: Assets,
  where: Whereabouts,
  job?: JobProgress,
): Loss {
  const diagnosis = diagnose({ what: "device-lost", reason, message }, assets, where, job);
  const text =
    `model ${diagnosis.model}: the GPU device was lost (${reason}: ${message}); dispose the model and load it again, ` +
    "or load it with `recover`";
  return Object.assign(new DeviceError("device-lost", text, { diagnosis }), { diagnosis });
}

/** A lost device refuses work before it says that it is lost. */
const LOSS_DELAY_MS = 100;

/** Wait a moment for the loss of `device` where it may be what `cause` comes from. */
export async function lossBehind(cause: unknown, device: GPUDevice): Promise<void> {
  if (cause instanceof WebinferError && (!(cause instanceof GpuError) || cause.code === "memory-budget")) return;
  await Promise.race([device.lost, new Promise((resolve) => setTimeout(resolve, LOSS_DELAY_MS))]);
}

/** What failed, typed, and told where memory was short; work that the GPU refused comes with its diagnosis. */
export function diagnosed(cause: unknown, assets: Assets, where: Whereabouts, job?: JobProgress): WebinferError {
  if (cause instanceof WebinferError && !(cause instanceof GpuError)) return cause;
  const what = cause instanceof GpuError ? cause.code : "validation";
  if (what === "out-of-memory" || what === "memory-budget") {
    const at = performance.now();
    const model = assets.source.manifest.name;
    const refusedBy = what === "out-of-memory" ? "device" : "budget";
    const heldBytes = poolOf(where.device).use().bytes;
    assets.telemetry.emit({ type: "out-of-memory", at, model, refusedBy, heldBytes });
  }
  if (what !== "validation" && what !== "out-of-memory") return cause as GpuError;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new GpuError(what, message, { cause, diagnosis: diagnose({ what, reason: "", message }, assets, where, job) });
}
