// Which backend runs a model: what may be asked for, and what lets WebGPU give way to another one.

import { DeviceError, GpuError, LimitsError, type BackendAttempt } from "./errors.js";

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
