"""Pad: constant, edge, reflect and wrap, along any axes; negative pads crop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from webinfer.fused import FusedOp
from webinfer.kernel import words
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step, strides_of
from webinfer.ops.elements import emit_elements
from webinfer.symbols import maximum


@lowers("Pad")
def lower_pad(op: FusedOp, ctx: Lowering) -> None:
    """Negative pads crop first: what is left is padded. Neighbouring axes without pads are merged."""
    step = only_step(op)
    x, y = ctx.shape(step.inputs[0]), ctx.shape(op.output)
    _, pads_name, value, axes_name = (*step.inputs, "", "")[:4]
    pads, axes = ctx.integers(pads_name), ctx.integers(axes_name)
    if pads is None:
        raise Unsupported(f"{pads_name} is computed at run time; fold it to a constant")
    padded = [a % len(x) for a in axes] if axes is not None else range(len(x))
    begin, end = [0] * len(x), [0] * len(x)
    for k, axis in enumerate(padded):
        begin[axis], end[axis] = pads[k], pads[k + len(pads) // 2]
    mode = step.string("mode", "constant")
    lanes = words(ctx.dtype(op.output))
    dims: list[tuple[int, int, int, int]] = [(1, 1, 0, lanes * math.prod(x))]  # output size, source size, begin, stride
    whole, offset = True, 0
    for n, o, b, e, stride in zip(x, y, begin, end, strides_of(x), strict=True):
        offset += maximum(-b, 0) * stride * lanes
        left = n - maximum(-b, 0) - maximum(-e, 0)
        if whole and (b, e) == (0, 0):
            dims[-1] = (dims[-1][0] * o, dims[-1][1] * n, 0, stride * lanes)
        else:
            dims.append((o, left, maximum(b, 0), stride * lanes))
        whole = (b, e) == (0, 0)
    if lanes == 2:
        dims.append((2, 2, 0, 1))
    params: dict[str, int | float] = {"offset": offset}
    for d, (size, source, first, stride) in enumerate(dims):
        params |= {f"d{d}": size, f"n{d}:i32": source, f"b{d}:i32": first, f"s{d}": stride}
    filled = mode == "constant" and bool(value)
    emit_elements(
        ctx,
        "pad",
        op.name,
        op.output,
        [
            Operand("x", step.inputs[0], width=1, bits=True),
            *([Operand("fill", value, width=1, bits=True)] if filled else []),
        ],
        params,
        bits=True,
        rank=len(dims),
        mode=mode,
        filled=filled,
        lanes=lanes,
    )


def _pad(x: Sequence[int], pads: Sequence[int], mode: str, g: Graph) -> None:
    g.input("x", x)
    inputs = ["x", g.ints("pads", pads)]
    if mode == "constant":
        inputs.append(g.constant("fill", np.array(-1.5)))
    g.node("Pad", inputs, ["y"], mode=mode)
    g.output("y")


def _axes(g: Graph) -> None:
    g.input("x", (2, 3, 5))
    inputs = ["x", g.ints("pads", (1, 2)), "", g.ints("axes", (-1,))]
    g.node("Pad", inputs, ["y"])
    g.output("y")


def _far_reflection(g: Graph) -> None:
    """Pads beyond the size reflect again and again: period 2 (n - 1)."""
    g.input("x", np.arange(4, dtype=np.float32))
    g.node("Pad", ["x", g.ints("pads", (9, 7))], ["y"], mode="reflect")
    g.output("y")


def _far_reflection_table(g: Graph) -> None:
    """The definition written out, since ONNX Runtime refuses such pads."""
    g.input("x", np.arange(4, dtype=np.float32))
    positions = [abs((c + 3) % 6 - 3) for c in range(-9, 11)]
    g.node("Gather", ["x", g.ints("positions", positions)], ["y"])
    g.output("y")


CASES = [
    *(
        Case(f"{mode}_w{w}", partial(_pad, (2, 3, 3, w), (0, 0, 1, 2, 0, 0, 2, 1), mode))
        for mode in ("constant", "edge", "wrap")
        for w in (3, 4, 5, 6)
    ),
    *(Case(f"reflect_w{w}", partial(_pad, (2, 3, 3, w), (0, 0, 1, 2, 0, 0, 2, 1), "reflect")) for w in (3, 4, 5, 6)),
    Case("crop", partial(_pad, (3, 5, 6), (0, -1, 2, 0, -1, -1), "constant")),
    Case("axes", _axes),
    Case("reflect_far", _far_reflection, reference=_far_reflection_table),
]
