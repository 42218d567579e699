"""Conv: 3x3 and 1x1 register-tiled, workgroup-tiled implicit GEMM, and general forms for everything else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from webinfer.fused import FusedOp
from webinfer.lowering import MAX_WORKGROUPS, Lowering, Operand, Unsupported, ceil_div, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.channel_product import ChannelProduct, emit_pointwise, emit_tiled
from webinfer.ops.elements import emit_elements
from webinfer.ops.epilogue import Epilogue, render_epilogue
from webinfer.ops.pack import pack_rows
from webinfer.ops.window import Geometry, geometry, window_params
from webinfer.ops.winograd import emit_winograd, winograd_pays
from webinfer.symbols import largest

_WORKGROUP = 64
ADVICE = {
    "conv_flat": "one result per invocation: planes (and channels per group) that are multiples of 4 run tiled",
    "conv_general": "no tiled form: ungrouped 3x3 with stride 1 and padding 1, or 1x1 with stride 1, run tiled",
}


@lowers("Conv")
def lower_conv(op: FusedOp, ctx: Lowering) -> None:
    """Pick the kernel by geometry and tier."""
    assert op.anchor is not None
    weight = op.anchor.inputs[1]
    g = geometry(ctx, op, x=op.sources()[0], weight=weight)
    pointwise = g.taps == 1 and set(g.stride) == {1} and not any(g.pad) and g.out == g.size and g.groups == 1
    same3x3 = (g.kernel, g.stride, g.dilation, g.pad) == ((3, 3), (1, 1), (1, 1), (1, 1)) and g.out == g.size
    if len(op.sources()) > 1 and not pointwise:
        raise Unsupported("a joined input needs a 1x1 convolution")
    if op.enlarged and not (same3x3 and g.groups == 1 and g.size[1] % 8 == 0):
        raise Unsupported("an enlarged input needs a 3x3 convolution, stride 1, padding 1, width a multiple of 8")
    aligned = g.plane % 4 == 0 and (g.groups == 1 or (g.channels // g.groups) % 4 == 0)
    if not aligned or any(largest(n) > MAX_WORKGROUPS for n in (g.batch, g.channels, g.plane // 256)):
        _flat(op, ctx, g)
    elif same3x3 and winograd_pays(g) and ctx.is_weight(weight):
        emit_winograd(op, ctx, g, _epilogue(op, ctx, 4))
    elif ctx.tier.tiling == "workgroup" and g.groups == 1 and g.channels >= 16 and (pointwise or len(g.size) == 2):
        _workgroup(op, ctx, g, pointwise)
    elif pointwise:
        _pointwise(op, ctx, g)
    elif same3x3 and g.groups == 1 and g.size[1] % 4 == 0:
        _register(op, ctx, g)
    else:
        _general(op, ctx, g)


def _epilogue(op: FusedOp, ctx: Lowering, lanes: Literal[1, 4]) -> Epilogue:
    assert op.anchor is not None
    bias = op.anchor.inputs[2] if len(op.anchor.inputs) > 2 and op.anchor.inputs[2] else None
    return render_epilogue(ctx, op.epilogue, op.anchor, op.output, lanes, bias=bias)


def _packed(op: FusedOp, ctx: Lowering, g: Geometry) -> str:
    assert op.anchor is not None
    deep = g.depth * g.taps
    return pack_rows(ctx, op.anchor.inputs[1], op.name, rows=g.channels, depth=deep, row_stride=deep, depth_stride=1)


def _flops(ctx: Lowering, op: FusedOp, g: Geometry, epilogue: Epilogue) -> int:
    return g.flops + epilogue.flops * ctx.size(op.output)


def _register(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    # Rows per invocation amortise loads of neighbouring rows; 8 would be faster by a sixth, but compile for seconds.
    rows = 4
    # Enlarging costs code of its own: 4 channels keep the compile time down.
    channels = next(c for c in ((4, 1) if op.enlarged else (8, 4, 1)) if g.channels % c == 0)
    epilogue = _epilogue(op, ctx, 4)
    if channels == 1:
        assert op.anchor is not None
        weight = Operand("w", op.anchor.inputs[1], width=1)
    else:
        weight = Operand("w", _packed(op, ctx, g))
    invocations = ceil_div(g.size[0], rows) * (g.size[1] // 4)
    workgroup = 64 if largest(invocations) >= 64 * 8 else 16
    ctx.emit(
        "conv_register",
        node=op.name,
        operands=[Operand("x", op.sources()[0]), weight, *epilogue.operands, Operand("y", op.output, "read_write")],
        params={"depth": g.depth, "channels": g.channels, "height": g.size[0], "width4": g.size[1] // 4},
        workgroups=(ceil_div(invocations, workgroup), g.channels // channels, g.batch),
        workgroup_size=(workgroup, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
        scalars=epilogue.scalars,
        upsample=op.enlarged,
        rows=rows,
        channels=channels,
        blocks=ceil_div(channels, 4),
        lane=[""] if channels == 1 else [".x", ".y", ".z", ".w"],
    )


def _pointwise(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    epilogue = _epilogue(op, ctx, 4)
    sources = op.sources()
    tail = [Operand("w", _packed(op, ctx, g)), *epilogue.operands, Operand("y", op.output, "read_write")]
    emit_pointwise(
        ctx,
        op.name,
        sources=sources,
        tail=tail,
        shape=ChannelProduct(g.batch, g.depth, g.channels, g.plane),
        w_batch=0,
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
    )


def _general(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    epilogue = _epilogue(op, ctx, 4)
    ctx.emit(
        "conv_general",
        node=op.name,
        operands=[
            Operand("x", op.sources()[0], width=1),
            Operand("w", _packed(op, ctx, g)),
            *epilogue.operands,
            Operand("y", op.output, "read_write"),
        ],
        params=window_params(g) | {"groups": g.groups},
        workgroups=(ceil_div(g.plane // 4, _WORKGROUP), ceil_div(g.channels, 4), g.batch),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
        scalars=epilogue.scalars,
        rank=len(g.size),
    )


def _flat(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    assert op.anchor is not None
    if len(op.sources()) > 1:
        raise Unsupported("a joined input needs planes that are a multiple of 4")
    emit_elements(
        ctx,
        "conv_flat",
        op.name,
        op.output,
        [Operand("x", op.sources()[0], width=1), Operand("w", op.anchor.inputs[1], width=1)],
        window_params(g) | {"groups": g.groups},
        flops=2 * g.depth * g.taps,
        epilogue=_epilogue(op, ctx, 1),
        rank=len(g.size),
        zero_x=False,
        zero_w=False,
    )


def _workgroup(op: FusedOp, ctx: Lowering, g: Geometry, pointwise: bool) -> None:
    epilogue = _epilogue(op, ctx, 4)
    emit_tiled(
        ctx,
        op.name,
        sources=op.sources(),
        tail=[Operand("w", _packed(op, ctx, g)), *epilogue.operands, Operand("y", op.output, "read_write")],
        shape=ChannelProduct(g.batch, g.depth, g.channels, g.plane) if pointwise else g,
        flops=_flops(ctx, op, g, epilogue),
        w_batch=0,
        epilogue=epilogue,
        upsample=op.enlarged,
    )


def _case(x: Sequence[int], w: Sequence[int], bias: bool, attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", x)
    g.constant("w", w, scale=0.2)
    inputs = ["x", "w"]
    if bias:
        inputs.append(g.constant("b", (w[0],)))
    g.node("Conv", inputs, ["y"], **attributes)
    g.output("y")


def _run_time_weight(channels: int, g: Graph) -> None:
    g.input("x", (1, 16, 8, 8))
    g.input("v", (channels, 16, 3, 3), scale=0.2)
    g.node("Neg", ["v"], ["w"])
    g.node("Conv", ["x", "w"], ["y"], **_SAME)
    g.output("y")


def _residual(size: tuple[int, int], kernel: int, g: Graph) -> None:
    g.input("x", (1, 6, *size))
    g.input("r", (1, 8, *size))
    g.constant("w", (8, 6, kernel, kernel), scale=0.2)
    g.constant("b", (8,))
    first = g.position
    g.node("Conv", ["x", "w", "b"], ["c"], pads=[kernel // 2] * 4)
    g.node("Add", ["r", "c"], ["s"])
    g.node("Relu", ["s"], ["y"])
    g.fused("ConvAddRelu", ["x", "w", "b", "r"], ["y"], first)
    g.output("y")


_SAME: dict[str, Any] = {"pads": [1, 1, 1, 1]}


def _enlarged(channels: tuple[int, int], size: tuple[int, int], g: Graph) -> None:
    g.input("x", (1, channels[0], *size))
    g.constant("w", (*reversed(channels), 3, 3), scale=0.2)
    g.constant("b", (channels[1],))
    g.single("s", (1.0, 1.0, 2.0, 2.0))
    first = g.position
    g.node(
        "Resize",
        ["x", "", "s"],
        ["r"],
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    g.node("Conv", ["r", "w", "b"], ["y"], **_SAME)
    g.fused("ResizeConv", ["x", "s", "w", "b"], ["y"], first)
    g.output("y")


def _joined(channels: tuple[int, int], g: Graph) -> None:
    a = g.input("a", (1, channels[0], 4, 6))
    b = g.input("b", (1, channels[1], 4, 6))
    g.constant("w", (20, sum(channels), 1, 1), scale=0.2)
    first = g.position
    g.node("Concat", [a, b], ["j"], axis=1)
    g.node("Conv", ["j", "w"], ["y"])
    g.fused("JoinConv", ["a", "b", "w"], ["y"], first)
    g.output("y")


# Tiers with f16 math sum runs of 8 products in f16: a few roundings of 2^-11 of sums that grow with the depth.
_product = partial(Case, fp16=5e-3, reason="f16 partial sums")
_winograd_product = partial(Case, fp32=1e-4, fp16=5e-3, reason="the transforms of F(4x4, 3x3) amplify rounding")
CASES = [
    *(_product(f"3x3_w{w}", partial(_case, (1, 5, 6, w), (6, 5, 3, 3), True, _SAME)) for w in range(1, 10)),
    *(
        _product(f"3x3_{c}to{k}_{h}x{w}", partial(_case, (1, c, h, w), (k, c, 3, 3), True, _SAME))
        for c, k, h, w in ((1, 32, 16, 16), (32, 1, 12, 8), (16, 16, 64, 64), (4, 33, 5, 8), (7, 17, 9, 4))
    ),
    *(
        _winograd_product(f"winograd_{c}to{k}_{h}x{w}", partial(_case, (1, c, h, w), (k, c, 3, 3), True, _SAME))
        for c, k, h, w in ((48, 48, 80, 96), (32, 32, 126, 128))
    ),
    *(
        _product(f"1x1_{c}to{k}_{h}x{w}", partial(_case, (1, c, h, w), (k, c, 1, 1), True, {}))
        for c, k, h, w in ((8, 8, 4, 4), (3, 5, 3, 3), (33, 36, 8, 10), (16, 64, 5, 7))
    ),
    _product("batch", partial(_case, (3, 4, 8, 8), (20, 4, 3, 3), True, _SAME)),
    _product("batch_1x1", partial(_case, (2, 6, 6, 6), (18, 6, 1, 1), False, {})),
    _product("no_bias", partial(_case, (1, 3, 8, 8), (16, 3, 3, 3), False, _SAME)),
    _product("patches", partial(_case, (1, 3, 28, 28), (24, 3, 14, 14), True, {"strides": [14, 14]})),
    _product("strided", partial(_case, (1, 4, 9, 9), (8, 4, 3, 3), True, {"strides": [2, 2], "pads": [1, 1, 1, 1]})),
    _product(
        "dilated", partial(_case, (1, 4, 10, 10), (8, 4, 3, 3), True, {"dilations": [2, 2], "pads": [2, 2, 2, 2]})
    ),
    _product("pads_differ", partial(_case, (1, 4, 8, 7), (8, 4, 3, 3), True, {"pads": [0, 1, 2, 0]})),
    _product("groups", partial(_case, (1, 8, 6, 6), (16, 4, 3, 3), True, {"group": 2, "pads": [1, 1, 1, 1]})),
    _product("groups_of_3", partial(_case, (1, 6, 6, 6), (6, 3, 3, 3), True, {"group": 2, "pads": [1, 1, 1, 1]})),
    _product("depthwise", partial(_case, (1, 5, 8, 8), (5, 1, 3, 3), True, {"group": 5, "pads": [1, 1, 1, 1]})),
    *(
        _product(
            f"{mode.lower()}_stride{s}",
            partial(_case, (1, 3, 7, 8), (4, 3, 3, 3), True, {"auto_pad": mode, "strides": [s, s]}),
        )
        for mode in ("SAME_UPPER", "SAME_LOWER", "VALID")
        for s in (1, 2)
    ),
    _product("volume", partial(_case, (1, 4, 3, 4, 5), (6, 4, 2, 3, 3), True, {"pads": [1, 1, 1, 0, 1, 1]})),
    _product("volume_1x1", partial(_case, (2, 16, 2, 2, 3), (18, 16, 1, 1, 1), True, {})),
    *(_product(f"run_time_weight_{c}", partial(_run_time_weight, c)) for c in (6, 32)),
    _product("one_dimension", partial(_case, (2, 4, 11), (6, 4, 3), True, {"pads": [1, 1], "strides": [2]})),
    _product("residual_3x3", partial(_residual, (8, 12), 3)),
    _product("residual_1x1", partial(_residual, (4, 4), 1)),
    _product("residual_odd", partial(_residual, (5, 3), 3)),
    *(
        _product(f"enlarged_{c}to{k}_{h}x{w}", partial(_enlarged, (c, k), (h, w)))
        for c, k, h, w in ((3, 8, 4, 4), (5, 7, 3, 12), (16, 16, 8, 8))
    ),
    _winograd_product("enlarged_winograd", partial(_enlarged, (32, 32), (64, 64))),
    _product("joined", partial(_joined, (12, 4))),
    _product("joined_odd", partial(_joined, (5, 7))),
]
