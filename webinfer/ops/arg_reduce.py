"""ArgMax and ArgMin along any axis, of every element type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import onnx

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.numbers import extreme, numbers
from webinfer.ops.rows import HIGHEST_KEY, LOWEST_KEY, Pass, emit_rows, order, rows_of


def first_index(best: Pass, equal: str, *, last: bool = False) -> list[Pass]:
    """The passes that find `chosen`, the index of the first (or last) element for which `equal` holds after `best`."""
    if last:
        return [best, Pass("chosen", f"select(VU(0u), index, {equal})", "max(%s, %s)", "0u", "u32")]
    return [best, Pass("chosen", f"select(VU(0xffffffffu), index, {equal})", "min(%s, %s)", "0xffffffffu", "u32")]


@lowers("ArgMax", "ArgMin")
def lower_arg_reduce(op: FusedOp, ctx: Lowering) -> None:
    """The extreme value of a row first, then where it is. NaN is more extreme than any number, as numpy has it."""
    step = op.anchor
    assert step is not None
    source, largest = step.inputs[0], step.op_type == "ArgMax"
    dtype, shape = ctx.dtype(source), ctx.shape(source)
    element = numbers(dtype)
    rows = rows_of(shape, [step.int("axis", 0) % len(shape)] if shape else [], vector=not element.wide)
    libraries = element.declarations
    combine = element.max if largest else element.min
    if element.word == "f32":
        best = Pass("key", "ordered(x)", combine, LOWEST_KEY if largest else HIGHEST_KEY, "u32")
        equal = "ordered(x) == VU(key)"
        libraries.append(order("highest" if largest else "lowest", vector=rows.width == 4))
    else:
        best = Pass("best", "x", combine, extreme(dtype, highest=not largest), element.word)
        equal = "all(x == best)" if element.wide else "x == U(best)"
    emit_rows(
        ctx,
        op.name,
        rows,
        [Operand("x", source, width=rows.width), Operand("out", op.output, "read_write", width=1)],
        first_index(best, equal, last=step.int("select_last_index", 0) == 1),
        word=element.word,
        results={"out": "vec2<u32>(chosen, 0u)"},
        libraries=libraries,
        flops=2,
    )


def _arg(op_type: str, x: Sequence[int], axis: int, last: int, g: Graph) -> None:
    """Values that occur twice."""
    g.input("x", np.round(g.floats(x, scale=2.0)))
    g.node(op_type, ["x"], ["y"], axis=axis, select_last_index=last, keepdims=0)
    g.output("y", dtype=onnx.TensorProto.INT64)


CASES = [
    *(Case(f"max_w{w}", partial(_arg, "ArgMax", (3, w), 1, w % 2)) for w in (1, 6, 8, 300)),
    *(Case(f"min_axis{axis}", partial(_arg, "ArgMin", (3, 5, 4), axis, axis)) for axis in (0, 1)),
]
