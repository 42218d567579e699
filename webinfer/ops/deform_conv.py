"""DeformConv over any number of axes, with groups, offset groups, mask and bias."""

from __future__ import annotations

from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import emit_elements
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.window import geometry, window_params


@lowers("DeformConv")
def lower_deform_conv(op: FusedOp, ctx: Lowering) -> None:
    """One element of the output at a time."""
    step = op.anchor
    assert step is not None
    x, w, offset, bias, mask = (*step.inputs, "", "")[:5]
    g = geometry(ctx, op, x=x, weight=w)
    operands = [Operand("x", x, width=1), Operand("w", w, width=1), Operand("offset", offset, width=1)]
    if mask:
        operands.append(Operand("mask", mask, width=1))
    emit_elements(
        ctx,
        "deform_conv",
        op.name,
        op.output,
        operands,
        window_params(g) | {"groups": g.groups, "offset_groups": step.int("offset_group", 1)},
        flops=14 * g.depth * g.taps,
        epilogue=render_epilogue(ctx, op.epilogue, step, op.output, 1, bias=bias or None),
        rank=len(g.size),
        masked=bool(mask),
    )


def _case(groups: int, offset_groups: int, g: Graph) -> None:
    g.input("x", (2, 4, 6, 7))
    g.constant("w", (6, 4 // groups, 3, 2), scale=0.3)
    g.input("offset", (2, offset_groups * 3 * 2 * 2, 3, 6))
    g.constant("b", (6,))
    g.input("mask", (2, offset_groups * 3 * 2, 3, 6))
    g.node(
        "DeformConv",
        ["x", "w", "offset", "b", "mask"],
        ["y"],
        group=groups,
        offset_group=offset_groups,
        strides=(2, 1),
        pads=(1, 0, 0, 1),
        dilations=(1, 2),
    )
    g.output("y")


CASES = [Case(f"groups{k}_{m}", partial(_case, k, m)) for k, m in ((1, 1), (2, 2))]
