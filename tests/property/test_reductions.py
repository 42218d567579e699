"""Reductions, ArgMax, softmax and running sums on a device against the CPU: shapes, axes, types, NaN and inf."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from tests.property.harness import Array
from tests.property.nodes import Node, assert_right

_SUMS = ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")
_FLOATS = (np.float32, np.float16)
_WORDS = (np.int32, np.int64, np.uint32, np.uint64)
_BYTES = (np.int8, np.uint8, np.bool_)
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
_SHAPES = array_shapes(min_dims=1, max_dims=8, min_side=1, max_side=9).filter(lambda s: math.prod(s) <= 2000)
_settings = settings(max_examples=6, derandomize=True, deadline=None, database=None)


def _values(draw: Any, shape: tuple[int, ...], kind: type[np.generic], *, special: bool = True) -> Array:
    """Random values: floats with a few that are not finite, integers over the whole range of their type."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    if np.issubdtype(kind, np.floating):
        x = rng.standard_normal(shape)
        if special and draw(st.booleans()):
            np.put(x, rng.integers(0, x.size, 2), rng.choice(_SPECIAL, 2))
        return np.asarray(x.astype(kind))
    if kind is np.bool_:
        return np.asarray(rng.integers(0, 2, shape) > 0)
    dtype: np.dtype[Any] = np.dtype(kind)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


@st.composite
def reductions(draw: Any) -> Node:
    """A reduction over some axes, written from either end."""
    shape = draw(_SHAPES)
    op_type = draw(st.sampled_from([*_SUMS, "ReduceMax", "ReduceMin"]))
    extreme = op_type in ("ReduceMax", "ReduceMin")
    whole = op_type in ("ReduceSum", "ReduceProd", "ReduceSumSquare")
    kinds = (*_FLOATS, *(_WORDS if extreme or whole else ()), *(_BYTES if extreme else ()))
    x = _values(draw, shape, draw(st.sampled_from(kinds)), special=op_type != "ReduceProd")
    axes = draw(st.lists(st.integers(0, len(shape) - 1), unique=True, max_size=len(shape)))
    axes = [a - draw(st.sampled_from((0, len(shape)))) for a in axes]
    attributes = {"keepdims": draw(st.integers(0, 1)), "noop_with_empty_axes": draw(st.integers(0, 1))}
    if not axes and attributes["noop_with_empty_axes"] and op_type not in ("ReduceSum", "ReduceMax", "ReduceMin"):
        attributes["noop_with_empty_axes"] = 0  # ONNX Runtime returns x itself, the operators' text does not
    plain = extreme or x.dtype.kind in "iu"  # ONNX Runtime drops NaN, and sums 64-bit integers in double precision
    return Node(op_type, (x, np.array(axes, np.int64)), attributes, constants=(1,), plain=plain)


@st.composite
def searches(draw: Any) -> Node:
    """ArgMax or ArgMin with values that occur more than once."""
    shape = draw(_SHAPES)
    x = _values(draw, shape, draw(st.sampled_from((*_FLOATS, *_WORDS, *_BYTES[:2]))))
    x = np.asarray(np.round(x) if x.dtype.kind == "f" else x // 2)
    attributes = {
        "axis": draw(st.integers(-len(shape), len(shape) - 1)),
        "keepdims": draw(st.integers(0, 1)),
        "select_last_index": draw(st.integers(0, 1)),
    }
    if x.dtype.kind == "f" and np.isnan(x).any():
        attributes["select_last_index"] = 0  # ONNX's evaluator turns the axis around, and numpy takes the first NaN
    return Node(draw(st.sampled_from(("ArgMax", "ArgMin"))), (x,), attributes, plain=True)


@st.composite
def shares(draw: Any) -> Node:
    """Softmax and its kin; rows that are not finite too."""
    shape = draw(_SHAPES)
    op_type = draw(st.sampled_from(("Softmax", "LogSoftmax", "Hardmax", "LpNormalization")))
    x = _values(draw, shape, draw(st.sampled_from(_FLOATS)), special=op_type in ("Softmax", "LogSoftmax"))
    if draw(st.booleans()):
        x[..., 0] = -np.inf if op_type == "Softmax" else 0.0
    attributes = {"axis": draw(st.integers(-len(shape), len(shape) - 1))}
    if op_type == "LpNormalization":
        attributes["p"] = draw(st.integers(1, 2))
    node = Node(op_type, (x,), attributes)
    hidden = np.isneginf(x).all(axis=attributes["axis"], keepdims=True)
    if op_type not in ("Softmax", "LogSoftmax") or not hidden.any():
        return node
    # A row that a mask hides throughout is 0, not 0 / 0.
    nothing = x.dtype.type(0.0 if op_type == "Softmax" else -np.inf)
    return replace(node, exact=(np.where(hidden, nothing, node.expected()[0]),))


@st.composite
def running(draw: Any) -> Node:
    """CumSum."""
    shape = draw(_SHAPES)
    kind = draw(st.sampled_from((*_FLOATS, *_WORDS)))
    axis = np.array(draw(st.integers(-len(shape), len(shape) - 1)), draw(st.sampled_from((np.int32, np.int64))))
    attributes = {"exclusive": draw(st.integers(0, 1)), "reverse": draw(st.integers(0, 1))}
    return Node("CumSum", (_values(draw, shape, kind, special=False), axis), attributes, constants=(1,))


@_settings
@given(st.lists(st.one_of(reductions(), searches(), shares(), running()), min_size=1, max_size=16))
def test_nodes(nodes: list[Node]) -> None:
    assert_right(nodes)


_EMPTY = {
    "ReduceSum": 0.0,
    "ReduceProd": 1.0,
    "ReduceMax": -np.inf,
    "ReduceMin": np.inf,
    "ReduceL1": 0.0,
    "ReduceL2": 0.0,
    "ReduceSumSquare": 0.0,
    "ReduceLogSum": -np.inf,
    "ReduceLogSumExp": -np.inf,
}


def test_reductions_over_nothing() -> None:
    """Operator texts: an empty set of values yields the neutral value of the reduction."""
    x, axes = np.zeros((2, 0, 3), np.float32), np.array([1], np.int64)
    nodes = [Node(op_type, (x, axes), {"keepdims": 0}, constants=(1,)) for op_type in _EMPTY]
    for node in nodes:
        (expected,) = node.expected()
        assert expected.shape == (2, 3)
        assert (expected == _EMPTY[node.op_type]).all(), node
    assert_right(nodes)


@pytest.mark.parametrize("length", [1_000_003, 1_048_576])
def test_a_long_sum_keeps_its_digits(length: int) -> None:
    """Relative error of 1e-6 over a million elements, against the sum in double precision."""
    x = np.random.default_rng(0).random(length).astype(np.float32)
    exact = x.astype(np.float64)
    right = {"ReduceSum": exact.sum(), "ReduceMean": exact.mean(), "ReduceL2": math.sqrt((exact * exact).sum())}
    nodes = [Node(op, (x,), {"keepdims": 0}, exact=(np.array(v, np.float32),)) for op, v in right.items()]
    assert_right(nodes, tolerance=6e-7)
