// Which of the programs that fit a device runs there: by what is known of crashes and wrong kernels, then by a measurement.

import { calibrate, heaviestNode } from "./calibration.js";
import type { CrashMarker } from "./crash_marker.js";
import { DeviceError, InputError } from "./errors.js";
import { Sizes } from "./expressions.js";
import type { Program } from "./generated/manifest.js";
import type { Pipelines } from "./pipelines.js";
import type { Assets } from "./residence.js";
import { CPU_RATES, GPU_RATES, priorMs, type Rates } from "./scheduling/costs.js";
import { nearestSku } from "./scheduling/skus.js";
import { environmentKey, prefer, type AdapterInfo, type Shortlist } from "./tier.js";
import type { Trust } from "./trust.js";

/** A program, and why it was taken and the others were not. */
export interface Choice {
  readonly program: Program;
  readonly reasons: readonly string[];
  /** What its costs start from. */
  readonly rates: Rates;
}

/** Where a program is to run, and what is known about that. */
export interface Site {
  readonly device: GPUDevice;
  readonly adapter: AdapterInfo;
  readonly shortlist: Shortlist;
  readonly pipelines: Pipelines;
  readonly trust: Trust;
  readonly marker: CrashMarker;
  /** The caller insists on the tier, whatever happened to it. */
  readonly asked: boolean;
}

/** Programs that may be chosen, and why the others may not. Rejects with "self-test" or "crashed" where none is left. */
export function eligible({ shortlist, adapter, trust, marker, asked }: Site): Omit<Shortlist, "fitting"> {
  const { fitting, candidates } = shortlist;
  const reasons: string[] = [];
  const right = fitting.filter((program) => {
    const fault = trust.fault(program);
    if (fault !== undefined) reasons.push(`${program.tier}: ${fault}`);
    return fault === undefined;
  });
  if (right.length === 0) {
    const text = `no program of the package computes rightly on this adapter: ${reasons.join("; ")}`;
    throw new DeviceError("self-test", `${text}; use another adapter or the fallback`);
  }
  const limit = Math.min(...marker.crashes.map(({ rank }) => rank));
  const gentle = asked ? right : right.filter(({ rank }) => rank < limit);
  const last = marker.crashes.at(-1);
  if (last !== undefined) {
    const until = marker.forgottenAt(last).toISOString().slice(0, 10);
    const what = last.during === "losses" ? "lost the device again and again" : `died during ${last.during}`;
    reasons.push(
      `${last.tier}: an earlier load ${what}; lower tiers until ${until}${asked ? ", but it was asked for" : ""}`,
    );
  }
  if (gentle.length === 0) {
    const text = `earlier loads died with every program of the package: ${reasons.join("; ")}`;
    throw new DeviceError("crashed", `${text}; use the fallback, or ask for a tier`);
  }
  if (gentle.length === fitting.length) return { candidates, reasons: [...shortlist.reasons, ...reasons] };
  const preferred = prefer(gentle, adapter);
  const all = new Set([...shortlist.reasons, ...reasons, ...preferred.reasons]);
  return { candidates: preferred.candidates, reasons: [...all] };
}

/** A run on a software adapter that is worth no measurement: real rates are within a factor of 5 or so of CPU_RATES. */
const SHORT_MS = 20;

/** Rejects with "unknown-tier" where the package has no program, "self-test" or "crashed" where none may run. */
export async function chooseProgram(assets: Assets, site: Site): Promise<Choice> {
  const { candidates, reasons } = eligible(site);
  const [first] = candidates;
  if (first === undefined) throw new InputError("unknown-tier", "the package has no program");
  const rates = site.adapter.isCpu ? CPU_RATES : GPU_RATES;
  const guessMs = first.dispatches.reduce((sum, dispatch) => sum + priorMs(dispatch, rates), 0);
  // How slow a software adapter is decides whether it is used at all.
  const worthKnowing = candidates.length > 1 || (site.adapter.isCpu && guessMs > SHORT_MS);
  if (!worthKnowing) return { program: first, reasons, rates };
  const node = heaviestNode(candidates);
  if (node === undefined) {
    return { program: first, reasons: [...reasons, `${first.tier}: nothing heavy to measure`], rates };
  }
  const { times, when } = await measured(assets, site, candidates, node);
  const ranked = candidates
    .map((program, index) => ({ program, ms: times[index] ?? Infinity }))
    .sort((a, b) => a.ms - b.ms);
  const { program, ms } = ranked[0] ?? { program: first, ms: Infinity };
  const list = ranked.map((entry) => `${entry.program.tier} ${entry.ms.toPrecision(3)} ms`).join(", ");
  const work = program.dispatches.filter((dispatch) => dispatch.node === node);
  const { skus } = assets.source.manifest;
  const arithmetic = program.requires.features.includes("shader-f16") ? "fp16" : "fp32";
  const like = nearestSku(skus, site.adapter.isCpu, arithmetic, work, ms);
  const found = [...reasons, `measured ${node}${when}: ${list}`];
  if (like === undefined) return { program, reasons: found, rates };
  const predicted = (program.predicted_ms[like.sku.id] ?? 0) * like.ratio;
  found.push(`as fast as ${like.sku.name}: about ${predicted.toPrecision(2)} ms a run`);
  const [needed, offered] = [program.plan.gpu_bytes / 1e6, like.sku.memory_mb];
  if (needed > offered) {
    found.push(`it takes ${needed.toFixed(0)} MB of GPU memory, and pages get about ${String(offered)} MB there`);
  }
  return { program, reasons: found, rates: like.rates };
}

/** Milliseconds of `node` per candidate: of an earlier visit, or measured now and kept for the next. */
async function measured(
  { source, component, records }: Assets,
  { device, adapter, pipelines, marker }: Site,
  candidates: readonly Program[],
  node: string,
): Promise<{ readonly times: readonly number[]; readonly when: string }> {
  const tiers = candidates.map(({ tier }) => tier).join();
  const key = `calibration/${environmentKey(adapter)}/${source.version}/${component.name}/${tiers}`;
  const text = await records.get(key).catch(() => undefined);
  const stored = text?.split(" ").map(Number) ?? [];
  if (stored.length === candidates.length && stored.every((ms) => ms > 0)) {
    return { times: stored, when: " on an earlier visit" };
  }
  const kernels = new Map(source.manifest.kernels.map((kernel) => [kernel.name, kernel]));
  const highest = candidates.reduce((a, b) => (b.rank > a.rank ? b : a));
  const { milliseconds } = await marker.during("calibration", highest, () =>
    calibrate(device, candidates, node, pipelines, kernels, new Sizes(component.symbols)),
  );
  await records.set(key, milliseconds.map((ms) => ms.toPrecision(4)).join(" ")).catch(() => undefined);
  return { times: milliseconds, when: "" };
}
