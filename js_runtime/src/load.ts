// load(): package -> device -> program -> pipelines and weights -> a warm model.

import { calibrate, heaviestNode } from "./calibration.js";
import { defaultCostStore, type CostStore } from "./cost_store.js";
import { acquireDevice, type DeviceOptions } from "./device.js";
import { DeviceError, InputError, throwIfAborted, WebinferError } from "./errors.js";
import { Executor } from "./executor.js";
import { Sizes } from "./expressions.js";
import type { Component, Kernel, Program } from "./generated/manifest.js";
import { DeviceMemory } from "./memory.js";
import { Model, type LoadTimings } from "./model.js";
import { Package, type DeliveryOptions } from "./package.js";
import { Pipelines, type PipelineCache } from "./pipelines.js";
import type { PackageLocation } from "./source.js";
import type { Shortlist } from "./tier.js";
import { SILENT, type LoadPhase, type Subject, type Telemetry } from "./telemetry/events.js";
import { shardsOf, streamWeights, type WeightStreamOptions } from "./weights.js";

/** Bytes of the files that the chosen program needs; the total is known from the first call on. */
export interface Progress {
  /** At hand, from the network or the store; less than before where a damaged file is fetched again. */
  readonly loadedBytes: number;
  readonly totalBytes: number;
  /** Came over the network; the rest was stored by an earlier visit. */
  readonly networkBytes: number;
}

export interface LoadOptions extends DeviceOptions, DeliveryOptions {
  /** Component of the package; needed only where it has several. */
  readonly component?: string | undefined;
  /** Use this tier instead of the one that the adapter and a measurement suggest. */
  readonly tier?: string | undefined;
  /** Take and leave compiled kernels here; of use with `device`, which the packages share. */
  readonly pipelineCache?: PipelineCache | undefined;
  /** Where the measured times of dispatches are kept for the next visit; default IndexedDB where there is one. */
  readonly costStore?: CostStore | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Where events go; default nowhere. */
  readonly telemetry?: Telemetry | undefined;
  /** Asked before anything is compiled; false rejects the load with "not-admitted". */
  readonly admit?: ((subject: Subject) => Promise<boolean>) | undefined;
}

/**
 * Load a package from its URL, a zip (File or Blob), the files of a folder or a folder's handle: fetched, verified,
 * compiled and warm. Everything is freed again when this rejects.
 */
export async function load(location: PackageLocation, options: LoadOptions = {}): Promise<Model> {
  const { telemetry = SILENT } = options;
  const clock = new Stopwatch();
  let model = "";
  try {
    const source = await Package.open(location, options);
    model = source.manifest.name;
    return await loadFrom(source, options, telemetry, clock);
  } catch (cause) {
    const code = cause instanceof WebinferError ? cause.code : "unknown";
    telemetry.emit({ type: "failure", at: performance.now(), model, during: "load", code });
    throw cause;
  }
}

async function loadFrom(source: Package, options: LoadOptions, telemetry: Telemetry, clock: Stopwatch): Promise<Model> {
  const { signal } = options;
  const model = source.manifest.name;
  const ended = (phase: LoadPhase, ms: number): void => {
    telemetry.emit({ type: "phase", at: performance.now() - ms, ms, model, phase });
  };
  const component = pickComponent(source.manifest.components, options.component);
  const manifestMs = clock.lap();
  const acquired = await acquireDevice(component.programs, options.tier, options);
  const { device } = acquired;
  const deviceMs = clock.lap();
  const { vendor, architecture, isCpu } = acquired.adapter;
  const subject: Subject = { vendor, architecture, software: isCpu, model, version: source.version };
  telemetry.emit({ type: "adapter", at: performance.now(), ...subject });
  ended("manifest", manifestMs);
  ended("device", deviceMs);
  const memory = new DeviceMemory(device);
  let lost: GPUDeviceLostInfo | undefined;
  void device.lost.then((info) => {
    lost = info;
  });
  try {
    throwIfAborted(signal);
    if ((await options.admit?.(subject)) === false) {
      const what = `${model} on adapters ${vendor} ${architecture}`;
      throw new DeviceError("not-admitted", `${what} is turned off by the caller's \`admit\`; play without it`);
    }
    const kernels = new Map(source.manifest.kernels.map((kernel) => [kernel.name, kernel]));
    const meter = new Meter(source, options.onProgress);
    const pipelines = new Pipelines(device, source, {
      signal,
      onBytes: meter.add,
      cache: options.pipelineCache,
      telemetry,
    });
    const sizes = new Sizes(component.symbols);
    const choice = await chooseProgram(device, acquired.shortlist, pipelines, kernels, sizes);
    const { program } = choice;
    const tierMs = clock.lap();
    ended("tier", tierMs);
    telemetry.emit({ type: "tier", at: performance.now(), model, tier: program.tier, reasons: choice.reasons });
    meter.start(neededBytes(source, component, program, kernels));
    const executor = new Executor(device, memory, program, kernels, sizes);
    await memory.settle();
    const phases = await fillAndWarm(device, source, component, executor, pipelines, ended, {
      signal,
      onBytes: meter.add,
    });
    await memory.settle();
    await source.remember();
    throwIfAborted(signal);
    if (lost !== undefined) throw lossError(lost);
    const timings = { manifestMs, deviceMs, tierMs, ...phases, totalMs: clock.total() };
    const info = {
      name: source.manifest.name,
      component: component.name,
      adapter: acquired.adapter,
      tier: program.tier,
      precision: program.precision,
      tiling: program.tiling,
      reasons: choice.reasons,
      dispatches: program.dispatches.length,
      plan: {
        activationPeakBytes: program.plan.activation_peak_bytes,
        activationLowerBoundBytes: program.plan.activation_lower_bound_bytes,
        weightBytes: program.plan.weight_bytes,
        gpuBytes: program.plan.gpu_bytes,
      },
      timings,
      delivery: source.delivery,
    };
    const costStore = options.costStore ?? defaultCostStore();
    const { store, manifest, networkBytes, storedBytes, retries } = source.delivery;
    telemetry.emit({
      type: "loaded",
      at: performance.now() - timings.totalMs,
      ms: timings.totalMs,
      model,
      dispatches: program.dispatches.length,
      gpuBytes: program.plan.gpu_bytes,
      store,
      manifest,
      networkBytes,
      storedBytes,
      retries,
    });
    return new Model({
      component,
      sizes,
      executor,
      memory,
      device,
      ownsDevice: acquired.owned,
      info,
      costStore,
      telemetry,
    });
  } catch (cause) {
    memory.dispose();
    if (acquired.owned) device.destroy();
    throwIfAborted(signal);
    if (lost !== undefined && !(cause instanceof WebinferError)) throw lossError(lost);
    throw cause;
  }
}

