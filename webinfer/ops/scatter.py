"""Writing at positions that an index tensor gives: ScatterElements (and Scatter), ScatterND, with every reduction.

An invocation owns elements of the output and applies the updates that hit them in order, so that the last one wins and
sums are the same in every run, for element types without atomics too. Where there are many updates, a dispatch before
marks the first and the last one that hits each place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import helper

from webinfer.fused import FusedOp
from webinfer.kernel import PACKED_BITS, words
from webinfer.lowering import Lowering, Operand, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import WORKGROUP, Index, Nest, only_step, rearrange, strides_of
from webinfer.ops.elements import emit_elements
from webinfer.ops.gather import elements_along
from webinfer.ops.generate import fill
from webinfer.ops.numbers import numbers
from webinfer.symbols import largest

_FEW = 32  # updates that every element of the output compares with its own place


@lowers("ScatterElements", "Scatter")
def lower_scatter_elements(op: FusedOp, ctx: Lowering) -> None:
    """ScatterElements; Scatter is its older name. Updates that meet differ in their coordinate along `axis` only."""
    step = only_step(op)
    data, index, updates = step.inputs
    axis = step.int("axis", 0)
    nest = elements_along(ctx, data, index, axis)
    _scatter(op, ctx, data, updates, nest, places=ctx.size(data), apart=strides_of(ctx.shape(index))[axis])


@lowers("ScatterND")
def lower_scatter_nd(op: FusedOp, ctx: Lowering) -> None:
    """ScatterND: the last axis of the indices holds coordinates; a place is the slice that they leave."""
    step = only_step(op)
    data, index, updates = step.inputs
    coordinates = ctx.shape(index)
    outer = ctx.shape(data)[: coordinates[-1]]
    axes = tuple(zip(outer, strides_of(outer), strict=True))
    nest = Nest((math.prod(coordinates[:-1]),), (0,), index=Index(index, (coordinates[-1],), axes))
    _scatter(op, ctx, data, updates, nest, places=math.prod(outer), apart=1)


def _scatter(op: FusedOp, ctx: Lowering, data: str, updates: str, nest: Nest, *, places: int, apart: int) -> None:
    """`nest` leads from an update to its place, a slice of the data. Updates that meet are k * `apart` apart."""
    step, dtype = only_step(op), ctx.dtype(op.output)
    reduction = step.string("reduction", "none")
    count = math.prod(nest.sizes)
    if count == 0 or places == 0:
        rearrange(ctx, op.name, data, op.output, (ctx.size(data),), (1,))
        return
    bits, flat = reduction == "none", nest.merged()
    assert flat.index is not None
    params: dict[str, int | float] = {
        "inner": ctx.size(data) // places * (words(dtype) if bits else 1),
        "updates": count,
        "places": places,
        "apart": apart,
    }
    operands = [Operand("x", data, width=1, bits=bits), Operand("update", updates, width=1, bits=bits)]
    marked = largest(count) > _FEW
    if marked:
        marks = ctx.scratch(f"{op.output}#marks", ((1 if bits else 2) * places,), "uint32")
        fill(ctx, op.name, marks)
        ctx.emit(
            "scatter_mark",
            node=op.name,
            operands=[flat.index.operand, Operand("marks", marks, "read_write", width=1, atomic=True)],
            workgroups=grid(ceil_div(count, WORKGROUP)),
            workgroup_size=(WORKGROUP, 1, 1),
            params={**params, **flat.params()},
            first=not bits,
            **flat.variables(),
        )
        operands.append(Operand("marks", marks, width=1))
    searched = not (marked and bits)
    emit_elements(
        ctx,
        "scatter",
        op.name,
        op.output,
        [*operands, *([flat.index.operand] if searched else [])],
        {**params, **(flat.params() if searched else {})},
        flops=0 if bits else ceil_div(ctx.size(updates), ctx.size(data)),
        bits=bits,
        marked=marked,
        searched=searched,
        combined=_combined(dtype, reduction) % ("v", "u"),
        result=f"extractBits(v, 0u, {PACKED_BITS[dtype]}u)" if dtype in PACKED_BITS and dtype != "bool" else "v",
        declarations=[] if bits else numbers(dtype).declarations,
        **flat.variables(),
    )


def _combined(dtype: str, reduction: str) -> str:
    """Format of an expression over the value so far and the update."""
    if reduction == "none":
        return "/* %s */ %s"
    if dtype == "bool":
        return {"add": "(%s | %s)", "max": "(%s | %s)", "mul": "(%s & %s)", "min": "(%s & %s)"}[reduction]
    arithmetic = numbers(dtype)
    return {"add": arithmetic.add, "mul": arithmetic.multiply, "max": arithmetic.max, "min": arithmetic.min}[reduction]


def _elements(shape: Sequence[int], index: Any, attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", shape)
    places = np.array(index, np.int64)
    g.input("i", places)
    g.input("u", places.shape)
    g.node("ScatterElements", ["x", "i", "u"], ["y"], **attributes)
    g.output("y")


def _nd(shape: Sequence[int], index: Any, reduction: str, g: Graph) -> None:
    g.input("x", shape)
    places = np.array(index, np.int64)
    g.input("i", places)
    g.input("u", (*places.shape[:-1], *shape[places.shape[-1] :]))
    g.node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    g.output("y")


def _integers(reduction: str, dtype: type, count: int, g: Graph) -> None:
    """Sums of integers are exact and wrap; updates meet often."""
    values = np.arange(1, count + 1) * (3 << 30 if dtype is np.int64 else 1)
    g.input("x", np.array([-5, 7, 100, 3, -9]).astype(dtype))
    g.input("i", np.arange(count).reshape(-1, 1) ** 2 % 5)
    g.input("u", values.astype(dtype))
    g.node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    g.output("y", dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


_MANY = np.random.default_rng(0).integers(-6, 6, (40, 1))
_ALONG = np.random.default_rng(1).integers(-7, 7, (3, 20, 2))
_ONCE = np.random.default_rng(2).permutation(50).reshape(5, 10)[:, :8]

CASES = [
    Case("elements", partial(_elements, (3, 5), [[1, -1], [0, 2]], {"axis": 1})),
    Case("elements_first", partial(_elements, (4, 3), [[0, 1, 2], [0, 1, 2]], {"axis": 0})),
    Case("elements_many", partial(_elements, (5, 50), _ONCE, {"axis": 1})),
    *(
        Case(f"elements_{r}", partial(_elements, (3, 7, 2), _ALONG, {"axis": 1, "reduction": r}))
        for r in ("add", "max")
    ),
    Case("nd_rows", partial(_nd, (6, 5), [[1], [-1], [1]], "none")),
    Case("nd_many", partial(_nd, (6, 3), _MANY, "none")),
    Case("nd_points", partial(_nd, (2, 3, 4), [[[0, -1, 1]], [[1, 2, 3]]], "none")),
    Case("nd_add_many", partial(_nd, (6, 3), _MANY, "add")),
    Case("nd_min", partial(_nd, (6, 3), _MANY, "min")),
    *(
        Case(f"{np.dtype(t).name}_{r}_{n}", partial(_integers, r, t, n), precisions=("fp32",))
        for t, r, n in (
            (np.int64, "add", 40),
            (np.int64, "mul", 9),
            (np.int64, "min", 9),
            (np.int32, "max", 40),
            (np.uint8, "add", 40),
            (np.int8, "mul", 9),
        )
    ),
]
