"""Capability tiers: data files under device_matrix/tiers, one per tier."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from webinfer.manifest import Natural, Requirements
from webinfer.resources import data_dir


class Tier(BaseModel):
    """What a set of kernels may assume of an adapter.

    rank: place in the order of tiers; a lower one asks less of an adapter and its driver.
    f16: how 16-bit floats are handled: "arithmetic" (shader-f16: f16 math, f32 accumulation), "storage" (packed pairs,
    f32 math), "none" (the tier takes fp32 packages only).
    tiling: "register" keeps tiles in registers (CPU adapters), "workgroup" stages them in workgroup memory (GPUs).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    description: str
    rank: Natural
    targets: list[str]
    precision: Literal["fp32", "fp16"]
    f16: Literal["arithmetic", "storage", "none"]
    tiling: Literal["register", "workgroup"]
    requires: Requirements

    @property
    def arithmetic(self) -> Literal["fp32", "fp16"]:
        """What kernels compute with, whatever they store."""
        return "fp16" if self.f16 == "arithmetic" else "fp32"

    def limit(self, name: str) -> int:
        """The limit that kernels of this tier may use, in the unit of WebGPU's GPUSupportedLimits."""
        return self.requires.limits[name]


@cache
def all_tiers() -> dict[str, Tier]:
    """Every tier by id, in file-name order."""
    files = sorted((data_dir("device_matrix") / "tiers").glob("*.json"))
    tiers = [Tier.model_validate_json(f.read_text()) for f in files]
    return {t.id: t for t in tiers}


def smallest_binding() -> int:
    """Bytes that every tier can bind."""
    return min(tier.limit("maxStorageBufferBindingSize") for tier in all_tiers().values())


def tiers_for(target: str, precision: str) -> list[Tier]:
    """Tiers that a package for `target` with `precision` carries."""
    return [
        t for t in all_tiers().values() if t.precision == precision and (target == "webgpu-all" or target in t.targets)
    ]
