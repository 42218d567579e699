"""Reading at positions that an index tensor gives: Gather, GatherElements, GatherND."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import helper

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import Index, Nest, nested_copy, only_step, rearrange, strides_of


@lowers("Gather")
def lower_gather(op: FusedOp, ctx: Lowering) -> None:
    """Gather; one constant position is a slice, often a view."""
    step = only_step(op)
    data, index = step.inputs
    nest = slices_at(ctx.shape(data), index, ctx.shape(index), step.int("axis", 0))
    position = ctx.integers(index)
    if position is not None and len(position) == 1 and nest.index:
        ((size, stride),) = nest.index.axes
        start = position[0] + size if position[0] < 0 else position[0]
        rearrange(ctx, op.name, data, op.output, nest.sizes, nest.strides, start * stride)
        return
    nested_copy(ctx, op.name, data, op.output, nest)


def slices_at(shape: Sequence[int], index: str, places: Sequence[int], axis: int) -> Nest:
    """The slices of a tensor of `shape` at the positions along `axis` that `index`, of shape `places`, holds."""
    axis %= len(shape)
    strides, none = strides_of(shape), (0,) * len(places)
    sizes = (*shape[:axis], *places, *shape[axis + 1 :])
    steps = (*strides[:axis], *none, *strides[axis + 1 :])
    along = (*(0 for _ in shape[:axis]), *strides_of(places), *(0 for _ in shape[axis + 1 :]))
    return Nest(sizes, steps, index=Index(index, along, ((shape[axis], strides[axis]),)))


@lowers("GatherElements")
def lower_gather_elements(op: FusedOp, ctx: Lowering) -> None:
    """GatherElements: the output lies like the indices, which replace the coordinate along `axis`."""
    step = only_step(op)
    data, index = step.inputs
    nested_copy(ctx, op.name, data, op.output, elements_along(ctx, data, index, step.int("axis", 0)))


def elements_along(ctx: Lowering, data: str, index: str, axis: int) -> Nest:
    """The elements of `data` at the places of `index`, whose values replace the coordinate along `axis`."""
    shape, places = ctx.shape(data), ctx.shape(index)
    axis %= max(len(shape), 1)
    strides = strides_of(shape)
    steps = (*strides[:axis], 0, *strides[axis + 1 :])
    return Nest(places, steps, index=Index(index, strides_of(places), ((shape[axis], strides[axis]),)))


@lowers("GatherND")
def lower_gather_nd(op: FusedOp, ctx: Lowering) -> None:
    """GatherND: the last axis of the indices holds coordinates of the axes after `batch_dims`."""
    step = only_step(op)
    data, index = step.inputs
    shape, places = ctx.shape(data), ctx.shape(index)
    batch, strides = step.int("batch_dims", 0), strides_of(shape)
    inner = batch + places[-1]
    sizes = (*places[:-1], *shape[inner:])
    steps = (*strides[:batch], *(0 for _ in places[batch:-1]), *strides[inner:])
    along = (*strides_of(places)[:-1], *(0 for _ in shape[inner:]))
    axes = tuple(zip(shape[batch:inner], strides[batch:inner], strict=True))
    nested_copy(ctx, op.name, data, op.output, Nest(sizes, steps, index=Index(index, along, axes)))


def _case(op_type: str, shape: Sequence[int], index: Any, attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", shape)
    g.input("i", np.array(index, np.int64))
    g.node(op_type, ["x", "i"], ["y"], **attributes)
    g.output("y")


def _sliced(g: Graph) -> None:
    g.input("x", (2, 5, 4))
    g.constant("i", np.array(-2, np.int64))
    g.node("Gather", ["x", "i"], ["s"], axis=1)
    g.node("Neg", ["s"], ["y"])
    g.output("y")


def _outside(g: Graph) -> None:
    """Positions beyond the ends mean the ends."""
    g.input("x", (4, 3))
    g.input("i", np.array([4, -9, 100], np.int64))
    g.node("Gather", ["x", "i"], ["y"])
    g.output("y")


def _ends(g: Graph) -> None:
    g.input("x", (4, 3))
    g.input("i", np.array([3, 0, 3], np.int64))
    g.node("Gather", ["x", "i"], ["y"])
    g.output("y")


def _of_integers(g: Graph) -> None:
    """Every way in which elements lie in memory: 64 bits, words, and weights packed in bytes and nibbles."""
    g.input("i", np.array([[2, -1], [0, 1]], np.int32))
    for dtype in (np.int64, np.uint32, np.int8, np.bool_):
        name = np.dtype(dtype).name
        g.constant(name, (np.arange(-7, 8).reshape(3, 5) * (1 << 40 if dtype is np.int64 else 1)).astype(dtype))
        g.node("Gather", [name, "i"], [f"y_{name}"], axis=0)
        g.output(f"y_{name}", dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


_BATCHED = np.random.default_rng(0).integers(-4, 4, (1, 1, 8, 2))

CASES = [
    Case("rows", partial(_case, "Gather", (5, 8), [[1, -1], [0, 4]], {})),
    Case("odd_rows", partial(_case, "Gather", (5, 3), [4, 4, -5], {})),
    Case("columns", partial(_case, "Gather", (2, 3, 5), [[0], [-1]], {"axis": -1})),
    Case("scalar", partial(_case, "Gather", (3, 6), 1, {"axis": 1})),
    Case("slice", _sliced),
    Case("outside", _outside, reference=_ends),
    Case("of_integers", _of_integers, precisions=("fp32",)),
    Case("elements", partial(_case, "GatherElements", (3, 5), [[0, -1, 2], [1, 1, 0]], {"axis": 1})),
    Case("elements_first", partial(_case, "GatherElements", (3, 2, 2), [[[0, -1], [2, 0]]], {"axis": 0})),
    Case("nd", partial(_case, "GatherND", (3, 4, 5), [[0, -1], [2, 1]], {})),
    Case("nd_batched", partial(_case, "GatherND", (1, 1, 4, 4, 8), _BATCHED, {"batch_dims": 2})),
    Case("nd_elements", partial(_case, "GatherND", (2, 3), [[[1, 2]], [[0, 0]]], {})),
]