/** Stream the weights while pipelines compile and their shaders are warmed up. When one part fails, the other stops. */
async function fillAndWarm(
  device: GPUDevice,
  source: Package,
  component: Component,
  executor: Executor,
  pipelines: Pipelines,
  ended: (phase: LoadPhase, ms: number) => void,
  options: WeightStreamOptions,
): Promise<Pick<LoadTimings, "compileMs" | "weightsMs" | "warmUpMs">> {
  const { program } = executor;
  const clock = new Stopwatch();
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  const prepareKernels = pipelines.all(program.prepare.map((dispatch) => dispatch.kernel));
  prepareKernels.catch(() => undefined);
  const warm = async (): Promise<Pick<LoadTimings, "compileMs" | "warmUpMs">> => {
    const compiled = await pipelines.all(program.dispatches.map((dispatch) => dispatch.kernel));
    const compileMs = clock.total();
    ended("compile", compileMs);
    // The warm-up reads weights that are not there yet; what it computes is overwritten by the first run.
    await executor.bind(compiled);
    await executor.warmUp();
    const warmUpMs = clock.total() - compileMs;
    ended("warm-up", warmUpMs);
    return { compileMs, warmUpMs };
  };
  const fill = async (): Promise<number> => {
    await streamWeights(device, source, component, executor, prepareKernels, { ...options, signal });
    const weightsMs = clock.total();
    ended("weights", weightsMs);
    return weightsMs;
  };
  const [warming, filling] = [warm(), fill()];
  try {
    const [times, weightsMs] = await Promise.all([warming, filling]);
    return { ...times, weightsMs };
  } catch (cause) {
    // Buffers are destroyed next: nothing may write to them any more.
    stop.abort();
    await Promise.allSettled([warming, filling]);
    throw cause;
  }
}

interface Choice {
  readonly program: Program;
  readonly reasons: readonly string[];
}

async function chooseProgram(
  device: GPUDevice,
  { candidates, reasons }: Shortlist,
  pipelines: Pipelines,
  kernels: ReadonlyMap<string, Kernel>,
  sizes: Sizes,
): Promise<Choice> {
  const [first] = candidates;
  if (first === undefined) throw new InputError("unknown-tier", "the package has no program");
  if (candidates.length === 1) return { program: first, reasons };
  const node = heaviestNode(candidates);
  if (node === undefined) return { program: first, reasons: [...reasons, `${first.tier}: nothing heavy to measure`] };
  const { milliseconds } = await calibrate(device, candidates, node, pipelines, kernels, sizes);
  const ranked = candidates
    .map((program, index) => ({ program, ms: milliseconds[index] ?? Infinity }))
    .sort((a, b) => a.ms - b.ms);
  const measured = ranked.map(({ program, ms }) => `${program.tier} ${ms.toFixed(2)} ms`).join(", ");
  return { program: ranked[0]?.program ?? first, reasons: [...reasons, `measured ${node}: ${measured}`] };
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

function neededBytes(
  source: Package,
  component: Component,
  program: Program,
  kernels: ReadonlyMap<string, Kernel>,
): number {
  const names = new Set([...program.prepare, ...program.dispatches].map((dispatch) => dispatch.kernel));
  const files = new Set([...names].flatMap((name) => kernels.get(name)?.file ?? []));
  return [...files, ...shardsOf(component, program)].reduce((sum, file) => sum + source.sizeOf(file), 0);
}

function lossError(info: GPUDeviceLostInfo): DeviceError {
  return new DeviceError("device-lost", `the GPU device was lost while loading (${info.reason}: ${info.message})`);
}

/** Sums fetched bytes; reports once the total is known. Kernels fetched for a measurement alone count as well. */
class Meter {
  readonly #source: Package;
  readonly #report: ((progress: Progress) => void) | undefined;
  #loaded = 0;
  #total: number | undefined;

  constructor(source: Package, report: ((progress: Progress) => void) | undefined) {
    this.#source = source;
    this.#report = report;
  }

  readonly add = (count: number): void => {
    this.#loaded += count;
    this.#emit();
  };

  start(total: number): void {
    this.#total = total;
    this.#emit();
  }

  #emit(): void {
    if (this.#total === undefined) return;
    this.#report?.({
      loadedBytes: Math.min(this.#loaded, this.#total),
      totalBytes: this.#total,
      networkBytes: this.#source.delivery.networkBytes,
    });
  }
}

class Stopwatch {
  readonly #start = performance.now();
  #last = this.#start;

  lap(): number {
    const now = performance.now();
    const elapsed = now - this.#last;
    this.#last = now;
    return elapsed;
  }

  total(): number {
    return performance.now() - this.#start;
  }
}
