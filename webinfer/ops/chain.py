"""Chains of elementwise steps as WGSL statements over lanes; one-element constants as uniforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from webinfer.fused import Step
from webinfer.lowering import Lowering, Unsupported, ceil_div
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.ops.expression import Call
from webinfer.ops.functions import functions_in
from webinfer.ops.lanes import LANE, WIDE, kind, wrapped
from webinfer.symbols import broadcast_size

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Term:
    """A value as lanes: WGSL text, element type, and shape."""

    text: str
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Layout:
    """How an operand lies against the result of a chain: `shape` broadcasts to it.

    Where `block` is set, `shape` counts blocks of block[1] elements along the axis that is block[0] from the right.
    """

    shape: Shape
    block: tuple[int, int] | None = None


@dataclass
class Scalars:
    """One-element constants as uniforms: equal structures share a pipeline, equal values share a uniform."""

    params: dict[str, int | float] = field(default_factory=dict)

    def add(self, value: float) -> str:
        """Expression of a uniform f32; infinities and NaN stay what they are."""
        return self._name("", float(value))

    def term(self, array: np.ndarray, dtype: str, shape: Shape) -> Term:
        """A constant of any type as a term."""
        value = array.reshape(-1)[0]
        lane = LANE[kind(dtype)]
        if kind(dtype) == "float":
            return Term(f"V({self.add(float(value))})", dtype, shape)
        number = int(value)
        if dtype in WIDE:
            low, high = (self._name("", number >> s & 0xFFFFFFFF) for s in (0, 32))
            return Term(f"vec2<u32>({low}, {high})", dtype, shape)
        if kind(dtype) == "bool":
            return Term(f"VB({self._name('', number)} != 0u)", dtype, shape)
        return Term(f"{lane}({self._name(':i32' if lane == 'VI' else '', number)})", dtype, shape)

    def _name(self, suffix: str, value: int | float) -> str:
        for name, known in self.params.items():
            if name.endswith(":i32") == bool(suffix) and type(known) is type(value) and repr(known) == repr(value):
                return f"P.{name.removesuffix(':i32')}"
        name = f"scalar{len(self.params)}"
        self.params[name + suffix] = value
        return f"P.{name}"


@dataclass(frozen=True)
class Chain:
    """WGSL `lines`, the library functions that they call, the last step's `result`, and flops per element."""

    lines: tuple[str, ...]
    functions: str
    result: Term
    flops: int
    wide: bool  # some value has 64 bits


def constant_term(ctx: Lowering, name: str, scalars: Scalars) -> Term | None:
    """A one-element constant as a term, or None."""
    array = ctx.constant(name)
    return scalars.term(array, ctx.dtype(name), ctx.shape(name)) if array is not None and array.size == 1 else None


def render_chain(
    ctx: Lowering, steps: Sequence[Step], known: Mapping[str, Term], bind: Callable[[str, Layout], Term]
) -> Chain:
    """Statements for `steps`. `known` holds terms by name; `bind` gives those of other values as they are laid out.

    Raises Unsupported where an operator does not take a type.
    """
    terms = dict(known)
    lines: list[str] = []
    flops, wide = 0, False
    for n, step in enumerate(steps):
        op = ELEMENTWISE[step.op_type]
        types = tuple(terms[i].dtype if i in terms else ctx.dtype(i) if i else "" for i in step.inputs)
        call = Call(types, step.attributes)
        template = op.template(call)
        if not template:
            raise Unsupported(f"{step.op_type} on {', '.join(t or '-' for t in types)}: the operator does not take it")
        operands: list[Term | None] = []
        for k, name in enumerate(step.inputs):
            if f"{{{k}}}" not in template:
                operands.append(None)
            elif name in terms:
                operands.append(terms[name])
            else:
                first = operands[0] if k and op.per_axis else None
                shape = ctx.shape(name)
                operands.append(bind(name, _along(step, first.shape, shape) if first else Layout(shape)))
        shapes = [o.shape for o in operands[: 1 if op.per_axis else None] if o is not None]
        dtype = op.result_type(call)
        text = template.format(*(o.text if o else "" for o in operands))
        lines.append(f"let t{n} = {wrapped(text, dtype)};")
        terms[step.outputs[0]] = Term(f"t{n}", dtype, _broadcast(shapes))
        flops += op.flops
        wide = wide or dtype in WIDE or any(o is not None and o.dtype in WIDE for o in operands)
    return Chain(tuple(lines), functions_in("\n".join(lines)), terms[steps[-1].outputs[0]], flops, wide)


def _along(step: Step, shape: Shape, operand: Shape) -> Layout:
    """The layout of a scale or zero point against data of `shape` (QuantizeLinear's three granularities)."""
    if math.prod(operand) == 1:
        return Layout(())
    axis, block = step.int("axis", 1) % len(shape), step.int("block_size", 0)
    if len(operand) == 1 and not block:
        return Layout((*(1,) * axis, *operand, *(1,) * (len(shape) - axis - 1)))
    return Layout(operand, (len(shape) - axis, block or ceil_div(shape[axis], operand[axis])))


def _broadcast(shapes: Sequence[Shape]) -> Shape:
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for d, size in enumerate(shape, start=rank - len(shape)):
            result[d] = broadcast_size(result[d], size)
    return tuple(result)
