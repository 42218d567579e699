// Typed errors with stable codes: class, culprit, expected, found, next step.

import type { Diagnosis } from "./diagnosis.js";

/** Stable names of everything that can go wrong; programs branch on these, never on message text. */
export type ErrorCode =
  | "no-webgpu"
  | "no-adapter"
  | "limits"
  | "features"
  | "not-admitted"
  | "self-test"
  | "crashed"
  | "fetch"
  | "html-answer"
  | "zip-invalid"
  | "not-json"
  | "format-version"
  | "manifest-invalid"
  | "hash-mismatch"
  | "size-mismatch"
  | "missing-file"
  | "unknown-component"
  | "unknown-tier"
  | "unknown-tensor"
  | "unknown-input"
  | "missing-input"
  | "input-shape"
  | "input-dtype"
  | "input-lost"
  | "image-source"
  | "image-shape"
  | "texture-usage"
  | "texture-format"
  | "texture-size"
  | "texture-device"
  | "no-texture"
  | "no-buffer"
  | "stale-output"
  | "no-backend"
  | "not-on-backend"
  | "portable-missing"
  | "portable-failed"
  | "aborted"
  | "disposed"
  | "device-lost"
  | "validation"
  | "out-of-memory"
  | "memory-budget"
  | "compile";

/** Base of every error that the runtime throws on purpose. */
export class WebinferError extends Error {
  override readonly name: string = "WebinferError";
  readonly code: ErrorCode;
  /** Of a loss, of memory that ran out, of work that was refused: what is known about it. */
  readonly diagnosis: Diagnosis | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions & { readonly diagnosis?: Diagnosis } = {}) {
    super(message, options);
    this.code = code;
    this.diagnosis = options.diagnosis;
  }
}

/** The adapter or device cannot run the package: missing, or without a needed limit or feature. */
export class DeviceError extends WebinferError {
  override readonly name = "DeviceError";
}

/** The package could not be fetched, is damaged, or is of another version. */
export class PackageError extends WebinferError {
  override readonly name = "PackageError";
}

/** A run was given wrong inputs, or asked for a tensor that the model does not have. */
export class InputError extends WebinferError {
  override readonly name = "InputError";
}

/** The GPU refused work: a shader, a resource or a command; or memory is short, in truth or by the caller's budget. */
export class GpuError extends WebinferError {
  override readonly name = "GpuError";
}

/** The model was disposed, or the caller's AbortSignal fired. */
export class StoppedError extends WebinferError {
  override readonly name = "StoppedError";
}

/** A backend that was tried, and why it does not run the model. */
export interface BackendAttempt {
  readonly backend: "webgpu" | "webnn" | "wasm";
  readonly code: ErrorCode;
  readonly message: string;
}

/**
 * ONNX Runtime Web could not be imported ("portable-missing") or failed ("portable-failed"), what was asked for exists on
 * WebGPU only ("not-on-backend"), or no backend runs the model ("no-backend"; `attempts` then lists each of them).
 */
export class BackendError extends WebinferError {
  override readonly name = "BackendError";
  readonly attempts: readonly BackendAttempt[];

  constructor(code: ErrorCode, message: string, options: ErrorOptions & { attempts?: readonly BackendAttempt[] } = {}) {
    super(code, message, options);
    this.attempts = options.attempts ?? [];
  }
}

/** One limit that an adapter or a device does not meet. */
export interface MissingLimit {
  readonly limit: string;
  readonly needed: number;
  readonly offered: number;
}

/** Raised when no program fits the adapter; `missing` lists every limit that falls short. */
export class LimitsError extends WebinferError {
  override readonly name = "LimitsError";
  readonly missing: readonly MissingLimit[];

  constructor(message: string, missing: readonly MissingLimit[]) {
    super("limits", message);
    this.missing = missing;
  }
}

/** Throw what an aborted signal says: its reason where that is typed, else "aborted". Does nothing otherwise. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    if (signal.reason instanceof WebinferError) throw signal.reason;
    throw new StoppedError("aborted", "loading was aborted by the caller's signal", { cause: signal.reason });
  }
}
