"""ConvTranspose over any number of axes, with a fused epilogue: each output gathers its taps, nothing is scattered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from webinfer.fused import FusedOp
from webinfer.lowering import MAX_WORKGROUPS, Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.elements import emit_elements
from webinfer.ops.epilogue import Epilogue, render_epilogue
from webinfer.ops.window import Geometry, lift, window_params
from webinfer.symbols import largest, maximum

WORKGROUP = 64
LARGEST_TILED_KERNEL = 8  # columns of a kernel whose taps are written out in the shader
ADVICE = {"conv_transpose_general": "no tiled form: images with stride 1, 2 or 4 and up to 8 columns of taps run tiled"}


@dataclass(frozen=True)
class Tap:
    """What one output column multiplies in one step: shader names of an input and a weight vector ("" for none)."""

    x: str
    w: str


def geometry(op: FusedOp, ctx: Lowering) -> Geometry:
    """Read the node: `depth` and `channels` count per group, `pad` is cut off the result's start."""
    step = op.anchor
    assert step is not None
    x, weight, out = ctx.shape(step.inputs[0]), ctx.shape(step.inputs[1]), ctx.shape(op.output)
    rank = len(x) - 2
    kernel = weight[2:]
    stride, dilation = step.ints("strides", (1,) * rank), step.ints("dilations", (1,) * rank)
    extra = step.ints("output_padding", (0,) * rank)
    mode = step.string("auto_pad", "NOTSET")
    pads = list(step.ints("pads", (0,) * 2 * rank)[:rank]) if mode == "NOTSET" else [0] * rank
    if mode in ("SAME_UPPER", "SAME_LOWER") or step.ints("output_shape"):
        # ONNX ConvTranspose: the total follows from the output's shape; UPPER puts the odd one last.
        for d in range(rank):
            total = (x[2 + d] - 1) * stride[d] + extra[d] + (kernel[d] - 1) * dilation[d] + 1 - out[2 + d]
            pads[d] = maximum(total, 0) // 2 if mode == "SAME_UPPER" else ceil_div(maximum(total, 0), 2)
    groups = step.int("group", 1)
    return Geometry(
        batch=x[0],
        depth=x[1] // groups,
        channels=weight[1],
        groups=groups,
        size=lift(x[2:], 1),
        out=lift(out[2:], 1),
        kernel=lift(kernel, 1),
        stride=lift(stride, 1),
        dilation=lift(dilation, 1),
        pad=lift(pads, 0),
    )


@lowers("ConvTranspose")
def lower_conv_transpose(op: FusedOp, ctx: Lowering) -> None:
    """Images with up to 8 columns of taps and a stride of 1, 2 or 4 in x are tiled; the rest goes output by output."""
    g = geometry(op, ctx)
    fits = largest(g.batch * g.groups * ceil_div(g.channels, 4)) <= MAX_WORKGROUPS and len(g.size) == 2
    if fits and 4 % g.stride[1] == 0 and g.dilation == (1, 1) and g.kernel[1] <= LARGEST_TILED_KERNEL:
        _tiled(op, ctx, g)
    else:
        _general(op, ctx, g)


def _flops(g: Geometry) -> int:
    """Every input element meets every tap."""
    return 2 * g.batch * g.groups * g.depth * g.channels * math.prod(g.size) * g.taps


def _epilogue(op: FusedOp, ctx: Lowering, lanes: Literal[1, 4]) -> Epilogue:
    step = op.anchor
    assert step is not None
    bias = step.inputs[2] if len(step.inputs) > 2 and step.inputs[2] else None
    return render_epilogue(ctx, op.epilogue, step, op.output, lanes, bias=bias)


