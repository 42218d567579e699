"""Normalization operators on a device against ONNX Runtime CPU: shapes, axes, broadcast scales, optional outputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from tests.property.harness import Array
from tests.property.nodes import Node, assert_right


def _floats(draw: Any, *shapes: tuple[int, ...]) -> list[Array]:
    """Normal random arrays."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def _shapes(ranks: tuple[int, int]) -> st.SearchStrategy[tuple[int, ...]]:
    shapes = array_shapes(min_dims=ranks[0], max_dims=ranks[1], min_side=1, max_side=9)
    return shapes.filter(lambda s: math.prod(s) <= 2000)


@st.composite
def layer_norms(draw: Any) -> Node:
    """LayerNormalization and RMSNormalization from any axis on; scales of a row, or of one along some of its axes."""
    shape = draw(_shapes((1, 6)))
    axis = draw(st.integers(0, len(shape) - 1))
    row = shape[axis:]
    x, scale, bias = _floats(draw, shape, row, row)
    attributes = {"axis": axis - draw(st.sampled_from((0, len(shape)))), "epsilon": 1e-3}
    if draw(st.booleans()):
        return Node("RMSNormalization", (x, scale), attributes)
    if draw(st.booleans()):
        return Node("LayerNormalization", (x, scale), attributes)
    return Node("LayerNormalization", (x, scale, bias), attributes, outputs=draw(st.sampled_from((1, 3))))


@st.composite
def skip_norms(draw: Any) -> Node:
    """com.microsoft's norms of a sum: skip of every batch or of one, bias of the sum."""
    n, rows, width = draw(st.integers(1, 3)), draw(st.integers(1, 5)), draw(st.integers(1, 19))
    skip = (draw(st.sampled_from((1, n))), rows, width)
    x, s, scale, beta, bias = _floats(draw, (n, rows, width), skip, (width,), (width,), (width,))
    row = bias if draw(st.booleans()) else None
    if draw(st.booleans()):
        inputs = (x, s, scale, beta if draw(st.booleans()) else None, row)
        return Node("SkipLayerNormalization", inputs, {"epsilon": 1e-3}, domain="com.microsoft")
    return Node("SkipSimplifiedLayerNormalization", (x, s, scale, row), {"epsilon": 1e-3}, domain="com.microsoft")


@st.composite
def channel_norms(draw: Any) -> Node:
    """Norms over images of one to three axes, with factors per channel."""
    groups = draw(st.integers(1, 3))
    spatial = draw(_shapes((1, 3)))
    shape = (draw(st.integers(1, 3)), groups * draw(st.integers(1, 4)), *spatial)
    x, scale, bias, mean, deviation = _floats(draw, shape, *[shape[1:2]] * 4)
    match draw(st.sampled_from(("Instance", "Group", "Batch", "LRN", "MeanVariance"))):
        case "Instance":
            return Node("InstanceNormalization", (x, scale, bias), {"epsilon": 1e-3})
        case "Group":
            return Node("GroupNormalization", (x, scale, bias), {"epsilon": 1e-3, "num_groups": groups})
        case "Batch":
            image = x if draw(st.booleans()) else x.reshape(*shape[:2], -1)[:, :, 0]
            return Node("BatchNormalization", (image, scale, bias, mean, deviation**2), {"epsilon": 1e-3})
        case "MeanVariance":
            axes = draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
            # Rows of one element have no deviation: the result is rounding noise.
            if math.prod(shape[a] for a in axes) > 1:
                return Node("MeanVarianceNormalization", (x,), {"axes": axes})
    return _response_norm(x, draw(st.integers(1, 5)))


def _response_norm(x: Array, size: int) -> Node:
    """LRN by its definition: ONNX Runtime takes images and odd sizes only."""
    squares = x.astype(np.float64) ** 2
    channels = range(x.shape[1])
    windows = [squares[:, max(c - (size - 1) // 2, 0) : c + size // 2 + 1].sum(axis=1) for c in channels]
    exact = x / (1.5 + 0.3 / size * np.stack(windows, axis=1)) ** 0.6
    attributes = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 1.5}
    return Node("LRN", (x,), attributes, exact=(exact.astype(np.float32),))


@settings(max_examples=6, derandomize=True, deadline=None, database=None)
@given(st.lists(st.one_of(layer_norms(), skip_norms(), channel_norms()), min_size=1, max_size=16))
def test_nodes(nodes: list[Node]) -> None:
    assert_right(nodes)
