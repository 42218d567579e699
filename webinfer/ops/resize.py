"""Resize, nearest and linear, along any axes, with a fused epilogue. Source positions are exact fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.elementwise import literal
from webinfer.ops.epilogue import render_epilogue

WORKGROUP = 64
LINEAR_AXES = 3
LARGEST_DENOMINATOR = 4096  # scales are f32: the nearest such fraction is the scale that was meant
_ATTRIBUTES = {"exclude_outside": 0, "antialias": 0}


@dataclass(frozen=True)
class Map:
    """Source position of output x: (a x + b) / d; for nearest it is floored."""

    a: int
    b: int
    d: int

    @property
    def inverse(self) -> str:
        """1 / d as WGSL."""
        return literal(1.0 / self.d)


@dataclass(frozen=True)
class Dim:
    """One axis: sizes of source and output, the source's stride, and the map where the axis is resized."""

    axis: int
    size: int
    out: int
    stride: int
    map: Map | None


@dataclass(frozen=True)
class Corner:
    """One source element of an interpolation: its position terms and its weights, as WGSL names."""

    positions: tuple[str, ...]
    factors: tuple[str, ...]


def axis_map(size: int, out: int, scale: Fraction, coordinates: str, nearest: str | None) -> Map:
    """The source position per the ONNX Resize text; `nearest` rounds it, folded into b and d.

    Raises Unsupported for a transformation that is not defined here.
    """
    p, q = scale.numerator, scale.denominator
    if coordinates == "asymmetric":
        a, b, d = q, 0, p
    elif coordinates == "half_pixel" or (coordinates == "pytorch_half_pixel" and out > 1):
        a, b, d = 2 * q, q - p, 2 * p
    elif coordinates == "align_corners" and out > 1:
        a, b, d = size - 1, 0, out - 1
    elif coordinates in ("pytorch_half_pixel", "align_corners"):
        a, b, d = 0, 0, 1
    else:
        raise Unsupported(f"coordinate_transformation_mode {coordinates}: use half_pixel, asymmetric or align_corners")
    if nearest == "ceil":
        b += d - 1
    elif nearest == "round_prefer_ceil":  # floor(v + 1/2)
        a, b, d = 2 * a, 2 * b + d, 2 * d
    elif nearest == "round_prefer_floor":  # ceil(v - 1/2)
        a, b, d = 2 * a, 2 * b + d - 1, 2 * d
    common = math.gcd(a, b, d)
    a, b, d = a // common, b // common, d // common
    if max(a * out + abs(b), size * d) >= 1 << 31:
        raise Unsupported(f"resize of an axis from {size} to {out}: positions exceed 32 bits")
    return Map(a, b, d)


def _scales(ctx: Lowering, step: Step, x: Sequence[int], out: Sequence[int]) -> list[Fraction]:
    """Scale per axis: as given, or output size / input size."""
    axes = [a % len(x) for a in step.ints("axes", range(len(x)))]
    scales = [Fraction(o, max(n, 1)) for n, o in zip(x, out, strict=True)]
    if len(step.inputs) > 2 and step.inputs[2]:
        given = ctx.constant(step.inputs[2])
        if given is None:
            raise Unsupported(f"scales {step.inputs[2]} are computed at run time; fold them to a constant")
        for axis, scale in zip(axes, given.reshape(-1) if given.size else [], strict=False):
            scales[axis] = Fraction(float(scale)).limit_denominator(LARGEST_DENOMINATOR)
    return scales


