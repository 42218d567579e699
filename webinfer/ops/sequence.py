"""Ops that move elements along a sequence by lengths or positions given per batch: ReverseSequence, TensorScatter."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from webinfer.fused import FusedOp
from webinfer.kernel import words
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements


@lowers("ReverseSequence")
def lower_reverse_sequence(op: FusedOp, ctx: Lowering) -> None:
    """ReverseSequence: the first lengths[b] elements of sequence b come in reverse order."""
    step = only_step(op)
    x, lengths = step.inputs
    shape, lanes = ctx.shape(x), words(ctx.dtype(x))
    time = step.int("time_axis", 0) % len(shape)
    emit_elements(
        ctx,
        "reverse_sequence",
        op.name,
        op.output,
        [Operand("x", x, width=1, bits=True), Operand("lengths", lengths, width=1)],
        {"outer": shape[0], "middle": shape[1], "inner": math.prod(shape[2:]) * lanes},
        bits=True,
        time_first=time == 0,
    )


@lowers("TensorScatter")
def lower_tensor_scatter(op: FusedOp, ctx: Lowering) -> None:
    """TensorScatter: update b replaces the cache from positions[b] on; a circular one continues at its start."""
    step = only_step(op)
    cache, update, positions = (*step.inputs, "")[:3]
    shape, lanes = ctx.shape(cache), words(ctx.dtype(cache))
    axis = step.int("axis", -2) % len(shape)
    emit_elements(
        ctx,
        "tensor_scatter",
        op.name,
        op.output,
        [
            Operand("x", cache, width=1, bits=True),
            Operand("update", update, width=1, bits=True),
            *([Operand("positions", positions, width=1)] if positions else []),
        ],
        {
            "size:i32": shape[axis],
            "updated:i32": ctx.shape(update)[axis],
            "inner": math.prod(shape[axis + 1 :]) * lanes,
            "rows": math.prod(shape[1:axis]),  # of one batch
        },
        bits=True,
        positioned=bool(positions),
        circular=step.string("mode", "linear") == "circular",
    )


def _reverse(time: int, g: Graph) -> None:
    g.input("x", (4, 3, 5) if time == 0 else (3, 4, 5))
    g.input("lengths", np.array([4, 1, 2], np.int64))
    g.node("ReverseSequence", ["x", "lengths"], ["y"], time_axis=time, batch_axis=1 - time)
    g.output("y")


CASES = [Case("reverse_time_first", partial(_reverse, 0)), Case("reverse_batch_first", partial(_reverse, 1))]
