// Which known GPU model is as fast as what was measured: by its rates, never by a name. Pure.

import type { Sku } from "../generated/manifest.js";
import { priorMs, type DispatchWork, type Rates } from "./costs.js";

/** A GPU model, and its rates corrected to meet the measurement. */
export interface Likeness {
  readonly sku: Sku;
  readonly rates: Rates;
  /** Measured by predicted time. */
  readonly ratio: number;
}

/** The SKU whose predicted time of `work` is nearest to `measuredMs`; undefined where none can be compared. */
export function nearestSku(
  skus: readonly Sku[],
  software: boolean,
  arithmetic: "fp32" | "fp16",
  work: readonly DispatchWork[],
  measuredMs: number,
): Likeness | undefined {
  if (!(measuredMs > 0 && measuredMs < Infinity)) return undefined;
  let nearest: Likeness | undefined;
  for (const sku of skus) {
    if ((sku.kind === "software") !== software) continue;
    const rates = ratesOf(sku, arithmetic);
    const predicted = work.reduce((sum, dispatch) => sum + priorMs(dispatch, rates), 0);
    if (predicted === 0) continue;
    const ratio = measuredMs / predicted;
    if (nearest !== undefined && distance(ratio) >= distance(nearest.ratio)) continue;
    const { flopsPerMs, bytesPerMs, overheadMs } = rates;
    const scaled = { flopsPerMs: flopsPerMs / ratio, bytesPerMs: bytesPerMs / ratio, overheadMs: overheadMs * ratio };
    nearest = { sku, rates: scaled, ratio };
  }
  return nearest;
}

function ratesOf(sku: Sku, arithmetic: "fp32" | "fp16"): Rates {
  const gflops = arithmetic === "fp16" ? sku.f16_gflops : sku.f32_gflops;
  return {
    flopsPerMs: gflops * 1e6,
    bytesPerMs: sku.bandwidth_gb_per_s * 1e6,
    overheadMs: sku.dispatch_us / 1e3,
  };
}

function distance(ratio: number): number {
  return Math.abs(Math.log(ratio));
}
