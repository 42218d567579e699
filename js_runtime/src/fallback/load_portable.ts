// Loads a component on ONNX Runtime Web: instead of WebGPU, or in a contest with it.

import type { PortableOptions } from "../backend.js";
import { BackendError, PackageError, throwIfAborted, type BackendAttempt } from "../errors.js";
import type { Component, Program } from "../generated/manifest.js";
import type { Package } from "../package.js";
import { costKey, type RecordStore } from "../record_store.js";
import { CostModel, type Rates } from "../scheduling/costs.js";
import type { LoadPhase, Telemetry } from "../telemetry/events.js";
import type { AdapterInfo } from "../tier.js";
import { PortableModel } from "./portable_model.js";
import {
  openPortable,
  portableFiles,
  timeRun,
  type PortableRequest,
  type PortableSession,
} from "./portable_session.js";

/** What a load has at hand when it turns to the fallback. */
export interface PortableLoad {
  readonly source: Package;
  readonly component: Component;
  readonly portable: PortableOptions;
  /** The caller's own. */
  readonly device: GPUDevice | undefined;
  readonly telemetry: Telemetry;
  readonly signal: AbortSignal | undefined;
  readonly meter: { readonly add: (bytes: number) => void; start(totalBytes: number): void };
  readonly manifestMs: number;
  readonly totalMs: () => number;
}

/** Load on `backend`. `attempts` are those that failed before; rejects with "no-backend" when all of them did. */
export async function loadPortable(
  load: PortableLoad,
  backend: PortableRequest["backend"],
  attempts: BackendAttempt[],
): Promise<PortableModel> {
  const { telemetry } = load;
  const model = load.source.manifest.name;
  let opened: PortableSession;
  try {
    opened = await open(load, backend, attempts);
  } catch (cause) {
    if (cause instanceof BackendError && attempts.length > 1) throw noBackend(model, attempts);
    throw cause;
  }
  const tried = [...attempts.map((attempt) => attempt.backend), opened.provider.name];
  for (const [index, { backend: from, code: reason }] of attempts.entries()) {
    const to = tried[index + 1] ?? from;
    telemetry.emit({ type: "fallback", at: performance.now(), model, from, to, reason });
  }
  const reasons = attempts.map((attempt) => `${attempt.backend}: ${attempt.message}`);
  if (backend !== "auto") reasons.push(`${backend}: asked for`);
  try {
    return await finish(load, opened, reasons);
  } catch (cause) {
    await opened.session.release();
    throw cause;
  }
}

/** A program of WebGPU on an adapter, with what is known of its speed there. */
export interface Contestant {
  readonly adapter: AdapterInfo;
  readonly program: Program;
  readonly rates: Rates;
  readonly records: RecordStore;
}

/** What came of a contest: a model if WebGPU lost, and why. */
export interface Verdict {
  readonly model?: PortableModel;
  readonly reasons: readonly string[];
}

/** Below this, a software adapter is fast enough, and ONNX Runtime Web's 14 MB are not worth a download. */
const WORTH_MEASURING_MS = 100;

/** One timed run here against the prediction for WebGPU. Whatever fails here leaves WebGPU the winner. */
export async function contend(load: PortableLoad, { adapter, program, rates, records }: Contestant): Promise<Verdict> {
  const { telemetry, component } = load;
  const { tier } = program;
  const model = load.source.manifest.name;
  const costs = new CostModel(program.dispatches, rates);
  // Costs that cannot be read are learned again.
  const saved = await records.get(costKey(adapter, model, program)).catch(() => undefined);
  if (saved !== undefined) costs.restore(saved);
  const predictedMs = program.dispatches.reduce((sum, _, index) => sum + costs.ms(index), 0);
  if (predictedMs <= WORTH_MEASURING_MS) return { reasons: [] };
  const attempts: BackendAttempt[] = [];
  let opened: PortableSession | undefined;
  try {
    opened = await open(load, "auto", attempts);
    const { name } = opened.provider;
    const ms = await timeRun(opened, component);
    const shown = `predicted ${tier} ${predictedMs.toFixed(0)} ms, measured ${name} ${ms.toFixed(0)} ms`;
    const reasons = attempts.map(({ backend, message }) => `${backend}: ${message}`);
    reasons.push(`a software adapter: ${shown}`);
    if (ms >= predictedMs) {
      await opened.session.release();
      return { reasons };
    }
    telemetry.emit({ type: "fallback", at: performance.now(), model, from: "webgpu", to: name, reason: "faster" });
    return { model: await finish(load, opened, reasons), reasons };
  } catch (cause) {
    await opened?.session.release();
    // A package may lack its model.onnx, which WebGPU does not need.
    if (!(cause instanceof BackendError || cause instanceof PackageError)) throw cause;
    const { code: reason } = cause;
    telemetry.emit({ type: "fallback", at: performance.now(), model, from: "wasm", to: "webgpu", reason });
    return { reasons: [`a software adapter, but there is nothing else: ${cause.message}`] };
  }
}

function open(
  load: PortableLoad,
  backend: PortableRequest["backend"],
  attempts: BackendAttempt[],
): Promise<PortableSession> {
  const { source, component, portable, signal, meter } = load;
  meter.start(portableFiles(component).reduce((sum, path) => sum + source.sizeOf(path), 0));
  return openPortable({ source, component, backend, portable, signal, onBytes: meter.add }, attempts);
}

async function finish(load: PortableLoad, opened: PortableSession, reasons: readonly string[]): Promise<PortableModel> {
  const { source, component, device, telemetry, signal, manifestMs } = load;
  await source.remember();
  throwIfAborted(signal);
  const { weightsMs, compileMs } = opened;
  const model = source.manifest.name;
  const ended = (phase: LoadPhase, ms: number): void => {
    telemetry.emit({ type: "phase", at: performance.now() - ms, ms, model, phase });
  };
  ended("weights", weightsMs);
  ended("compile", compileMs);
  const totalMs = load.totalMs();
  const timings = { manifestMs, deviceMs: 0, tierMs: 0, compileMs, weightsMs, warmUpMs: 0, totalMs };
  const { store, manifest, networkBytes, storedBytes, retries } = source.delivery;
  telemetry.emit({
    type: "loaded",
    at: performance.now() - totalMs,
    ms: totalMs,
    model,
    dispatches: 0,
    gpuBytes: 0,
    store,
    manifest,
    networkBytes,
    storedBytes,
    retries,
  });
  return new PortableModel({ source, component, opened, device, reasons, timings, telemetry });
}

/** Says of each backend why not. */
function noBackend(model: string, attempts: readonly BackendAttempt[]): BackendError {
  const list = attempts.map(({ backend, code, message }) => `${backend}: ${message} [${code}]`).join("; ");
  return new BackendError("no-backend", `no backend runs ${model}; ${list}`, { attempts });
}
