// Which of a package's programs fit an adapter, and which of those are worth measuring. Pure: no GPU call is made here.

import { DeviceError, InputError, LimitsError, type MissingLimit } from "./errors.js";
import type { Program } from "./generated/manifest.js";

/** The adapter in use, as shown to people and recorded with every result. */
export interface AdapterInfo {
  readonly vendor: string;
  readonly architecture: string;
  readonly device: string;
  readonly description: string;
  readonly isFallbackAdapter: boolean;
  /** True when shaders run on the CPU: a fallback adapter, or a software rasterizer that does not say so. */
  readonly isCpu: boolean;
}

/** What an adapter or a device offers. */
export interface Capabilities {
  readonly features: ReadonlySet<string>;
  /** Value of a WebGPU limit, undefined where the browser does not know it. */
  readonly limit: (name: string) => number | undefined;
}

/** What programs need; limits that start with "min" are upper bounds. */
export interface Needs {
  readonly features: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
}

/** Programs left after the policy; more than one means: measure. `reasons` say why the others went. */
export interface Shortlist {
  readonly candidates: readonly Program[];
  /** All that could run. */
  readonly fitting: readonly Program[];
  readonly reasons: readonly string[];
}

// Firefox and older browsers do not flag software rasterizers as fallback adapters, so their names are read too.
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|microsoft basic render|software/i;

/** Read the identity of an adapter; missing members become empty strings. */
export function describeAdapter(info: Partial<GPUAdapterInfo>): AdapterInfo {
  const identity = {
    vendor: info.vendor ?? "",
    architecture: info.architecture ?? "",
    device: info.device ?? "",
    description: info.description ?? "",
    isFallbackAdapter: info.isFallbackAdapter ?? false,
  };
  const names = [identity.vendor, identity.architecture, identity.device, identity.description].join(" ");
  return { ...identity, isCpu: identity.isFallbackAdapter || SOFTWARE.test(names) };
}

/** What results on an adapter depend on besides the package: the adapter, its driver, and the browser. */
export function environmentKey({ vendor, architecture, device, description }: AdapterInfo): string {
  const browser = (globalThis.navigator as Partial<Navigator> | undefined)?.userAgent ?? "";
  return [vendor, architecture, device, description, browser].join("/");
}

/** Features and limits that a program needs: those of its tier, and those that its buffers imply. */
export function needsOf(program: Program): Needs {
  const spans = [...program.prepare, ...program.dispatches].flatMap((dispatch) => dispatch.args);
  return mergeNeeds([
    program.requires,
    {
      features: [],
      limits: {
        maxBufferSize: largest(program.buffers.map((buffer) => buffer.size_bytes)),
        maxStorageBufferBindingSize: largest(spans.map((span) => span.size_bytes)),
      },
    },
  ]);
}

/** Needs that cover all of the given ones. */
export function mergeNeeds(all: readonly Needs[]): Needs {
  const limits: Record<string, number> = {};
  for (const need of all) {
    for (const [name, value] of Object.entries(need.limits)) {
      const known = limits[name];
      limits[name] =
        known === undefined ? value : name.startsWith("min") ? Math.min(known, value) : Math.max(known, value);
    }
  }
  return { features: [...new Set(all.flatMap((need) => need.features))].sort(), limits };
}

