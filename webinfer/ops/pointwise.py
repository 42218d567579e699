"""Elementwise chains that stand alone: one kernel per chain, operands broadcast as numpy does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import onnx
import onnx_ir as ir

from webinfer.fused import DOMAIN, FusedOp, Step
from webinfer.kernel import element_type
from webinfer.lowering import Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import OPSET, Case, Graph
from webinfer.ops.chain import Layout, Scalars, Term, constant_term, render_chain
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.ops.lanes import WIDE, aliases, loaded, stored
from webinfer.symbols import broadcast_stride

WORKGROUP = 64
# Operators of any number of operands -> what takes some of them together where bindings do not reach.
_VARIADIC = {"Sum": "Sum", "Mean": "Sum", "Min": "Min", "Max": "Max"}


@dataclass(frozen=True)
class Strided:
    """A loop nest over an output, dimensions merged where every operand allows: sizes and strides per operand.

    Strides are in elements, 0 where an operand is broadcast; outermost dimension first.
    """

    sizes: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


def broadcast_strides(shape: Sequence[int], output: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of `shape` seen as `output` (numpy broadcasting): 0 along broadcast dimensions."""
    padded = (1,) * (len(output) - len(shape)) + tuple(shape)
    strides = [math.prod(padded[d + 1 :]) for d in range(len(padded))]
    return tuple(map(broadcast_stride, strides, padded, output))


