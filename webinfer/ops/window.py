"""Windows of convolutions and pooling: their pads, and 1-D ones lifted to 2-D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Unsupported, ceil_div


def lift(values: Sequence[int], neutral: int) -> tuple[int, int]:
    """Values per spatial axis as (y, x); an image of one axis has height 1 and `neutral` attributes along it."""
    y, x = (neutral, *values)[-2:]
    return y, x


def pads(
    step: Step,
    size: Sequence[int],
    out: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Begin and end pads per spatial axis. auto_pad SAME_*: the odd one goes last for UPPER, first for LOWER (ONNX)."""
    rank = len(size)
    mode = step.string("auto_pad", "NOTSET")
    if not mode.startswith("SAME"):
        given = step.ints("pads", (0,) * 2 * rank) if mode == "NOTSET" else (0,) * 2 * rank
        return given[:rank], given[rank:]
    axes = zip(size, out, kernel, stride, dilation, strict=True)
    totals = [max((o - 1) * s + d * (k - 1) + 1 - n, 0) for n, o, k, s, d in axes]
    begin = tuple(t // 2 if mode == "SAME_UPPER" else ceil_div(t, 2) for t in totals)
    return begin, tuple(t - b for t, b in zip(totals, begin, strict=True))


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


def geometry(ctx: Lowering, op: FusedOp) -> Geometry:
    """Read a Conv's geometry. Raises Unsupported for 3-D convolutions."""
    assert op.anchor is not None
    sources = op.sources()
    x = ctx.shape(sources[0])
    weight = ctx.shape(op.anchor.inputs[1])
    rank = len(x) - 2
    if op.enlarged:
        x = (*x[:2], 2 * x[2], 2 * x[3])
    if rank > 2:
        raise Unsupported(f"{rank}-D convolution: split the depth axis into 2-D convolutions")
    kernel = weight[2:]
    stride, dilation = op.anchor.ints("strides", (1,) * rank), op.anchor.ints("dilations", (1,) * rank)
    out = ctx.shape(op.output)
    pad, _ = pads(op.anchor, x[2:], out[2:], kernel, stride, dilation)
    return Geometry(
        batch=x[0],
        depth=weight[1],
        channels=weight[0],
        groups=op.anchor.int("group", 1),
        size=lift(x[2:], 1),
        out=lift(out[2:], 1),
        kernel=lift(kernel, 1),
        stride=lift(stride, 1),
        dilation=lift(dilation, 1),
        pad=lift(pad, 0),
    )


def window_params(g: Geometry) -> dict[str, int | float]:
    """What a kernel must know to gather the window of any output element."""
    return {
        "channels": g.channels,
        "depth": g.depth,
        "height": g.size[0],
        "width": g.size[1],
        "out_height": g.out[0],
        "out_width": g.out[1],
        "kernel_y": g.kernel[0],
        "kernel_x": g.kernel[1],
        "stride_y": g.stride[0],
        "stride_x": g.stride[1],
        "dilation_y": g.dilation[0],
        "dilation_x": g.dilation[1],
        "pad_top:i32": g.pad[0],
        "pad_left:i32": g.pad[1],
    }
