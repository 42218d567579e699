"""Conv: 3x3 and 1x1 register-tiled, workgroup-tiled implicit GEMM, and general forms for everything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.epilogue import Epilogue, render_epilogue
from webinfer.ops.pack import pack_rows

_WORKGROUP = 64


@dataclass(frozen=True)
class Geometry:
    """A 2-D convolution (1-D ones are lifted: height 1). All sizes in elements."""

    batch: int
    depth: int  # input channels per group
    channels: int
    groups: int
    size: tuple[int, int]
    out: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad: tuple[int, int]  # top, left

    @property
    def plane(self) -> int:
        """Elements of one output channel."""
        return self.out[0] * self.out[1]

    @property
    def taps(self) -> int:
        """Kernel elements per input channel."""
        return self.kernel[0] * self.kernel[1]

    @property
    def flops(self) -> int:
        """Multiply and add counted apart."""
        return 2 * self.batch * self.channels * self.plane * self.depth * self.taps


def pads_begin(step: Step, size: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[int, ...]:
    """Begin pads per spatial axis from `pads` or auto_pad (ONNX Conv: the odd pad goes last for UPPER, first for LOWER)."""
    rank = len(size)
    mode = step.string("auto_pad", "NOTSET")
    if mode == "NOTSET":
        return step.ints("pads", (0,) * 2 * rank)[:rank]
    if mode == "VALID":
        return (0,) * rank
    strides, dilations = step.ints("strides", (1,) * rank), step.ints("dilations", (1,) * rank)
    begins = []
    for n, k, s, d in zip(size, kernel, strides, dilations, strict=True):
        total = max((ceil_div(n, s) - 1) * s + d * (k - 1) + 1 - n, 0)
        begins.append(total // 2 if mode == "SAME_UPPER" else ceil_div(total, 2))
    return tuple(begins)


def geometry(ctx: Lowering, op: FusedOp) -> Geometry:
    """Read a Conv's geometry. Raises Unsupported for 3-D convolutions."""
    assert op.anchor is not None
    sources = op.sources()
    x = ctx.shape(sources[0])
    weight = ctx.shape(op.anchor.inputs[1])
    rank = len(x) - 2
    if rank > 2:
        raise Unsupported(f"{rank}-D convolution: split the depth axis into 2-D convolutions")
    kernel = weight[2:]
    stride, dilation = op.anchor.ints("strides", (1,) * rank), op.anchor.ints("dilations", (1,) * rank)
    pad = pads_begin(op.anchor, x[2:], kernel)
    out = ctx.shape(op.output)

    def lift(values: tuple[int, ...], neutral: int) -> tuple[int, int]:
        full = (neutral,) * (2 - rank) + tuple(values)
        return full[0], full[1]

    return Geometry(
        batch=x[0], depth=weight[1], channels=weight[0], groups=op.anchor.int("group", 1),
        size=lift(x[2:], 1), out=lift(out[2:], 1), kernel=lift(kernel, 1), stride=lift(stride, 1),
        dilation=lift(dilation, 1), pad=lift(pad, 0),
    )


