"""Col2Im over any number of axes: the inverse of taking an image apart into blocks, where blocks overlap their sum."""

from __future__ import annotations

import math

from webinfer.fused import FusedOp
from webinfer.kernel import PACKED_BITS
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import axes, emit_elements
from webinfer.ops.numbers import numbers
from webinfer.ops.window import lift


@lowers("Col2Im")
def lower_col2im(op: FusedOp, ctx: Lowering) -> None:
    """Sums of integers wrap as their type does."""
    step = op.anchor
    assert step is not None
    image, block = ctx.integers(step.inputs[1]), ctx.integers(step.inputs[2])
    if image is None or block is None:
        raise Unsupported("the sizes of image and block are computed at run time; fold them to constants")
    rank = len(image)
    stride, dilation = step.ints("strides", (1,) * rank), step.ints("dilations", (1,) * rank)
    pads = step.ints("pads", (0,) * 2 * rank)
    sizes = [
        (image[d] + pads[d] + pads[rank + d] - dilation[d] * (block[d] - 1) - 1) // stride[d] + 1 for d in range(rank)
    ]
    dtype = ctx.dtype(op.output)
    arithmetic = numbers(dtype)
    emit_elements(
        ctx,
        "col2im",
        op.name,
        op.output,
        [Operand("x", step.inputs[0], width=1)],
        axes(
            size=lift(sizes, 1),
            out=lift(image, 1),
            kernel=lift(block, 1),
            stride=lift(stride, 1),
            dilation=lift(dilation, 1),
            pad=lift(pads[:rank], 0),
        ),
        flops=math.prod(block),
        rank=max(rank, 2),
        add=arithmetic.add,
        declarations=arithmetic.declarations,
        result=f"extractBits(sum, 0u, {PACKED_BITS[dtype]}u)" if dtype in PACKED_BITS else "sum",
    )


def _case(g: Graph) -> None:
    g.input("x", (2, 2 * 6, 16))
    g.ints("image", (7, 6))
    g.ints("block", (2, 3))
    g.node("Col2Im", ["x", "image", "block"], ["y"], pads=(1, 0, 1, 2), strides=(2, 1), dilations=(2, 2))
    g.output("y")


CASES = [Case("col2im", _case)]
