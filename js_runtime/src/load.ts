// load(): package -> device -> program -> pipelines and weights -> a warm model.

import { givesWay, type BackendOptions } from "./backend.js";
import { systemClock } from "./download.js";
import { BackendError, InputError, throwIfAborted, WebinferError, type BackendAttempt } from "./errors.js";
import type * as Fallback from "./fallback/load_portable.js";
import type { Contestant, PortableLoad, Verdict } from "./fallback/load_portable.js";
import type { Component } from "./generated/manifest.js";
import { GpuModel } from "./gpu_model.js";
import type { Model } from "./model.js";
import { Package, type DeliveryOptions } from "./package.js";
import { defaultRecords, type RecordStore } from "./record_store.js";
import { isLoss, Recovery, type RecoveryOptions } from "./recovery.js";
import { checkAdmitted, Meter, settle, Stopwatch, type Progress, type Settled, type SettleOptions } from "./settle.js";
import type { PackageLocation } from "./source.js";
import { SILENT, type Telemetry } from "./telemetry/events.js";

export interface LoadOptions extends BackendOptions, SettleOptions, DeliveryOptions, RecoveryOptions {
  /** Component of the package; needed only where it has several. */
  readonly component?: string | undefined;
  /** Where measured times and results of self-tests are kept for the next visit; default IndexedDB where there is one. */
  readonly records?: RecordStore | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Where events go; default nowhere. */
  readonly telemetry?: Telemetry | undefined;
}

/**
 * Load a package from its URL, a zip (File or Blob), the files of a folder, a folder's handle, or as it was opened
 * before: fetched, verified, compiled and warm. Everything is freed again when this rejects.
 */
export async function load(location: PackageLocation | Package, options: LoadOptions = {}): Promise<Model> {
  const { telemetry = SILENT } = options;
  const clock = new Stopwatch();
  let model = "";
  try {
    const source = location instanceof Package ? location : await Package.open(location, options);
    model = source.manifest.name;
    return await loadFrom(source, options, telemetry, clock);
  } catch (cause) {
    const code = cause instanceof WebinferError ? cause.code : "unknown";
    telemetry.emit({ type: "failure", at: performance.now(), model, during: "load", code });
    throw cause;
  }
}

/** On the backend that was asked for; on "auto", on WebGPU, or on the fallback where that is missing, fails or is slower. */
async function loadFrom(source: Package, options: LoadOptions, telemetry: Telemetry, clock: Stopwatch): Promise<Model> {
  const { backend = "auto", signal } = options;
  const component = pickComponent(source.manifest.components, options.component);
  const instead = {
    source,
    component,
    portable: options.portable ?? {},
    device: options.device,
    telemetry,
    signal,
    meter: new Meter(source, options.onProgress),
    manifestMs: clock.lap(),
    totalMs: () => clock.total(),
  };
  if (backend === "webgpu") return loadOnGpu(instead, options, clock);
  const attempts: BackendAttempt[] = [];
  if (backend === "auto") {
    try {
      return await loadOnGpu(instead, options, clock);
    } catch (cause) {
      const attempt = givesWay(cause);
      if (attempt === undefined) throw cause;
      attempts.push(attempt);
    }
  }
  throwIfAborted(signal);
  const { name: model } = source.manifest;
  const subject = { vendor: "", architecture: "", software: true, model, version: source.version };
  telemetry.emit({ type: "adapter", at: performance.now(), ...subject });
  await checkAdmitted(options, subject);
  const { loadPortable } = await importFallback();
  return loadPortable(instead, backend, attempts);
}

/** The fallback is a part of its own: who runs on WebGPU never fetches it. */
async function importFallback(): Promise<typeof Fallback> {
  try {
    return await import("./fallback/load_portable.js");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const next = "serve all files of the runtime's dist/ side by side";
    throw new BackendError("portable-missing", `the runtime's fallback could not be loaded (${why}); ${next}`, {
      cause,
    });
  }
}

