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

from webinfer.dims import is_known, sizes_of
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
from webinfer.shape_data import integers
from webinfer.symbols import Undecided, is_open, largest, minimum
from webinfer.templating import render
from webinfer.tiers import Tier

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
    """Fold a flat count of workgroups over x, y, z; kernels bounds-check (lib/index.wgsl.j2).

    At least one workgroup, but for a count that is 0 at some sizes: there is nothing to do then.
    """
    count = workgroups if is_open(workgroups) else max(workgroups, 1)
    x = minimum(count, MAX_WORKGROUPS)
    y = minimum(ceil_div(count, x), MAX_WORKGROUPS)
    return (x, y, ceil_div(count, x * y))


class Lowering:
    """Collects the dispatches of one component for one tier."""

    def __init__(self, model: ir.Model, tier: Tier) -> None:
        self.model = model
        self.tier = tier
        self.program = LoweredProgram()
        self._facts: dict[str, ir.Value] = {}
        self._written: set[str] = set()  # shape tensors that a dispatch has written, because a kernel reads them
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
        """Sizes of a value; Syms, for which type checkers see int, where they depend on the inputs' sizes."""
        if name in self.program.values:
            return self.program.values[name].shape
        return _sizes(self._facts[name])

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
        array = integers(self._facts.get(name))
        return None if array is None else list(array.reshape(-1))

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
            if o.access == "read":
                self._write_shape_tensor(value.base or value.name)
            dtype, packed = value.dtype, value.packed
            remainder = value.offset * ITEMSIZE[dtype] - value.binding_start
            item = ITEMSIZE[dtype]
            if o.bits and dtype in MOVED_AS:
                dtype, packed = MOVED_AS[dtype]
                item = min(item, 4)
            base = remainder // (item * o.width)
            bindings.append(Binding(o.name, o.access, dtype, o.width, remainder != 0, packed, o.atomic))
            if remainder != 0:
                bases.append((Param(f"{o.name}_base"), base))
        if len(bindings) > self.tier.limit("maxStorageBuffersPerShaderStage"):
            raise GraphError(
                f"{template} ({node}): {len(bindings)} storage bindings, the tier allows "
                f"{self.tier.limit('maxStorageBuffersPerShaderStage')}"
            )
        if any(map(is_open, workgroup_size)):
            raise Undecided(f"it needs the workgroup size {workgroup_size} as fixed numbers")
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
        moved = sum(largest(self._value(o.value).bytes) for o in operands)
        numbers = tuple(v for _, v in declared)
        args = tuple(o.value for o in operands)
        dispatch = Dispatch(kernel, args, numbers, workgroups, node, largest(flops), moved)
        (self.program.prepare if prepare else self.program.dispatches).append(dispatch)

    # -- shape tensors -----------------------------------------------------------------------------------------------

    def is_shape_tensor(self, node: ir.Node) -> bool:
        """Whether the node's result is known from the sizes alone, so that it needs no kernel."""
        return len(node.outputs) == 1 and integers(node.outputs[0]) is not None

    def write_shape_outputs(self) -> None:
        """Write the shape tensors that are outputs of the graph."""
        for name in sorted(self._outputs):
            self._write_shape_tensor(name)

    def _write_shape_tensor(self, name: str) -> None:
        """Write a shape tensor once, before its first reader."""
        fact = self._facts.get(name)
        elements = None if fact is None or fact.producer() is None else self.integers(name)
        if elements is None or name in self._written:
            return
        self._written.add(name)
        self.emit(
            "integers",
            node=name,
            operands=[Operand("out", name, "read_write", width=4 if self.element(name) == "f32" else 1)],
            workgroups=(1, 1, 1),
            workgroup_size=(1, 1, 1),
            params={f"v{k}:i32": value for k, value in enumerate(elements)},
            count=len(elements),
            element=self.element(name),
        )

    # -- internals ---------------------------------------------------------------------------------------------------

    def _declare(self, value: ir.Value, kind: Literal["input", "output", "activation"]) -> None:
        name = value.name or ""
        self.program.values[name] = Value(name, _dtype(value), _sizes(value), kind)

    def _value(self, name: str) -> Value:
        if name not in self.program.values:
            fact = self._facts[name]
            dtype = _dtype(fact)
            packed = dtype in PACKED_BITS
            self.program.values[name] = Value(name, dtype, _sizes(fact), "weight", packed=packed)
        return self.program.values[name]


def _param(name: str, value: int | float) -> tuple[Param, int | float]:
    stem, _, explicit = name.partition(":")
    kind: ParamType = "i32" if explicit == "i32" else "f32" if isinstance(value, float) else "u32"
    return Param(stem, kind), value


def _sizes(value: ir.Value) -> tuple[int, ...]:
    if value.shape is None or not is_known(value.shape):
        raise UnsupportedError(f"value {value.name}: shape {value.shape} is not known; fix it with --dim NAME=N")
    return sizes_of(value.shape)


def _dtype(value: ir.Value) -> str:
    if value.dtype is None:
        raise GraphError(f"value {value.name}: no element type after shape inference")
    name = value.dtype.name
    return {"FLOAT": "float32", "FLOAT16": "float16", "DOUBLE": "float64"}.get(name, name.lower())
