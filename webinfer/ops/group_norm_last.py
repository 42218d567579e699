"""com.microsoft's GroupNorm and SkipGroupNorm: channels last or first, SiLU in the kernel, a residual added first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.rows import Pass, emit_rows, rows_of
from webinfer.symbols import maximum

_MEAN = Pass("sum", "x", then=("let mean = sum / f32(P.length);",))
_DEVIATION = Pass(
    "square",
    "(x - U(mean)) * (x - U(mean))",
    then=("let deviation = inverseSqrt(square / f32(P.length) + P.epsilon);",),
)
# exp's argument is kept where its result is finite.
_SILU = "fn silu(x: {0}) -> {0} {{ return x / (1.0f + exp(clamp(-x, {0}(-87.0f), {0}(60.0f)))); }}"


@lowers("GroupNorm", "SkipGroupNorm", domain="com.microsoft")
def lower_group_norm_last(op: FusedOp, ctx: Lowering) -> None:
    """X [N, ..., C] or, with channels_last=0, [N, C, ...]; gamma, beta and the bias of the residual [C]."""
    step = op.anchor
    assert step is not None
    x, gamma, beta = step.inputs[:3]
    shape, groups = ctx.shape(x), step.int("groups", 1)
    last = step.int("channels_last", 1) == 1
    channels = shape[-1] if last else shape[1]
    if channels % groups:
        raise Unsupported(f"{channels} channels do not divide into {groups} groups")
    each, plane = channels // groups, math.prod(shape[1:]) // max(channels, 1)
    if last:
        rows = rows_of((shape[0], plane, groups, each), (1, 3), vector=each % 4 == 0)
    else:
        rows = rows_of((shape[0], groups, each * plane), (2,), vector=plane % 4 == 0)
    width = rows.width
    # Factors of neighbouring elements lie side by side where channels are last.
    lanes = width if last else 1
    params: dict[str, int | float] = {"length": maximum(rows.length, 1), "epsilon": step.float("epsilon", 1e-5)}
    params |= {"groups": groups, "each": each // lanes, "plane": 1 if last else plane // width}
    inner = "i % P.each" if last else "i / P.plane"
    channel = f"row % P.groups * P.each + {inner}"
    operands = [Operand("x", x, width=width)]
    source, outputs, elements = "load_x(at)", {"out": op.outputs[0]}, {}
    if step.op_type == "SkipGroupNorm":
        skip = step.inputs[3]
        whole = ctx.size(skip) == math.prod(shape)
        operands.append(Operand("skip", skip, width=width if whole else lanes))
        source += " + " + (
            "load_skip(at)" if whole else f"U(load_skip(row / P.groups * (P.groups * P.each) + {channel}))"
        )
        if len(step.inputs) > 4 and step.inputs[4]:
            operands.append(Operand("skip_bias", step.inputs[4], width=lanes))
            source += f" + U(load_skip_bias({channel}))"
        if len(op.outputs) > 1 and op.outputs[1]:
            outputs["total"], elements["total"] = op.outputs[1], "x"
    value = f"(x - U(mean)) * deviation * U(load_gamma({channel})) + U(load_beta({channel}))"
    if step.int("activation", 0) == 1:
        value = f"silu({value})"
    written = {name: v if width == 4 else aligned_output(ctx, v) for name, v in outputs.items()}
    emit_rows(
        ctx,
        op.name,
        rows,
        [
            *operands,
            Operand("gamma", gamma, width=lanes),
            Operand("beta", beta, width=lanes),
            *(Operand(name, v, "read_write", width=width) for name, v in written.items()),
        ],
        [_MEAN, _DEVIATION],
        x=source,
        elements={"out": value, **elements},
        params=params,
        libraries=[_SILU.format("vec4<f32>" if width == 4 else "f32")],
        flops=12,
    )
    for name, v in written.items():
        finish(ctx, op.name, v, outputs[name])


def _group(shape: Sequence[int], groups: int, skip: Sequence[int] | None, g: Graph) -> None:
    """Channels last, with SiLU; a residual with a bias, and their sum as an output."""
    names = _inputs(shape, skip, g)
    op_type, outputs = ("SkipGroupNorm", ["y", "total"]) if skip else ("GroupNorm", ["y"])
    attributes = {"groups": groups, "activation": 1, "channels_last": 1, "epsilon": 1e-5}
    g.node(op_type, names, outputs, domain="com.microsoft", **attributes)
    g.output(*outputs, shape=shape)


def _inputs(shape: Sequence[int], skip: Sequence[int] | None, g: Graph) -> list[str]:
    names = [g.input("x", shape), g.constant("gamma", shape[-1:]), g.constant("beta", shape[-1:])]
    return [*names, g.input("skip", skip), g.constant("bias", shape[-1:])] if skip else names


def _group_by_transposes(shape: Sequence[int], groups: int, skip: Sequence[int] | None, g: Graph) -> None:
    """The definition in operators that ONNX Runtime has on the CPU."""
    x = _inputs(shape, skip, g)[0]
    if skip:
        x = g.node("Add", [g.node("Add", ["x", "skip"], ["s"]), "bias"], ["total"])
        g.output("total", shape=shape)
    g.node("Transpose", [x], ["first"], perm=(0, 3, 1, 2))
    g.node("GroupNormalization", ["first", "gamma", "beta"], ["n"], num_groups=groups)
    g.node("Mul", ["n", g.node("Sigmoid", ["n"], ["gate"])], ["m"])
    g.node("Transpose", ["m"], ["y"], perm=(0, 2, 3, 1))
    g.output("y", shape=shape)


CASES = [
    Case(
        name,
        partial(_group, shape, groups, skip),
        reference=partial(_group_by_transposes, shape, groups, skip),
    )
    for name, shape, groups, skip in (
        ("vector", (2, 3, 5, 16), 4, None),
        ("single", (2, 4, 4, 6), 2, None),
        ("skip", (2, 3, 4, 8), 2, (2, 3, 4, 8)),
        ("skip_per_image", (2, 3, 4, 6), 2, (2, 1, 1, 6)),
    )
]
