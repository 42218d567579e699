// Gets the GPUDevice to run on: the caller's own, or one requested with exactly what the package's programs need.

import { DeviceError } from "./errors.js";
import type { Program } from "./generated/manifest.js";
import {
  describeAdapter,
  mergeNeeds,
  needsOf,
  shortlist,
  type AdapterInfo,
  type Capabilities,
  type Needs,
  type Shortlist,
} from "./tier.js";

export interface DeviceOptions {
  /** The game's own device. It is never destroyed here, and its error handlers stay in place. */
  readonly device?: GPUDevice | undefined;
  /** Entry point of WebGPU where it is not `navigator.gpu` (Node). */
  readonly gpu?: GPU | undefined;
  readonly featureLevel?: "core" | "compatibility" | undefined;
  readonly powerPreference?: GPUPowerPreference | undefined;
}

/** A device, who made it, and the programs that it can run. */
export interface AcquiredDevice {
  readonly device: GPUDevice;
  readonly owned: boolean;
  readonly adapter: AdapterInfo;
  readonly shortlist: Shortlist;
}

/** Rejects with "no-webgpu", "no-adapter", "limits", "features" or "unknown-tier". */
export async function acquireDevice(
  programs: readonly Program[],
  tier: string | undefined,
  options: DeviceOptions,
): Promise<AcquiredDevice> {
  if (options.device !== undefined) {
    const { device } = options;
    // `adapterInfo` is newer than the first shipped implementations.
    const info = device.adapterInfo as GPUAdapterInfo | undefined;
    const adapter = describeAdapter(info ?? {});
    return { device, owned: false, adapter, shortlist: shortlist(programs, capabilitiesOf(device), adapter, tier) };
  }
  const gpuAdapter = await requestAdapter(options);
  const { adapter, shortlist: chosen, needs } = assess(gpuAdapter, programs, tier);
  try {
    const device = await gpuAdapter.requestDevice({
      label: "webinfer",
      requiredFeatures: needs.features as GPUFeatureName[],
      requiredLimits: needs.limits,
    });
    // The device may offer less than its adapter: what is chosen for want of the candidates must run on it.
    const { fitting } = shortlist(programs, capabilitiesOf(device), adapter, tier);
    return { device, owned: true, adapter, shortlist: { ...chosen, fitting } };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new DeviceError("no-adapter", `${adapter.description}: the adapter gave no device (${message})`, { cause });
  }
}

/** Which programs to consider on an adapter, and what its device must have for them. Throws like `shortlist`. */
export function assess(
  gpuAdapter: GPUAdapter,
  programs: readonly Program[],
  tier: string | undefined,
): { readonly adapter: AdapterInfo; readonly shortlist: Shortlist; readonly needs: Needs } {
  const adapter = describeAdapter(gpuAdapter.info);
  const chosen = shortlist(programs, capabilitiesOf(gpuAdapter), adapter, tier);
  // Timestamps serve measuring; a device without them still runs everything.
  const optional: Needs = { features: ["timestamp-query"].filter((name) => gpuAdapter.features.has(name)), limits: {} };
  return { adapter, shortlist: chosen, needs: mergeNeeds([...chosen.candidates.map(needsOf), optional]) };
}

/** Rejects with "no-webgpu" or "no-adapter". */
export async function requestAdapter(options: DeviceOptions): Promise<GPUAdapter> {
  // The type says that navigator.gpu always exists; insecure pages and older browsers lack it.
  const gpu: GPU | undefined = options.gpu ?? (globalThis.navigator as Navigator | undefined)?.gpu;
  if (gpu === undefined) {
    throw new DeviceError("no-webgpu", "navigator.gpu is missing: use a browser with WebGPU, on HTTPS or localhost");
  }
  const request: GPURequestAdapterOptions & { featureLevel?: string } = {
    powerPreference: options.powerPreference ?? "high-performance",
    ...(options.featureLevel === undefined ? {} : { featureLevel: options.featureLevel }),
  };
  let adapter: GPUAdapter | null;
  try {
    adapter = await gpu.requestAdapter(request);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new DeviceError("no-adapter", `no GPU adapter (${message}); check the driver`, { cause });
  }
  if (adapter === null) {
    throw new DeviceError("no-adapter", "WebGPU is there but offers no adapter: check the driver and the blocklist");
  }
  return adapter;
}

function capabilitiesOf(source: GPUAdapter | GPUDevice): Capabilities {
  const limits = source.limits as unknown as Readonly<Record<string, number | undefined>>;
  return { features: source.features, limit: (name) => limits[name] };
}
