"""Det: determinants of square matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish

WORKGROUP = 64


@lowers("Det")
def lower_det(op: FusedOp, ctx: Lowering) -> None:
    """X [..., M, M]: one invocation per matrix, so matrices should be small."""
    step = op.anchor
    assert step is not None
    source = step.inputs[0]
    shape, matrices = ctx.shape(source), ctx.size(op.output)
    written = aligned_output(ctx, op.output)
    ctx.emit(
        "det",
        node=op.name,
        operands=[
            Operand("x", source, width=1),
            Operand("work", ctx.scratch(f"{op.name}#work", shape, "float32"), "read_write", width=1),
            Operand("out", written, "read_write", width=1),
        ],
        workgroups=grid(ceil_div(matrices, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params={"matrices": matrices, "size": shape[-1]},
        flops=matrices * shape[-1] ** 3,
    )
    finish(ctx, op.name, written, op.output)


def _det(shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.node("Det", ["x"], ["y"])
    g.output("y")


CASES = [Case("one", partial(_det, (3, 3))), Case("batch", partial(_det, (2, 70, 4, 4)))]
