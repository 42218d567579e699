// Finds a device and a program for a model, and installs it there: at load, and again after a loss.

import { chooseProgram } from "./choice.js";
import { CrashMarker, markStore } from "./crash_marker.js";
import { acquireDevice, type DeviceOptions } from "./device.js";
import { diagnosed, lossBehind, lossOf, type Whereabouts } from "./diagnose.js";
import { KernelTrail } from "./diagnosis.js";
import { DeviceError, throwIfAborted, type WebinferError } from "./errors.js";
import type { Kernel, Program } from "./generated/manifest.js";
import type { Package } from "./package.js";
import { Pipelines, type PipelineCache } from "./pipelines.js";
import { install, type Assets, type Placement, type Residence } from "./residence.js";
import type { Rates } from "./scheduling/costs.js";
import type { LoadPhase, Subject } from "./telemetry/events.js";
import type { AdapterInfo } from "./tier.js";
import { Trust, type SelfTestMode } from "./trust.js";
import { shardsOf } from "./weights.js";

/** Bytes of the files that the chosen program needs; the total is known from the first call on. */
export interface Progress {
  /** At hand, from the network or the store; less than before where a damaged file is fetched again. */
  readonly loadedBytes: number;
  readonly totalBytes: number;
  /** Came over the network; the rest was stored by an earlier visit. */
  readonly networkBytes: number;
}

export interface SettleOptions extends DeviceOptions {
  /** Use this tier instead of the one that the adapter and a measurement suggest. */
  readonly tier?: string | undefined;
  /** Take and leave compiled kernels here; of use with `device`, which the packages share. */
  readonly pipelineCache?: PipelineCache | undefined;
  /** Whether golden inputs are run on the device before the model is handed out; default "auto". */
  readonly selfTest?: SelfTestMode | undefined;
  /** Asked before anything is compiled; false rejects the load with "not-admitted". */
  readonly admit?: ((subject: Subject) => Promise<boolean>) | undefined;
}

/** Whether WebGPU is the place for a program: more reasons for it, or nothing where it is not. */
export type Contest = (adapter: AdapterInfo, program: Program, rates: Rates) => Promise<readonly string[] | undefined>;

/** A residence, occupied, and how it came about. */
export interface Settled {
  readonly placement: Placement;
  readonly residence: Residence;
  readonly tier: string;
  readonly deviceMs: number;
  readonly tierMs: number;
}

/**
 * Undefined where the contest was lost. Rejects with "device-lost" where the device is lost on the way, else like `load`
 * once it has the manifest. Everything is freed again when it rejects.
 */
export async function settle(
  assets: Assets,
  options: SettleOptions,
  meter: Pick<Meter, "add" | "start">,
  signal: AbortSignal | undefined,
  contest: Contest = () => Promise.resolve([]),
): Promise<Settled | undefined> {
  const { source, component, telemetry } = assets;
  const model = source.manifest.name;
  const ended = (phase: LoadPhase, ms: number): void => {
    telemetry.emit({ type: "phase", at: performance.now() - ms, ms, model, phase });
  };
  const clock = new Stopwatch();
  const { device, owned, adapter, shortlist } = await acquireDevice(component.programs, options.tier, options);
  const deviceMs = clock.lap();
  ended("device", deviceMs);
  let where: Whereabouts = { device, adapter, trail: new KernelTrail() };
  let loss: WebinferError | undefined;
  void device.lost.then((info) => {
    loss = lossOf(info, assets, where);
  });
  let placed: Placement | undefined;
  let residence: Residence | undefined;
  try {
    throwIfAborted(signal);
    const { vendor, architecture, isCpu } = adapter;
    const subject: Subject = { vendor, architecture, software: isCpu, model, version: source.version };
    telemetry.emit({ type: "adapter", at: performance.now(), ...subject });
    await checkAdmitted(options, subject);
    const kernels = new Map(source.manifest.kernels.map((kernel) => [kernel.name, kernel]));
    const cache = options.pipelineCache;
    const pipelines = new Pipelines(device, source, { signal, onBytes: meter.add, cache, telemetry });
    const { records } = assets;
    const { selfTest: mode = "auto" } = options;
    const trust = await Trust.open({ source, component, records, telemetry, adapter, mode });
    const key = `crash/${vendor}/${architecture}/${model}/${component.name}`;
    const marker = await CrashMarker.open(markStore(records), key, source.version);
    const site = { device, adapter, shortlist, pipelines, trust, marker, asked: options.tier !== undefined };
    let more: readonly string[] | undefined;
    // Until a program passes its self-test; where none is left, the choice rejects.
    for (;;) {
      clock.lap();
      const { program, rates, reasons: why } = await chooseProgram(assets, site);
      const tierMs = clock.lap();
      more ??= await contest(adapter, program, rates);
      if (more === undefined) {
        if (owned) device.destroy();
        return undefined;
      }
      const reasons = [...why, ...more];
      ended("tier", tierMs);
      telemetry.emit({ type: "tier", at: performance.now(), model, tier: program.tier, reasons });
      const { trail } = where;
      const placement: Placement = { device, adapter, trail, owned, program, rates, reasons, pipelines, marker };
      where = placed = placement;
      meter.start(neededBytes(assets, program, kernels));
      const installed = await install(assets, placement, { signal, onBytes: meter.add });
      residence = installed;
      const others = shortlist.fitting.filter((other) => other !== program && trust.fault(other) === undefined);
      const { passed, reason } = await marker.during("first run", program, () =>
        trust.examine(installed, others, signal),
      );
      reasons.push(reason);
      if (!passed) {
        installed.dispose();
        continue;
      }
      await source.remember();
      throwIfAborted(signal);
      if (loss !== undefined) throw loss as Error;
      return { placement, residence, tier: program.tier, deviceMs, tierMs };
    }
  } catch (cause) {
    await lossBehind(cause, device);
    if (loss !== undefined && loss.diagnosis?.reason !== "destroyed") await placed?.marker.noteLoss(placed.program);
    const failure = loss ?? diagnosed(cause, assets, where);
    residence?.dispose();
    if (owned) device.destroy();
    throwIfAborted(signal);
    throw failure;
  }
}

/** Rejects with "not-admitted". */
export async function checkAdmitted({ admit }: Pick<SettleOptions, "admit">, subject: Subject): Promise<void> {
  if ((await admit?.(subject)) !== false) return;
  const { model, vendor, architecture } = subject;
  const what = `${model} on adapters ${vendor} ${architecture}`;
  throw new DeviceError("not-admitted", `${what} is turned off by the caller's \`admit\`; play without it`);
}

function neededBytes({ source, component }: Assets, program: Program, kernels: ReadonlyMap<string, Kernel>): number {
  const names = new Set([...program.prepare, ...program.dispatches].map((dispatch) => dispatch.kernel));
  const files = new Set([...names].flatMap((name) => kernels.get(name)?.file ?? []));
  return [...files, ...shardsOf(component, program)].reduce((sum, file) => sum + source.sizeOf(file), 0);
}

/** Sums fetched bytes; reports once the total is known. Kernels fetched for a measurement alone count as well. */
export class Meter {
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

/** Milliseconds since it was made, and since the last lap. */
export class Stopwatch {
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
