// A component of a package as a session of ONNX Runtime Web: the package's own model.onnx and shards, each checked.

import type { Backend, PortableOptions } from "../backend.js";
import { BackendError, throwIfAborted, type BackendAttempt } from "../errors.js";
import { Sizes } from "../expressions.js";
import type { Component } from "../generated/manifest.js";
import type { Package, ReadOptions } from "../package.js";
import { elementCount, wireBytes } from "../tensor.js";
import { createSession, openProvider, portableFailure, type OrtSession, type Provider } from "./onnx_runtime.js";
import { toOrt } from "./tensors.js";

export interface PortableRequest extends ReadOptions {
  readonly source: Package;
  readonly component: Component;
  /** "auto": WebNN where it is offered and takes the model, else WebAssembly. */
  readonly backend: "auto" | Exclude<Backend, "webgpu">;
  readonly portable: PortableOptions;
}

/** A session that is ready to run, and what it took. */
export interface PortableSession {
  readonly provider: Provider;
  readonly session: OrtSession;
  readonly weightsMs: number;
  readonly compileMs: number;
}

interface Files {
  readonly model: Uint8Array<ArrayBuffer>;
  readonly shards: readonly { readonly path: string; readonly data: Blob }[];
  readonly ms: number;
}

/** Paths of what `openPortable` reads. */
export function portableFiles(component: Component): readonly string[] {
  return [component.model, ...new Set(component.weights.map(({ file }) => file))];
}

/**
 * Open the first provider that takes the model. What was tried in vain goes into `attempts`. Rejects with the last
 * failure, or with that of a download.
 */
export async function openPortable(request: PortableRequest, attempts: BackendAttempt[]): Promise<PortableSession> {
  const { backend, portable, component, signal } = request;
  const names = backend === "auto" ? (["webnn", "wasm"] as const) : [backend];
  let files: Files | undefined;
  let failure: BackendError | undefined;
  for (const name of names) {
    try {
      const provider = await openProvider(name, portable);
      if (name === "webnn" && Object.keys(component.symbols).length > 0) {
        throw new BackendError(
          "not-on-backend",
          `WebNN takes fixed sizes, ${component.name} has open ones; use "wasm"`,
        );
      }
      files ??= await readFiles(request);
      throwIfAborted(signal);
      const start = performance.now();
      // A copy: a worker takes over the memory that it is given.
      const session = await createSession(provider, files.model.slice(), files.shards);
      if (signal?.aborted) await session.release();
      throwIfAborted(signal);
      return { provider, session, weightsMs: files.ms, compileMs: performance.now() - start };
    } catch (cause) {
      if (!(cause instanceof BackendError)) throw cause;
      failure = cause;
      attempts.push({ backend: name, code: cause.code, message: cause.message });
    }
  }
  throw failure ?? new BackendError("no-backend", "there is nothing to try");
}

/** Milliseconds of one run at the largest sizes, on zeros. Rejects with "portable-failed". */
export async function timeRun({ provider, session }: PortableSession, component: Component): Promise<number> {
  const sizes = new Sizes(component.symbols);
  const feeds = Object.fromEntries(
    component.inputs.map(({ name, dtype, shape }) => {
      const dims = sizes.shapeOf(shape);
      return [name, toOrt(provider.ort, name, dtype, dims, new Uint8Array(elementCount(dims) * wireBytes(dtype)))];
    }),
  );
  const start = performance.now();
  try {
    await session.run(feeds);
  } catch (cause) {
    throw portableFailure(provider.name, "failed on inputs of zeros", cause);
  }
  return performance.now() - start;
}

/** One shard at a time in memory: as a Blob it is the browser's, which may keep it on disk until the session reads it. */
async function readFiles({ source, component, signal, onBytes }: PortableRequest): Promise<Files> {
  const start = performance.now();
  const options = { signal, onBytes };
  const [path = "", ...shardPaths] = portableFiles(component);
  const model = await source.read(path, options);
  const shards: Files["shards"][number][] = [];
  for (const shard of shardPaths) shards.push({ path: shard, data: new Blob([await source.read(shard, options)]) });
  return { model, shards, ms: performance.now() - start };
}
