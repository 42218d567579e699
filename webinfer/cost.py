"""The cost model: bytes and FLOPs of dispatches -> milliseconds on a GPU model (SKU), by its roofline.

A prediction, not a measurement: time = max(FLOPs / attainable FLOP rate, bytes / attainable bandwidth) + a fixed cost
per dispatch (Williams, Waterman, Patterson: Roofline, CACM 2009). Bytes count every operand of a dispatch once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from webinfer import manifest
from webinfer.kernel import Dispatch
from webinfer.manifest import Positive, Rate
from webinfer.resources import data_dir

Bound = Literal["compute", "memory", "dispatch"]
Fraction = Annotated[float, Field(gt=0, le=1)]


class Sku(BaseModel):
    """A GPU model that players own: a file of device_matrix/skus.

    `tier` is the tier that its adapter would get; rates are peaks, efficiencies the share that kernels reach; memory_mb
    is what a page can count on; `source` says where the numbers come from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    name: str
    kind: Literal["mobile", "desktop", "software"]
    tier: str
    f32_gflops: Rate
    f16_gflops: Rate
    bandwidth_gb_per_s: Rate
    compute_efficiency: Fraction
    bandwidth_efficiency: Fraction
    dispatch_us: Rate
    memory_mb: Positive
    source: str


@cache
def all_skus() -> dict[str, Sku]:
    """Every SKU by id, in file-name order."""
    files = sorted((data_dir("device_matrix") / "skus").glob("*.json"))
    skus = [Sku.model_validate_json(f.read_text()) for f in files]
    return {s.id: s for s in skus}


def sku_hints() -> list[manifest.Sku]:
    """What packages carry of every SKU: the rates that kernels reach."""
    return [
        manifest.Sku(
            id=s.id,
            name=s.name,
            kind=s.kind,
            f32_gflops=s.f32_gflops * s.compute_efficiency,
            f16_gflops=s.f16_gflops * s.compute_efficiency,
            bandwidth_gb_per_s=s.bandwidth_gb_per_s * s.bandwidth_efficiency,
            dispatch_us=s.dispatch_us,
            memory_mb=s.memory_mb,
        )
        for s in all_skus().values()
    ]


@dataclass(frozen=True)
class Cost:
    """Predicted milliseconds of some dispatches, and what most of the time is spent on."""

    ms: float
    bound: Bound


def predict(dispatches: Iterable[Dispatch], sku: Sku, arithmetic: Literal["fp32", "fp16"]) -> Cost:
    """Cost of running `dispatches` one after the other on `sku`."""
    peak = sku.f16_gflops if arithmetic == "fp16" else sku.f32_gflops
    spent: dict[Bound, float] = {"compute": 0.0, "memory": 0.0, "dispatch": 0.0}
    for dispatch in dispatches:
        compute = dispatch.flops / (peak * sku.compute_efficiency * 1e6)
        memory = dispatch.bytes / (sku.bandwidth_gb_per_s * sku.bandwidth_efficiency * 1e6)
        spent["compute" if compute > memory else "memory"] += max(compute, memory)
        spent["dispatch"] += sku.dispatch_us / 1e3
    return Cost(sum(spent.values()), max(spent, key=lambda bound: spent[bound]))


def predictions(dispatches: Sequence[Dispatch], arithmetic: Literal["fp32", "fp16"]) -> dict[str, float]:
    """Predicted milliseconds per SKU of running `dispatches` one after the other, to three digits."""
    return {s.id: float(f"{predict(dispatches, s, arithmetic).ms:.3g}") for s in all_skus().values()}