async function loadOnGpu(instead: PortableLoad, options: LoadOptions, clock: Stopwatch): Promise<Model> {
  const { source, component, telemetry, signal, meter, manifestMs } = instead;
  const model = source.manifest.name;
  telemetry.emit({ type: "phase", at: performance.now() - manifestMs, ms: manifestMs, model, phase: "manifest" });
  const records = options.records ?? defaultRecords();
  const assets = { source, component, records, telemetry };
  const { device, clock: pauses = systemClock } = options;
  const recovery = new Recovery(
    options.recover ?? (device === undefined ? "auto" : "never"),
    options,
    pauses,
    telemetry,
  );
  const again = async (next: GPUDevice | undefined, stop: AbortSignal | undefined, count: Meter): Promise<Settled> => {
    const settled = await settle(assets, { ...options, device: next }, count, stop);
    if (settled === undefined) throw new RangeError("there is no contest after a loss");
    return settled;
  };
  let winner: Verdict["model"];
  let settled: Settled | undefined;
  try {
    settled = await settle(assets, options, meter, signal, async (adapter, program, rates) => {
      const verdict = await contest(instead, options, { adapter, program, rates, records });
      winner = verdict.model;
      return winner === undefined ? verdict.reasons : undefined;
    });
    if (winner !== undefined) return winner;
  } catch (cause) {
    if (!isLoss(cause)) throw cause;
    const count = (): Meter => new Meter(source, options.onProgress);
    settled = await recovery.after(cause, 0, (next) => again(next, signal, count()), signal);
  }
  if (settled === undefined) throw new RangeError("the contest was lost to nobody");
  const { residence, deviceMs, tierMs, placement } = settled;
  const timings = { manifestMs, deviceMs, tierMs, ...residence.timings, totalMs: clock.total() };
  const { store, manifest, networkBytes, storedBytes, retries } = source.delivery;
  const { dispatches, plan } = placement.program;
  telemetry.emit({
    type: "loaded",
    at: performance.now() - timings.totalMs,
    ms: timings.totalMs,
    model,
    dispatches: dispatches.length,
    gpuBytes: plan.gpu_bytes,
    store,
    manifest,
    networkBytes,
    storedBytes,
    retries,
  });
  const silent = new Meter(source, undefined);
  const { backend = "auto", recover = device === undefined ? "auto" : "never" } = options;
  // Whatever lies on a device that is gone serves no one.
  const after = { ...instead, meter: silent, device: undefined, signal: undefined };
  const move = async (cause: WebinferError): Promise<Model> => {
    const { loadPortable } = await importFallback();
    return loadPortable(after, "auto", [{ backend: "webgpu", code: cause.code, message: cause.message }]);
  };
  return new GpuModel({
    assets,
    settled,
    recovery,
    timings,
    settle: (next, stop) => again(next, stop, silent),
    instead: backend === "auto" && recover !== "never" ? move : undefined,
  });
}

/** Software adapters are slow, and WebAssembly on the same cores often is not. */
async function contest(
  instead: PortableLoad,
  { backend = "auto" }: LoadOptions,
  contestant: Contestant,
): Promise<Verdict> {
  if (backend !== "auto" || !contestant.adapter.isCpu) return { reasons: [] };
  try {
    const { contend } = await importFallback();
    return await contend(instead, contestant);
  } catch (cause) {
    if (!(cause instanceof BackendError)) throw cause;
    return { reasons: [cause.message] };
  }
}

function pickComponent(components: readonly Component[], wanted: string | undefined): Component {
  const known = components.map((component) => component.name).join(", ");
  const found = wanted === undefined ? components : components.filter((component) => component.name === wanted);
  const [component] = found;
  if (component === undefined || found.length > 1) {
    throw new InputError("unknown-component", `component ${wanted ?? "(not given)"}: choose one of ${known || "none"}`);
  }
  return component;
}
