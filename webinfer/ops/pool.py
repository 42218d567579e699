"""AveragePool and MaxPool over one or two axes, with a fused epilogue. Global pooling is in reduce.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.window import lift, pads

WORKGROUP = 64


@lowers("AveragePool", "MaxPool")
def lower_pool(op: FusedOp, ctx: Lowering) -> None:
    """Strides, pads, dilations, ceil_mode and auto_pad; the index output of MaxPool is refused."""
    step = op.anchor
    assert step is not None
    if any(op.outputs[1:]):
        raise Unsupported("the index output of MaxPool")
    x, out = ctx.shape(step.inputs[0]), ctx.shape(op.outputs[0])
    rank = len(x) - 2
    if rank > 2:
        raise Unsupported(f"{rank}-D pooling: pool the axes one after another")
    kernel = step.ints("kernel_shape")
    stride, dilation = step.ints("strides", (1,) * rank), step.ints("dilations", (1,) * rank)
    begin, end = pads(step, x[2:], out[2:], kernel, stride, dilation)
    pairs = {
        "kernel": lift(kernel, 1),
        "stride": lift(stride, 1),
        "dilation": lift(dilation, 1),
        "pad": lift(begin, 0),
        "pad_end": lift(end, 0),
    }
    (height, width), (out_height, out_width) = lift(x[2:], 1), lift(out[2:], 1)
    spatial = math.prod(out[2:])
    wide = spatial % 4 == 0 or not op.epilogue
    written = op.outputs[0] if wide else aligned_output(ctx, op.outputs[0])
    tail = render_epilogue(ctx, op.epilogue, step, op.outputs[0], 4 if wide else 1)
    count = ceil_div(math.prod(out), 4 if wide else 1)
    params: dict[str, int | float] = {
        "count": count,
        "last": math.prod(out) - 1,
        "spatial": spatial,
        "channels": out[1],
        "out_width": out_width,
        "out_height": out_height,
        "width": width,
        "height": height,
    }
    for name, (along_y, along_x) in pairs.items():
        params |= {f"{name}_y": along_y, f"{name}_x": along_x}
    ctx.emit(
        "pool",
        node=op.name,
        operands=[
            Operand("x", step.inputs[0], width=1),
            *tail.operands,
            Operand("out", written, "read_write", width=4 if wide else 1),
        ],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        flops=(math.prod(kernel) + tail.flops) * math.prod(out),
        epilogue=tail.code,
        scalars=tail.scalars,
        wide=wide,
        average=step.op_type == "AveragePool",
        include_pad=bool(step.int("count_include_pad", 0)),
    )
    finish(ctx, op.name, written, op.outputs[0])


def _pool(op_type: str, x: Sequence[int], attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", x)
    g.node(op_type, ["x"], ["y"], **attributes)
    g.output("y")


def _fused(width: int, g: Graph) -> None:
    g.input("x", (2, 3, 4, width))
    g.input("s", (1, 3, 1, 1))
    first = g.position
    g.node("AveragePool", ["x"], ["p"], kernel_shape=(2, 2), strides=(2, 2))
    g.node("Add", ["p", "s"], ["y"])
    g.fused("Pooled", ["x", "s"], ["y"], first)
    g.output("y")


_ATTRIBUTES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 7, 9), {"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 2, 8, 8), {"kernel_shape": (3, 2), "strides": (2, 3), "ceil_mode": 1}),
    ((1, 2, 6, 7), {"kernel_shape": (2, 2), "strides": (2, 2), "auto_pad": "SAME_UPPER"}),
    ((1, 2, 6, 7), {"kernel_shape": (2, 2), "strides": (2, 2), "auto_pad": "SAME_LOWER"}),
    ((1, 2, 7, 7), {"kernel_shape": (3, 3), "dilations": (2, 2)}),
    ((2, 3, 9), {"kernel_shape": (4,), "strides": (3,), "pads": (1, 2)}),
    ((1, 1, 5, 5), {"kernel_shape": (5, 5)}),
]

CASES = [
    *(
        Case(f"{op}_{k}", partial(_pool, op, x, a))
        for op in ("AveragePool", "MaxPool")
        for k, (x, a) in enumerate(_ATTRIBUTES)
    ),
    *(
        Case(f"average_include_pad_{k}", partial(_pool, "AveragePool", x, a | {"count_include_pad": 1}))
        for k, (x, a) in enumerate(_ATTRIBUTES)
    ),
    *(
        Case(
            f"average_2x2_w{w}",
            partial(_pool, "AveragePool", (1, 3, 4, w), {"kernel_shape": (2, 2), "strides": (2, 2)}),
        )
        for w in range(2, 10)
    ),
    *(Case(f"fused_w{w}", partial(_fused, w)) for w in (6, 8)),
]
