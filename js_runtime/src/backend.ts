// Which backend runs a model: what may be asked for, what lets one give way to the next, and when two are measured.

import { BackendError, DeviceError, GpuError, LimitsError, type BackendAttempt } from "./errors.js";
import type { Program } from "./generated/manifest.js";
import { CostModel, type Rates } from "./scheduling/costs.js";

export type Backend = BackendAttempt["backend"];

/** Where the fallback's ONNX Runtime Web comes from. */
export interface PortableOptions {
  /** Imports it; default the package "onnxruntime-web", which a bundler or an import map resolves. */
  readonly module?: (() => Promise<unknown>) | undefined;
  /** Where its .wasm files lie, if not beside its module: a folder's URL, or the URL of each. */
  readonly wasmPaths?: string | { readonly mjs?: string; readonly wasm?: string } | undefined;
}

export interface BackendOptions {
  /**
   * "auto": WebGPU, and ONNX Runtime Web where WebGPU is missing, refuses or, on a software adapter, is slower; else this
   * one or an error.
   */
  readonly backend?: "auto" | Backend | undefined;
  readonly portable?: PortableOptions | undefined;
}

/** Below this, a software adapter is fast enough, and ONNX Runtime Web's 14 MB are not worth a download. */
export const WORTH_MEASURING_MS = 100;

/** Predicted milliseconds of one run at the largest sizes, at measured rates; `saved` is what earlier visits learned. */
export function predictMs(program: Program, rates: Rates, saved: string | undefined): number {
  const costs = new CostModel(program.dispatches, rates);
  if (saved !== undefined) costs.restore(saved);
  return program.dispatches.reduce((sum, _, index) => sum + costs.ms(index), 0);
}

/** Refusals that the caller asked for. */
const CALLERS_OWN: ReadonlySet<string> = new Set(["not-admitted", "memory-budget"]);

/**
 * The attempt to record where WebGPU cannot run the model and another backend might. Wrong options, a damaged package, and
 * a caller who stopped or refused the load are the same everywhere: undefined.
 */
export function givesWay(cause: unknown): BackendAttempt | undefined {
  const gpu = cause instanceof GpuError || cause instanceof LimitsError || cause instanceof DeviceError;
  return gpu && !CALLERS_OWN.has(cause.code)
    ? { backend: "webgpu", code: cause.code, message: cause.message }
    : undefined;
}

/** The last error of `load`: says of each backend why not. */
export function noBackend(model: string, attempts: readonly BackendAttempt[]): BackendError {
  const list = attempts.map(({ backend, code, message }) => `${backend}: ${message} [${code}]`).join("; ");
  return new BackendError("no-backend", `no backend runs ${model}; ${list}`, { attempts });
}
