"""LayerNormalization, RMSNormalization and com.microsoft's norms of a sum, over trailing axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish, strided_copy
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.pointwise import broadcast_strides
from webinfer.ops.rows import Pass, emit_rows, rows_of
from webinfer.symbols import maximum

# Mean first, then centred squares: sums of squares of values far from 0 would cancel.
_MEAN = Pass("sum", "x", then=("let mean = sum / f32(P.length);",))
_DEVIATION = "let deviation = inverseSqrt(square / f32(P.length) + P.epsilon);"
_CENTRED = [_MEAN, Pass("square", "(x - U(mean)) * (x - U(mean))", then=(_DEVIATION,))]
_UNCENTRED = [Pass("square", "x * x", then=(_DEVIATION,))]


@dataclass(frozen=True)
class Norm:
    """Names of a norm's operands and outputs, "" where omitted; centred: the mean is subtracted."""

    x: str
    scale: str
    output: str
    bias: str = ""
    skip: str = ""  # added to x first, as `row` is, whose shape is the last axis
    row: str = ""
    total: str = ""  # output: x + skip + row
    mean: str = ""
    deviation: str = ""  # output: 1 / the standard deviation
    centred: bool = True


def _named(names: Sequence[str], index: int) -> str:
    return names[index] if index < len(names) else ""


