"""The context in which op lowerings run: value facts, constants, and the dispatches they emit.

A lowering is a function `(op: FusedOp, ctx: Lowering) -> None` registered with `@lowers(...)` in webinfer/ops/.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import onnx_ir as ir

from webinfer.errors import GraphError, UnsupportedError
from webinfer.fused import FusedOp
from webinfer.kernel import (
    ITEMSIZE,
    MOVED_AS,
    PACKED_BITS,
    Binding,
    Dispatch,
    LoweredProgram,
    Param,
    ParamType,
    Value,
    element_type,
)
from webinfer.templating import render
from webinfer.tiers import Tier

# Storage bindings must start at a multiple of this on every device (WebGPU's default minStorageBufferOffsetAlignment).
ALIGNMENT = 256
MAX_WORKGROUPS = 65_535

Lower = Callable[[FusedOp, "Lowering"], None]
LOWERINGS: dict[tuple[str, str], Lower] = {}


class Unsupported(Exception):
    """Raised by a lowering that cannot take a node; the text says what would make it work."""


def lowers(*op_types: str, domain: str = "") -> Callable[[Lower], Lower]:
    """Register a lowering; a second one for the same op is an error."""

    def register(fn: Lower) -> Lower:
        for op_type in op_types:
            if (domain, op_type) in LOWERINGS:
                raise GraphError(f"two lowerings for {domain or 'ai.onnx'}::{op_type}")
            LOWERINGS[domain, op_type] = fn
        return fn

    return register


@dataclass(frozen=True)
class Operand:
    """One storage binding of a dispatch: shader name, value, access, and elements moved per access.

    bits: the kernel moves elements without reading them as numbers (MOVED_AS); indices then count words.
    """

    name: str
    value: str
    access: Literal["read", "read_write"] = "read"
    width: Literal[1, 4] = 4
    bits: bool = False
    atomic: bool = False


def ceil_div(a: int, b: int) -> int:
    """Ceiling of a / b."""
    return -(-a // b)


def grid(workgroups: int) -> tuple[int, int, int]:
    """Fold a flat count of workgroups over x, y, z, at least one; kernels bounds-check (lib/index.wgsl.j2)."""
    x = min(max(workgroups, 1), MAX_WORKGROUPS)
    y = min(max(ceil_div(workgroups, x), 1), MAX_WORKGROUPS)
    return (x, y, max(ceil_div(workgroups, x * y), 1))


class Lowering:
    """Collects the dispatches of one component for one tier."""

    def __init__(self, model: ir.Model, tier: Tier) -> None:
        self.model = model
        self.tier = tier
        self.program = LoweredProgram()
        self._facts: dict[str, ir.Value] = {}
        for value in model.graph.inputs:
            self._facts[value.name or ""] = value
            self._declare(value, "input")
        for name, value in model.graph.initializers.items():
            self._facts[name] = value
        self._outputs = {v.name or "" for v in model.graph.outputs}
        for node in model.graph:
            for value in (v for v in node.outputs if v.name):
                self._facts[value.name or ""] = value
                self._declare(value, "output" if value.name in self._outputs else "activation")

    # -- facts -------------------------------------------------------------------------------------------------------

    def shape(self, name: str) -> tuple[int, ...]:
        """Static shape of a value."""
        if name in self.program.values:
            return self.program.values[name].shape
        return _static_shape(self._facts[name])

    def dtype(self, name: str) -> str:
        """Element type of a value, in ONNX's spelling ("float32")."""
        if name in self.program.values:
            return self.program.values[name].dtype
        return _dtype(self._facts[name])

    def element(self, name: str) -> str:
        """WGSL type of one element as loads and stores see it: "f32", "i32", "u32" or "vec2<u32>" (64-bit integers)."""
        return element_type(self.dtype(name))

    def size(self, name: str) -> int:
        """Number of elements."""
        return math.prod(self.shape(name))

    def constant(self, name: str) -> np.ndarray | None:
        """The initializer's array, or None where the value is computed at run time or omitted."""
        value = self.model.graph.initializers.get(name)
        return None if value is None or value.const_value is None else value.const_value.numpy()

    def integers(self, name: str) -> list[int] | None:
        """The elements of an integer operand that decides shapes or geometry (axes, starts, sizes ...), flattened.

        None where it is omitted, or computed from more than the sizes of the inputs.
        """
        array = self.constant(name)
        return None if array is None else [int(v) for v in array.reshape(-1)]

    def is_weight(self, name: str) -> bool:
        """True for initializers and for what `prepare` made of them."""
        return name in self.model.graph.initializers or self._value(name).kind == "weight"

    # -- building ----------------------------------------------------------------------------------------------------

    def scratch(self, name: str, shape: Sequence[int], dtype: str) -> str:
        """Declare an intermediate that is not a value of the graph."""
        self.program.values[name] = Value(name, dtype, tuple(shape))
        return name

    def table(self, name: str, array: np.ndarray) -> str:
        """Data that a kernel needs beside the values of the graph: a new initializer, shared by all tiers."""
        if name not in self.model.graph.initializers:
            tensor = ir.tensor(array, name=name)
            kind = ir.TensorType(tensor.dtype)
            value = ir.Value(name=name, shape=ir.Shape(array.shape), type=kind, const_value=tensor)
            self.model.graph.register_initializer(value)
        self._facts[name] = self.model.graph.initializers[name]
        return name

    def packed(self, name: str, shape: Sequence[int], dtype: str, *, of: str) -> tuple[str, bool]:
        """Declare what dispatches make of `of`, at load where that is a weight (prepare=self.is_weight(of)).

        False: it exists already and needs no dispatch.
        """
        if name in self.program.values:
            return name, False
        self.program.values[name] = Value(name, dtype, tuple(shape), "weight" if self.is_weight(of) else "activation")
        return name, True

    def view(self, name: str, base: str, offset: int = 0) -> bool:
        """Make value `name` share the bytes of `base` from element `offset` on; costs no dispatch.

        False where that is not possible (graph output, model input as output, or an offset that is not a multiple of
        4 elements, which 4-wide loads need): the caller then emits a copy.
        """
        value, root = self.program.values[name], self._value(base)
        if offset % 4 or value.kind == "output" or root.kind == "weight":
            return False
        origin, start = (root.base, root.offset) if root.base else (base, 0)
        self.program.values[name] = replace(value, base=origin, offset=start + offset)
        return True

    def emit(
        self,
        template: str,
        *,
        node: str,
        operands: Sequence[Operand],
        workgroups: tuple[int, int, int],
        workgroup_size: tuple[int, int, int],
        params: Mapping[str, int | float] | None = None,
        scalars: Mapping[str, float] | None = None,
        flops: int = 0,
        f16_arithmetic: bool = False,
        workgroup_storage_bytes: int = 0,
        prepare: bool = False,
        **variables: Any,
    ) -> None:
        """Render wgsl/kernels/<template>.wgsl.j2 and append one dispatch.

        params: name -> value in declaration order; ints become u32, floats f32, a name ending in ":i32" is signed.
        scalars: constants of an elementwise tail, further f32 params.
        An empty output (a zero-size tensor) emits nothing.
        """
        if any(o.access == "read_write" and self.size(o.value) == 0 for o in operands):
            return
        bindings, bases = [], []
        for o in operands:
            value = self._value(o.value)
            dtype, packed = value.dtype, value.packed
            remainder = value.offset * ITEMSIZE[dtype] % ALIGNMENT
            item = ITEMSIZE[dtype]
            if o.bits and dtype in MOVED_AS:
                dtype, packed = MOVED_AS[dtype]
                item = min(item, 4)
            base = remainder // (item * o.width)
            bindings.append(Binding(o.name, o.access, dtype, o.width, remainder > 0, packed, o.atomic))
            if remainder:
                bases.append((Param(f"{o.name}_base"), base))
        if len(bindings) > self.tier.limit("maxStorageBuffersPerShaderStage"):
            raise GraphError(
                f"{template} ({node}): {len(bindings)} storage bindings, the tier allows "
                f"{self.tier.limit('maxStorageBuffersPerShaderStage')}"
            )
        declared = [*[_param(n, v) for n, v in {**(params or {}), **(scalars or {})}.items()], *bases]
        kernel = render(
            template,
            bindings=bindings,
            params=[p for p, _ in declared],
            tier=self.tier,
            workgroup_size=workgroup_size,
            f16_arithmetic=f16_arithmetic,
            workgroup_storage_bytes=workgroup_storage_bytes,
            variables=variables,
        )
        moved = sum(self._value(o.value).bytes for o in operands)
        dispatch = Dispatch(
            kernel, tuple(o.value for o in operands), tuple(v for _, v in declared), workgroups, node, flops, moved
        )
        (self.program.prepare if prepare else self.program.dispatches).append(dispatch)

    # -- internals ---------------------------------------------------------------------------------------------------

    def _declare(self, value: ir.Value, kind: Literal["input", "output", "activation"]) -> None:
        name = value.name or ""
        self.program.values[name] = Value(name, _dtype(value), _static_shape(value), kind)

    def _value(self, name: str) -> Value:
        if name not in self.program.values:
            fact = self._facts[name]
            dtype = _dtype(fact)
            packed = dtype in PACKED_BITS
            self.program.values[name] = Value(name, dtype, _static_shape(fact), "weight", packed=packed)
        return self.program.values[name]


def _param(name: str, value: int | float) -> tuple[Param, int | float]:
    stem, _, explicit = name.partition(":")
    kind: ParamType = "i32" if explicit == "i32" else "f32" if isinstance(value, float) else "u32"
    return Param(stem, kind), value


def _static_shape(value: ir.Value) -> tuple[int, ...]:
    if value.shape is None or not all(isinstance(d, int) for d in value.shape):
        raise UnsupportedError(f"value {value.name}: shape {value.shape} is not static; fix it with --dim NAME=N")
    return tuple(int(d) for d in value.shape)  # type: ignore[arg-type]


def _dtype(value: ir.Value) -> str:
    if value.dtype is None:
        raise GraphError(f"value {value.name}: no element type after shape inference")
    name = value.dtype.name
    return {"FLOAT": "float32", "FLOAT16": "float16", "DOUBLE": "float64"}.get(name, name.lower())
