"""Reductions of floats over any axes (ReduceMean, ReduceSum, ReduceMax ...) and global pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish, strided_copy, strides_of
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.layer_norm import row_storage_bytes, row_workgroup
from webinfer.ops.pointwise import FLOAT_TYPES


@dataclass(frozen=True)
class Reduction:
    """WGSL formats: the neutral value, how two values combine, what happens to each element and to the result."""

    initial: str
    combine: str
    each: str = "%s"
    last: str = "%s"


_LOWEST, _SUM = "-3.4028234e38", "(%s + %s)"
REDUCTIONS = {
    "ReduceSum": Reduction("0.0", _SUM),
    "ReduceMean": Reduction("0.0", _SUM, last="(%s * P.inverse)"),
    "ReduceMax": Reduction(_LOWEST, "max(%s, %s)"),
    "ReduceMin": Reduction("3.4028234e38", "min(%s, %s)"),
    "ReduceProd": Reduction("1.0", "(%s * %s)"),
    "ReduceL1": Reduction("0.0", _SUM, each="abs(%s)"),
    "ReduceL2": Reduction("0.0", _SUM, each="(x * x)", last="sqrt(%s)"),
    "ReduceSumSquare": Reduction("0.0", _SUM, each="(x * x)"),
    "ReduceLogSum": Reduction("0.0", _SUM, last="log(%s)"),
    "GlobalAveragePool": Reduction("0.0", _SUM, last="(%s * P.inverse)"),
    "GlobalMaxPool": Reduction(_LOWEST, "max(%s, %s)"),
}


@lowers(*REDUCTIONS)
def lower_reduce(op: FusedOp, ctx: Lowering) -> None:
    """Axes that are not the last ones are moved there by a copy first."""
    step = op.anchor
    assert step is not None
    source = step.inputs[0]
    shape = ctx.shape(source)
    if ctx.dtype(source) not in FLOAT_TYPES:
        raise Unsupported(f"{step.op_type} of {ctx.dtype(source)}: only floats reduce exactly enough; cast first")
    axes = _axes(op, ctx, len(shape))
    if not axes:
        raise Unsupported(f"{step.op_type} over no axis: remove the node")
    kept = [d for d in range(len(shape)) if d not in axes]
    order = [*kept, *axes]
    if order != sorted(order) and ctx.size(source):
        strides = strides_of(shape)
        rows = ctx.scratch(f"{op.name}#rows", [shape[d] for d in order], ctx.dtype(source))
        strided_copy(ctx, op.name, source, rows, [shape[d] for d in order], [strides[d] for d in order])
        source = rows
    size, count = math.prod([shape[d] for d in axes]), math.prod([shape[d] for d in kept])
    vector = size % 4 == 0
    unit = 4 if vector else 1
    written = aligned_output(ctx, op.output)
    tail = render_epilogue(ctx, op.epilogue, step, op.output, 1)
    out = ctx.shape(op.output)
    workgroup = row_workgroup(ctx.tier, size // unit)
    reduction = REDUCTIONS[step.op_type]
    ctx.emit(
        "reduce",
        node=op.name,
        operands=[
            Operand("x", source, width=4 if vector else 1),
            *tail.operands,
            Operand("out", written, "read_write", width=1),
        ],
        workgroups=grid(ceil_div(count, workgroup[1])),
        workgroup_size=workgroup,
        params={
            "rows": count,
            "size": size // unit,
            "inverse": 1.0 / max(size, 1),
            "spatial": math.prod(out[2:]),
            "channels": out[1] if len(out) > 1 else 1,
        },
        flops=math.prod(shape),
        workgroup_storage_bytes=row_storage_bytes(workgroup),
        epilogue=tail.code,
        scalars=tail.scalars,
        vector=vector,
        initial=reduction.initial,
        combine=reduction.combine,
        each=reduction.each,
        last=reduction.last,
    )
    finish(ctx, op.name, written, op.output)


def _axes(op: FusedOp, ctx: Lowering, rank: int) -> list[int]:
    """The reduced axes in order: an input from opset 18 on (13 for ReduceSum), an attribute before."""
    step = op.anchor
    assert step is not None
    if step.op_type.startswith("Global"):
        return list(range(2, rank))
    given: Sequence[int] = step.ints("axes")
    if len(step.inputs) > 1 and step.inputs[1]:
        array = ctx.constant(step.inputs[1])
        if array is None:
            raise Unsupported(f"axes {step.inputs[1]} are computed at run time; fold them to a constant")
        given = [int(a) for a in array.reshape(-1)]
    if not given and step.int("noop_with_empty_axes", 0):
        return []
    return sorted(a % rank for a in given) or list(range(rank))


def _reduce(op_type: str, x: Sequence[int], axes: Sequence[int], keep: int, g: Graph) -> None:
    g.input("x", x, offset=2.0 if op_type == "ReduceLogSum" else 0.0, scale=0.3)
    g.ints("axes", axes)
    g.node(op_type, ["x", "axes"], ["y"], keepdims=keep)
    g.output("y")


def _global(op_type: str, x: Sequence[int], g: Graph) -> None:
    g.input("x", x)
    g.node(op_type, ["x"], ["y"])
    g.output("y")


def _all(g: Graph) -> None:
    g.input("x", (3, 5, 7))
    g.node("ReduceMean", ["x"], ["y"], keepdims=0)
    g.output("y")


CASES = [
    *(Case(f"{op}_last", partial(_reduce, op, (3, 4, 9), (-1,), 1)) for op in REDUCTIONS if op.startswith("Reduce")),
    *(Case(f"{op}_axes", partial(_reduce, op, (2, 3, 4, 5), (1, -2), 0)) for op in ("ReduceMean", "ReduceL2")),
    *(Case(f"mean_w{w}", partial(_reduce, "ReduceMean", (2, 3, w), (2,), 1)) for w in range(1, 10)),
    Case("sum_axis0", partial(_reduce, "ReduceSum", (6, 5), (0,), 1)),
    Case("max_long", partial(_reduce, "ReduceMax", (3, 5000), (1,), 0)),
    Case("mean_all", _all),
    *(
        Case(f"{op}_{'x'.join(map(str, s))}", partial(_global, op, s))
        for op in ("GlobalAveragePool", "GlobalMaxPool")
        for s in ((2, 5, 7, 7), (1, 3, 8, 8), (2, 3, 5))
    ),
]