@lowers("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def lower_layer_norm(op: FusedOp, ctx: Lowering) -> None:
    """X [..., N]: rows of the axes from `axis` on. Outputs: Y, the rows' means, the inverses of their deviations."""
    step = op.anchor
    assert step is not None
    x, scale = step.inputs[:2]
    if step.op_type == "LayerNormalization":
        mean, deviation = _named(op.outputs, 1), _named(op.outputs, 2)
        norm = Norm(x, scale, op.outputs[0], _named(step.inputs, 2), mean=mean, deviation=deviation)
    else:
        norm = Norm(x, scale, op.outputs[0], deviation=_named(op.outputs, 1), centred=False)
    _normalize(op, ctx, norm, step.int("axis", -1), step.float("epsilon", 1e-5))


lowers("SimplifiedLayerNormalization", domain="com.microsoft")(lower_layer_norm)


@lowers("SkipLayerNormalization", "SkipSimplifiedLayerNormalization", domain="com.microsoft")
def lower_skip_layer_norm(op: FusedOp, ctx: Lowering) -> None:
    """Norm of input + skip + bias over the last axis; skip is as large as the input or lacks its batch."""
    step = op.anchor
    assert step is not None
    centred = step.op_type == "SkipLayerNormalization"
    x, skip, scale = step.inputs[:3]
    norm = Norm(
        x,
        scale,
        op.outputs[0],
        bias=_named(step.inputs, 3) if centred else "",
        skip=skip,
        row=_named(step.inputs, 4 if centred else 3),
        mean=_named(op.outputs, 1) if centred else "",
        deviation=_named(op.outputs, 2),
        total=_named(op.outputs, 3),
        centred=centred,
    )
    _normalize(op, ctx, norm, -1, step.float("epsilon", 1e-12))


def _normalize(op: FusedOp, ctx: Lowering, norm: Norm, axis: int, epsilon: float) -> None:
    step = op.anchor
    assert step is not None
    shape = ctx.shape(norm.x)
    axis %= len(shape)
    rows = rows_of(shape, range(axis, len(shape)), vector=shape[-1] % 4 == 0)
    width = rows.width
    outputs = {name: value for name, value in (("out", norm.output), ("total", norm.total)) if value}
    written = {name: v if width == 4 else aligned_output(ctx, v) for name, v in outputs.items()}
    tail = render_epilogue(ctx, op.epilogue, step, norm.output, width)
    operands = [Operand("x", norm.x, width=width)]
    params: dict[str, int | float] = {"length": maximum(rows.length, 1), "epsilon": epsilon}
    x = "load_x(at)"
    if norm.skip:
        operands.append(Operand("skip", norm.skip, width=width))
        params["skip_size"] = ctx.size(norm.skip) // width
        x += " + load_skip(at % P.skip_size)"
    if norm.row:
        operands.append(Operand("row_bias", norm.row, width=width))
        x += " + load_row_bias(i)"
    statistics = {"mean": (norm.mean, "mean"), "inverse": (norm.deviation, "deviation")}
    results = {name: text for name, (value, text) in statistics.items() if value}
    targets = {name: aligned_output(ctx, statistics[name][0]) for name in results}
    stores = [Operand(name, target, "read_write", width=1) for name, target in targets.items()]
    passes = _CENTRED if norm.centred else _UNCENTRED
    if norm.total and results:
        # All outputs in one dispatch would need more bindings than every device has.
        emit_rows(ctx, op.name, rows, [*operands, *stores], passes, x=x, results=results, params=params, flops=4)
        stores, results = [], {}
    value = f"{'(x - U(mean))' if norm.centred else 'x'} * deviation"
    for name, operation, factor in (("scale", "*", norm.scale), ("bias", "+", norm.bias)):
        if factor:
            spread, index = _spread(op, ctx, factor, shape, axis)
            operands.append(Operand(name, spread, width=width))
            value += f" {operation} load_{name}({index})"
    if op.epilogue:
        params["last"] = shape[-1] // width
        value = f"epilogue({value}, at, {'i' if axis == len(shape) - 1 else 'i % P.last'})"
    emit_rows(
        ctx,
        op.name,
        rows,
        [*operands, *stores, *(Operand(name, w, "read_write", width=width) for name, w in written.items())],
        passes,
        x=x,
        results=results,
        elements={"out": value, **({"total": "x"} if norm.total else {})},
        params=params,
        epilogue=tail,
        flops=7,
    )
    for name, target in written.items():
        finish(ctx, op.name, target, outputs[name])
    for name, target in targets.items():
        finish(ctx, op.name, target, statistics[name][0])


def _spread(op: FusedOp, ctx: Lowering, name: str, shape: Sequence[int], axis: int) -> tuple[str, str]:
    """`name`, which broadcasts to `shape`, as large as a row or as the tensor, and the index that reads it there."""
    own = ctx.shape(name)
    outer = len(shape) - len(own)
    row = shape[axis:]
    if own == tuple(row):
        return name, "i"
    whole = any(n != 1 for n in own[: max(axis - outer, 0)])
    sizes = shape if whole else row
    squeezed = own[len(own) - len(sizes) :] if len(own) > len(sizes) else own
    strides = broadcast_strides(squeezed, sizes)
    spread = ctx.scratch(f"{op.name}#{name}", sizes, ctx.dtype(name))
    strided_copy(ctx, op.name, name, spread, sizes, strides)
    return spread, "at" if whole else "i"


def _layer(shape: Sequence[int], axis: int, g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", shape[axis:])
    g.constant("bias", shape[axis:])
    g.node("LayerNormalization", ["x", "scale", "bias"], ["y"], axis=axis)
    g.output("y")


def _no_bias(op_type: str, shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", shape[-1:])
    g.node(op_type, ["x", "scale"], ["y"], axis=-1, epsilon=1e-6)
    g.output("y", shape=shape)


def _fused(shape: Sequence[int], centred: bool, g: Graph) -> None:
    g.input("x", shape)
    names = ["x", g.constant("scale", shape[-1:]), *([g.constant("bias", shape[-1:])] if centred else [])]
    g.constant("row", shape[-1:])
    g.input("residual", shape)
    first = g.position
    g.node("LayerNormalization" if centred else "RMSNormalization", names, ["n"], axis=-1)
    g.node("Mul", ["n", "row"], ["m"])
    g.node("Add", ["m", "residual"], ["y"])
    g.fused("Norm", [*names, "row", "residual"], ["y"], first)
    g.output("y")


def _far(g: Graph) -> None:
    g.input("x", (3, 64), offset=795.0)
    g.constant("scale", (64,))
    g.node("LayerNormalization", ["x", "scale"], ["y"])
    g.output("y")


def _far_in_double(g: Graph) -> None:
    g.input("x", (3, 64), offset=795.0)
    g.constant("scale", (64,))
    g.constant("epsilon", np.array(1e-5))
    for name in ("x", "scale", "epsilon"):
        g.node("Cast", [name], [f"{name}_d"], to=onnx.TensorProto.DOUBLE)
    g.ints("axes", (1,))
    g.node("ReduceMean", ["x_d", "axes"], ["mean"])
    g.node("Sub", ["x_d", "mean"], ["centred"])
    g.node("Mul", ["centred", "centred"], ["square"])
    g.node("ReduceMean", ["square", "axes"], ["variance"])
    g.node("Add", ["variance", "epsilon_d"], ["v"])
    g.node("Sqrt", ["v"], ["deviation"])
    g.node("Div", ["centred", "deviation"], ["n"])
    g.node("Mul", ["n", "scale_d"], ["m"])
    g.node("Cast", ["m"], ["y"], to=onnx.TensorProto.FLOAT)
    g.output("y")


def _broadcast(op_type: str, shape: Sequence[int], scale: Sequence[int], axis: int, g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", scale)
    g.node(op_type, ["x", "scale"], ["y"], axis=axis)
    g.output("y", shape=shape)


def _statistics(shape: Sequence[int], axis: int, g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", shape[axis:])
    g.node("LayerNormalization", ["x", "scale"], ["y", "mean", "deviation"], axis=axis)
    g.output("y")
    g.output("mean", "deviation", dtype=onnx.TensorProto.FLOAT)


def _skip(op_type: str, shape: Sequence[int], skip: Sequence[int], row: bool, total: bool, g: Graph) -> None:
    g.input("x", shape)
    g.input("skip", skip)
    names = ["x", "skip", g.constant("scale", shape[-1:])]
    if op_type == "SkipLayerNormalization":
        names.append(g.constant("bias", shape[-1:]))
    if row:
        names.append(g.constant("row", shape[-1:]))
    g.node(op_type, names, ["y", "", "", "total"] if total else ["y"], domain="com.microsoft", epsilon=1e-5)
    g.output("y", *(["total"] if total else []), shape=shape)


CASES = [
    *(Case(f"layer_w{w}", partial(_layer, (2, 3, w), -1)) for w in (2, 5, 8, 11)),
    *(Case(f"layer_axes_w{w}", partial(_layer, (5, 3, w), 1)) for w in (4, 7)),
    Case("layer_long", partial(_layer, (3, 1028), -1)),
    Case("layer_many_rows", partial(_layer, (257, 12), -1)),
    *(Case(f"fused_w{w}", partial(_fused, (2, 5, w), True)) for w in (5, 8, 384)),
    Case("fused_rms", partial(_fused, (2, 5, 8), False)),
    *(Case(f"rms_w{w}", partial(_no_bias, "RMSNormalization", (7, w))) for w in (3, 576)),
    *(
        Case(f"scale_{'x'.join(map(str, scale))}", partial(_broadcast, "LayerNormalization", (2, 3, 4), scale, -1))
        for scale in ((1, 1, 4), (3, 4), (2, 1, 4))
    ),
    Case("rms_scale_of_one", partial(_broadcast, "RMSNormalization", (2, 3, 5), (1,), 1)),
    Case("statistics", partial(_statistics, (3, 4, 5), -1)),
    Case("statistics_axis1", partial(_statistics, (3, 4, 8), 1)),
    *(
        Case(f"{op}_{name}", partial(_skip, op, shape, skip, row, total))
        for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
        for name, shape, skip, row, total in (
            ("plain", (2, 3, 8), (2, 3, 8), False, False),
            ("all", (2, 3, 5), (2, 3, 5), True, True),
            ("one_batch", (2, 3, 8), (1, 3, 8), False, True),
        )
    ),
    *(Case(f"simplified_w{w}", partial(_no_bias, "SimplifiedLayerNormalization", (7, w))) for w in (3, 8)),
    Case(
        "layer_far_from_zero",
        _far,
        fp32=2e-4,
        reference=_far_in_double,
        reason="the mean of values near 795 in 32-bit sums is off by a few of their last places (6e-5 each)",
    ),
]
