"""Windows of convolutions and pooling over any number of axes: their pads, geometry and uniforms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, ceil_div
from webinfer.ops.elements import axes
from webinfer.symbols import maximum


def lift(values: Sequence[int], neutral: int) -> tuple[int, ...]:
    """Values per spatial axis, outermost first; an image of one axis has height 1 and `neutral` attributes along it."""
    return (*[neutral] * (2 - len(values)), *values)


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
        given = step.ints("pads", (0,) * 2 * rank) if mode in ("NOTSET", "") else (0,) * 2 * rank
        return given[:rank], given[rank:]
    along = zip(size, out, kernel, stride, dilation, strict=True)
    totals = [maximum((o - 1) * s + d * (k - 1) + 1 - n, 0) for n, o, k, s, d in along]
    begin = tuple(t // 2 if mode == "SAME_UPPER" else ceil_div(t, 2) for t in totals)
    return begin, tuple(t - b for t, b in zip(totals, begin, strict=True))


@dataclass(frozen=True)
class Geometry:
    """A convolution over two or more axes, outermost first in every tuple; 1-D ones are lifted: height 1."""

    batch: int
    depth: int  # input channels per group
    channels: int
    groups: int
    size: tuple[int, ...]
    out: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    pad: tuple[int, ...]  # before the first element

    @property
    def plane(self) -> int:
        """Elements of one output channel."""
        return math.prod(self.out)

    @property
    def taps(self) -> int:
        """Kernel elements per input channel."""
        return math.prod(self.kernel)

    @property
    def flops(self) -> int:
        """Multiply and add counted apart."""
        return 2 * self.batch * self.channels * self.plane * self.depth * self.taps


def geometry(ctx: Lowering, op: FusedOp, *, x: str, weight: str) -> Geometry:
    """Read the geometry of a convolution of value `x` with `weight` [channels, depth, *kernel]."""
    assert op.anchor is not None
    shape, w, out = ctx.shape(x), ctx.shape(weight), ctx.shape(op.output)
    rank = len(shape) - 2
    size = tuple(2 * n for n in shape[2:]) if op.enlarged else shape[2:]
    stride, dilation = op.anchor.ints("strides", (1,) * rank), op.anchor.ints("dilations", (1,) * rank)
    pad, _ = pads(op.anchor, size, out[2:], w[2:], stride, dilation)
    return Geometry(
        batch=shape[0],
        depth=w[1],
        channels=w[0],
        groups=op.anchor.int("group", 1),
        size=lift(size, 1),
        out=lift(out[2:], 1),
        kernel=lift(w[2:], 1),
        stride=lift(stride, 1),
        dilation=lift(dilation, 1),
        pad=lift(pad, 0),
    )


def window_params(g: Geometry) -> dict[str, int | float]:
    """What a kernel must know to gather the window of any output element (lib/window.wgsl.j2)."""
    return {"channels": g.channels, "depth": g.depth} | axes(
        size=g.size, out=g.out, kernel=g.kernel, stride=g.stride, dilation=g.dilation, pad=g.pad
    )
