"""DFT and STFT on real pairs: sums over the points of a transform, in two passes where its length is composite."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish, only_step
from webinfer.symbols import is_open

_WORKGROUP = 64
_DIRECT = 64  # points up to which one pass does


@dataclass(frozen=True)
class _Pass:
    """y[b] = sum over j < points of x[a index_a + j index_j] e^(-+ 2 pi i j k / points), where b = a + k bin_step.

    This for every place of the axes `outer` and all a < `apart`, k < `turns` with b < `bins`. Of x `given` elements
    exist, others are 0 or, of a `hermitian` x, conjugates of those of the first half of `length`. x_strides, y_strides:
    in elements, along `outer` and from one element of a transform to the next. twiddled: times e^(-+ 2 pi i a k / n),
    where n is `length`.
    """

    outer: tuple[int, int]
    x_strides: tuple[int, int, int]
    y_strides: tuple[int, int, int]
    length: int
    points: int
    given: int
    bins: int
    turns: int
    apart: int = 1
    index_a: int = 1
    index_j: int = 1
    bin_step: int = 1
    parts: int = 2  # numbers per element of x; 1 is real
    inverse: bool = False
    hermitian: bool = False
    twiddled: bool = False


@lowers("DFT")
def lower_dft(op: FusedOp, ctx: Lowering) -> None:
    """Forward, inverse, one-sided, and the inverse of one-sided spectra, along any axis but the last."""
    step = only_step(op)
    x, length_name, axis_name = (*step.inputs, "", "")[:3]
    shape, output = ctx.shape(x), ctx.shape(op.output)
    axis = (ctx.integers(axis_name) or [-2])[0] % len(shape)
    inverse, onesided = bool(step.int("inverse", 0)), bool(step.int("onesided", 0))
    hermitian = inverse and onesided
    length = (ctx.integers(length_name) or [output[axis] if hermitian else shape[axis]])[0]
    inner = math.prod(shape[axis + 1 : -1])
    whole = _Pass(
        outer=(math.prod(shape[:axis]), inner),
        x_strides=(shape[axis] * inner, 1, inner),
        y_strides=(output[axis] * inner, 1, inner),
        length=length,
        points=length,
        given=shape[axis],
        bins=output[axis],
        turns=output[axis],
        parts=shape[-1],
        inverse=inverse,
        hermitian=hermitian,
    )
    _transform(ctx, op, x, "", whole)


@lowers("STFT")
def lower_stft(op: FusedOp, ctx: Lowering) -> None:
    """Transforms of windowed frames of a signal, frame_step samples apart."""
    step = only_step(op)
    x, hop_name, window, length_name = (*step.inputs, "", "")[:4]
    batch, samples, *parts = ctx.shape(x)
    _, frames, bins, _ = ctx.shape(op.output)
    (hop,) = ctx.integers(hop_name) or [1]
    length = (ctx.integers(length_name) or [ctx.size(window) if window else samples])[0]
    whole = _Pass(
        outer=(batch, frames),
        x_strides=(samples, hop, 1),
        y_strides=(frames * bins, bins, 1),
        length=length,
        points=length,
        given=length,
        bins=bins,
        turns=bins,
        parts=parts[0] if parts else 1,
    )
    _transform(ctx, op, x, window, whole)


def _transform(ctx: Lowering, op: FusedOp, x: str, window: str, whole: _Pass) -> None:
    """Emit `whole` in one pass or in two. Raises Unsupported where x may hold reals or pairs.

    With length = first * second, indices second p + q and bins r + first s: the sums over p are transforms of `first`
    points, and those over q of what they give, turned by q r / length, are transforms of `second` points (Cooley and
    Tukey, 1965).
    """
    if is_open(whole.parts):
        raise Unsupported("reals or pairs, which only a run decides: fix the size of the last axis with --dim NAME=N")
    y = aligned_output(ctx, op.output)
    n = whole.length
    first = 1 if is_open(n) or n <= _DIRECT else next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)
    if first > 1:
        second = n // first
        outer = whole.outer
        between = ctx.scratch(f"{op.output}#between", (*outer, first, second, 2), "float32")
        strides = (outer[1] * n, n, 1)
        inner = replace(whole, points=first, bins=n, turns=first, apart=second, index_j=second, bin_step=second)
        _emit(ctx, op.name, x, between, window, replace(inner, y_strides=strides, twiddled=True))
        x, window = between, ""
        whole = replace(
            whole,
            x_strides=strides,
            points=second,
            given=n,
            turns=ceil_div(whole.bins, first),
            apart=first,
            index_a=second,
            bin_step=first,
            parts=2,
            hermitian=False,
        )
    _emit(ctx, op.name, x, y, window, whole)
    finish(ctx, op.name, y, op.output)


def _emit(ctx: Lowering, node: str, x: str, y: str, window: str, p: _Pass) -> None:
    count = math.prod(p.outer) * p.apart * p.turns
    last = not p.twiddled
    ctx.emit(
        "dft",
        node=node,
        operands=[
            Operand("x", x, width=1),
            *([Operand("window", window, width=1)] if window else []),
            Operand("y", y, "read_write", width=1),
        ],
        params={
            "count": count,
            "places": p.outer[1],
            "apart": p.apart,
            "turns": p.turns,
            **dict(zip(("x_outer", "x_inner", "x_step"), p.x_strides, strict=True)),
            **dict(zip(("y_outer", "y_inner", "y_step"), p.y_strides, strict=True)),
            "length": p.length,
            "points": p.points,
            "given": p.given,
            "bins": p.bins,
            "index_a": p.index_a,
            "index_j": p.index_j,
            "bin_step": p.bin_step,
            "direction": 1.0 if p.inverse else -1.0,
            "scale": 1.0 / p.length if p.inverse and last else 1.0,
        },
        workgroups=grid(ceil_div(count, _WORKGROUP)),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=8 * count * p.points,
        parts=p.parts,
        real=ctx.shape(y)[-1] == 1,
        hermitian=p.hermitian,
        window=bool(window),
        twiddled=p.twiddled,
    )


def _dft(
    shape: Sequence[int], axis: int, attributes: dict[str, Any], length: int | None, g: Graph, *, exact: bool = False
) -> None:
    g.input("x", shape)
    inputs = [g.constant("n", np.array(length, np.int64)) if length else "", g.constant("a", np.array(axis))]
    g.node("DFT", [_operand(g, "x", exact), *inputs], ["y64" if exact else "y"], **attributes)
    _result(g, exact)


def _stft(samples: int, frame: int, hop: int, window: bool, g: Graph, *, exact: bool = False) -> None:
    g.input("x", (2, samples, 1))
    inputs = [g.constant("hop", np.array(hop)), _operand(g, g.constant("w", (frame,)), exact) if window else ""]
    inputs = [_operand(g, "x", exact), *inputs, g.constant("n", np.array(frame))]
    g.node("STFT", inputs, ["y64" if exact else "y"], onesided=1)
    _result(g, exact)


def _operand(g: Graph, name: str, exact: bool) -> str:
    return g.node("Cast", [name], [f"{name}64"], to=TensorProto.DOUBLE) if exact else name


def _result(g: Graph, exact: bool) -> None:
    if exact:
        g.node("Cast", ["y64"], ["y"], to=TensorProto.FLOAT)
    g.output("y")


def _case(name: str, build: Callable[..., None], *arguments: Any) -> Case:
    """ONNX Runtime's transforms of lengths other than powers of two are good to 3 digits only, unless in double."""
    reference = partial(build, *arguments, exact=True)
    return Case(name, partial(build, *arguments), reference=reference)


CASES = [
    _case("pairs", _dft, (2, 12, 3, 2), 1, {}, None),
    _case("real_onesided", _dft, (2, 3, 15, 1), 2, {"onesided": 1}, None),
    _case("inverse", _dft, (2, 90, 2), 1, {"inverse": 1}, None),
    _case("padded", _dft, (3, 70, 1), -2, {"onesided": 1}, 96),
    _case("cut", _dft, (3, 20, 2), 1, {}, 7),
    _case("long", _dft, (1, 1000, 1), 1, {}, None),
    _case("stft", _stft, 400, 80, 30, True),
    _case("stft_short", _stft, 50, 16, 5, False),
]