/** Choose the programs to consider. Throws "unknown-tier", "limits" or "features" when none is left. */
export function shortlist(
  programs: readonly Program[],
  capabilities: Capabilities,
  adapter: AdapterInfo,
  wantedTier?: string,
): Shortlist {
  const wanted = wantedTier === undefined ? programs : programs.filter((program) => program.tier === wantedTier);
  if (wanted.length === 0) {
    const known = programs.map((program) => program.tier).join(", ");
    throw new InputError("unknown-tier", `tier ${wantedTier ?? "(any)"}: the package has ${known || "no program"}`);
  }
  const reasons: string[] = [];
  const shortfalls: Shortfall[] = [];
  const fitting = wanted.filter((program) => {
    const shortfall = compare(program, capabilities);
    if (shortfall.features.length === 0 && shortfall.limits.length === 0) return true;
    shortfalls.push(shortfall);
    reasons.push(`${program.tier}: the adapter lacks ${describe(shortfall)}`);
    return false;
  });
  if (fitting.length === 0) throw refusal(shortfalls);
  if (wantedTier !== undefined) return { candidates: fitting, fitting, reasons: [`${wantedTier}: asked for`] };
  const preferred = prefer(fitting, adapter);
  return { ...preferred, fitting, reasons: [...reasons, ...preferred.reasons] };
}

/** The programs that are worth measuring on a kind of adapter. */
export function prefer(fitting: readonly Program[], adapter: AdapterInfo): Omit<Shortlist, "fitting"> {
  const reasons: string[] = [];
  const candidates = adapter.isCpu ? preferRegisters(fitting, reasons) : preferFloat16(fitting, reasons);
  if (candidates.length === 1) reasons.push(`${candidates[0]?.tier ?? ""}: the only program left`);
  return { candidates, reasons };
}

interface Shortfall {
  readonly program: Program;
  readonly features: readonly string[];
  readonly limits: readonly MissingLimit[];
}

function compare(program: Program, capabilities: Capabilities): Shortfall {
  const needs = needsOf(program);
  return {
    program,
    features: needs.features.filter((feature) => !capabilities.features.has(feature)),
    limits: Object.entries(needs.limits).flatMap(([limit, needed]) => {
      const offered = capabilities.limit(limit) ?? 0;
      const met = limit.startsWith("min") ? offered <= needed : offered >= needed;
      return met ? [] : [{ limit, needed, offered }];
    }),
  };
}

function describe(shortfall: Shortfall): string {
  const limits = shortfall.limits.map(
    ({ limit, needed, offered }) => `${limit} ${String(needed)} (it offers ${String(offered)})`,
  );
  return [...shortfall.features.map((feature) => `feature ${feature}`), ...limits].join(", ");
}

function refusal(shortfalls: readonly Shortfall[]): DeviceError | LimitsError {
  // The program that comes closest tells the user most.
  const [closest] = [...shortfalls].sort(
    (a, b) => a.features.length + a.limits.length - (b.features.length + b.limits.length),
  );
  const text =
    `no program of the package fits this adapter; closest is ${closest?.program.tier ?? ""}, which lacks ` +
    `${closest === undefined ? "" : describe(closest)}; use another adapter or export for a smaller target`;
  if (closest !== undefined && closest.limits.length > 0) return new LimitsError(text, closest.limits);
  return new DeviceError("features", text);
}

function preferRegisters(programs: readonly Program[], reasons: string[]): readonly Program[] {
  // Workgroup memory of a CPU adapter is ordinary memory: staging tiles through it costs two to three times.
  const register = programs.filter((program) => program.tiling === "register");
  if (register.length === 0 || register.length === programs.length) return programs;
  reasons.push("tiles in registers: the adapter runs shaders on the CPU");
  return register;
}

function preferFloat16(programs: readonly Program[], reasons: string[]): readonly Program[] {
  const best = Math.min(...programs.map(floatRank));
  const kept = programs.filter((program) => floatRank(program) === best);
  if (kept.length < programs.length) {
    const why = ["the adapter has f16 arithmetic", "16-bit storage halves memory traffic", ""];
    reasons.push(`${kept.map((program) => program.tier).join(", ")}: ${why[best] ?? ""}`);
  }
  return kept;
}

function floatRank(program: Program): number {
  if (program.precision === "fp32") return 2;
  return program.requires.features.includes("shader-f16") ? 0 : 1;
}

function largest(values: readonly number[]): number {
  return values.reduce((max, value) => Math.max(max, value), 0);
}
