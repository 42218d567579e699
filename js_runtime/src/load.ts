// load(): package -> device -> program -> pipelines and weights -> a warm model.

import { chooseProgram } from "./choice.js";
import { defaultRecords, type RecordStore } from "./record_store.js";
import { acquireDevice, type DeviceOptions } from "./device.js";
import { DeviceError, InputError, throwIfAborted, WebinferError } from "./errors.js";
import { Sizes } from "./expressions.js";
import type { Component, Kernel, Program } from "./generated/manifest.js";
import { GpuModel } from "./gpu_model.js";
import type { Model } from "./model.js";
import { Package, type DeliveryOptions } from "./package.js";
import { Pipelines, type PipelineCache } from "./pipelines.js";
import { install, type Residence } from "./residence.js";
import type { PackageLocation } from "./source.js";
import { SILENT, type LoadPhase, type Subject, type Telemetry } from "./telemetry/events.js";
import { shardsOf } from "./weights.js";

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
  /** Where measured times and results of self-tests are kept for the next visit; default IndexedDB where there is one. */
  readonly records?: RecordStore | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Where events go; default nowhere. */
  readonly telemetry?: Telemetry | undefined;
  /** Asked before anything is compiled; false rejects the load with "not-admitted". */
  readonly admit?: ((subject: Subject) => Promise<boolean>) | undefined;
}

/**
 * Load a package from its URL, a zip (File or Blob), the files of a folder, a folder's handle, or as it was opened
 * before: fetched, verified, compiled and warm. Everything is freed again when this rejects.
 */
export async function load(location: PackageLocation | Package, options: LoadOptions = {}): Promise<Model> {
  const { telemetry = SILENT } = options;
  const clock = new Stopwatch();
  let model = "";
  try {
    const source = location instanceof Package ? location : await Package.open(location, options);
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
  let lost: GPUDeviceLostInfo | undefined;
  void device.lost.then((info) => {
    lost = info;
  });
  let residence: Residence | undefined;
  try {
    throwIfAborted(signal);
    if ((await options.admit?.(subject)) === false) {
      const what = `${model} on adapters ${vendor} ${architecture}`;
      throw new DeviceError("not-admitted", `${what} is turned off by the caller's \`admit\`; play without it`);
    }
    const kernels = new Map(source.manifest.kernels.map((kernel) => [kernel.name, kernel]));
    const meter = new Meter(source, options.onProgress);
    const cache = options.pipelineCache;
    const pipelines = new Pipelines(device, source, { signal, onBytes: meter.add, cache, telemetry });
    const { shortlist } = acquired;
    const choice = await chooseProgram(device, shortlist, pipelines, kernels, new Sizes(component.symbols));
    const { program, reasons } = choice;
    const tierMs = clock.lap();
    ended("tier", tierMs);
    telemetry.emit({ type: "tier", at: performance.now(), model, tier: program.tier, reasons });
    meter.start(neededBytes(source, component, program, kernels));
    const assets = { source, component, records: options.records ?? defaultRecords(), telemetry };
    const placement = { device, adapter: acquired.adapter, program, pipelines };
    residence = await install(assets, placement, { signal, onBytes: meter.add });
    await source.remember();
    throwIfAborted(signal);
    if (lost !== undefined) throw lossError(lost);
    residence.vacate();
    const timings = { manifestMs, deviceMs, tierMs, ...residence.timings, totalMs: clock.total() };
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
    return new GpuModel({ assets, placement, residence, ownsDevice: acquired.owned, reasons, timings });
  } catch (cause) {
    residence?.dispose();
    if (acquired.owned) device.destroy();
    throwIfAborted(signal);
    if (lost !== undefined && !(cause instanceof WebinferError)) throw lossError(lost);
    throw cause;
  }
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