@lowers("Resize")
def lower_resize(op: FusedOp, ctx: Lowering) -> None:
    """Any number of axes for nearest, up to three for linear; cubic is folded at compile time or refused."""
    step = op.anchor
    assert step is not None
    source = step.inputs[0]
    x, out = ctx.shape(source), ctx.shape(op.output)
    mode = step.string("mode", "nearest")
    if mode not in ("nearest", "linear"):
        raise Unsupported(f"mode {mode}: use nearest or linear")
    for name, neutral in _ATTRIBUTES.items():
        if step.int(name, neutral) != neutral:
            raise Unsupported(f"{name} = {step.int(name, neutral)}")
    if step.string("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise Unsupported("keep_aspect_ratio_policy: give the final sizes")
    nearest = step.string("nearest_mode", "round_prefer_floor") if mode == "nearest" else None
    coordinates = step.string("coordinate_transformation_mode", "half_pixel")
    maps = [
        None if n == o and scale == 1 else axis_map(n, o, scale, coordinates, nearest)
        for n, o, scale in zip(x, out, _scales(ctx, step, x, out), strict=True)
    ]
    if not any(maps) and not op.epilogue and ctx.view(op.output, source):
        return
    dims = _dims(x, out, maps)
    resized = [d for d in dims if d.map]
    if mode == "linear" and len(resized) > LINEAR_AXES:
        raise Unsupported(f"linear resize of {len(resized)} axes: split it into two")
    spatial, channels = math.prod(out[2:]), out[1] if len(out) > 1 else 1
    wide = spatial % 4 == 0 or not op.epilogue
    written = op.output if wide else aligned_output(ctx, op.output)
    tail = render_epilogue(ctx, op.epilogue, step, op.output, 4 if wide else 1)
    count = ceil_div(math.prod(out), 4 if wide else 1)
    ctx.emit(
        "resize",
        node=op.name,
        operands=[
            Operand("x", source, width=1),
            *tail.operands,
            Operand("out", written, "read_write", width=4 if wide else 1),
        ],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params={"count": count, "last": math.prod(out) - 1, "spatial": spatial, "channels": channels},
        flops=(2 ** len(resized) * 2 + tail.flops) * math.prod(out),
        epilogue=tail.code,
        scalars=tail.scalars,
        wide=wide,
        dims=dims,
        linear=mode == "linear",
        corners=_corners(dims),
    )
    finish(ctx, op.name, written, op.output)


def _dims(x: Sequence[int], out: Sequence[int], maps: Sequence[Map | None]) -> list[Dim]:
    """Axes with neighbours that are not resized merged."""
    dims: list[Dim] = []
    for axis in range(len(x)):
        stride = math.prod(x[axis + 1 :])
        if dims and dims[-1].map is None and maps[axis] is None:
            dims[-1] = Dim(dims[-1].axis, dims[-1].size * x[axis], dims[-1].out * out[axis], stride, None)
        else:
            dims.append(Dim(axis, x[axis], out[axis], stride, maps[axis]))
    return dims or [Dim(0, 1, 1, 1, None)]


def _corners(dims: Sequence[Dim]) -> list[Corner]:
    resized = [d.axis for d in dims if d.map]
    corners = []
    for choice in itertools.product("01", repeat=len(resized)):
        side = dict(zip(resized, choice, strict=True))
        corners.append(
            Corner(
                tuple(f"p{d.axis}_{side[d.axis]}" if d.axis in side else f"p{d.axis}" for d in dims),
                tuple(f"f{axis}_{s}" for axis, s in side.items()),
            )
        )
    return corners


def _resize(
    x: Sequence[int], scales: Sequence[float] | None, sizes: Sequence[int] | None, attributes: dict[str, Any], g: Graph
) -> None:
    g.input("x", x)
    if scales is not None:
        inputs = ["x", "", g.single("scales", scales)]
    else:
        assert sizes is not None
        inputs = ["x", "", "", g.ints("sizes", sizes)]
    g.node("Resize", inputs, ["y"], **attributes)
    g.output("y")


def _fused(width: int, g: Graph) -> None:
    g.input("x", (2, 3, 3, width))
    g.constant("s", (1, 3, 1, 1))
    g.single("scales", (1, 1, 1, 2))
    first = g.position
    g.node(
        "Resize",
        ["x", "", "scales"],
        ["r"],
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    g.node("Mul", ["r", "s"], ["y"])
    g.fused("Scaled", ["x", "scales", "s"], ["y"], first)
    g.output("y", shape=(2, 3, 3, 2 * width))


def _ramp(g: Graph) -> None:
    """Output 21,599 of 300 x 72 is source 299: a division in f32 must not move any position."""
    g.input("x", np.arange(300, dtype=np.float32).reshape(1, 1, 300))
    g.single("scales", (1, 1, 72))
    g.node(
        "Resize",
        ["x", "", "scales"],
        ["y"],
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    g.output("y")


_FLOOR: dict[str, Any] = {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}
_MODES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")

CASES = [
    *(Case(f"nearest_2x_w{w}", partial(_resize, (1, 3, 3, w), (1, 1, 2, 2), None, _FLOOR)) for w in range(1, 10)),
    *(
        Case(
            f"linear_{mode}_{k}",
            partial(_resize, (2, 3, 5, 7), None, sizes, {"mode": "linear", "coordinate_transformation_mode": mode}),
        )
        for mode in _MODES
        for k, sizes in enumerate(((2, 3, 10, 14), (2, 3, 7, 4), (2, 3, 1, 9)))
    ),
    *(
        Case(
            f"nearest_{mode}_{rounding}",
            partial(
                _resize,
                (1, 2, 4, 6),
                (1, 1, 1.5, 0.5),
                None,
                {"mode": "nearest", "nearest_mode": rounding, "coordinate_transformation_mode": mode},
            ),
        )
        for mode in ("half_pixel", "asymmetric")
        for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    ),
    Case("nearest_ramp_72", _ramp),
    Case("linear_rank3", partial(_resize, (2, 3, 5), (1, 1, 3), None, {"mode": "linear"})),
    Case("linear_rank5", partial(_resize, (1, 2, 2, 3, 3), (1, 1, 2, 2, 2), None, {"mode": "linear"})),
    Case("linear_fraction", partial(_resize, (1, 1, 16, 16), None, (1, 1, 28, 28), {"mode": "linear"})),
    Case("nearest_channels_last", partial(_resize, (1, 3, 3, 5), (1, 2, 2, 1), None, _FLOOR)),
    Case("scales_one", partial(_resize, (1, 2, 3, 3), (1, 1, 1, 1), None, {"mode": "linear"})),
    Case("fused_w3", partial(_fused, 3)),
    Case("fused_w4", partial(_fused, 4)),
]
