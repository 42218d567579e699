// Runs golden inputs on the player's device and names the first kernel that is wrong. Loaded only when a test is due.

import { capture } from "./capture.js";
import type { Feeds } from "./feeds.js";
import type { Component, Golden, GoldenValue, Program } from "./generated/manifest.js";
import { goldenFeeds, probed } from "./golden.js";
import { Job } from "./job.js";
import { encodeRead, finishRead } from "./readback.js";
import type { Residence } from "./residence.js";
import { checked } from "./scopes.js";
import { elementCount, toArray, type DType } from "./tensor.js";

/** Some drivers are right once: buffers that are used again, and warm pipelines, must be right as well. */
const RUNS = 3;
/** GPU time of one submit: the page stays responsive. */
const SUBMIT_MS = 50;
/** Values that are read in one go while the first wrong one is looked for. */
const CAPTURE_BYTES = 64 * 1024 * 1024;

/** What the device answered. */
export interface Verdict {
  readonly runs: number;
  /** Largest error, as a share of what is tolerated: above 1 the device is wrong. */
  readonly drift: number;
  /** Kernels of the first node that is wrong; empty where all is right, or no value in between shows what is wrong. */
  readonly suspects: readonly string[];
  /** What is wrong, for people; empty where all is right. */
  readonly finding: string;
}

/** Run the golden inputs on an occupied residence. `answers` is the golden file. */
export async function selfTest(
  residence: Residence,
  component: Component,
  golden: Golden,
  answers: Uint8Array<ArrayBuffer>,
): Promise<Verdict> {
  const feeds = goldenFeeds(component, golden);
  const compared = golden.values.filter((value) => component.outputs.some(({ name }) => name === value.name));
  let drift = 0;
  let finding = "";
  let runs = 0;
  while (runs < RUNS && drift <= 1) {
    runs += 1;
    await runOnce(residence, feeds);
    for (const value of compared) {
      const { dtype, shape, bytes } = await read(residence, value.name);
      const error = driftOf(value, dtype, elementCount(shape), bytes, answers);
      if (error > 1) finding ||= `output ${value.name} differs in run ${String(runs)}`;
      drift = Math.max(drift, error);
    }
  }
  if (drift <= 1) return { runs, drift, suspects: [], finding };
  const wrong = await firstWrong(residence, golden.values, feeds, answers);
  if (wrong === undefined) return { runs, drift, suspects: [], finding };
  const { program } = residence;
  const culprit = program.dispatches[program.tensors[wrong]?.producer ?? -1];
  const kernel = culprit?.kernel ?? "";
  return { runs, drift, suspects: kernelsOf(program, culprit?.node), finding: `${finding}, from kernel ${kernel} on` };
}

/** All kernels of a node: a value shows only that one of them is wrong. */
function kernelsOf(program: Program, node: string | undefined): readonly string[] {
  const own = [...program.prepare, ...program.dispatches].filter((dispatch) => dispatch.node === node);
  return [...new Set(own.map(({ kernel }) => kernel))];
}

async function runOnce(residence: Residence, feeds: Feeds): Promise<void> {
  const { slicer, program } = residence;
  const job = new Job<undefined>(program.dispatches.length, async (self) => {
    await self.perform(() => {
      const admitted = residence.admit(feeds);
      const begin = (encoder: GPUCommandEncoder): void => {
        residence.writeInputs(encoder, admitted);
      };
      return { slicer, steps: 1, first: 0, begin, advance: () => undefined };
    });
    return undefined;
  });
  await job.started;
  while (job.state === "running") await job.step({ budgetMs: SUBMIT_MS, divideAboveMs: Infinity }).finished;
  await job.done;
}

function submitInputs(residence: Residence, feeds: Feeds): Promise<void> {
  const admitted = residence.admit(feeds);
  return checked(residence.device, "self-test inputs", () => {
    const encoder = residence.device.createCommandEncoder({ label: "webinfer self-test inputs" });
    residence.writeInputs(encoder, admitted);
    residence.device.queue.submit([encoder.finish()]);
  });
}

async function read(residence: Residence, name: string) {
  const range = residence.range(residence.planned(name));
  const { device, memory } = residence;
  const reading = await checked(device, "self-test output", () => {
    const encoder = device.createCommandEncoder({ label: "webinfer self-test" });
    const pending = encodeRead(encoder, memory, range);
    device.queue.submit([encoder.finish()]);
    return { bytes: finishRead(memory, pending) };
  });
  return { dtype: range.dtype, shape: range.shape, bytes: await reading.bytes };
}

/** The first value in dispatch order that differs when everything is read right after it is computed. */
async function firstWrong(
  residence: Residence,
  values: readonly GoldenValue[],
  feeds: Feeds,
  answers: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  const planned = (value: GoldenValue) => residence.planned(value.name);
  const ordered = [...values].sort((a, b) => planned(a).producer - planned(b).producer);
  for (let next = 0; next < ordered.length;) {
    let bytes = 0;
    const group: GoldenValue[] = [];
    for (const value of ordered.slice(next)) {
      bytes += planned(value).span.size_bytes;
      if (group.length > 0 && bytes > CAPTURE_BYTES) break;
      group.push(value);
    }
    next += group.length;
    await submitInputs(residence, feeds);
    const captured = await capture(
      residence,
      group.map(({ name }) => name),
    );
    for (const [index, { dtype, shape, bytes: found }] of captured.entries()) {
      const value = group[index];
      if (value !== undefined && driftOf(value, dtype, elementCount(shape), found, answers) > 1) return value.name;
    }
  }
  return undefined;
}

function driftOf(
  { offset, count, tolerance }: GoldenValue,
  dtype: DType,
  elements: number,
  found: Uint8Array<ArrayBuffer>,
  answers: Uint8Array<ArrayBuffer>,
): number {
  const array = toArray(dtype, found);
  const expected = new DataView(answers.buffer, answers.byteOffset);
  let worst = 0;
  for (const [index, at] of probed(elements, count).entries()) {
    const wanted = expected.getFloat64(offset + index * 8, true);
    const got = Number(array[at]);
    const error = got === wanted ? 0 : Math.abs(got - wanted) / tolerance;
    // Written so that NaN is the worst there is.
    if (!(error <= worst)) worst = error >= 0 ? error : Infinity;
  }
  return worst;
}
