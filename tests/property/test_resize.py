"""Operators that sample images: Resize, GridSample, regions, Col2Im, against ONNX Runtime CPU and ONNX's reference.

Resize compares with the reference: ONNX Runtime computes positions in f32, which moves pixels where they fall on edges.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from tests.property.harness import Array, check, check_node, node_model
from tests.property.windows import floats, images, integers

_SETTINGS = settings(max_examples=8, derandomize=True, deadline=None, database=None)
_SEEDS = st.integers(0, 99)
_COORDINATES = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
_NEAREST = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


def _check_resize(inputs: list[Array | None], attributes: dict[str, Any]) -> None:
    fixed = [k for k, array in enumerate(inputs) if k and array is not None]
    model, feeds = node_model("Resize", inputs, constant=fixed, **attributes)
    (wanted,) = ReferenceEvaluator(model).run(None, feeds)
    check(model, feeds, expected={"y0": np.asarray(wanted)})


@_SETTINGS
@given(data=st.data(), size=images((1, 2, 3, 4), largest=7), seed=_SEEDS)
def test_resize_nearest(data: st.DataObject, size: list[int], seed: int) -> None:
    """Any axes, every element type's bits."""
    dtype = data.draw(st.sampled_from((None, np.int64, np.uint8, np.int8)))
    x = floats(seed, *size) if dtype is None else integers(seed, dtype, *size)
    if dtype is np.int64:
        x >>= 12  # the reference computes in float64
    sizes = [data.draw(st.integers(1, 12)) for _ in size]
    attributes = {
        "coordinate_transformation_mode": data.draw(st.sampled_from(_COORDINATES)),
        "nearest_mode": data.draw(st.sampled_from(_NEAREST)),
    }
    _check_resize([x, None, None, np.array(sizes, np.int64)], attributes)


@_SETTINGS
@given(data=st.data(), size=images((1, 2, 3), largest=7), seed=_SEEDS, mode=st.sampled_from(("linear", "cubic")))
def test_resize_interpolated(data: st.DataObject, size: list[int], seed: int, mode: str) -> None:
    """The last axes, by scales or by sizes."""
    coordinates = data.draw(st.sampled_from(_COORDINATES))
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "cubic":
        attributes["cubic_coeff_a"] = data.draw(st.sampled_from((-0.5, -0.75)))
        attributes["exclude_outside"] = data.draw(st.integers(0, 1))
    if data.draw(st.booleans()):
        attributes["antialias"] = 1
    x = floats(seed, 2, *size)
    if data.draw(st.booleans()):
        scales = [data.draw(st.sampled_from((0.5, 0.75, 1.0, 1.25, 2.0, 3.0))) for _ in size]
        scales = [s if math.floor(n * s) else 2.0 for n, s in zip(size, scales, strict=True)]
        _check_resize([x, None, np.array([1, *scales], np.float32)], attributes)
    else:
        sizes = [data.draw(st.integers(1, 12)) for _ in size]
        axes = {"axes": list(range(1, 1 + len(size)))}
        policy = {"keep_aspect_ratio_policy": data.draw(st.sampled_from(("stretch", "not_larger", "not_smaller")))}
        _check_resize([x, None, None, np.array(sizes, np.int64)], attributes | axes | policy)


@_SETTINGS
@given(data=st.data(), size=images((2,), largest=7), seed=_SEEDS, mode=st.sampled_from(("nearest", "linear", "cubic")))
def test_resize_crop(data: st.DataObject, size: list[int], seed: int, mode: str) -> None:
    corners = st.sampled_from((-0.5, 0.0, 0.125, 0.5, 0.75, 1.0, 1.25))
    roi = np.array([data.draw(corners) for _ in range(4)], np.float32)
    sizes = np.array([data.draw(st.integers(1, 9)) for _ in size], np.int64)
    attributes = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "axes": [1, 2]}
    _check_resize([floats(seed, 2, *size), roi, None, sizes], attributes | {"extrapolation_value": 3.0})


@_SETTINGS
@given(data=st.data(), size=images((2, 3), largest=6), seed=_SEEDS, align=st.integers(0, 1))
def test_grid_sample(data: st.DataObject, size: list[int], seed: int, align: int) -> None:
    mode = data.draw(st.sampled_from(("nearest", "linear", "cubic") if len(size) == 2 else ("nearest", "linear")))
    padding = data.draw(st.sampled_from(("zeros", "border", "reflection")))
    size = [max(n, 2) for n in size]
    out = [data.draw(st.integers(1, 4)) for _ in size]
    inputs = [floats(seed, 2, 2, *size), 1.3 * floats(seed + 1, 2, *out, len(size))]
    check_node("GridSample", inputs, mode=mode, padding_mode=padding, align_corners=align, opset=20)


def _boxes(seed: int, count: int) -> Array:
    corners = np.random.default_rng(seed).uniform(-1, 8, (count, 2))
    return np.concatenate([corners, corners + np.random.default_rng(seed + 1).uniform(0, 6, (count, 2))], 1)


@_SETTINGS
@given(data=st.data(), size=images((2,)), seed=_SEEDS, ratio=st.integers(0, 3))
def test_roi_align(data: st.DataObject, size: list[int], seed: int, ratio: int) -> None:
    inputs = [floats(seed, 2, 3, *size), _boxes(seed, 3).astype(np.float32), np.array([0, 1, 1])]
    attributes: dict[str, Any] = {
        "mode": data.draw(st.sampled_from(("avg", "max"))),
        "coordinate_transformation_mode": data.draw(st.sampled_from(("half_pixel", "output_half_pixel"))),
        "output_height": data.draw(st.integers(1, 4)),
        "output_width": data.draw(st.integers(1, 4)),
        "spatial_scale": data.draw(st.sampled_from((1.0, 0.5))),
    }
    check_node("RoiAlign", inputs, opset=16, sampling_ratio=ratio, **attributes)


@_SETTINGS
@given(data=st.data(), size=images((2,)), seed=_SEEDS)
def test_max_roi_pool(data: st.DataObject, size: list[int], seed: int) -> None:
    rois = np.concatenate([np.array([[0], [1], [1]]), _boxes(seed, 3)], 1).astype(np.float32)
    pooled = [data.draw(st.integers(1, 4)) for _ in range(2)]
    check_node("MaxRoiPool", [floats(seed, 2, 3, *size), rois], pooled_shape=pooled, spatial_scale=0.5, opset=21)


@_SETTINGS
@given(data=st.data(), image=images((1, 2, 3), largest=6), seed=_SEEDS)
def test_col2im(data: st.DataObject, image: list[int], seed: int) -> None:
    block = [data.draw(st.integers(1, n)) for n in image]
    stride = [data.draw(st.integers(1, 3)) for _ in image]
    blocks = math.prod((n - b) // s + 1 for n, b, s in zip(image, block, stride, strict=True))
    x = floats(seed, 2, 2 * math.prod(block), blocks)
    shapes = [np.array(v, np.int64) for v in (image, block)]
    check_node("Col2Im", [x, *shapes], constant=[1, 2], strides=stride, opset=21)
