"""AveragePool, MaxPool with indices, LpPool and GlobalLpPool over any number of axes, with a fused epilogue.

GlobalAveragePool and GlobalMaxPool are reductions (reduce.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import axes, emit_elements
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.window import lift, pads

_KINDS = {"AveragePool": "average", "MaxPool": "max", "LpPool": "lp", "GlobalLpPool": "lp"}


@lowers(*_KINDS)
def lower_pool(op: FusedOp, ctx: Lowering) -> None:
    """One kernel for all: strides, pads, dilations, ceil_mode and auto_pad; a global pool is one window."""
    step = op.anchor
    assert step is not None
    x, out = ctx.shape(step.inputs[0]), ctx.shape(op.outputs[0])
    rank = len(x) - 2
    kernel = x[2:] if step.op_type == "GlobalLpPool" else step.ints("kernel_shape")
    stride, dilation = step.ints("strides", (1,) * rank), step.ints("dilations", (1,) * rank)
    begin, end = pads(step, x[2:], out[2:], kernel, stride, dilation)
    params = axes(
        size=lift(x[2:], 1),
        out=lift(out[2:], 1),
        kernel=lift(kernel, 1),
        stride=lift(stride, 1),
        dilation=lift(dilation, 1),
        pad=lift(begin, 0),
    )
    kind, power = _KINDS[step.op_type], step.int("p", 2)
    include_pad = kind == "average" and step.int("count_include_pad", 0) == 1
    if include_pad:
        params |= axes(pad_end=lift(end, 0))
    if kind == "lp" and power > 2:
        params["power"] = power
    operands = [Operand("x", step.inputs[0], width=1)]
    indices = ""
    if any(op.outputs[1:]):
        indices = "column_major" if step.int("storage_order", 0) else "row_major"
        operands.append(Operand("indices", op.outputs[1], "read_write", width=1))
    emit_elements(
        ctx,
        "pool",
        op.name,
        op.outputs[0],
        operands,
        params,
        flops=math.prod(kernel),
        epilogue=render_epilogue(ctx, op.epilogue, step, op.outputs[0], 1),
        rank=max(rank, 2),
        kind=kind,
        power=min(power, 3),
        include_pad=include_pad,
        indices=indices,
    )


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


def _indices(order: int, g: Graph) -> None:
    g.input("x", (2, 3, 7, 5))
    g.node("MaxPool", ["x"], ["y", "at"], kernel_shape=(3, 2), strides=(2, 2), pads=(1, 0, 1, 1), storage_order=order)
    g.output("y")
    g.output("at", dtype=TensorProto.INT64)


def _global_l2(g: Graph) -> None:
    g.input("x", (2, 3, 4, 5))
    g.ints("axes", (2, 3))
    g.node("ReduceL2", ["x", "axes"], ["y"])
    g.output("y")


def _bytes(g: Graph) -> None:
    g.input("x", (np.arange(90, dtype=np.int16) * 73 % 251 - 125).astype(np.int8).reshape(1, 3, 5, 6))
    g.node("MaxPool", ["x"], ["y"], kernel_shape=(2, 3))
    g.output("y", dtype=TensorProto.INT8)


_ATTRIBUTES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((2, 3, 7, 9), {"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((1, 2, 8, 8), {"kernel_shape": (3, 2), "strides": (2, 3), "ceil_mode": 1}),
    ((1, 2, 6, 7), {"kernel_shape": (2, 2), "strides": (2, 2), "auto_pad": "SAME_UPPER"}),
    ((1, 2, 6, 7), {"kernel_shape": (2, 2), "strides": (2, 2), "auto_pad": "SAME_LOWER"}),
    ((1, 2, 7, 7), {"kernel_shape": (3, 3), "dilations": (2, 2)}),
    ((2, 3, 9), {"kernel_shape": (4,), "strides": (3,), "pads": (1, 2)}),
    ((1, 1, 5, 5), {"kernel_shape": (5, 5)}),
]

# A strided window over three axes; its last one starts inside the image and ends beyond the padding.
_VOLUME: tuple[tuple[int, ...], dict[str, Any]] = (
    (1, 2, 5, 6, 7),
    {"kernel_shape": (2, 3, 2), "strides": (2, 2, 3), "pads": (0, 1, 0, 1, 1, 1), "ceil_mode": 1},
)

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
    *(
        Case(f"{op}_volume", partial(_pool, op, _VOLUME[0], _VOLUME[1] | a))
        for op, a in (("MaxPool", {}), ("AveragePool", {"count_include_pad": 1}), ("LpPool", {"p": 3}))
    ),
    *(Case(f"indices_order{k}", partial(_indices, k)) for k in (0, 1)),
    Case("bytes", _bytes),
    # ONNX Runtime has no GlobalLpPool of this opset.
    Case("global_lp", partial(_pool, "GlobalLpPool", (2, 3, 4, 5), {"p": 2}), reference=_global_l2),
]
