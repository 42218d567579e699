"""Softmax and LogSoftmax along one axis (the form of opset 13), with a fused epilogue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish, strided_copy, strides_of
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.layer_norm import row_storage_bytes, row_workgroup
from webinfer.ops.pointwise import pointwise


@lowers("Softmax", "LogSoftmax")
def lower_softmax(op: FusedOp, ctx: Lowering) -> None:
    """Rows are read where they lie when the axis is the last; another axis is moved to the end and back."""
    step = op.anchor
    assert step is not None
    source, shape = step.inputs[0], ctx.shape(op.output)
    axis = step.int("axis", -1) % max(len(shape), 1)
    if axis >= len(shape) - 1:
        _rows(op, ctx, source, op.output, fuse=True)
        return
    order = [*(d for d in range(len(shape)) if d != axis), axis]
    moved = [shape[p] for p in order]
    strides = strides_of(shape)
    rows = ctx.scratch(f"{op.name}#rows", moved, ctx.dtype(source))
    shares = ctx.scratch(f"{op.name}#shares", moved, ctx.dtype(source))
    strided_copy(ctx, op.name, source, rows, moved, [strides[p] for p in order])
    _rows(op, ctx, rows, shares, fuse=False)
    result = step.outputs[0]
    if op.epilogue:
        ctx.scratch(result, shape, ctx.dtype(source))
    back = strides_of(moved)
    strided_copy(ctx, op.name, shares, result, shape, [back[order.index(d)] for d in range(len(shape))])
    if op.epilogue:
        pointwise(ctx, op.name, op.epilogue, op.output)


def _rows(op: FusedOp, ctx: Lowering, source: str, output: str, *, fuse: bool) -> None:
    step = op.anchor
    assert step is not None
    shape = ctx.shape(output)
    size = shape[-1] if shape else 1
    vector = size % 4 == 0
    lanes = 4 if vector else 1
    written = output if vector else aligned_output(ctx, output)
    tail = render_epilogue(ctx, op.epilogue if fuse else (), step, output, 4 if vector else 1)
    rows = math.prod(shape[:-1])
    workgroup = row_workgroup(ctx.tier, size // lanes)
    ctx.emit(
        "softmax",
        node=op.name,
        operands=[
            Operand("x", source, width=4 if vector else 1),
            *tail.operands,
            Operand("out", written, "read_write", width=4 if vector else 1),
        ],
        workgroups=grid(ceil_div(rows, workgroup[1])),
        workgroup_size=workgroup,
        params={"rows": rows, "size": size // lanes},
        flops=(6 + tail.flops) * math.prod(shape),
        workgroup_storage_bytes=row_storage_bytes(workgroup),
        epilogue=tail.code,
        scalars=tail.scalars,
        vector=vector,
        log=step.op_type == "LogSoftmax",
    )
    finish(ctx, op.name, written, output)


def _softmax(op_type: str, shape: Sequence[int], axis: int, scale: float, g: Graph) -> None:
    g.input("x", shape, scale=scale)
    g.node(op_type, ["x"], ["y"], axis=axis)
    g.output("y")


def _masked(rows: int, low: float, g: Graph) -> None:
    """Rows that are all at the largest negative value of f16 (or lower) share equally."""
    data = np.full((rows, 9), low, np.float32)
    data[0, :4] = 1.0
    g.input("x", data)
    g.node("Softmax", ["x"], ["y"])
    g.output("y")


def _fused(shape: Sequence[int], axis: int, g: Graph) -> None:
    g.input("x", shape)
    g.input("residual", shape)
    first = g.position
    g.node("Softmax", ["x"], ["s"], axis=axis)
    g.node("Add", ["s", "residual"], ["y"])
    g.fused("Shares", ["x", "residual"], ["y"], first)
    g.output("y")


CASES = [
    *(Case(f"softmax_w{w}", partial(_softmax, "Softmax", (3, 2, w), -1, 3.0)) for w in range(1, 10)),
    *(Case(f"softmax_axis1_w{w}", partial(_softmax, "Softmax", (2, 5, w), 1, 3.0)) for w in range(1, 10)),
    Case("softmax_axis0", partial(_softmax, "Softmax", (6, 2, 3), 0, 3.0)),
    Case("softmax_negative_axis", partial(_softmax, "Softmax", (2, 3, 4, 5), -2, 3.0)),
    Case("softmax_long", partial(_softmax, "Softmax", (2, 4097), -1, 10.0)),
    Case("softmax_steep", partial(_softmax, "Softmax", (4, 33), -1, 1000.0)),
    *(Case(f"log_softmax_w{w}", partial(_softmax, "LogSoftmax", (3, w), -1, 3.0)) for w in (1, 5, 8)),
    Case("log_softmax_axis0", partial(_softmax, "LogSoftmax", (4, 3), 0, 3.0)),
    Case("softmax_masked_rows", partial(_masked, 3, -65504.0)),
    Case("softmax_masked_rows_f32", partial(_masked, 3, -3.4e38), precisions=("fp32",)),
    Case("fused_last", partial(_fused, (3, 7), -1)),
    Case("fused_axis1", partial(_fused, (2, 5, 3), 1), fp16=2e-3),
]
