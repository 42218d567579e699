"""GridSample over any number of axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.elements import axes, emit_elements

_TAPS = {"nearest": (0, 0), "linear": (0, 1), "cubic": (-1, 2)}  # neighbours of the element at or below a position


@lowers("GridSample")
def lower_grid_sample(op: FusedOp, ctx: Lowering) -> None:
    """Nearest for every element type, linear and cubic for floats; each padding mode."""
    step = op.anchor
    assert step is not None
    x, out = ctx.shape(step.inputs[0]), ctx.shape(op.output)
    rank = len(x) - 2
    mode = step.string("mode", "linear")
    if mode != "nearest" and ctx.element(op.output) != "f32":
        raise Unsupported(f"{mode} GridSample of {ctx.dtype(op.output)}: cast to float32 first")
    first, last = _TAPS[mode]
    params = {"channels": x[1]} | axes(size=x[2:], out=out[2:])
    if mode == "cubic":
        params["coefficient"] = -0.75
    emit_elements(
        ctx,
        "grid_sample",
        op.name,
        op.output,
        [Operand("x", step.inputs[0], width=1), Operand("grid", step.inputs[1], width=1)],
        params,
        flops=(8 if mode == "nearest" else 4) * (last - first + 1) ** rank,
        rank=rank,
        mode=mode,
        padding=step.string("padding_mode", "zeros"),
        align=step.int("align_corners", 0) == 1,
        first=first,
        last=last,
    )


def _case(x: Sequence[int], out: Sequence[int], attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", x)
    # Half of the positions lie outside.
    g.input("grid", (x[0], *out, len(out)), scale=1.2)
    g.node("GridSample", ["x", "grid"], ["y"], **attributes)
    g.output("y")


CASES = [
    *(
        Case(
            f"{mode}_{padding}_{align}",
            partial(_case, (2, 3, 5, 7), (4, 3), {"mode": mode, "padding_mode": padding, "align_corners": align}),
            precisions=("fp32",) if mode == "nearest" else ("fp32", "fp16"),
        )
        for mode in ("nearest", "linear", "cubic")
        for padding, align in (("zeros", 0), ("border", 1), ("reflection", 0), ("reflection", 1))
    ),
    Case("volume", partial(_case, (1, 2, 3, 4, 5), (2, 3, 2), {"mode": "linear", "align_corners": 1})),
]
