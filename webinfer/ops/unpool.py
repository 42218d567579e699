"""MaxUnpool: the inverse of a MaxPool whose indices are given."""

from __future__ import annotations

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.elements import WORKGROUP, axes
from webinfer.ops.generate import fill
from webinfer.ops.window import lift


@lowers("MaxUnpool")
def lower_max_unpool(op: FusedOp, ctx: Lowering) -> None:
    """With an output shape the result lies at its start, zeros behind it."""
    step = op.anchor
    assert step is not None
    x, out = ctx.shape(step.inputs[0]), ctx.shape(op.output)
    rank = len(x) - 2
    kernel, stride = step.ints("kernel_shape"), step.ints("strides", (1,) * rank)
    pads = step.ints("pads", (0,) * 2 * rank)
    full = [(x[2 + d] - 1) * stride[d] + kernel[d] - pads[d] - pads[rank + d] for d in range(rank)]
    written = aligned_output(ctx, op.output)
    fill(ctx, op.name, written)
    count = ctx.size(step.inputs[0])
    ctx.emit(
        "max_unpool",
        node=op.name,
        operands=[
            Operand("x", step.inputs[0], width=1),
            Operand("at", step.inputs[1], width=1),
            Operand("y", written, "read_write", width=1),
        ],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params={"elements": count} | axes(full=lift(full, 1), out=lift(out[2:], 1)),
        rank=max(rank, 2),
    )
    finish(ctx, op.name, written, op.output)


def _case(g: Graph) -> None:
    g.input("x", (2, 1, 2, 2))
    g.input("at", np.array([0, 5, 18, 15, 24, 31, 33, 47], np.int64).reshape(2, 1, 2, 2))
    g.node("MaxUnpool", ["x", "at"], ["y"], kernel_shape=(2, 2), strides=(2, 4))
    g.output("y")


CASES = [Case("max_unpool", _case)]
