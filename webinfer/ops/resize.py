"""Resize along any axes, with a fused epilogue. Source positions are exact fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import axes, emit_elements
from webinfer.ops.epilogue import render_epilogue
from webinfer.symbols import bounds, largest

LARGEST_DENOMINATOR = 4096  # scales are f32: the nearest such fraction is the scale that was meant
_MOST = 1 << 31
_SUPPORT = {"linear": 1, "cubic": 2}  # elements that a filter covers to each side


@dataclass(frozen=True)
class Ratio:
    """A scale or a position as a fraction of two integers."""

    p: int
    q: int


@dataclass(frozen=True)
class Map:
    """Source position of output x: (a x + b) / d, floored for nearest; `low` and `high` bound a x + b in the source."""

    a: int
    b: int
    d: int
    low: int
    high: int


@dataclass(frozen=True)
class Dim:
    """One axis, or several that are not resized: sizes of source and output; scale and map where it is resized."""

    size: int
    out: int
    scale: Ratio
    map: Map | None


def axis_map(
    size: int, out: int, scale: Ratio, coordinates: str, nearest: str | None, roi: tuple[float, float] = (0.0, 1.0)
) -> Map:
    """The source position per the ONNX Resize text; `nearest` rounds it, folded into b and d.

    A given scale makes the resized length a fraction, p size / q. Raises Unsupported for unknown transformations.
    """
    p, q = scale.p, scale.q
    if coordinates == "asymmetric":
        a, b, d = q, 0, p
    elif coordinates == "half_pixel" or (coordinates == "pytorch_half_pixel" and out > 1):
        a, b, d = 2 * q, q - p, 2 * p
    elif coordinates == "half_pixel_symmetric":
        a, b, d = 2 * q, size * p - out * q + q - p, 2 * p
    elif coordinates in ("pytorch_half_pixel", "align_corners") and out <= 1:
        a, b, d = 0, 0, 1
    elif coordinates == "align_corners":
        a, b, d = (size - 1) * q, 0, p * size - q
    elif coordinates == "tf_crop_and_resize":
        start, end = (Fraction(v).limit_denominator(LARGEST_DENOMINATOR) for v in roi)
        common = math.lcm(start.denominator, end.denominator)
        first, last = int(start * common) * (size - 1), int(end * common) * (size - 1)
        if p * size > q:
            a, b, d = (last - first) * q, first * (p * size - q), common * (p * size - q)
        else:
            a, b, d = 0, first + last, 2 * common
    else:
        raise Unsupported(f"coordinate_transformation_mode {coordinates}: unknown; use half_pixel or another of ONNX")
    doubled = 2 if nearest is not None and nearest.startswith("round") else 1
    shift = {"ceil": d - 1, "round_prefer_ceil": d, "round_prefer_floor": d - 1}.get(nearest or "", 0)
    a, b, d = doubled * a, doubled * b + shift, doubled * d
    farthest = max(map(abs, bounds(a))) * largest(out) + max(map(abs, bounds(b)))
    excess = max(farthest, largest(size * d)) // _MOST + 1
    if excess != 1:
        # Coarser units where 32 bits are too few: positions are off by less than out / d.
        a, b, d, shift = (round(v / excess) for v in (a, b, d, shift))
    return Map(a, b, d, shift, shift + (size - 1) * d)


def _scales(ctx: Lowering, step: Step, x: Sequence[int], out: Sequence[int]) -> list[Ratio]:
    """Scale per axis: as given, or output size / input size, or the one that keeps the aspect ratio."""
    chosen = [a % len(x) for a in step.ints("axes", range(len(x)))]
    scales = [Ratio(o, n) for n, o in zip(x, out, strict=True)]
    names = (*step.inputs, "", "", "")
    given = ctx.constant(names[2]) if names[2] else None
    if names[2] and given is None:
        raise Unsupported(f"scales {names[2]} are computed at run time; fold them to a constant")
    if given is not None and given.size:
        for axis, scale in zip(chosen, given.reshape(-1), strict=True):
            exact = Fraction(float(scale)).limit_denominator(LARGEST_DENOMINATOR)
            scales[axis] = Ratio(exact.numerator, exact.denominator)
    policy = step.string("keep_aspect_ratio_policy", "stretch")
    sizes = ctx.integers(names[3]) if names[3] else None
    if policy != "stretch" and sizes:
        pick = min if policy == "not_larger" else max
        one = pick(Fraction(n, x[axis]) for n, axis in zip(sizes, chosen, strict=True))
        for axis in chosen:
            scales[axis] = Ratio(one.numerator, one.denominator)
    return scales


def _roi(ctx: Lowering, step: Step, rank: int) -> list[tuple[float, float]]:
    """Start and end per axis; the whole axis where none is given."""
    given = ctx.constant(step.inputs[1]) if step.inputs[1] else None
    roi = [(0.0, 1.0)] * rank
    chosen = step.ints("axes", range(rank))
    if given is not None and given.size:
        starts, ends = given.reshape(2, -1)
        for axis, start, end in zip(chosen, starts, ends, strict=True):
            roi[axis % rank] = (float(start), float(end))
    return roi


@lowers("Resize")
def lower_resize(op: FusedOp, ctx: Lowering) -> None:
    """One kernel; axes that keep their size and scale are only copied."""
    step = op.anchor
    assert step is not None
    source = step.inputs[0]
    x, out = ctx.shape(source), ctx.shape(op.output)
    mode = step.string("mode", "nearest")
    coordinates = step.string("coordinate_transformation_mode", "half_pixel")
    nearest = step.string("nearest_mode", "round_prefer_floor")
    crops = coordinates == "tf_crop_and_resize"
    rois = _roi(ctx, step, len(x)) if crops else [(0.0, 1.0)] * len(x)
    dims: list[Dim] = []
    for size, length, scale, roi in zip(x, out, _scales(ctx, step, x, out), rois, strict=True):
        if size == length and scale.p == scale.q and roi == (0.0, 1.0):
            if dims and dims[-1].map is None:
                dims[-1] = Dim(dims[-1].size * size, dims[-1].out * length, scale, None)
            else:
                dims.append(Dim(size, length, scale, None))
        elif math.prod(out):
            way = axis_map(size, length, scale, coordinates, nearest if mode == "nearest" else None, roi)
            dims.append(Dim(size, length, scale, way))
    resized = [k for k, d in enumerate(dims) if d.map]
    if not resized and not op.epilogue and ctx.view(op.output, source):
        return
    params = axes(size=[d.size for d in dims], out=[d.out for d in dims])
    for k, d in enumerate(dims):
        if d.map:
            params |= {f"a{k}:i32": d.map.a, f"b{k}:i32": d.map.b, f"d{k}": d.map.d}
            params |= {f"low{k}:i32": d.map.low, f"high{k}:i32": d.map.high} if crops else {}
    antialias = bool(step.int("antialias", 0)) and mode != "nearest"
    exclude = bool(step.int("exclude_outside", 0)) and mode != "nearest"
    if not resized:
        mode = "nearest"
    if mode != "nearest":
        params |= _filter_params(ctx, op, step, mode, antialias, dims)
    if crops:
        params["extrapolation"] = step.float("extrapolation_value", 0.0)
    taps = math.prod(2 * _reach(dims[k], mode, antialias) for k in resized) if mode != "nearest" else 1
    emit_elements(
        ctx,
        "resize",
        op.name,
        op.output,
        [Operand("x", source, width=1)],
        params,
        flops=2 * taps,
        epilogue=render_epilogue(ctx, op.epilogue, step, op.output, 1),
        rank=len(dims),
        resized=resized,
        mode=mode,
        crops=crops and bool(resized),
        exclude_outside=exclude,
        normalised=exclude or antialias,
    )


def _reach(dim: Dim, mode: str, antialias: bool) -> int:
    """Source elements to each side of a position that count; an antialiasing filter is stretched by 1 / scale."""
    if antialias and dim.scale.p < dim.scale.q:
        return ceil_div(_SUPPORT[mode] * dim.scale.q, dim.scale.p)
    return _SUPPORT[mode]


def _filter_params(
    ctx: Lowering, op: FusedOp, step: Step, mode: str, antialias: bool, dims: Sequence[Dim]
) -> dict[str, int | float]:
    """Uniforms of an interpolation."""
    params: dict[str, int | float] = {}
    for k, d in enumerate(dims):
        if d.map:
            params[f"reach{k}:i32"] = _reach(d, mode, antialias)
            params[f"stretch{k}"] = min(d.scale.p / d.scale.q, 1.0) if antialias else 1.0
    if mode == "cubic":
        params["coefficient"] = step.float("cubic_coeff_a", -0.75)
    element = ctx.element(op.output)
    if element == "vec2<u32>":
        raise Unsupported(f"{mode} resize of 64-bit integers: cast to float32 first")
    if element != "f32":
        name = ctx.dtype(op.output)
        low, high = (0, 1) if name == "bool" else (np.iinfo(name).min, np.iinfo(name).max)
        params |= {"smallest": float(low), "largest": float(high)}
    return params


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


def _crop(g: Graph) -> None:
    g.input("x", (1, 2, 6, 7))
    g.single("roi", (0, 0, 0.25, -0.5, 1, 1, 0.75, 1.5))
    g.ints("sizes", (1, 2, 5, 9))
    g.node(
        "Resize",
        ["x", "roi", "", "sizes"],
        ["y"],
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=4.0,
    )
    g.output("y")


def _axes(x: Sequence[int], axes: Sequence[int], sizes: Sequence[int], g: Graph, **attributes: Any) -> None:
    g.input("x", x)
    g.ints("sizes", sizes)
    g.node("Resize", ["x", "", "", "sizes"], ["y"], axes=axes, **attributes)
    g.output("y")


_CUBIC: list[tuple[tuple[float, float], dict[str, Any]]] = [
    ((1.5, 2), {}),
    ((0.5, 0.75), {"cubic_coeff_a": -0.5, "exclude_outside": 1}),
    ((2, 1.25), {"coordinate_transformation_mode": "asymmetric"}),
]
_LINEAR: dict[str, Any] = {"mode": "linear"}
_SYMMETRIC: dict[str, Any] = {"coordinate_transformation_mode": "half_pixel_symmetric"}
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
    *(
        Case(f"cubic_{k}", partial(_resize, (1, 2, 5, 6), (1, 1, *scales), None, {"mode": "cubic"} | attributes))
        for k, (scales, attributes) in enumerate(_CUBIC)
    ),
    Case("symmetric", partial(_resize, (1, 1, 5, 7), (1, 1, 0.5, 1.3), None, _LINEAR | _SYMMETRIC)),
    Case("crop", _crop),
    Case("axes", partial(_axes, (2, 3, 4, 5), (3, 1), (9, 4))),
    Case("keeps_aspect", partial(_axes, (1, 1, 6, 8), (2, 3), (9, 10), keep_aspect_ratio_policy="not_larger")),
    Case("fused_w3", partial(_fused, 3)),
    Case("fused_w4", partial(_fused, 4)),
]
