"""Pad: constant, edge, reflect and wrap, along any axes; negative pads crop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import element_type, strides_of
from webinfer.ops.elementwise import literal

WORKGROUP = 64


@lowers("Pad")
def lower_pad(op: FusedOp, ctx: Lowering) -> None:
    """Neighbouring axes without pads are merged."""
    step = op.anchor
    assert step is not None
    if op.epilogue:
        raise Unsupported("Pad with a fused epilogue: do not fuse it")
    inputs = (*step.inputs, "", "", "")
    x, out = ctx.shape(inputs[0]), ctx.shape(op.output)
    constants = []
    for name in inputs[1:4]:
        array = ctx.constant(name) if name else None
        if name and array is None:
            raise Unsupported(f"{name} is computed at run time; fold it to a constant")
        constants.append(array)
    pads, value, axes = constants
    assert pads is not None
    begin = [0] * len(x)
    names = range(len(x)) if axes is None else [int(a) for a in axes.reshape(-1)]
    for axis, amount in zip(names, pads.reshape(-1), strict=False):
        begin[axis] = int(amount)
    dims: list[tuple[int, int, int, int]] = []  # output size, source size, begin, stride
    for n, o, b, stride in zip(x, out, begin, strides_of(x), strict=True):
        if dims and (n, b) == (o, 0) and dims[-1][:1] == dims[-1][1:2] and dims[-1][2] == 0:
            dims[-1] = (dims[-1][0] * o, dims[-1][1] * n, 0, stride)
        else:
            dims.append((o, n, b, stride))
    count = ceil_div(math.prod(out), 4)
    params: dict[str, int | float] = {"count": count, "last": math.prod(out) - 1}
    for d, (size, source, first, stride) in enumerate(dims):
        params |= {f"d{d}": size, f"n{d}:i32": source, f"b{d}:i32": first, f"s{d}": stride}
    ctx.emit(
        "pad",
        node=op.name,
        operands=[Operand("x", inputs[0], width=1), Operand("out", op.output, "read_write")],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        rank=len(dims),
        mode=step.string("mode", "constant"),
        element=element_type(ctx, op.output),
        fill=literal(float(value.reshape(-1)[0])) if value is not None else "0",
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
