"""Operators that scale elements by what their axis holds: Softmax, LogSoftmax, Hardmax, LpNormalization.

Softmax has the form of opset 13; a row with NaN or inf in it is NaN. A row of -inf alone, one that a mask hides, is 0
(its logarithm -inf) where the quotient would be 0 / 0: what graphs that test for NaN put there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.arg_reduce import first_index
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.rows import HIGHEST_KEY, LOWEST_KEY, NO_EPILOGUE, Pass, emit_rows, order, rows_of

_PEAK = Pass("key", "ordered(x)", "max(%s, %s)", LOWEST_KEY, "u32", ("let peak = U(value_of(key));",))
_SHOWN = Pass(
    "key", "ordered(x)", "max(%s, %s)", LOWEST_KEY, "u32",
    (f"let peak = U(select(value_of(key), 0.0f, key == {LOWEST_KEY}));",),
)  # fmt: skip
_FINITE = f"key < {HIGHEST_KEY}"
# Arguments below -87 would give subnormal numbers, which CPU adapters take 100 times as long for.
_SHARES = Pass("sum", "exp(max(x - peak, U(-87.0)))", then=(f"let share = select(P.nan, 1.0f / sum, {_FINITE});",))
_LOGARITHM = Pass(
    "sum", "exp(max(x - peak, U(-87.0)))", then=(f"let shift = peak + U(select(P.nan, log(sum), {_FINITE}));",)
)
# A row of zeros stays one.
_ABSOLUTE = Pass("total", "abs(x)", then=("let norm = select(total, 1.0f, total == 0.0f);",))
_EUCLIDEAN = Pass("total", "x * x", then=("let norm = select(sqrt(total), 1.0f, total == 0.0f);",))


@lowers("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")
def lower_softmax(op: FusedOp, ctx: Lowering) -> None:
    """One dispatch, over any axis."""
    step = op.anchor
    assert step is not None
    shape = ctx.shape(op.output)
    rows = rows_of(shape, [step.int("axis", -1) % len(shape)] if shape else [])
    written = op.output if rows.width == 4 else aligned_output(ctx, op.output)
    tail = NO_EPILOGUE
    if op.epilogue:
        if step.op_type != "Softmax" or rows.reduced[1] != (1,):
            raise Unsupported(f"{step.op_type} along axis {step.int('axis', -1)} with a fused epilogue: do not fuse it")
        tail = render_epilogue(ctx, op.epilogue, step, op.output, rows.width)
    match step.op_type:
        case "Softmax":
            passes = [_SHOWN, _SHARES]
            value = "select(exp(max(x - peak, U(-87.0))), U(), x - peak < U(-87.0)) * share"
        case "LogSoftmax":
            passes, value = [_SHOWN, _LOGARITHM], "x - shift"
        case "Hardmax":
            passes, value = first_index(_PEAK, "ordered(x) == VU(key)"), "select(U(0.0), U(1.0), index == VU(chosen))"
        case _:
            passes, value = [_ABSOLUTE if step.int("p", 2) == 1 else _EUCLIDEAN], "x / U(norm)"
    emit_rows(
        ctx,
        op.name,
        rows,
        [Operand("x", step.inputs[0], width=rows.width), Operand("out", written, "read_write", width=rows.width)],
        passes,
        elements={"out": f"epilogue({value}, at, i)" if tail.present else value},
        params={"nan": math.nan} if _SHARES in passes or _LOGARITHM in passes else {},
        epilogue=tail,
        libraries=[order("highest", vector=rows.width == 4)],
        flops=6,
    )
    finish(ctx, op.name, written, op.output)


def _softmax(op_type: str, shape: Sequence[int], axis: int, scale: float, g: Graph) -> None:
    g.input("x", shape, scale=scale)
    g.node(op_type, ["x"], ["y"], axis=axis)
    g.output("y")


def _masked(rows: int, low: float, g: Graph) -> None:
    """Rows that are all at the largest negative value of f16 (or lower) share equally."""
    data = np.full((rows, 9), low, np.float32)
    data[0, :4] = 1.0
    g.input("x", data)
    g.node("Softmax", ["x"], ["y"])
    g.output("y")


def _hidden(reference: bool, g: Graph) -> None:
    """A row of -inf alone is 0; ONNX Runtime gives NaN there, so its graph replaces it."""
    data = np.full((3, 9), -np.inf, np.float32)
    data[1, 2:5] = (1.0, 2.0, -np.inf)
    g.input("x", data)
    g.node("Softmax", ["x"], ["s" if reference else "y"])
    if reference:
        g.node("IsNaN", ["s"], ["undefined"])
        g.constant("nothing", np.zeros(1))
        g.node("Where", ["undefined", "nothing", "s"], ["y"])
    g.output("y")


def _fused(shape: Sequence[int], axis: int, g: Graph) -> None:
    g.input("x", shape)
    g.input("residual", shape)
    first = g.position
    g.node("Softmax", ["x"], ["s"], axis=axis)
    g.node("Add", ["s", "residual"], ["y"])
    g.fused("Shares", ["x", "residual"], ["y"], first)
    g.output("y")


CASES = [
    *(Case(f"softmax_w{w}", partial(_softmax, "Softmax", (3, 2, w), -1, 3.0)) for w in (1, 2, 7, 8)),
    *(Case(f"softmax_axis1_w{w}", partial(_softmax, "Softmax", (2, 5, w), 1, 3.0)) for w in (1, 6, 8)),
    Case("softmax_axis0", partial(_softmax, "Softmax", (6, 2, 3), 0, 3.0)),
    Case("softmax_negative_axis", partial(_softmax, "Softmax", (2, 3, 4, 5), -2, 3.0)),
    Case("softmax_long", partial(_softmax, "Softmax", (2, 4097), -1, 10.0)),
    Case("softmax_steep", partial(_softmax, "Softmax", (4, 33), -1, 1000.0)),
    *(Case(f"log_softmax_w{w}", partial(_softmax, "LogSoftmax", (3, w), -1, 3.0)) for w in (1, 5, 8)),
    Case("log_softmax_axis0", partial(_softmax, "LogSoftmax", (4, 3), 0, 3.0)),
    Case("softmax_masked_rows", partial(_masked, 3, -65504.0)),
    Case("softmax_masked_rows_f32", partial(_masked, 3, -3.4e38), precisions=("fp32",)),
    Case("softmax_hidden_rows", partial(_hidden, False), reference=partial(_hidden, True)),
    Case("fused_last", partial(_fused, (3, 7), -1)),
]
