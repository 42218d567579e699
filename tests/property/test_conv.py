"""Convolutions with random geometry against ONNX Runtime CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.harness import check, check_node, node_model, reference_outputs
from tests.property.windows import floats, images, integers, windows

_SETTINGS = settings(max_examples=8, derandomize=True, deadline=None, database=None)
_SEEDS = st.integers(0, 99)
# ONNX Runtime has ConvTranspose and the integer convolutions up to this opset.
_OPSET = 21


@_SETTINGS
@given(data=st.data(), size=images(), seed=_SEEDS, groups=st.integers(1, 3), constant=st.booleans())
def test_conv(data: st.DataObject, size: list[int], seed: int, groups: int, constant: bool) -> None:
    attributes = data.draw(windows(size))
    depth, channels = data.draw(st.integers(1, 5)), groups * data.draw(st.sampled_from((1, 3, 4)))
    x = floats(seed, data.draw(st.integers(1, 2)), groups * depth, *size)
    w = floats(seed + 1, channels, depth, *attributes["kernel_shape"])
    bias = floats(seed + 2, channels) if data.draw(st.booleans()) else None
    check_node("Conv", [x, 0.3 * w, bias], constant=[1] if constant else [], group=groups, **attributes)


@_SETTINGS
@given(data=st.data(), size=images(largest=6), seed=_SEEDS, groups=st.integers(1, 2), constant=st.booleans())
def test_conv_transpose(data: st.DataObject, size: list[int], seed: int, groups: int, constant: bool) -> None:
    per_axis: dict[str, list[int]] = {"kernel_shape": [], "strides": [], "dilations": [], "output_padding": []}
    for _ in size:
        per_axis["kernel_shape"].append(data.draw(st.integers(1, 4)))
        per_axis["strides"].append(data.draw(st.integers(1, 4)))
        per_axis["dilations"].append(data.draw(st.integers(1, 2)))
        per_axis["output_padding"].append(data.draw(st.integers(0, per_axis["strides"][-1] - 1)))
    attributes: dict[str, Any] = dict(per_axis)
    mode = data.draw(st.sampled_from(("pads", "SAME_UPPER", "SAME_LOWER", "output_shape")))
    spans = [d * (k - 1) for d, k in zip(attributes["dilations"], attributes["kernel_shape"], strict=True)]
    if mode == "pads":
        attributes["pads"] = [data.draw(st.integers(0, span // 2)) for span in spans * 2]
    else:
        del attributes["output_padding"]
    if mode.startswith("SAME"):
        attributes["auto_pad"] = mode
    elif mode == "output_shape":
        full = [(n - 1) * s + span + 1 for n, s, span in zip(size, attributes["strides"], spans, strict=True)]
        # ONNX wants at least the size of the input.
        cut = [min(data.draw(st.integers(0, 2)), f - n) if f > n else 0 for f, n in zip(full, size, strict=True)]
        attributes["output_shape"] = [f - c for f, c in zip(full, cut, strict=True)]
    depth, channels = data.draw(st.integers(1, 4)), data.draw(st.sampled_from((1, 3, 4)))
    x = floats(seed, data.draw(st.integers(1, 2)), groups * depth, *size)
    w = 0.3 * floats(seed + 1, groups * depth, channels, *attributes["kernel_shape"])
    bias = floats(seed + 2, groups * channels) if data.draw(st.booleans()) else None
    fixed = [1] if constant else []
    check_node("ConvTranspose", [x, w, bias], constant=fixed, group=groups, opset=_OPSET, **attributes)


@_SETTINGS
@given(data=st.data(), size=images((1, 2)), seed=_SEEDS, groups=st.integers(1, 2), signed=st.booleans())
def test_conv_integer(data: st.DataObject, size: list[int], seed: int, groups: int, signed: bool) -> None:
    attributes = data.draw(windows(size))
    dtype = np.int8 if signed else np.uint8
    x = integers(seed, dtype, 1, groups * 3, *size)
    w = integers(seed + 1, dtype, groups * 2, 3, *attributes["kernel_shape"])
    zeros = [integers(seed + k, dtype) if data.draw(st.booleans()) else None for k in (2, 3)]
    check_node("ConvInteger", [x, w, *zeros], constant=[1], group=groups, **attributes)


@_SETTINGS
@given(data=st.data(), size=images((1, 2)), seed=_SEEDS, signed=st.booleans(), constant=st.booleans())
def test_qlinear_conv(data: st.DataObject, size: list[int], seed: int, signed: bool, constant: bool) -> None:
    """ONNX Runtime wants constant scales of weights, and zero points of signed weights that are 0."""
    attributes = data.draw(windows(size))
    dtype, channels = np.int8 if signed else np.uint8, 4
    each = (channels,) if data.draw(st.booleans()) else ()
    zero_w = np.zeros(each, np.int8) if signed else np.full(each, 100, np.uint8)
    scales = [np.array(s, np.float32) for s in (0.02, np.random.default_rng(seed).uniform(0.01, 0.05, each), 1.5)]
    inputs = [
        *(integers(seed, dtype, 1, 3, *size), scales[0], integers(seed + 1, dtype)),
        *(integers(seed + 2, dtype, channels, 3, *attributes["kernel_shape"]), scales[1], zero_w),
        *(scales[2], integers(seed + 3, dtype)),
        np.arange(-500, 500, 250, dtype=np.int32) if data.draw(st.booleans()) else None,
    ]
    fixed = [k for k in (1, 2, 3, 4, 5, 6, 7, 8) if inputs[k] is not None] if constant else [3, 4, 5]
    check_node("QLinearConv", inputs, constant=fixed, **attributes)


@_SETTINGS
@given(data=st.data(), size=images((2,)), seed=_SEEDS, groups=st.integers(1, 2), masked=st.booleans())
def test_deform_conv(data: st.DataObject, size: list[int], seed: int, groups: int, masked: bool) -> None:
    attributes = data.draw(windows(size, padding=("none", "pads")))
    kernel, pads = attributes["kernel_shape"], attributes.get("pads", [0] * 4)
    out = [
        (n + pads[d] + pads[2 + d] - attributes["dilations"][d] * (kernel[d] - 1) - 1) // attributes["strides"][d] + 1
        for d, n in enumerate(size)
    ]
    taps = kernel[0] * kernel[1] * groups
    inputs = [
        floats(seed, 1, groups * 2, *size),
        0.3 * floats(seed + 1, groups * 3, 2, *kernel),
        floats(seed + 2, 1, 2 * taps, *out),
        floats(seed + 3, groups * 3),
        floats(seed + 4, 1, taps, *out) if masked else None,
    ]
    check_node("DeformConv", inputs, group=groups, offset_group=groups, opset=_OPSET, **attributes)


@pytest.mark.parametrize(
    ("activation", "params"),
    [("Relu", []), ("Clip", [-0.5, 0.7]), ("LeakyRelu", [0.3]), ("HardSigmoid", [0.3, 0.4]), ("Tanh", [])],
)
def test_fused_conv(activation: str, params: list[float]) -> None:
    inputs = [floats(0, 1, 4, 6, 5), 0.3 * floats(1, 6, 4, 3, 3), floats(2, 6), floats(3, 1, 6, 4, 3)]
    extra: dict[str, Any] = {"activation_params": params} if params else {}
    check_node("FusedConv", inputs, constant=[1, 2], domain="com.microsoft", activation=activation, **extra)


def test_nhwc_conv() -> None:
    """ONNX Runtime has this operator on GPUs only: the convolution of the transposed tensors says what is right."""
    x, w, bias = floats(0, 1, 4, 6, 5), floats(1, 8, 2, 3, 3), floats(2, 8)
    standard, feeds = node_model("Conv", [x, w, bias], group=2, pads=[1, 1, 1, 1])
    wanted = reference_outputs(standard, feeds)["y0"]
    last = (0, 2, 3, 1)
    inputs = [np.ascontiguousarray(x.transpose(last)), np.ascontiguousarray(w.transpose(last)), bias]
    model, feeds = node_model("NhwcConv", inputs, domain="com.microsoft", group=2, pads=[1, 1, 1, 1])
    check(model, feeds, expected={"y0": np.ascontiguousarray(wanted.transpose(last))})
