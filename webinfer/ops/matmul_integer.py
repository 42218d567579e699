"""Products of 8-bit integers: MatMulInteger, QLinearMatMul, MatMulIntegerToFloat, DynamicQuantizeMatMul.

Sums are exact in 32 bits and wrap there. Zero points and scales are tensors that broadcast against the output, a vector
of x's counting its rows and one of w's its columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp, Step
from webinfer.lowering import LOWERINGS, Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.contraction import Axis, general, merged_axes
from webinfer.ops.conv_integer import requantize
from webinfer.ops.matmul import matmul_axes
from webinfer.ops.pointwise import broadcast_strides


@dataclass(frozen=True)
class _Further:
    """A binding next to x and w: a value that broadcasts against the output, seen as `shape`."""

    binding: str
    value: str
    shape: tuple[int, ...]


def _of_rows(ctx: Lowering, binding: str, name: str) -> _Further:
    shape = ctx.shape(name)
    return _Further(binding, name, (*shape, 1) if len(shape) == 1 else shape)


def _of_columns(ctx: Lowering, binding: str, name: str) -> _Further:
    return _Further(binding, name, ctx.shape(name))


def _zero_points(ctx: Lowering, x_zero: str, w_zero: str) -> list[_Further]:
    rows = [_of_rows(ctx, "x_zero", x_zero)] if x_zero else []
    return [*rows, *([_of_columns(ctx, "w_zero", w_zero)] if w_zero else [])]


def _product(ctx: Lowering, node: str, x: str, w: str, y: str, *, further: Sequence[_Further], result: str) -> None:
    """Emit y from `sum`, the exact product of x and w less their zero points (bindings x_zero and w_zero)."""
    output, depth = matmul_axes(ctx.shape(x), ctx.shape(w))
    shape = [a.size for a in output]
    extra = [(0,) * len(shape) if math.prod(f.shape) == 1 else broadcast_strides(f.shape, shape) for f in further]
    axes = [replace(a, extra=tuple(s[d] for s in extra)) for d, a in enumerate(output)]
    given = {f.binding for f in further}
    factors = []
    for name in ("x", "w"):
        zero = f" - i32(load_{name}_zero({name}_zero_at))" if f"{name}_zero" in given else ""
        factors.append(f"(i32(load_{name}({name})){zero})")
    general(
        ctx,
        node,
        [
            Operand("x", x, width=1),
            Operand("w", w, width=1),
            *(Operand(f.binding, f.value, width=1) for f in further),
        ],
        y,
        output=merged_axes(axes) if axes else [Axis(1, 0, 0, (0,) * len(further))],
        depth=[depth],
        term=" * ".join(factors),
        accumulator="i32",
        result=result,
    )


@lowers("MatMulInteger")
def lower_matmul_integer(op: FusedOp, ctx: Lowering) -> None:
    """(x - x zero point) (w - w zero point) in int32."""
    assert op.anchor is not None
    x, w, x_zero, w_zero = _padded(op.anchor, 4)
    _product(ctx, op.name, x, w, op.output, further=_zero_points(ctx, x_zero, w_zero), result="sum")


@lowers("QLinearMatMul")
def lower_qlinear_matmul(op: FusedOp, ctx: Lowering) -> None:
    """The sums of MatMulInteger, then one requantization per element."""
    assert op.anchor is not None
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = op.anchor.inputs
    shape = ctx.shape(op.output)
    if ctx.size(w_scale) not in (1, shape[-1]):
        raise Unsupported(f"w scale of shape {list(ctx.shape(w_scale))}: one per column or one in all")
    sums = ctx.scratch(f"{op.output}#sums", shape, "int32")
    _product(ctx, op.name, x, w, sums, further=_zero_points(ctx, x_zero, w_zero), result="sum")
    requantize(ctx, op.name, sums, op.output, (x_scale, w_scale, y_scale), y_zero, "", axis=len(shape) - 1)


@lowers("MatMulIntegerToFloat", domain="com.microsoft")
def lower_matmul_integer_to_float(op: FusedOp, ctx: Lowering) -> None:
    """The exact sums times x scale * w scale, plus a bias per column."""
    assert op.anchor is not None
    _to_float(op, ctx, *_padded(op.anchor, 7))


@lowers("DynamicQuantizeMatMul", domain="com.microsoft")
def lower_dynamic_quantize_matmul(op: FusedOp, ctx: Lowering) -> None:
    """Quantizes x as DynamicQuantizeLinear does, then MatMulIntegerToFloat."""
    assert op.anchor is not None
    x, w, w_scale, w_zero, bias = _padded(op.anchor, 5)
    quantized = ctx.scratch(f"{op.output}#quantized", ctx.shape(x), "uint8")
    scale = ctx.scratch(f"{op.output}#scale", (), "float32")
    zero = ctx.scratch(f"{op.output}#zero", (), "uint8")
    outputs = (quantized, scale, zero)
    quantize = Step("DynamicQuantizeLinear", (x,), outputs, {})
    LOWERINGS["", "DynamicQuantizeLinear"](FusedOp(op.name, "", None, quantize, (), outputs), ctx)
    _to_float(op, ctx, quantized, w, scale, w_scale, zero, w_zero, bias)


def _to_float(
    op: FusedOp, ctx: Lowering, x: str, w: str, x_scale: str, w_scale: str, x_zero: str, w_zero: str, bias: str
) -> None:
    scales = [_of_rows(ctx, "x_scale", x_scale), _of_columns(ctx, "w_scale", w_scale)]
    further = [*_zero_points(ctx, x_zero, w_zero), *scales]
    result = "f32(sum) * (load_x_scale(x_scale_at) * load_w_scale(w_scale_at))"
    if bias:
        further.append(_of_columns(ctx, "bias", bias))
        result += " + load_bias(bias_at)"
    _product(ctx, op.name, x, w, op.output, further=further, result=result)


def _padded(step: Step, count: int) -> tuple[str, ...]:
    """`count` inputs, "" for omitted ones."""
    return (*step.inputs, *("",) * count)[:count]


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


def _to_float_case(g: Graph) -> None:
    _bytes(g, "x", (2, 5, 7), np.uint8, 0)
    _bytes(g, "w", (7, 6), np.int8, 1)
    g.single("sx", [0.02])
    g.single("sw", [0.002 * (k + 1) for k in range(6)])
    g.single("b", range(6))
    inputs = ["x", "w", "sx", "sw", _bytes(g, "zx", (1,), np.uint8, 3), _bytes(g, "zw", (6,), np.int8, 5), "b"]
    g.node("MatMulIntegerToFloat", inputs, ["y"], domain="com.microsoft")
    g.output("y", shape=(2, 5, 6), dtype=TensorProto.FLOAT)


CASES = [
    Case("uint8", partial(_integer, (3, 9), (9, 5), (), (np.uint8, np.uint8))),
    Case("per_column", partial(_integer, (2, 3, 9), (9, 5), (5,), (np.uint8, np.int8))),
    Case("batched", partial(_integer, (2, 1, 3, 4), (2, 4, 8), (), (np.int8, np.uint8))),
    Case("qlinear", partial(_qlinear, np.uint8, False)),
    Case("qlinear_per_column", partial(_qlinear, np.int8, True)),
    Case("to_float", _to_float_case),
]
