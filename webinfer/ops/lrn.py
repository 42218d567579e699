"""LRN: local response normalization across channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import emit_elements


@lowers("LRN")
def lower_lrn(op: FusedOp, ctx: Lowering) -> None:
    """X [N, C, ...]. An even window reaches one channel further up than down."""
    step = op.anchor
    assert step is not None
    shape, size = ctx.shape(op.output), step.int("size", 1)
    params: dict[str, int | float] = {
        "plane": math.prod(shape[2:]),
        "channels": shape[1],
        "before": (size - 1) // 2,
        "after": size // 2,
        "alpha": step.float("alpha", 1e-4) / size,
        "beta": step.float("beta", 0.75),
        "bias": step.float("bias", 1.0),
    }
    emit_elements(ctx, "lrn", op.name, op.output, [Operand("x", step.inputs[0], width=1)], params, flops=2 * size + 4)


def _lrn(shape: Sequence[int], size: int, g: Graph) -> None:
    g.input("x", shape)
    g.node("LRN", ["x"], ["y"], size=size, alpha=0.5, beta=0.6, bias=1.5)
    g.output("y")


CASES = [Case(f"size_{n}", partial(_lrn, (2, 7, 3, 3), n)) for n in (1, 3, 5)]
