"""ConvInteger and QLinearConv: convolutions of 8-bit integers with exact 32-bit sums."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import emit_elements
from webinfer.ops.window import geometry, window_params


@lowers("ConvInteger")
def lower_conv_integer(op: FusedOp, ctx: Lowering) -> None:
    """Zero points are subtracted before the products."""
    assert op.anchor is not None
    x, w, *zeros = op.anchor.inputs
    zero_x, zero_w = (*zeros, "", "")[:2]
    _sums(op, ctx, x, w, zero_x, zero_w, op.output)


@lowers("QLinearConv")
def lower_qlinear_conv(op: FusedOp, ctx: Lowering) -> None:
    """The sums of ConvInteger, then one requantization per element."""
    assert op.anchor is not None
    x, x_scale, zero_x, w, w_scale, zero_w, y_scale, zero_y, *bias = op.anchor.inputs
    sums = ctx.scratch(f"{op.output}#sums", ctx.shape(op.output), "int32")
    _sums(op, ctx, x, w, zero_x, zero_w, sums)
    requantize(ctx, op.name, sums, op.output, (x_scale, w_scale, y_scale), zero_y, bias[0] if bias else "", axis=1)


def requantize(
    ctx: Lowering, node: str, sums: str, output: str, scales: tuple[str, str, str], zero: str, bias: str, *, axis: int
) -> None:
    """Emit saturate(round((sums + bias) x_scale w_scale / y_scale) + zero) (ONNX QLinearConv, QLinearMatMul).

    scales: x, w, y. The scale of w and the bias ("" for none) count along `axis` where they have several elements, the
    scale of x counts rows, which are as long as the last axis.
    """
    shape = ctx.shape(output)
    names = ("x_scale", "w_scale", "y_scale")
    operands = [Operand("x", sums, width=1), *(Operand(n, v, width=1) for n, v in zip(names, scales, strict=True))]
    operands.append(Operand("y_zero", zero, width=1))
    if bias:
        operands.append(Operand("bias", bias, width=1))
    info = np.iinfo(ctx.dtype(output))
    emit_elements(
        ctx,
        "requantize",
        node,
        output,
        operands,
        {
            "inner": math.prod(shape[axis + 1 :]),
            "channels": shape[axis],
            "columns": shape[-1],
            "rows": ctx.size(scales[0]),
        },
        flops=6,
        per_channel=ctx.size(scales[1]) > 1,
        bias=bool(bias),
        low=info.min,
        high=info.max,
    )


def _sums(op: FusedOp, ctx: Lowering, x: str, w: str, zero_x: str, zero_w: str, output: str) -> None:
    g = geometry(ctx, op, x=x, weight=w)
    zeros = {n: v for n, v in (("zero_x", zero_x), ("zero_w", zero_w)) if v}
    emit_elements(
        ctx,
        "conv_flat",
        op.name,
        output,
        [Operand("x", x, width=1), Operand("w", w, width=1), *(Operand(n, v, width=1) for n, v in zeros.items())],
        window_params(g) | {"groups": g.groups},
        flops=2 * g.depth * g.taps,
        rank=len(g.size),
        zero_x=bool(zero_x),
        zero_w=("channel" if ctx.size(zero_w) > 1 else "one") if zero_w else "",
    )


def _bytes(seed: int, shape: tuple[int, ...], dtype: type[np.integer]) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape).astype(dtype)


def _integer(g: Graph) -> None:
    g.input("x", _bytes(0, (2, 4, 5, 6), np.uint8))
    g.constant("w", _bytes(1, (6, 2, 3, 3), np.uint8))
    g.constant("zx", np.array(130, np.uint8))
    g.constant("zw", np.array(7, np.uint8))
    g.node("ConvInteger", ["x", "w", "zx", "zw"], ["y"], group=2, pads=(1, 1, 1, 1), strides=(2, 1))
    g.output("y", dtype=TensorProto.INT32)


def _qlinear(dtype: type[np.integer], per_channel: bool, g: Graph) -> None:
    channels = 4
    g.input("x", _bytes(0, (1, 3, 6, 7), dtype))
    g.constant("w", _bytes(1, (channels, 3, 3, 2), np.int8))
    g.single("sx", [0.02])
    g.single("sw", [0.001 * (k + 1) for k in range(channels)] if per_channel else [0.002])
    g.single("sy", [0.013])
    g.constant("zx", np.array([11], dtype))
    g.constant("zw", np.zeros(channels if per_channel else 1, np.int8))
    g.constant("zy", np.array([5], dtype))
    g.constant("b", np.array([100, -200, 30, 7000], np.int32))
    g.node("QLinearConv", ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"], ["y"], pads=(1, 0, 1, 1))
    g.output("y", dtype=TensorProto.UINT8 if dtype is np.uint8 else TensorProto.INT8)


CASES = [
    Case("conv_integer", _integer),
    Case("qlinear_uint8", partial(_qlinear, np.uint8, False)),
    Case("qlinear_int8_per_channel", partial(_qlinear, np.int8, True)),
]
