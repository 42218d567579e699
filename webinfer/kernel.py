"""Kernel and Dispatch: what lowering produces and everything after it consumes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

Access = Literal["read", "read_write"]
ParamType = Literal["u32", "i32", "f32"]


@dataclass(frozen=True)
class Binding:
    """A storage binding as the shader declares it.

    dtype is the element type in memory ("float32", "float16", "int32", ...); `width` is how many consecutive elements
    one load or store moves (1 or 4). Outputs of 16-bit elements must use width 4, so that no two invocations write
    into one 32-bit word. `shifted` adds a uniform `<name>_base` (in units of `width` elements) to every index: views
    whose byte offset is not a multiple of 256 need it.
    """

    name: str
    access: Access
    dtype: str
    width: Literal[1, 4] = 4
    shifted: bool = False


@dataclass(frozen=True)
class Param:
    """One 4-byte member of the uniform struct."""

    name: str
    type: ParamType = "u32"


@dataclass(frozen=True)
class Kernel:
    """One rendered shader. Equal source and layout mean an equal kernel, so pipelines are shared by `name`."""

    name: str
    wgsl: str
    workgroup_size: tuple[int, int, int]
    bindings: tuple[Binding, ...]
    params: tuple[Param, ...]
    features: frozenset[str] = frozenset()
    workgroup_storage_bytes: int = 0


@dataclass(frozen=True)
class Dispatch:
    """One dispatch of a kernel. `args` are value names, one per binding; outputs are the read_write ones."""

    kernel: Kernel
    args: tuple[str, ...]
    params: tuple[int | float, ...]
    workgroups: tuple[int, int, int]
    node: str
    flops: int
    bytes: int

    @property
    def reads(self) -> tuple[str, ...]:
        """Values bound read-only."""
        return tuple(a for a, b in zip(self.args, self.kernel.bindings, strict=True) if b.access == "read")

    @property
    def writes(self) -> tuple[str, ...]:
        """Values bound read_write."""
        return tuple(a for a, b in zip(self.args, self.kernel.bindings, strict=True) if b.access == "read_write")


@dataclass(frozen=True)
class Value:
    """A tensor of the lowered program. A view shares the storage of `base` from element `offset` on."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: Literal["input", "output", "activation", "weight"] = "activation"
    base: str | None = None
    offset: int = 0

    @property
    def elements(self) -> int:
        """Number of elements; 1 for a scalar."""
        return math.prod(self.shape)


@dataclass
class LoweredProgram:
    """All dispatches of one component for one tier, before memory is planned.

    `prepare` runs once at load (re-packing of weights); `dispatches` run at every inference, in order.
    """

    values: dict[str, Value] = field(default_factory=dict)
    prepare: list[Dispatch] = field(default_factory=list)
    dispatches: list[Dispatch] = field(default_factory=list)
