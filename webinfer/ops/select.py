"""Ops whose number of results depends on values: Compress, NonZero. The model declares how many there are.

Where there are fewer, NonZero goes on with -1 and Compress with the last slice; further ones are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.kernel import ITEMSIZE
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import nested_copy, only_step, strides_of
from webinfer.ops.elements import axes, emit_elements
from webinfer.ops.gather import slices_at

_WORKGROUP = 64


def positions_of_true(ctx: Lowering, node: str, condition: str, count: int) -> str:
    """Flat positions of the first `count` elements that are not 0, int32; -1 behind them."""
    found = ctx.scratch(f"{node}#positions", (count,), "int32")
    ctx.emit(
        "positions",
        node=node,
        operands=[Operand("x", condition, width=1), Operand("found", found, "read_write", width=1)],
        workgroups=(1, 1, 1),
        workgroup_size=(_WORKGROUP, 1, 1),
        params={"elements": ctx.size(condition), "count": count},
        workgroup_storage_bytes=_WORKGROUP * 4,
        kind="wide" if ITEMSIZE[ctx.dtype(condition)] == 8 else ctx.element(condition),
    )
    return found


@lowers("Compress")
def lower_compress(op: FusedOp, ctx: Lowering) -> None:
    """Compress: slices, or elements where no axis is given, at the places where the condition holds."""
    step = only_step(op)
    data, condition = step.inputs
    shape, axis = ctx.shape(data), 0
    if "axis" in step.attributes:
        axis = step.int("axis", 0) % len(shape)
    else:
        shape = (math.prod(shape),)
    count = ctx.shape(op.output)[axis]
    found = positions_of_true(ctx, op.name, condition, count)
    nested_copy(ctx, op.name, data, op.output, slices_at(shape, found, (count,), axis))


@lowers("NonZero")
def lower_non_zero(op: FusedOp, ctx: Lowering) -> None:
    """NonZero: one row per axis, one column per element."""
    (data,) = only_step(op).inputs
    shape, (rank, count) = ctx.shape(data), ctx.shape(op.output)
    found = positions_of_true(ctx, op.name, data, count)
    params = {**axes(size=shape, stride=strides_of(shape)), "count": count}
    emit_elements(ctx, "non_zero", op.name, op.output, [Operand("found", found, width=1)], params, rank=rank)


def _compress(shape: Sequence[int], condition: Sequence[int], axis: int | None, g: Graph) -> None:
    g.input("x", shape)
    attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
    g.node("Compress", ["x", g.input("c", np.array(condition, np.bool_))], ["y"], **attributes)
    declared = list(shape) if axis is not None else [sum(condition)]
    if axis is not None:
        declared[axis] = sum(condition)
    g.output("y", shape=declared)


def _non_zero(dtype: type, g: Graph) -> None:
    x = np.arange(300).reshape(5, 60) % 7 // 6
    g.input("x", (x * (1 << 40 if dtype is np.int64 else 1)).astype(dtype))
    g.node("NonZero", ["x"], ["y"])
    g.output("y", dtype=TensorProto.INT64, shape=(2, int(x.sum())))


CASES = [
    Case("compress_axis", partial(_compress, (3, 4, 5), (0, 1, 0, 1), 1)),
    Case("compress_flat", partial(_compress, (3, 4), (0, 1, 0, 1, 1, 1, 0, 0, 1), None)),
    *(Case(f"non_zero_{t.__name__}", partial(_non_zero, t), precisions=("fp32",)) for t in (np.float32, np.int64)),
]
