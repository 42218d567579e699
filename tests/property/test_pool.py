"""Pooling and unpooling with random geometry against ONNX Runtime CPU."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.harness import check, check_node, node_model
from tests.property.windows import floats, images, integers, windows

_SETTINGS = settings(max_examples=8, derandomize=True, deadline=None, database=None)
_SEEDS = st.integers(0, 99)
_BATCHES = st.integers(0, 2)


@_SETTINGS
@given(data=st.data(), size=images(), seed=_SEEDS, batch=_BATCHES, include=st.integers(0, 1))
def test_average(data: st.DataObject, size: list[int], seed: int, batch: int, include: int) -> None:
    attributes = data.draw(windows(size)) | {"count_include_pad": include}
    if "auto_pad" not in attributes:
        attributes["ceil_mode"] = data.draw(st.integers(0, 1))
    check_node("AveragePool", [floats(seed, batch, 3, *size)], **attributes)


@_SETTINGS
@given(data=st.data(), size=images(), seed=_SEEDS, batch=_BATCHES, order=st.integers(0, 1))
def test_max(data: st.DataObject, size: list[int], seed: int, batch: int, order: int) -> None:
    attributes = data.draw(windows(size))
    if "auto_pad" not in attributes:
        attributes["ceil_mode"] = data.draw(st.integers(0, 1))
    check_node("MaxPool", [floats(seed, batch, 3, *size)], outputs=2, storage_order=order, **attributes)


@_SETTINGS
@given(data=st.data(), size=images(), seed=_SEEDS, signed=st.booleans())
def test_max_of_bytes(data: st.DataObject, size: list[int], seed: int, signed: bool) -> None:
    x = integers(seed, np.int8 if signed else np.uint8, 1, 2, *size)
    check_node("MaxPool", [x], **data.draw(windows(size)))


@_SETTINGS
@given(data=st.data(), size=images(), seed=_SEEDS, power=st.integers(1, 4))
def test_lp(data: st.DataObject, size: list[int], seed: int, power: int) -> None:
    check_node("LpPool", [floats(seed, 1, 2, *size)], p=power, opset=21, **data.draw(windows(size)))


@_SETTINGS
@given(size=images(), seed=_SEEDS, op_type=st.sampled_from(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")))
def test_global(size: list[int], seed: int, op_type: str) -> None:
    check_node(op_type, [floats(seed, 2, 3, *size)], opset=21)


@_SETTINGS
@given(data=st.data(), pooled=images(largest=4), seed=_SEEDS)
def test_max_unpool(data: st.DataObject, pooled: list[int], seed: int) -> None:
    kernel = [data.draw(st.integers(1, 3)) for _ in pooled]
    full = [n * k for n, k in zip(pooled, kernel, strict=True)]
    x = floats(seed, 2, 1, *pooled)
    places = np.random.default_rng(seed).permutation(2 * int(np.prod(full)))[: x.size].reshape(x.shape)
    check_node("MaxUnpool", [x, places.astype(np.int64)], kernel_shape=kernel, strides=kernel, opset=21)


def test_infinities_pass() -> None:
    """ONNX Runtime starts from the lowest finite value; the largest of two infinities is one of them."""
    x = np.array([-np.inf, -np.inf, np.inf, 1.0, -np.inf, 2.0], np.float32).reshape(1, 1, 6)
    model, feeds = node_model("MaxPool", [x], kernel_shape=[2], strides=[2])
    check(model, feeds, expected={"y0": np.array([[[-np.inf, np.inf, 2.0]]], np.float32)})
    check_node("AveragePool", [x], kernel_shape=[2], strides=[2])
