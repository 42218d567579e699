"""ONNX's backend interface: its own tests run on it unchanged, and models without work for a GPU run as well."""

from __future__ import annotations

import unittest

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper
from onnx.backend.base import Backend
from onnx.backend.test import BackendTest

import webinfer.onnx_backend
from webinfer.errors import DeviceError, InputError, SourceError
from webinfer.onnx_backend import WebGpuBackend, prepare, run_model, run_node, supports_device

# The whole suite is `python -m tests.conformance`; these few pass through ONNX's own runner.
FROM_THE_SUITE = ("test_relu_cpu", "test_softmax_axis_1_cpu", "test_single_relu_model_cpu", "test_Linear_no_bias_cpu")
DEVICES = ["dawn-lavapipe", "dawn-swiftshader"]


def parse(text: str) -> onnx.ModelProto:
    """A model in ONNX's textual syntax."""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 23]> {text}')


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.filterwarnings("ignore")
def test_onnx_s_suite_runs_unchanged() -> None:
    # A module that offers the interface does as well as a class, whatever the annotation says.
    cases = BackendTest(webinfer.onnx_backend, __name__).test_cases.values()  # type: ignore[arg-type]
    suite = unittest.TestSuite(case(name) for case in cases for name in FROM_THE_SUITE if hasattr(case, name))
    result = suite.run(unittest.TestResult())
    assert result.wasSuccessful(), result.failures + result.errors
    assert (result.testsRun, result.skipped) == (len(FROM_THE_SUITE), [])


@pytest.mark.parametrize("device", DEVICES)
def test_run_node(device: str) -> None:
    x, y = floats(2, 3), floats(3)
    (total,) = run_node(helper.make_node("Add", ["x", "y"], ["z"]), [x, y], device)
    np.testing.assert_array_equal(total, x + y)


def test_run_node_at_an_older_opset() -> None:
    """Softmax was over all axes from `axis` on."""
    x = floats(2, 3, 4)
    (found,) = run_node(helper.make_node("Softmax", ["x"], ["y"]), [x], opset_version=11)
    rows = np.exp(x.reshape(2, 12))
    np.testing.assert_allclose(found.reshape(2, 12), rows / rows.sum(1, keepdims=True), rtol=1e-5)


def test_the_interface_is_onnx_s() -> None:
    assert issubclass(WebGpuBackend, Backend)
    assert supports_device("CPU")
    assert supports_device("firefox-lavapipe")
    assert not supports_device("CUDA")


def test_the_device_of_onnx_s_tests_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBINFER_DEVICE", "no-such-device")
    with pytest.raises(DeviceError, match="'no-such-device': expected one of"):
        prepare(parse("g (float[2] x) => (float[2] y) { y = Neg(x) }"), "CPU")


def test_one_model_at_several_sizes() -> None:
    model = prepare(parse("g (float[n, k] x) => (float[n, k] y) { y = Neg(x) }"))
    for shape in ((2, 3), (5, 1), (0, 4)):
        x = floats(*shape)
        np.testing.assert_array_equal(model.run([x])[0], -x)


def test_inputs_that_decide_shapes() -> None:
    model = prepare(parse("g (float[2, 6] x, int64[m] s) => (float[a, b] y) { y = Reshape(x, s) }"))
    x = floats(2, 6)
    for shape in ([3, 4], [12, -1], [2, 3, 2]):
        np.testing.assert_array_equal(model.run({"x": x, "s": np.array(shape)})[0], x.reshape(shape))


def test_a_computed_size_is_traced_to_its_inputs() -> None:
    model = parse(
        "g (float[6] x, int64[1] n) => (float[m] y)"
        "<int64[1] zero = {0}, int64[1] one = {1}> { end = Add(n, one) y = Slice(x, zero, end) }"
    )
    x = floats(6)
    for count in (2, 4):
        np.testing.assert_array_equal(run_model(model, [x, np.array([count])])[0], x[: count + 1])


def test_double_and_half_keep_their_types_outside() -> None:
    doubles = floats(2, 3).astype(np.float64)
    (y,) = run_model(parse("g (double[2, 3] x) => (double[2, 3] y) { y = Neg(x) }"), [doubles])
    assert y.dtype == np.float64
    np.testing.assert_allclose(y, -doubles, rtol=1e-6)
    halves = floats(5).astype(np.float16)
    (y,) = run_model(parse("g (float16[5] x) => (float16[5] y) { y = Add(x, x) }"), [halves])
    assert y.dtype == np.float16
    np.testing.assert_array_equal(y, halves + halves)


# What is left of these models needs no arithmetic on the GPU, or nothing at all.
TRIVIAL = {
    "input as output": "g (float[2] x) => (float[2] x) { }",
    "input under another name": "g (float[2] x) => (float[2] y) { y = Identity(x) }",
    "constant": "g (float[2] x) => (float[3] y) { y = Constant<value_floats = [1.0, 2.0, 3.0]>() }",
    "initializer": "g (float[2] x) => (float[2] w) <float[2] w = {4.0, 5.0}> { }",
    "initializer twice": "g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {4.0, 5.0}> "
    "{ y = Identity(w) z = Identity(w) }",
    "folded": "g (float[2] x) => (int64[1] y, float z) "
    "{ y = Shape(x) c = Constant<value_float = 2.0>() z = Mul(c, c) }",
    "one value twice": "g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Identity(y) }",
    "output that is read": "g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Abs(y) }",
    "nothing in, nothing out": "g (float[0, 2] x) => (float[0, 2] y) { y = Abs(x) }",
    "something of nothing": "g (float[0, 2] x) => (float[1, 2] y) <int64[1] axes = {0}> { y = ReduceSum(x, axes) }",
    "no input": "g () => (float[2] y) <float[2] w = {4.0, 5.0}> { y = Neg(w) }",
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", list(TRIVIAL))
def test_trivial_models(name: str, device: str) -> None:
    model = parse(TRIVIAL[name])
    feeds = {v.name: floats(*(d.dim_value for d in v.type.tensor_type.shape.dim)) for v in model.graph.input}
    expected = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    found = run_model(model, feeds, device)
    assert len(found) == len(expected)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_wrong_inputs_are_named() -> None:
    model = prepare(parse("g (float[2] x, float[2] y) => (float[2] z) { z = Add(x, y) }"))
    with pytest.raises(InputError, match="expected inputs x, y, found 1 arrays"):
        model.run([floats(2)])
    with pytest.raises(SourceError, match=r"input 'y': expected the shape \[2\], found \[3\]"):
        model.run([floats(2), floats(3)])


def test_a_model_that_is_not_valid() -> None:
    with pytest.raises(onnx.checker.ValidationError):
        prepare(onnx.ModelProto())
