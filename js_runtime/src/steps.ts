// A job of several runs whose values stay on the GPU from run to run, with checkpoints on the CPU that survive a loss.

import { GpuError, InputError } from "./errors.js";
import type { Feeds } from "./feeds.js";
import type { Component } from "./generated/manifest.js";
import type { OutputTextures } from "./image/output_textures.js";
import type { Course } from "./job.js";
import type { StepsOptions } from "./model.js";
import { encodeRead, finishRead, type PendingRead } from "./readback.js";
import type { Residence } from "./residence.js";
import { elementCount } from "./tensor.js";

const CHECKPOINT_EVERY = 4;

type Carry = readonly (readonly [output: string, input: string])[];

interface Read {
  readonly input: string;
  readonly read: PendingRead;
}

/** The runs of one job. Outlives residences, and holds nothing on the GPU. */
export class Steps {
  readonly #options: StepsOptions;
  readonly #carry: Carry;
  readonly #every: number;
  /** Carried inputs of the step to begin again with; none of the first. */
  #checkpoint: { readonly step: number; readonly feeds: Feeds } = { step: 0, feeds: {} };

  /** Throws like `checkCarry`. */
  constructor(component: Component, options: StepsOptions) {
    this.#options = options;
    this.#carry = checkCarry(component, options);
    this.#every = options.checkpointEvery ?? CHECKPOINT_EVERY;
  }

  /** What is left to do, on a residence that the job has for its turn. `overwrite`: earlier outputs become stale. */
  async course(residence: Residence, outputs: OutputTextures, overwrite: () => void): Promise<Course> {
    const { steps, feeds, textures = {} } = this.#options;
    const { step, feeds: kept } = this.#checkpoint;
    const admitted = residence.admit({ ...feeds(step), ...kept });
    const images = await residence.takeImages(admitted, textures, outputs, "values are carried from step to step");
    return {
      slicer: residence.slicer,
      steps,
      first: step,
      begin: (encoder) => {
        overwrite();
        residence.writeInputs(encoder, admitted);
        images.begin(encoder);
      },
      end: images.end,
      images: images.uses,
      advance: (next) => {
        this.#advance(residence, next);
      },
    };
  }

  #advance(residence: Residence, step: number): void {
    const { device, memory } = residence;
    const encoder = device.createCommandEncoder({ label: "webinfer carry" });
    const carried = this.#carry.map(([output, input]) => ({
      input,
      range: residence.range(residence.planned(output)),
    }));
    const reads = step % this.#every === 0 ? this.#encodeReads(encoder, residence, carried) : [];
    // An output that is carried over is fed like any buffer of the caller.
    const values = carried.map(({ input, range: { buffer, offset, shape } }) => [input, { buffer, offset, shape }]);
    const feeds: Feeds = { ...this.#options.feeds(step), ...(Object.fromEntries(values) as Feeds) };
    residence.writeInputs(encoder, residence.admit(feeds));
    device.queue.submit([encoder.finish()]);
    if (reads.length > 0) void this.#keep(step, memory, reads);
  }

  #encodeReads(
    encoder: GPUCommandEncoder,
    { memory }: Residence,
    carried: readonly { readonly input: string; readonly range: PendingRead["range"] }[],
  ): readonly Read[] {
    try {
      return carried
        .filter(({ range }) => elementCount(range.shape) > 0)
        .map(({ input, range }) => ({ input, read: encodeRead(encoder, memory, range) }));
    } catch (cause) {
      // No room for a checkpoint: an earlier one has to do.
      if (cause instanceof GpuError) return [];
      throw cause;
    }
  }

  async #keep(step: number, memory: Residence["memory"], reads: readonly Read[]): Promise<void> {
    const reading = reads.map(async ({ input, read }) => {
      const bytes = await finishRead(memory, read);
      return [input, { bytes, shape: read.range.shape }] as const;
    });
    try {
      const feeds = Object.fromEntries(await Promise.all(reading));
      if (step > this.#checkpoint.step) this.#checkpoint = { step, feeds };
    } catch {
      // The device was lost, or the model disposed: an earlier checkpoint has to do.
    }
  }
}

/** What is carried over; throws "unknown-tensor", "input-dtype" or "input-shape" where that cannot be. */
export function checkCarry({ inputs, outputs }: Component, { steps, carry }: StepsOptions): Carry {
  if (!(Number.isInteger(steps) && steps > 0)) {
    throw new InputError("input-shape", `steps: expected a whole number above 0, found ${String(steps)}`);
  }
  const pairs = Object.entries(carry);
  for (const [from, to] of pairs) {
    const output = outputs.find(({ name }) => name === from);
    const input = inputs.find(({ name }) => name === to);
    if (output === undefined || input === undefined) {
      const known = `${outputs.map(({ name }) => name).join(", ")} -> ${inputs.map(({ name }) => name).join(", ")}`;
      throw new InputError("unknown-tensor", `carry ${from} -> ${to}: choose an output and an input of ${known}`);
    }
    if (output.dtype !== input.dtype) {
      throw new InputError("input-dtype", `carry ${from} -> ${to}: ${output.dtype} does not fit ${input.dtype}`);
    }
  }
  return pairs;
}
