// What an engine must ask its adapter for, so that the engine's device runs a package's programs.

import { assess, requestAdapter, type DeviceOptions } from "./device.js";
import { InputError } from "./errors.js";
import { Package, type DeliveryOptions } from "./package.js";
import type { PackageLocation } from "./source.js";
import { mergeNeeds } from "./tier.js";

export interface RequirementsOptions
  extends DeliveryOptions, Pick<DeviceOptions, "gpu" | "featureLevel" | "powerPreference"> {
  /** Component of the package; default all of them. */
  readonly component?: string | undefined;
  /** Ask for this tier instead of the best that the adapter offers. */
  readonly tier?: string | undefined;
}

/** Fits a GPUDeviceDescriptor. An engine with wishes of its own takes the larger of each limit. */
export interface Requirements {
  requiredFeatures: GPUFeatureName[];
  requiredLimits: Record<string, number>;
  /** Of the adapter that was asked: where there are two GPUs, the engine must ask the same one. */
  powerPreference: GPUPowerPreference;
}

/**
 * Features and limits that the best programs of a package want, as far as the adapter offers them; "timestamp-query"
 * among them where there is one. Reads the manifest only: open the package with `Package.open`, and `load` takes it
 * over without another request. Rejects like `load` does before it has a device: the engine then goes without.
 */
export async function requirements(
  location: PackageLocation | Package,
  options: RequirementsOptions = {},
): Promise<Requirements> {
  const { component: wanted, tier, powerPreference = "high-performance" } = options;
  const [source, adapter] = await Promise.all([
    location instanceof Package ? location : Package.open(location, options),
    requestAdapter({ ...options, powerPreference }),
  ]);
  const all = source.manifest.components;
  const components = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  if (components.length === 0) {
    const known = all.map(({ name }) => name).join(", ");
    throw new InputError("unknown-component", `component ${wanted ?? ""}: choose one of ${known}`);
  }
  const { features, limits } = mergeNeeds(components.map(({ programs }) => assess(adapter, programs, tier).needs));
  return { requiredFeatures: features as GPUFeatureName[], requiredLimits: { ...limits }, powerPreference };
}
