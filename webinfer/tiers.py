"""Capability tiers: data files under device_matrix/tiers, one per tier."""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict

from webinfer.manifest import Requirements
from webinfer.resources import data_dir


class Tier(BaseModel):
    """What a set of kernels may assume of an adapter.

    f16: how 16-bit floats are handled: "arithmetic" (shader-f16: f16 math, f32 accumulation), "storage" (packed pairs,
    f32 math), "none" (the tier takes fp32 packages only).
    tiling: "register" keeps tiles in registers (CPU adapters), "workgroup" stages them in workgroup memory (GPUs).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    description: str
    targets: list[str]
    precision: Literal["fp32", "fp16"]
    f16: Literal["arithmetic", "storage", "none"]
    tiling: Literal["register", "workgroup"]
    requires: Requirements

    def limit(self, name: str) -> int:
        """The limit that kernels of this tier may use, in the unit of WebGPU's GPUSupportedLimits."""
        return self.requires.limits[name]

    def with_bindings_of(self, size_bytes: int) -> Tier:
        """The same tier where bindings and buffers may have `size_bytes`; itself where they may anyway."""
        limits = {name: max(self.limit(name), size_bytes) for name in ("maxStorageBufferBindingSize", "maxBufferSize")}
        if all(self.limit(name) == size for name, size in limits.items()):
            return self
        requires = self.requires.model_copy(update={"limits": {**self.requires.limits, **limits}})
        return self.model_copy(update={"requires": requires})


@cache
def all_tiers() -> dict[str, Tier]:
    """Every tier by id, in file-name order."""
    files = sorted((data_dir("device_matrix") / "tiers").glob("*.json"))
    tiers = [Tier.model_validate_json(f.read_text()) for f in files]
    return {t.id: t for t in tiers}


def tiers_for(target: str, precision: str) -> list[Tier]:
    """Tiers that a package for `target` with `precision` carries."""
    return [
        t for t in all_tiers().values() if t.precision == precision and (target == "webgpu-all" or target in t.targets)
    ]
