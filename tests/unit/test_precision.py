"""float16 conversion: what is stored in 16 bits, what stays in 32, and that large values survive."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from tests.unit.graphs import Arrays, assert_equal, operators, prepared, random_feeds
from webinfer.errors import GraphError
from webinfer.fused import read_fused
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes.contract import Changes
from webinfer.passes.finish import Finish
from webinfer.passes.fuse import Fuse, Outline
from webinfer.passes.precision import Precision
from webinfer.reference import run_reference

RNG = np.random.default_rng(2)


def normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    """Random float32 constants."""
    return (RNG.normal(size=shape) * scale).astype(np.float32)


def convert(model: ir.Model) -> Changes:
    """Everything from fusion on, in float16."""
    Fuse().run(model)
    changes = Precision("fp16").run(model).changes
    Outline().run(model)
    Finish().run(model)
    for node in model.graph:
        read_fused(node, model, ELEMENTWISE)
    return changes


def check(text: str, data: Arrays, relative: float = 4e-3) -> tuple[ir.Model, Changes]:
    """Convert and compare with the float32 source in ONNX Runtime CPU."""
    model = prepared(text, data)
    before, feeds = ir.to_proto(model), random_feeds(model)
    changes = convert(model)
    assert_equal(before, model, feeds, relative)
    return model, changes


def types(model: ir.Model) -> set[str]:
    """Element types of what nodes make, apart from graph outputs."""
    return {o.dtype.name for n in model.graph for o in n.outputs if o.dtype is not None and not o.is_graph_output()}


CONV = "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { c = Conv<pads = [1, 1, 1, 1]>(x, w, b) y = Relu(c) }"


def test_interface_stays_float32_and_the_rest_is_float16() -> None:
    model, changes = check(CONV, {"w": normal(4, 4, 3, 3), "b": normal(4)})
    assert {v.dtype for v in (*model.graph.inputs, *model.graph.outputs)} == {ir.DataType.FLOAT}
    assert {v.dtype for v in model.graph.initializers.values()} == {ir.DataType.FLOAT16}
    assert types(model) == {"FLOAT16"}
    assert changes.counts["values scaled"] == 0


def test_fp32_changes_nothing() -> None:
    model = prepared(CONV, {"w": normal(4, 4, 3, 3), "b": normal(4)})
    before = ir.to_proto(model).SerializeToString()
    Precision("fp32").run(model)
    assert ir.to_proto(model).SerializeToString() == before


def test_resize_scales_and_integers_stay() -> None:
    text = """g (float[1, 4, 4, 4] x) => (float[1, 4, 64] y) {
        r = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">(c, , scales)
        c = Conv(x, w) y = Reshape(r, shape) }"""
    text = text.replace("r = Resize", "@").replace("c = Conv(x, w)", "").replace("@", "c = Conv(x, w) r = Resize")
    data = {"w": normal(4, 4, 1, 1), "scales": np.array([1, 1, 2, 2], np.float32), "shape": np.array([1, 4, 64])}
    model, _ = check(text, data)
    kept = {v.dtype for v in model.graph.initializers.values()}
    assert kept == {ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.INT64}


def test_a_weight_beyond_range_stays_float32_with_its_reason() -> None:
    text = "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { c = Conv(x, w) d = Mul(c, big) y = Conv(d, v) }"
    data = {"w": normal(4, 4, 1, 1), "v": normal(4, 4, 1, 1, scale=1e-6), "big": np.array([1e6], np.float32)}
    _, changes = check(text, data)
    assert any("big is beyond float16's range" in n for n in changes.notes)


def test_arithmetic_on_inputs_stays_float32() -> None:
    """A noise level squared passes 65504, and its embedding is a few numbers; the image is float16 from the Conv on."""
    text = """g (float[1] sigma, float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) {
        s = Mul(sigma, k) q = Mul(s, s) e = Add(q, one) r = Sqrt(e) row = Unsqueeze(r, axes) v = Gemm(row, w)
        t = Unsqueeze(v, ends) c = Conv(x, cw) y = Mul(c, t) }"""
    data = {"k": np.array(3e3, np.float32), "one": np.array(1.0, np.float32), "w": normal(1, 4, scale=1e-3)}
    data |= {"axes": np.array([0]), "ends": np.array([2, 3]), "cw": normal(4, 4, 1, 1)}
    model, changes = check(text, data)
    assert changes.counts["float32 islands"] == 8
    assert model.graph.initializers["w"].dtype == ir.DataType.FLOAT
    assert [v.dtype for n, v in model.graph.initializers.items() if n.startswith("cw/")] == [ir.DataType.FLOAT16]


RESIDUAL = """g (float[1, 32, 8, 8] x) => (float[1, 8, 8, 8] y) {
    a = Conv<pads = [1, 1, 1, 1]>(x, w1, b1) r = Relu(a) h = Mul(r, gain) c = Conv<pads = [1, 1, 1, 1]>(h, w2, b2)
    s = Add(c, h) n = GroupNormalization<num_groups = 8>(s, gs, gb) z = Sigmoid(n) u = Mul(n, z)
    j = Concat<axis = 1>(u, s) g1 = GroupNormalization<num_groups = 16, epsilon = 0.00001>(j, ks, kb)
    k = Conv(j, w3) l = GroupNormalization<num_groups = 8>(k, gs8, gb8) p = Conv(g1, w4) o = Add(l, p)
    y = AveragePool<kernel_shape = [1, 1]>(o) }"""


def _residual(gain: float) -> dict[str, np.ndarray]:
    data = {"gain": np.array(gain, np.float32), "w1": normal(32, 32, 3, 3), "w2": normal(32, 32, 3, 3, scale=0.1)}
    data |= {"b1": normal(32), "b2": normal(32, scale=gain), "gs": normal(32), "gb": normal(32)}
    data |= {"ks": normal(64), "kb": normal(64), "w3": normal(8, 64, 1, 1), "gs8": normal(8), "gb8": normal(8)}
    return data | {"w4": normal(8, 64, 1, 1, scale=0.1)}


@pytest.mark.parametrize("gain", [1.0, 1e4, 1e7, 1e10])
def test_large_residual_streams_survive(gain: float) -> None:
    """Convolutions, norms, Adds and a Concat of a small and a large tensor; plain float16 gives infinities here."""
    model, changes = check(RESIDUAL, _residual(gain), relative=1e-2)
    assert (changes.counts["values scaled"] > 0) == (gain > 1.0)
    assert types(model) == {"FLOAT16"}
    assert "Concat" not in operators(model)
    assert "Cast" not in {n.op_type for n in model.graph if n.inputs[0] not in model.graph.inputs}


def test_plain_float16_would_overflow_there() -> None:
    model = prepared(RESIDUAL, _residual(1e7))
    largest = run_reference(ir.to_proto(model), random_feeds(model))
    assert np.isfinite(largest["y"]).all()
    for value in model.graph.initializers.values():
        assert value.const_value is not None
    (s,) = (o for n in model.graph for o in n.outputs if o.name == "s")
    model.graph.outputs.append(s)
    assert np.abs(run_reference(ir.to_proto(model), random_feeds(model))["s"]).max() > 65504


@pytest.mark.parametrize("gain", [1.0, 1e5])
def test_large_matrix_products_and_layer_norms(gain: float) -> None:
    text = """g (float[1, 8, 16] x) => (float[1, 8, 32] y) {
        a = MatMul(x, w1) b = Add(a, b1) m = Mul(b, gain) n = LayerNormalization<axis = -1>(m, s, t)
        v = MatMul(m, w2) o = LayerNormalization<axis = -1>(v, s, t) y = Add(n, o) }"""
    data = {"w1": normal(16, 32), "b1": normal(32), "w2": normal(32, 32), "gain": np.array(gain, np.float32)}
    _, changes = check(text, data | {"s": normal(32), "t": normal(32)}, relative=1e-2)
    assert (changes.counts["values scaled"] > 0) == (gain > 1.0)


@pytest.mark.parametrize("gain", [1.0, 1e5])
def test_attention_on_large_values(gain: float) -> None:
    text = """g (float[2, 24, 10] x) => (float[2, 8, 10] y) {
        r = Reshape(x, image) e = Conv(r, w) f = Reshape(e, rows) c = Mul(f, gain)
        q, k, v = Split<axis = 1, num_outputs = 3>(c) qs = Mul(q, small) s = Einsum<equation = "bct,bcs->bts">(qs, k)
        p = Softmax<axis = -1>(s) o = Einsum<equation = "bts,bcs->bct">(p, v) y = Mul(o, back) }"""
    data = {"w": normal(24, 24, 1, scale=0.2), "gain": np.array(gain, np.float32)}
    data |= {"small": np.array(gain**-2, np.float32), "back": np.array(1 / gain, np.float32)}
    data |= {"image": np.array([2, 24, 10]), "rows": np.array([2, 24, 10])}
    model, _ = check(text, data, relative=1e-2)
    assert operators(model)["ChannelMajorAttention"] == 1


def test_other_operators_on_large_values_run_in_float32() -> None:
    text = """g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) {
        c = Conv(x, w) m = Mul(c, gain) y = Softmax<axis = 1>(m) }"""
    check(text, {"w": normal(4, 4, 1, 1), "gain": np.array(1e6, np.float32)}, relative=2e-2)


def test_samples_that_do_not_suit_the_model_are_refused() -> None:
    model = prepared("g (float[4] x) => (float[4] y) { l = Log(x) y = Neg(l) }")
    Fuse().run(model)
    with pytest.raises(GraphError, match="'l' is not finite on the calibration inputs"):
        Precision("fp16", [{"x": np.array([-1, 1, 1, 1], np.float32)}]).run(model)