def merged(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> Strided:
    """Drop dimensions of size 1 and merge neighbours whose strides fit for every operand."""
    kept: list[tuple[int, list[int]]] = []
    for d, size in enumerate(sizes):
        if size == 1:
            continue
        own = [s[d] for s in strides]
        if kept and all(p == size * s for p, s in zip(kept[-1][1], own, strict=True)):
            kept[-1] = (kept[-1][0] * size, own)
        else:
            kept.append((size, own))
    if not kept:
        kept = [(1, [0] * len(strides))]
    return Strided(tuple(s for s, _ in kept), tuple(tuple(own[k] for _, own in kept) for k in range(len(strides))))


@lowers("Pointwise", domain=DOMAIN)
def lower_pointwise(op: FusedOp, ctx: Lowering) -> None:
    """A chain of elementwise steps; one that changes nothing becomes a view."""
    first = op.epilogue[0]
    kept = first.op_type in ("Identity", "Cast", "CastLike") and ctx.dtype(first.inputs[0]) == ctx.dtype(op.output)
    if kept and len(op.epilogue) == 1 and ctx.view(op.output, first.inputs[0]):
        return
    pointwise(ctx, op.name, op.epilogue, op.output)


def pointwise(ctx: Lowering, node: str, steps: Sequence[Step], output: str) -> None:
    """Emit `steps` as one dispatch that writes `output`; more operands than bindings take several.

    Raises Unsupported where an operator does not take a type.
    """
    if len(steps) == 1 and steps[0].op_type in _VARIADIC:
        steps = [_bindable(ctx, node, steps[0], output)]
    shape, dtype = ctx.shape(output), ctx.dtype(output)
    scalars = Scalars()
    bound: dict[tuple[str, Layout], Term] = {}

    def bind(name: str, layout: Layout) -> Term:
        term = constant_term(ctx, name, scalars) or bound.get((name, layout))
        if term is None:
            term = Term(loaded(f"r_x{len(bound)}", ctx.dtype(name)), ctx.dtype(name), layout.shape)
            bound[name, layout] = term
        return term

    chain = render_chain(ctx, steps, {}, bind)
    reads, nest = _reads(ctx, list(bound), shape, wide=chain.wide)
    indexed = any(r.indexed for r in reads)
    params: dict[str, int | float] = {"count": ceil_div(math.prod(shape), 4)}
    for read in reads:
        params |= read.params
    if indexed:
        params |= {f"d{d}": size for d, size in enumerate(nest.sizes)}
    if indexed or chain.wide:
        params["last"] = math.prod(shape) - 1
    ctx.emit(
        "pointwise",
        node=node,
        operands=[
            *(Operand(r.name, name, width=r.width) for r, (name, _) in zip(reads, bound, strict=True)),
            Operand("out", output, "read_write", 1 if dtype in WIDE else 4),
        ],
        workgroups=grid(ceil_div(ceil_div(math.prod(shape), 4), WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        scalars=scalars.params,
        flops=chain.flops * math.prod(shape),
        aliases=aliases(1 if chain.wide else 4),
        functions=chain.functions,
        lines=chain.lines,
        result=stored(chain.result.text, dtype),
        element=ctx.element(output),
        reads=reads,
        indexed=indexed,
        rank=len(nest.sizes),
        wide=chain.wide,
    )


@dataclass(frozen=True)
class _Read:
    """How the kernel reads one operand.

    same: element(s) i; scalar: element 0; the others by coordinates: row loads four neighbours, uniform one element
    that all four lanes share, gather one per lane. Along the dimension `block`, `P.<name>_block` elements share one.
    """

    name: str
    kind: Literal["same", "scalar", "row", "uniform", "gather"]
    width: Literal[1, 4]
    element: str
    strides: tuple[int, ...]
    block: int | None
    params: dict[str, int | float]

    @property
    def indexed(self) -> bool:
        """Whether it needs coordinates."""
        return self.kind not in ("same", "scalar")


def _reads(
    ctx: Lowering, bound: Sequence[tuple[str, Layout]], shape: tuple[int, ...], *, wide: bool
) -> tuple[list[_Read], Strided]:
    """How operands are read, and the loop nest of their coordinates: in units of 4 elements where four consecutive
    outputs share their outer coordinates, which they do where the innermost size is a multiple of 4.
    """
    rows = [broadcast_strides(shape, shape), *(broadcast_strides(layout.shape, shape) for _, layout in bound)]
    # A row of marks keeps the axis of a block apart from its neighbours, and says where it went.
    blocks = {k: len(shape) - layout.block[0] for k, (_, layout) in enumerate(bound) if layout.block}
    marks = [tuple(int(d == axis) for d in range(len(shape))) for axis in blocks.values()]
    nest = merged(shape, [*rows, *marks])
    found = [row.index(1) if 1 in row else None for row in nest.strides[len(rows) :]]
    block_at = dict(zip(blocks, found, strict=True))
    innermost = len(nest.sizes) - 1
    # A stride that is 0 at some sizes and 1 at others fits neither a row nor a uniform.
    plain = all(row[-1] == 0 or row[-1] == 1 for row in nest.strides[: len(rows)])
    vector = not wide and plain and nest.sizes[-1] % 4 == 0 and innermost not in found
    reads = []
    for k, (value, layout) in enumerate(bound):
        strides, block = nest.strides[1 + k], block_at.get(k)
        kind: Literal["same", "scalar", "row", "uniform", "gather"]
        if strides == nest.strides[0] and block is None:
            kind = "same"
        elif not any(strides):
            kind = "scalar"
        else:
            kind = "gather" if not vector else "row" if strides[-1] else "uniform"
        name = f"x{k}"
        width: Literal[1, 4] = 4 if kind in ("same", "row") and not wide else 1
        params: dict[str, int | float] = {}
        if kind not in ("same", "scalar"):
            units = [width if d < innermost else 1 for d in range(len(strides))]
            params = {f"{name}_s{d}": s // u for d, (s, u) in enumerate(zip(strides, units, strict=True))}
            if block is not None and layout.block is not None:
                params[f"{name}_block"] = layout.block[1]
        reads.append(_Read(name, kind, width, element_type(ctx.dtype(value)), strides, block, params))
    sizes = (*nest.sizes[:-1], nest.sizes[-1] // 4) if vector else nest.sizes
    return reads, Strided(sizes, nest.strides)


def _bindable(ctx: Lowering, node: str, step: Step, output: str) -> Step:
    """`step` over no more operands than a dispatch binds: groups of them go through intermediate results."""
    limit = ctx.tier.limit("maxStorageBuffersPerShaderStage") - 1
    inputs = list(step.inputs)
    dtype = ctx.dtype(output)
    count = ir.AttrInt64("count", len(inputs))
    while len(set(inputs)) > limit:
        name = ctx.scratch(f"{output}#{len(inputs)}", ctx.shape(output), "float32" if dtype == "float16" else dtype)
        pointwise(ctx, node, [Step(_VARIADIC[step.op_type], tuple(inputs[:limit]), (name,), {})], name)
        inputs = [name, *inputs[limit:]]
    return replace(step, inputs=tuple(inputs), attributes={**step.attributes, "count": count})


def _operator(op_type: str, attributes: Mapping[str, Any], g: Graph) -> None:
    entry, schema = ELEMENTWISE[op_type], onnx.defs.get_schema(op_type, OPSET)
    count = 3 if op_type in _VARIADIC else max(schema.min_input, len(entry.domain))
    names = []
    for k in range(count):
        low, high = entry.domain[min(k, len(entry.domain) - 1)]
        shape = () if op_type == "Clip" and k else (2, 3, 9)
        names.append(g.input(f"x{k}", np.asarray(np.random.default_rng(k).uniform(low, high, shape))))
    g.node(op_type, names, ["y"], **attributes)
    g.output("y")


def _unary(op_type: str, shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.node(op_type, ["x"], ["y"])
    g.output("y")


def _many(op_type: str, count: int, g: Graph) -> None:
    names = [g.input(f"x{k}", (2, 5) if k % 2 else (5,)) for k in range(count)]
    g.node(op_type, names, ["y"])
    g.output("y")


def _masked(g: Graph) -> None:
    """Infinities of a mask stay what they are until the maximum hides them."""
    g.input("x", (3, 6))
    g.input("keep", np.arange(18).reshape(3, 6) % 3 > 0)
    g.constant("hidden", np.array(-np.inf))
    g.constant("floor", np.array(-2.5))
    g.node("Where", ["keep", "x", "hidden"], ["w"])
    g.node("IsInf", ["w"], ["i"])
    g.node("Cast", ["i"], ["c"], to=g.float_type)
    g.node("Max", ["w", "floor"], ["m"])
    g.node("Add", ["c", "m"], ["y"])
    g.output("y")


def _long(g: Graph) -> None:
    """64-bit numbers beyond 32 bits, with a broadcast and a constant, down to floats that hold the result."""
    g.input("a", np.array([[2**40 + 1, -(2**40), 7], [2**62, 3, -5]], np.int64))
    g.input("b", np.array([3, -(2**33), 2**20], np.int64))
    g.constant("k", np.array(2**32 + 3, np.int64))
    g.node("Sub", ["a", "b"], ["d"])
    g.node("Mul", ["d", "k"], ["m"])
    g.node("Mod", ["m", "b"], ["r"])
    g.ints("q", [10**9])
    g.node("Mod", ["r", "q"], ["s"])
    g.node("Cast", ["s"], ["f"], to=1)
    g.single("unit", [1e-9])
    g.node("Mul", ["f", "unit"], ["t"])
    g.node("Cast", ["t"], ["y"], to=g.float_type)
    g.output("y")


def _binary(op_type: str, a: Sequence[int], b: Sequence[int], g: Graph) -> None:
    g.input("a", a)
    g.input("b", b, offset=3.0 if op_type == "Div" else 0.0, scale=0.3)
    g.node(op_type, ["a", "b"], ["y"])
    g.output("y")


def _chain(shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.input("s", (1, shape[1], *[1] * (len(shape) - 2)))
    g.constant("t", (shape[-1],))
    g.constant("one", np.array(-1.5))
    first = g.position
    g.node("Mul", ["x", "s"], ["a"])
    g.node("Add", ["a", "t"], ["b"])
    g.node("Sigmoid", ["b"], ["c"])
    g.node("Mul", ["b", "c"], ["d"])
    g.node("Sub", ["d", "one"], ["y"])
    g.fused("Chain", ["x", "s", "t", "one"], ["y"], first)
    g.output("y")


def _compare(g: Graph) -> None:
    g.input("a", (3, 5))
    g.input("b", (5,))
    g.node("Greater", ["a", "b"], ["m"])
    g.node("Where", ["m", "a", "b"], ["y"])
    g.output("y")


def _power(exponent: float, g: Graph) -> None:
    g.input("x", (2, 9), offset=2.0, scale=0.3)
    g.constant("e", np.array(exponent))
    g.node("Pow", ["x", "e"], ["y"])
    g.output("y")


def _clip(g: Graph) -> None:
    g.input("x", (2, 7))
    g.constant("high", np.array(0.5))
    g.node("Clip", ["x", "", "high"], ["y"])
    g.output("y")


def _cast(g: Graph) -> None:
    g.input("x", np.arange(-3, 4, dtype=np.int64))
    g.node("Cast", ["x"], ["y"], to=g.float_type)
    g.output("y")


def _identity(g: Graph) -> None:
    g.input("x", (3, 3))
    g.node("Identity", ["x"], ["y"])
    g.output("y")


def _of_floats() -> list[tuple[str, int, Mapping[str, Any]]]:
    """Operators from floats to floats, with each set of attributes; ONNX Runtime has no Mod of floats that floors."""
    return [
        (op_type, k, attributes)
        for op_type, entry in ELEMENTWISE.items()
        if onnx.defs.has(op_type, OPSET, "") and entry.floats and not (entry.result or entry.by or entry.per_axis)
        for k, attributes in enumerate(entry.variants)
        if attributes.get("fmod", 1)
    ]


_SHAPES = [
    ((2, 3, 4, 4), (2, 3, 4, 4)),
    ((2, 3, 5), (3, 1)),
    ((4, 1, 5), (3, 1)),
    ((7,), ()),
    ((2, 6, 8), (8,)),
    ((2, 6, 8), (6, 1)),
    ((1, 5, 3, 3), (2, 5, 1, 1)),
    ((2, 1, 2, 1, 3, 1), (1, 3, 1, 2, 1, 2)),
]

CASES = [
    *(Case(f"{op}{k}", partial(_operator, op, attributes), precisions=("fp32",)) for op, k, attributes in _of_floats()),
    *(Case(f"add_{'x'.join(map(str, a))}_{'x'.join(map(str, b))}", partial(_binary, "Add", a, b)) for a, b in _SHAPES),
    *(
        Case(f"{op.lower()}_w{w}", partial(_binary, op, (3, w), (w,)))
        for w, op in enumerate(("Sub", "Mul", "Div", "Min", "Max", "PRelu", "Add", "Mul", "Sub"), start=1)
    ),
    *(Case(f"chain_w{w}", partial(_chain, (2, 3, 2, w))) for w in range(1, 10)),
    *(Case(f"pow_{e}", partial(_power, e)) for e in (0.0, 0.5, 1.0, 2.0, 3.0, -1.0, 1.7)),
    *(Case(f"{op.lower()}_of_twenty", partial(_many, op, 20)) for op in ("Sum", "Mean", "Min")),
    Case("many_workgroups", partial(_unary, "Neg", (1, 4, 1024, 1025)), precisions=("fp32",)),
    Case("where_greater", _compare),
    Case("masked", _masked),
    Case("long", _long),
    Case("clip_upper_only", _clip),
    Case("cast_int64", _cast),
    Case("identity_output", _identity),
    Case("zero_size", partial(_binary, "Add", (2, 0), (1, 0))),
]
