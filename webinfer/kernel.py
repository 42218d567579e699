"""Kernel and Dispatch: what lowering produces and everything after it consumes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from webinfer.symbols import is_open

Access = Literal["read", "read_write"]
ParamType = Literal["u32", "i32", "f32"]

# Storage bindings must start at a multiple of this on every device (WebGPU's default minStorageBufferOffsetAlignment).
ALIGNMENT = 256
# Bytes of one element in GPU memory. WGSL has 32-bit words: a 64-bit integer is a vec2<u32> (low word first), integers
# below 32 bits and bool take a word each; float16 is stored in pairs.
ITEMSIZE = {
    "float32": 4,
    "float16": 2,
    "int64": 8,
    "uint64": 8,
    **dict.fromkeys(("int32", "int16", "int8", "int4", "int2"), 4),
    **dict.fromkeys(("uint32", "uint16", "uint8", "uint4", "uint2", "bool"), 4),
}
# Bits of one element of an initializer that lies in GPU memory as ONNX packs it, several to a word, lowest bits first.
PACKED_BITS = {
    "int16": 16,
    "uint16": 16,
    "int8": 8,
    "uint8": 8,
    "bool": 8,
    "int4": 4,
    "uint4": 4,
    "int2": 2,
    "uint2": 2,
}

# Element type and packing as which a kernel that only moves elements binds a tensor: bits pass as they are, NaN too. A
# 64-bit integer is two words side by side; types that are not listed are words already.
MOVED_AS = {
    "float32": ("uint32", False),
    "float16": ("uint16", True),
    "int64": ("uint32", False),
    "uint64": ("uint32", False),
}


def element_type(dtype: str) -> str:
    """WGSL type of one element as kernels see it: f32, i32, u32 (bool is 0 or 1), vec2<u32> for 64-bit integers."""
    if dtype.startswith("float"):
        return "f32"
    if ITEMSIZE[dtype] == 8:
        return "vec2<u32>"
    return "i32" if dtype.startswith("int") else "u32"


def word_type(dtype: str) -> str:
    """WGSL type of one word of a tensor that is moved as bits: u32, or i32 for signed integers of at most 32 bits."""
    return element_type(MOVED_AS[dtype][0] if dtype in MOVED_AS else dtype)


def words(dtype: str) -> int:
    """Words per element of a tensor that is moved as bits: two for 64-bit integers."""
    return 2 if ITEMSIZE[dtype] == 8 else 1


@dataclass(frozen=True)
class Binding:
    """A storage binding as the shader declares it.

    dtype is the element type in ONNX's spelling ("float32", "float16", "int32", ...); `width` is how many consecutive
    elements one load or store moves (1 or 4; 64-bit integers: 1). Outputs of 16-bit floats must use width 4, so that no
    two invocations write into one 32-bit word. `shifted` adds a uniform `<name>_base` (in units of `width` elements) to
    every index: views whose byte offset is not a multiple of 256 need it. `packed`: an initializer of PACKED_BITS, or
    float16 moved as bits. `atomic`: the elements are atomic<u32> and have no accessors.
    """

    name: str
    access: Access
    dtype: str
    width: Literal[1, 4] = 4
    shifted: bool = False
    packed: bool = False
    atomic: bool = False


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
    """One dispatch of a kernel. `args` are value names, one per binding; outputs are the read_write ones.

    Parameters and workgroup counts may be Syms; `flops` and `bytes` count at the largest sizes.
    """

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
    """A tensor of the lowered program. A view shares the storage of `base` from element `offset` on.

    Sizes and offsets may be Syms, for which type checkers see int. Elements lie contiguously at the sizes of the run.

    packed: an initializer whose elements lie as ONNX packs them (PACKED_BITS), not in ITEMSIZE bytes each.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    kind: Literal["input", "output", "activation", "weight"] = "activation"
    base: str | None = None
    offset: int = 0
    packed: bool = False

    @property
    def elements(self) -> int:
        """Number of elements; 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def binding_start(self) -> int:
        """Byte of the base at which bindings start: aligned, and before all places where the value may lie."""
        aligned = self.offset * ITEMSIZE[self.dtype] // ALIGNMENT * ALIGNMENT
        return 0 if is_open(aligned) else aligned

    @property
    def bytes(self) -> int:
        """Bytes of its elements in GPU memory, without padding."""
        if self.packed:
            return -(-self.elements * PACKED_BITS[self.dtype] // 8)
        return self.elements * ITEMSIZE[self.dtype]


@dataclass
class LoweredProgram:
    """All dispatches of one component for one tier, before memory is planned.

    `prepare` runs once at load (re-packing of weights); `dispatches` run at every inference, in order.
    """

    values: dict[str, Value] = field(default_factory=dict)
    prepare: list[Dispatch] = field(default_factory=list)
    dispatches: list[Dispatch] = field(default_factory=list)