def _tiled(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    assert op.anchor is not None
    vector = g.out[1] % 4 == 0
    written = op.output if vector else aligned_output(ctx, op.output)
    tail = _epilogue(op, ctx, 4 if vector else 1)
    vectors = 2 if g.out[1] % 8 == 0 and ctx.tier.tiling == "register" else 1
    offsets, taps = column_taps(g.kernel[1], g.stride[1], g.pad[1], 4 * vectors)
    blocks_per_group = ceil_div(g.channels, 4)
    blocks = g.groups * blocks_per_group
    tiles = ceil_div(g.out[1], 4 * vectors)
    ctx.emit(
        "conv_transpose",
        node=op.name,
        operands=[
            Operand("x", op.anchor.inputs[0], width=1),
            Operand("w", _packed_weight(op, ctx, g)),
            *tail.operands,
            Operand("out", written, "read_write", width=4 if vector else 1),
        ],
        workgroups=(ceil_div(ceil_div(g.out[0], g.stride[0]) * tiles, WORKGROUP), g.stride[0], g.batch * blocks),
        workgroup_size=(WORKGROUP, 1, 1),
        params={
            "tiles": tiles,
            "out_height": g.out[0],
            "out_width": g.out[1],
            "blocks": blocks,
            "blocks_per_group": blocks_per_group,
            "groups": g.groups,
            "depth": g.depth,
            "channels": g.channels,
            "plane": g.size[0] * g.size[1],
            "height": g.size[0],
            "width": g.size[1],
            "pad_y": g.pad[0],
            "kernel_y": g.kernel[0],
        },
        flops=_flops(g) + tail.flops * ctx.size(op.output),
        epilogue=tail.code,
        scalars=tail.scalars,
        vectors=vectors,
        vector=vector,
        stride_x=g.stride[1],
        stride_y=g.stride[0],
        kernel_x=g.kernel[1],
        offsets=offsets,
        taps=taps,
    )
    finish(ctx, op.name, written, op.output)


def column_taps(kernel: int, stride: int, pad: int, columns: int) -> tuple[list[int], list[list[Tap]]]:
    """Input columns (relative to columns / stride of the first output) and, per step, the tap of each output column.

    Output column l reads kernel columns (l + pad) mod stride + stride * m at input column (l + pad - kx) / stride.
    """
    reads: list[list[tuple[int, int] | None]] = []
    for m in range(ceil_div(kernel, stride)):
        reads.append([])
        for column in range(columns):
            phase = (column + pad) % stride
            kx = phase + stride * m
            reads[-1].append((kx, (column + pad - phase) // stride - m) if kx < kernel else None)
    offsets = sorted({r[1] for step in reads for r in step if r is not None})
    taps = [[Tap(f"x{offsets.index(r[1])}", f"w{r[0]}") if r else Tap("0.0", "") for r in step] for step in reads]
    return offsets, taps


def _packed_weight(op: FusedOp, ctx: Lowering, g: Geometry) -> str:
    assert op.anchor is not None
    weight = op.anchor.inputs[1]
    taps = g.kernel[0] * g.kernel[1]
    count = g.groups * ceil_div(g.channels, 4) * taps * g.depth
    name, new = ctx.packed(f"{weight}/transposed{g.groups}", (count * 4,), ctx.dtype(weight), of=weight)
    if new:
        ctx.emit(
            "conv_transpose_pack",
            node=op.name,
            operands=[Operand("w", weight, width=1), Operand("out", name, "read_write")],
            workgroups=grid(ceil_div(count, WORKGROUP)),
            workgroup_size=(WORKGROUP, 1, 1),
            params={
                "count": count,
                "depth": g.depth,
                "taps": taps,
                "channels": g.channels,
                "blocks_per_group": ceil_div(g.channels, 4),
            },
            prepare=ctx.is_weight(weight),
        )
    return name


def _general(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    assert op.anchor is not None
    emit_elements(
        ctx,
        "conv_transpose_general",
        op.name,
        op.output,
        [Operand("x", op.anchor.inputs[0], width=1), Operand("w", op.anchor.inputs[1], width=1)],
        window_params(g) | {"groups": g.groups},
        flops=2 * g.depth * g.taps // math.prod(g.stride),
        epilogue=_epilogue(op, ctx, 1),
        rank=len(g.size),
    )


def _case(x: Sequence[int], weight: Sequence[int], attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", x)
    g.constant("w", weight, scale=(weight[0] * 4) ** -0.5)
    g.constant("b", (weight[1] * int(str(attributes.get("group", 1))),))
    g.node("ConvTranspose", ["x", "w", "b"], ["y"], **attributes)
    g.output("y")


def _fused(x: Sequence[int], weight: Sequence[int], g: Graph) -> None:
    g.input("x", x)
    g.constant("w", weight, scale=(weight[0] * 4) ** -0.5)
    g.constant("s", (1, weight[1], 1, 1))
    first = g.position
    g.node("ConvTranspose", ["x", "w"], ["c"], strides=(2, 2), pads=(1, 1, 1, 1))
    g.node("Mul", ["c", "s"], ["m"])
    g.node("Relu", ["m"], ["y"])
    g.fused("Up", ["x", "w", "s"], ["y"], first)
    g.output("y")


_CASES: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 8, 4, 4), (8, 8, 4, 4), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    ((2, 5, 3, 7), (5, 6, 3, 3), {"strides": (2, 2), "pads": (1, 1, 1, 1), "output_padding": (1, 1)}),
    ((1, 4, 5, 5), (4, 3, 2, 2), {"strides": (2, 2)}),
    ((1, 4, 4, 6), (4, 4, 3, 3), {"strides": (1, 1), "pads": (1, 0, 1, 2)}),
    ((1, 6, 4, 4), (6, 2, 3, 5), {"strides": (3, 4), "group": 2}),
    ((1, 4, 5, 6), (4, 5, 3, 3), {"strides": (3, 3), "pads": (1, 1, 1, 1)}),
    ((1, 4, 5, 6), (4, 3, 3, 3), {"dilations": (2, 2), "strides": (2, 2), "pads": (2, 2, 2, 2), "group": 2}),
    ((2, 3, 7), (3, 4, 3), {"strides": (2,), "output_padding": (1,), "pads": (1, 1)}),
    ((2, 3, 8), (3, 4, 5), {"strides": (3,), "output_padding": (2,), "dilations": (2,)}),
    ((1, 2, 4, 4), (2, 3, 3, 3), {"strides": (2, 2), "auto_pad": "SAME_UPPER"}),
    ((1, 2, 4, 4), (2, 3, 3, 3), {"strides": (2, 2), "auto_pad": "SAME_LOWER"}),
    ((1, 2, 4, 4), (2, 3, 2, 2), {"strides": (3, 3)}),
    ((1, 3, 3, 3), (3, 2, 9, 9), {"strides": (2, 2), "pads": (4, 4, 4, 4)}),
    ((1, 3, 3, 3), (3, 2, 1, 1), {"strides": (4, 4)}),
]

CASES = [
    Case(
        "volume", partial(_case, (1, 2, 3, 4, 3), (2, 3, 3, 2, 2), {"strides": (2, 1, 3), "pads": (1, 0, 1, 0, 1, 0)})
    ),
    *(Case(f"case{k}_{'x'.join(map(str, w))}", partial(_case, x, w, a)) for k, (x, w, a) in enumerate(_CASES)),
    *(
        Case(
            f"width{w}",
            partial(_case, (1, 4, 3, w), (4, 4, 4, 4), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
        )
        for w in range(1, 10)
    ),
    Case("fused", partial(_fused, (2, 8, 4, 6), (8, 6, 4, 4))),
    Case("fused_odd", partial(_fused, (1, 8, 3, 5), (8, 6, 3, 3))),
]