@lowers("Conv")
def lower_conv(op: FusedOp, ctx: Lowering) -> None:
    """Pick the kernel by geometry and tier."""
    assert op.anchor is not None
    g = geometry(ctx, op)
    pointwise = g.taps == 1 and g.stride == (1, 1) and g.pad == (0, 0) and g.out == g.size and g.groups == 1
    same3x3 = (g.kernel, g.stride, g.dilation, g.pad) == ((3, 3), (1, 1), (1, 1), (1, 1)) and g.out == g.size
    if len(op.sources()) > 1 and not pointwise:
        raise Unsupported("a joined input needs a 1x1 convolution")
    aligned = g.plane % 4 == 0 and (g.groups == 1 or (g.channels // g.groups) % 4 == 0)
    if not aligned:
        _flat(op, ctx, g)
    elif ctx.tier.tiling == "workgroup" and g.groups == 1 and g.channels >= 16:
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
    # Rows per invocation amortise the loads of neighbouring rows; small images need the invocations instead.
    rows = 8 if g.plane >= 4096 else 4
    channels = 1 if g.channels == 1 else 4
    epilogue = _epilogue(op, ctx, 4)
    if channels == 1:
        assert op.anchor is not None
        weight = Operand("w", op.anchor.inputs[1], width=1)
    else:
        weight = Operand("w", _packed(op, ctx, g))
    invocations = ceil_div(g.size[0], rows) * (g.size[1] // 4)
    workgroup = 64 if invocations >= 64 * 8 else 16
    ctx.emit(
        "conv_register",
        node=op.name,
        operands=[Operand("x", op.sources()[0]), weight, *epilogue.operands, Operand("y", op.output, "read_write")],
        params={"depth": g.depth, "channels": g.channels, "height": g.size[0], "width4": g.size[1] // 4},
        workgroups=(ceil_div(invocations, workgroup), ceil_div(g.channels, channels), g.batch),
        workgroup_size=(workgroup, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
        rows=rows,
        channels=channels,
        lane=[""] if channels == 1 else [".x", ".y", ".z", ".w"],
    )


def _pointwise(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    epilogue = _epilogue(op, ctx, 4)
    sources = op.sources()
    blocks = 2 if g.channels % 8 == 0 else 1
    ctx.emit(
        "conv_pointwise",
        node=op.name,
        operands=[
            *[Operand(f"x{i}", s) for i, s in enumerate(sources)],
            Operand("w", _packed(op, ctx, g)),
            *epilogue.operands,
            Operand("y", op.output, "read_write"),
        ],
        params={f"depth{i}": ctx.shape(s)[1] for i, s in enumerate(sources)}
        | {"channels": g.channels, "plane4": g.plane // 4},
        workgroups=(ceil_div(g.plane // 4, _WORKGROUP), ceil_div(g.channels, 4 * blocks), g.batch),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
        sources=len(sources),
        blocks=blocks,
    )


def _window(g: Geometry) -> dict[str, int | float]:
    return {
        "channels": g.channels, "depth": g.depth, "height": g.size[0], "width": g.size[1], "out_height": g.out[0],
        "out_width": g.out[1], "kernel_y": g.kernel[0], "kernel_x": g.kernel[1], "stride_y": g.stride[0],
        "stride_x": g.stride[1], "dilation_y": g.dilation[0], "dilation_x": g.dilation[1], "pad_top:i32": g.pad[0],
        "pad_left:i32": g.pad[1],
    }


def _general(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    epilogue = _epilogue(op, ctx, 4)
    ctx.emit(
        "conv_general",
        node=op.name,
        operands=[Operand("x", op.sources()[0], width=1), Operand("w", _packed(op, ctx, g)), *epilogue.operands,
                  Operand("y", op.output, "read_write")],
        params=_window(g) | {"groups": g.groups},
        workgroups=(ceil_div(g.plane // 4, _WORKGROUP), ceil_div(g.channels, 4), g.batch),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
    )


def _flat(op: FusedOp, ctx: Lowering, g: Geometry) -> None:
    assert op.anchor is not None
    if len(op.sources()) > 1:
        raise Unsupported("a joined input needs planes that are a multiple of 4")
    epilogue = _epilogue(op, ctx, 1)
    elements = ctx.size(op.output)
    ctx.emit(
        "conv_flat",
        node=op.name,
        operands=[Operand("x", op.sources()[0], width=1), Operand("w", op.anchor.inputs[1], width=1),
                  *epilogue.operands, Operand("y", op.output, "read_write")],
        params=_window(g) | {"groups": g.groups, "elements": elements},
        workgroups=grid(ceil_div(ceil_div(elements, 4), _WORKGROUP)),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        epilogue=epilogue,
    )


def _workgroup(op: FusedOp, ctx: Lowering, g: Geometry, pointwise: bool) -> None:
    epilogue = _epilogue(op, ctx, 4)
    sources = op.sources()
    half = ctx.tier.f16 == "arithmetic" and ctx.dtype(op.output) == "float16"
    ctx.emit(
        "gemm_workgroup",
        node=op.name,
        operands=[
            *[Operand(f"x{i}", s, width=4 if pointwise else 1) for i, s in enumerate(sources)],
            Operand("w", _packed(op, ctx, g)),
            *epilogue.operands,
            Operand("y", op.output, "read_write"),
        ],
        params=_window(g) | {"plane4": g.plane // 4, "depth0": ctx.shape(sources[0])[1]},
        workgroups=(ceil_div(g.plane // 4, 16), ceil_div(g.channels, 32), g.batch),
        workgroup_size=(128, 1, 1),
        flops=_flops(ctx, op, g, epilogue),
        f16_arithmetic=half,
        workgroup_storage_bytes=384 * 4 * (2 if half else 4),
        epilogue=epilogue,
        kind="conv",
        pointwise=pointwise,
        sources=len(sources),
    )
