// Streams weights shard by shard into GPU buffers and runs the load-time dispatches as soon as their inputs are there.

import type { Component, Program, Upload, Weight } from "./generated/manifest.js";
import { encodePass, type Executor } from "./executor.js";
import type { Package } from "./package.js";
import type { CompiledKernel } from "./pipelines.js";
import { checked } from "./scopes.js";
import { padded, weightBytes } from "./tensor.js";

/** Staging bytes that may wait on the GPU before the upload pauses: destroyed buffers live until their work is done. */
const MAX_STAGING_IN_FLIGHT = 32 * 1024 * 1024;

export interface WeightStreamOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** Shards that a program's uploads read, in the order in which they are fetched. */
export function shardsOf(component: Component, program: Program): readonly string[] {
  const weights = new Map(component.weights.map((weight) => [weight.name, weight.file]));
  return [...new Set(program.uploads.map((upload) => weights.get(upload.weight) ?? ""))].sort();
}

/** Fetch, verify and upload every weight of the program: one shard is uploaded while the next one arrives. */
export async function streamWeights(
  device: GPUDevice,
  source: Package,
  component: Component,
  executor: Executor,
  kernels: Promise<ReadonlyMap<string, CompiledKernel>>,
  options: WeightStreamOptions,
): Promise<void> {
  const { program } = executor;
  const weights = new Map(component.weights.map((weight) => [weight.name, weight]));
  const order = new PrepareOrder(program, weights);
  let inFlight = 0;
  const advance = async (): Promise<void> => {
    const runnable = order.takeRunnable();
    if (runnable.length === 0) return;
    const compiled = await kernels;
    await checked(device, "load-time dispatches", () => {
      const encoder = device.createCommandEncoder({ label: "webinfer prepare" });
      encodePass(
        encoder,
        runnable.map((index) => executor.bindPrepare(index, compiled)),
      );
      device.queue.submit([encoder.finish()]);
    });
    for (const buffer of order.takeReleasable()) {
      inFlight += program.buffers[buffer]?.size_bytes ?? 0;
      executor.releaseStaging(buffer);
    }
    if (inFlight > MAX_STAGING_IN_FLIGHT) {
      await device.queue.onSubmittedWorkDone();
      inFlight = 0;
    }
  };
  await advance();
  const files = shardsOf(component, program);
  const fetchShard = (file: string | undefined): Promise<Uint8Array<ArrayBuffer>> | undefined => {
    const shard = file === undefined ? undefined : source.read(file, options);
    // Awaited in its turn; should an earlier shard fail first, this one must not count as unhandled.
    shard?.catch(() => undefined);
    return shard;
  };
  let next = fetchShard(files[0]);
  for (const [number, file] of files.entries()) {
    const shard = await next;
    if (shard === undefined) break;
    next = fetchShard(files[number + 1]);
    for (const { index, upload, weight } of order.uploadsFrom(file)) {
      const bytes = shard.subarray(weight.offset, weight.offset + weight.size_bytes);
      writePadded(device.queue, executor.buffer(upload.buffer), upload.offset, bytes);
      order.noteUploaded(index);
      await advance();
    }
  }
  executor.releasePrepare();
}

/** Write bytes and zero the rest of the last 16-byte granule, so that a reused buffer shows no old data. */
export function writePadded(queue: GPUQueue, buffer: GPUBuffer, offset: number, bytes: Uint8Array<ArrayBuffer>): void {
  const whole = bytes.length - (bytes.length % 16);
  if (whole > 0) queue.writeBuffer(buffer, offset, bytes, 0, whole);
  if (whole === bytes.length) return;
  const tail = new Uint8Array(padded(bytes.length) - whole);
  tail.set(bytes.subarray(whole));
  queue.writeBuffer(buffer, offset + whole, tail);
}

interface Range {
  readonly buffer: number;
  readonly start: number;
  readonly end: number;
}

/** Decides which load-time dispatches can run: all bytes that they touch are uploaded and earlier users are done. */
class PrepareOrder {
  readonly #program: Program;
  readonly #uploads: readonly { readonly index: number; readonly upload: Upload; readonly weight: Weight }[];
  readonly #waitsForUploads: readonly Set<number>[];
  readonly #waitsForDispatches: readonly ReadonlySet<number>[];
  readonly #done = new Set<number>();
  readonly #uploaded = new Set<number>();
  readonly #released = new Set<number>();

  constructor(program: Program, weights: ReadonlyMap<string, Weight>) {
    this.#program = program;
    this.#uploads = program.uploads.flatMap((upload, index) => {
      const weight = weights.get(upload.weight);
      return weight === undefined ? [] : [{ index, upload, weight }];
    });
    const ranges: readonly (readonly Range[])[] = program.prepare.map((dispatch) =>
      dispatch.args.map(({ buffer, offset, size_bytes }) => ({ buffer, start: offset, end: offset + size_bytes })),
    );
    const written = this.#uploads.map(({ index, upload: { buffer, offset }, weight }) => ({
      buffer,
      start: offset,
      end: offset + weightBytes(weight.dtype, weight.shape),
      index,
    }));
    this.#waitsForUploads = ranges.map(
      (touched) =>
        new Set(written.filter((range) => touched.some((own) => overlap(own, range))).map(({ index }) => index)),
    );
    this.#waitsForDispatches = ranges.map(
      (touched, later) =>
        new Set(
          ranges
            .slice(0, later)
            .flatMap((earlier, at) =>
              earlier.some((range) => touched.some((own) => overlap(own, range))) ? [at] : [],
            ),
        ),
    );
  }

  /** Uploads of one shard, those that feed the earliest load-time dispatches first. */
  uploadsFrom(file: string) {
    const firstUser = (index: number): number => {
      const user = this.#waitsForUploads.findIndex((waits) => waits.has(index));
      return user < 0 ? Infinity : user;
    };
    return this.#uploads
      .filter(({ weight }) => weight.file === file)
      .map((entry) => ({ ...entry, user: firstUser(entry.index) }))
      .sort((a, b) => (a.user === b.user ? a.index - b.index : a.user - b.user));
  }

  /** Note that an upload's bytes are in its buffer. */
  noteUploaded(index: number): void {
    this.#uploaded.add(index);
  }

  /** The load-time dispatches that can run now and were not returned before, in order. */
  takeRunnable(): readonly number[] {
    const runnable: number[] = [];
    for (const at of this.#program.prepare.keys()) {
      if (this.#done.has(at)) continue;
      const uploaded = [...(this.#waitsForUploads[at] ?? [])].every((upload) => this.#uploaded.has(upload));
      const ordered = [...(this.#waitsForDispatches[at] ?? [])].every((earlier) => this.#done.has(earlier));
      if (!uploaded || !ordered) continue;
      this.#done.add(at);
      runnable.push(at);
    }
    return runnable;
  }

  /** Staging buffers that nothing will use any more and that were not returned before. */
  takeReleasable(): readonly number[] {
    const needed = new Set<number>();
    for (const [at, dispatch] of this.#program.prepare.entries()) {
      if (!this.#done.has(at)) for (const span of dispatch.args) needed.add(span.buffer);
    }
    for (const { index, upload } of this.#uploads) if (!this.#uploaded.has(index)) needed.add(upload.buffer);
    const free = [...this.#program.buffers.entries()]
      .filter(([index, { kind }]) => kind === "staging" && !needed.has(index) && !this.#released.has(index))
      .map(([index]) => index);
    for (const index of free) this.#released.add(index);
    return free;
  }
}

function overlap(a: Range, b: Range): boolean {
  return a.buffer === b.buffer && a.start < b.end && b.start < a.end;
}
