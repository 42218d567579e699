"""Concat: a view of the only part that has elements, else one dispatch per group of inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp
from webinfer.kernel import word_type, words
from webinfer.lowering import Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import WORKGROUP, only_step

CONCAT_INPUTS = 7  # one binding stays for the output


@lowers("Concat")
def lower_concat(op: FusedOp, ctx: Lowering) -> None:
    """Concat; of one tensor it is a view."""
    step = only_step(op)
    parts = [n for n in step.inputs if ctx.size(n)]
    if len(parts) == 1 and ctx.view(op.output, parts[0]):
        return
    concatenate(ctx, op.name, step.inputs, step.int("axis", 0), op.output)


def concatenate(ctx: Lowering, node: str, inputs: Sequence[str], axis: int, output: str) -> None:
    """Concat along `axis`; more inputs than bindings are joined group by group first."""
    shape = ctx.shape(output)
    axis %= max(len(shape), 1)
    parts = [n for n in inputs if ctx.size(n)]
    level = 0
    while len(parts) > CONCAT_INPUTS:
        joined = []
        for first in range(0, len(parts), CONCAT_INPUTS):
            group = parts[first : first + CONCAT_INPUTS]
            length = sum(ctx.shape(n)[axis] for n in group)
            sizes = (*shape[:axis], length, *shape[axis + 1 :])
            joined.append(ctx.scratch(f"{output}#level{level}_{first}", sizes, ctx.dtype(output)))
            _join(ctx, node, group, axis, joined[-1])
        parts, level = joined, level + 1
    _join(ctx, node, parts, axis, output)


def _join(ctx: Lowering, node: str, parts: Sequence[str], axis: int, output: str) -> None:
    dtype = ctx.dtype(output)
    lengths = [math.prod(ctx.shape(n)[axis:]) * words(dtype) for n in parts]
    vector = all(n % 4 == 0 for n in lengths)
    unit = 4 if vector else 1
    elements = ctx.size(output) * words(dtype)
    count = ceil_div(elements, 4)
    params: dict[str, int | float] = {"count": count, "last": elements - 1, "row": sum(lengths) // unit}
    params |= {f"n{k}": n // unit for k, n in enumerate(lengths)}
    ctx.emit(
        "concat",
        node=node,
        operands=[
            *(Operand(f"x{k}", n, width=4 if vector else 1, bits=True) for k, n in enumerate(parts)),
            Operand("out", output, "read_write", bits=True),
        ],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        inputs=len(parts),
        rows=math.prod(ctx.shape(output)[:axis]) != 1,
        vector=vector,
        element=word_type(dtype),
    )


def _concat_case(shapes: Sequence[Sequence[int]], axis: int, g: Graph) -> None:
    names = [g.input(f"x{k}", shape) for k, shape in enumerate(shapes)]
    g.node("Concat", names, ["y"], axis=axis)
    g.output("y")


CASES = [
    *(Case(f"concat_w{w}", partial(_concat_case, ((2, 3, w), (2, 1, w), (2, 4, w)), 1)) for w in range(1, 10)),
    Case("concat_last", partial(_concat_case, ((3, 2), (3, 5)), -1)),
    Case("concat_ten", partial(_concat_case, [(2, k + 1) for k in range(10)], 1)),
    Case("concat_zero_size", partial(_concat_case, ((2, 0), (2, 1)), 1)),
    Case("concat_one", partial(_concat_case, ((2, 5),), 0)),
]
