"""Products of 8-bit integers: MatMulInteger and QLinearMatMul.

Sums are exact in 32 bits and wrap there. Zero points are tensors that broadcast against the output, a vector of x's
counting its rows and one of w's its columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.contraction import general, merged_axes
from webinfer.ops.conv_integer import requantize
from webinfer.ops.matmul import matmul_axes
from webinfer.ops.pointwise import broadcast_strides


@lowers("MatMulInteger")
def lower_matmul_integer(op: FusedOp, ctx: Lowering) -> None:
    """(x - x zero point) (w - w zero point) in int32."""
    assert op.anchor is not None
    x, w, x_zero, w_zero = (*op.anchor.inputs, "", "")[:4]
    _product(ctx, op.name, x, w, op.output, x_zero, w_zero)


@lowers("QLinearMatMul")
def lower_qlinear_matmul(op: FusedOp, ctx: Lowering) -> None:
    """The sums of MatMulInteger, then one requantization per element."""
    assert op.anchor is not None
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = op.anchor.inputs
    shape = ctx.shape(op.output)
    if ctx.size(w_scale) not in (1, shape[-1]):
        raise Unsupported(f"w scale of shape {list(ctx.shape(w_scale))}: one per column or one in all")
    sums = ctx.scratch(f"{op.output}#sums", shape, "int32")
    _product(ctx, op.name, x, w, sums, x_zero, w_zero)
    requantize(ctx, op.name, sums, op.output, (x_scale, w_scale, y_scale), y_zero, "", axis=len(shape) - 1)


def _product(ctx: Lowering, node: str, x: str, w: str, y: str, x_zero: str, w_zero: str) -> None:
    """Emit the exact product of x and w less their zero points ("" for 0)."""
    output, depth = matmul_axes(ctx.shape(x), ctx.shape(w))
    sizes = [a.size for a in output]
    operands = [Operand("x", x, width=1), Operand("w", w, width=1)]
    factors, strides = [], []
    for name, zero in (("x", x_zero), ("w", w_zero)):
        offset = ""
        if zero:
            shape = ctx.shape(zero)
            if name == "x" and len(shape) == 1:
                shape = (*shape, 1)
            operands.append(Operand(f"{name}_zero", zero, width=1))
            strides.append(broadcast_strides(shape, sizes) if math.prod(shape) != 1 else (0,) * len(sizes))
            offset = f" - i32(load_{name}_zero({name}_zero_at))"
        factors.append(f"(i32(load_{name}({name})){offset})")
    axes = [replace(a, extra=tuple(s[d] for s in strides)) for d, a in enumerate(output)]
    term = " * ".join(factors)
    general(ctx, node, operands, y, output=merged_axes(axes), depth=[depth], term=term, accumulator="i32")


_TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8}


def _bytes(g: Graph, name: str, shape: Sequence[int], dtype: type[np.integer], seed: int) -> str:
    info = np.iinfo(dtype)
    array = np.random.default_rng(seed).integers(info.min, info.max + 1, shape).astype(dtype)
    return g.constant(name, array) if seed % 2 else g.input(name, array)


def _integer(
    x: Sequence[int], w: Sequence[int], zeros: Sequence[int], types: tuple[type[np.integer], type[np.integer]], g: Graph
) -> None:
    _bytes(g, "x", x, types[0], 0)
    _bytes(g, "w", w, types[1], 1)
    inputs = ["x", "w", _bytes(g, "zx", (), types[0], 2), _bytes(g, "zw", zeros, types[1], 3)]
    g.node("MatMulInteger", inputs, ["y"])
    g.output("y", dtype=TensorProto.INT32)


def _qlinear(dtype: type[np.integer], per_column: bool, g: Graph) -> None:
    columns = 6
    scales = [0.002 * (k + 1) for k in range(columns)] if per_column else [0.004]
    _bytes(g, "x", (2, 5, 7), dtype, 0)
    _bytes(g, "w", (7, columns), np.int8, 1)
    g.single("sx", [0.02])
    g.single("sw", scales)
    g.single("sy", [0.11])
    g.constant("zx", np.array([3], dtype))
    g.constant("zw", np.arange(len(scales)).astype(np.int8))
    g.constant("zy", np.array([100], dtype))
    g.node("QLinearMatMul", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"], ["y"])
    g.output("y", dtype=_TYPES[dtype])


CASES = [
    Case("uint8", partial(_integer, (3, 9), (9, 5), (), (np.uint8, np.uint8))),
    Case("per_column", partial(_integer, (2, 3, 9), (9, 5), (5,), (np.uint8, np.int8))),
    Case("batched", partial(_integer, (2, 1, 3, 4), (2, 4, 8), (), (np.int8, np.uint8))),
    Case("qlinear", partial(_qlinear, np.uint8, False)),
    Case("qlinear_per_column", partial(_qlinear, np.int8, True)),
]
