// The part of ONNX Runtime Web that the fallback uses, and how it gets here: imported only when it is needed.

import type { PortableOptions } from "../backend.js";
import { BackendError } from "../errors.js";

export interface OrtTensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}

export interface OrtSession {
  run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Readonly<Record<string, OrtTensor>>>;
  release(): Promise<void>;
}

interface SessionOptions {
  readonly executionProviders: readonly (string | { readonly name: string; readonly deviceType?: string })[];
  readonly externalData: readonly { readonly path: string; readonly data: Blob }[];
  /** 3: errors only. */
  readonly logSeverityLevel: 3;
}

/** Its module, as far as it is used here. */
export interface OrtModule {
  readonly env: {
    readonly wasm: { proxy?: boolean; numThreads?: number; wasmPaths?: PortableOptions["wasmPaths"] };
    readonly versions: { readonly web?: string };
  };
  readonly Tensor: new (type: string, data: ArrayBufferView, dims: readonly number[]) => OrtTensor;
  readonly InferenceSession: { create(model: Uint8Array, options: SessionOptions): Promise<OrtSession> };
}

/** A provider of ONNX Runtime Web that can be used here. */
export interface Provider {
  readonly name: "webnn" | "wasm";
  readonly ort: OrtModule;
  /** How it will run, for people. */
  readonly how: string;
}

/** WebNN as in https://www.w3.org/TR/webnn/, which TypeScript's library does not have yet. */
interface ML {
  createContext(options: { readonly deviceType: string }): Promise<{ destroy?(): void }>;
}

const DEVICE_TYPE = "gpu";
/** More threads gain little in convolutions, and the game needs cores, too. */
const MAX_THREADS = 4;

/** The provider of a name; rejects with "not-on-backend" where the browser has no WebNN, or with "portable-missing". */
export async function openProvider(name: Provider["name"], options: PortableOptions): Promise<Provider> {
  if (name === "webnn") await checkWebnn();
  const ort = await importRuntime(name, options);
  const { wasm } = ort.env;
  // The module is one for the page: what its owner has set stays.
  if (options.wasmPaths !== undefined) wasm.wasmPaths ??= options.wasmPaths;
  wasm.proxy ??= typeof document !== "undefined";
  const threads = threadsHere();
  wasm.numThreads ??= threads.count;
  const where = wasm.proxy ? "in a worker" : "in the calling thread";
  const why = wasm.numThreads > 1 || threads.why === "" ? "" : ` (${threads.why})`;
  const count = wasm.numThreads === 1 ? "1 thread" : `${String(wasm.numThreads)} threads`;
  const how = name === "webnn" ? `WebNN ${where}` : `WebAssembly ${where}, ${count}${why}`;
  return { name, ort, how: `ONNX Runtime Web ${ort.env.versions.web ?? ""}: ${how}` };
}

/** Make a session; rejects with "portable-failed". Holds no file of the package when it resolves. */
export async function createSession(
  { name, ort }: Provider,
  model: Uint8Array,
  externalData: SessionOptions["externalData"],
): Promise<OrtSession> {
  const providers = name === "webnn" ? [{ name, deviceType: DEVICE_TYPE }] : [name];
  try {
    return await ort.InferenceSession.create(model, {
      executionProviders: providers,
      externalData,
      logSeverityLevel: 3,
    });
  } catch (cause) {
    throw portableFailure(name, "made no session of the model", cause);
  }
}

/** What ONNX Runtime Web threw, typed. */
export function portableFailure(name: Provider["name"], what: string, cause: unknown): BackendError {
  const next = "check `portable`, the memory of the page and its content security policy, or use WebGPU";
  return new BackendError("portable-failed", `ONNX Runtime Web (${name}) ${what}: ${textOf(cause)}; ${next}`, {
    cause,
  });
}

async function checkWebnn(): Promise<void> {
  const { navigator: browser } = globalThis as { readonly navigator?: { readonly ml?: ML } };
  try {
    const ml = browser?.ml;
    if (ml === undefined) throw new Error("navigator.ml is missing");
    const context = await ml.createContext({ deviceType: DEVICE_TYPE });
    context.destroy?.();
  } catch (cause) {
    throw new BackendError("not-on-backend", `the browser offers no WebNN (${textOf(cause)}); use "wasm"`, { cause });
  }
}

async function importRuntime(name: Provider["name"], { module }: PortableOptions): Promise<OrtModule> {
  try {
    const found: unknown = await (module === undefined ? importPackage(name) : module());
    if (isRuntime(found)) return found;
    // A CommonJS build that a bundler wrapped.
    if (typeof found === "object" && found !== null && "default" in found && isRuntime(found.default)) {
      return found.default;
    }
    throw new Error("what was imported has no InferenceSession");
  } catch (cause) {
    const next = "install onnxruntime-web 1.30 beside @webinfer/runtime, or say where it is by `portable.module`";
    throw new BackendError("portable-missing", `onnxruntime-web could not be imported (${textOf(cause)}); ${next}`, {
      cause,
    });
  }
}

/** Names in place, so that bundlers find them; within `try`, so that they let them be missing. */
async function importPackage(name: Provider["name"]): Promise<unknown> {
  try {
    if (name === "webnn") return await import("onnxruntime-web");
    return await import("onnxruntime-web/wasm");
  } catch (cause) {
    throw cause instanceof Error ? cause : new Error(String(cause));
  }
}

function isRuntime(found: unknown): found is OrtModule {
  return typeof found === "object" && found !== null && "InferenceSession" in found && "env" in found;
}

function threadsHere(): { readonly count: number; readonly why: string } {
  // Undefined in Node.
  const isolated: unknown = globalThis.crossOriginIsolated;
  if (isolated !== true) {
    return { count: 1, why: "the page is not cross-origin isolated: serve it with COOP and COEP headers for threads" };
  }
  const cores = navigator.hardwareConcurrency;
  return { count: Math.max(1, Math.min(MAX_THREADS, Math.ceil(cores / 2))), why: `${String(cores)} cores` };
}

/** The message of whatever was thrown: workers report ErrorEvents, WebAssembly throws strings. */
function textOf(cause: unknown): string {
  if (typeof cause === "object" && cause !== null && "message" in cause && typeof cause.message === "string") {
    return cause.message || "no reason given";
  }
  return typeof cause === "string" ? cause : "no reason given";
}
