"""Every fusion: what it takes, what it refuses and why, and that the fused graph computes the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from tests.unit.graphs import check, constants, operators, prepared, refused, weights
from webinfer import fusions
from webinfer.fused import read_fused
from webinfer.fusions import all_fusions
from webinfer.fusions.rewrite import Fusion, Rewrite
from webinfer.fusions.verify import Verifier
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes.fuse import run_fusions

RNG = np.random.default_rng(1)


def test_fusions_are_found_once_each() -> None:
    names = [f.name for f in all_fusions()]
    assert len(names) == len(set(names))
    folder = Path(fusions.__path__[0])
    assert len(names) == sum("\nFUSION" in file.read_text() for file in folder.glob("*.py"))
    stages = [f.stage for f in all_fusions()]
    assert stages == sorted(stages)  # "fuse", then "outline"


GROUP_NORM = """g (float[1, 8, 4, 4] x) => (float[1, 8, 4, 4] y) {
    grouped = Reshape(x, groups) n = InstanceNormalization<epsilon = 0.001>(grouped, s1, b1)
    image = Reshape(n, back) m = Mul(image, scale) y = Add(m, bias) }"""


def test_group_norm() -> None:
    data = weights(s1=(4,), b1=(4,), scale=(8, 1, 1), bias=(8, 1, 1))
    data |= constants(groups=[0, 4, -1], back=[1, 8, 4, 4])
    model = check(GROUP_NORM, data, "group norm", GroupNormalization=1)
    attributes = model.graph[0].attributes
    assert attributes["num_groups"].as_int() == 4
    assert attributes["epsilon"].as_float() == pytest.approx(0.001)


def test_group_norm_with_a_scale_that_is_not_per_channel() -> None:
    data = weights(s1=(4,), b1=(4,), scale=(8, 4, 1), bias=(8, 1, 1))
    data |= constants(groups=[0, 4, -1], back=[1, 8, 4, 4])
    assert "scale [8, 4, 1] is not one value per channel" in refused(GROUP_NORM, data, "group norm")


def test_group_norm_across_images_is_refused() -> None:
    text = GROUP_NORM.replace("[1, 8, 4, 4]", "[2, 8, 4, 4]")
    data = weights(s1=(4,), b1=(4,), scale=(8, 1, 1), bias=(8, 1, 1))
    data |= constants(groups=[1, 4, -1], back=[2, 8, 4, 4])
    assert "no split of channels into groups" in refused(text, data, "group norm")


LAYER_NORM = """g (float[2, 5, 16] x) => (float[2, 5, 16] y) {
    mean = ReduceMean<keepdims = 1>(x, axes) d = Sub(x, mean) SQUARE v = ReduceMean<keepdims = 1>(sq, axes)
    ve = Add(v, eps) r = Sqrt(ve) n = Div(d, r) m = Mul(n, scale) y = Add(m, bias) }"""


@pytest.mark.parametrize("square", ["sq = Pow(d, two)", "sq = Mul(d, d)"])
@pytest.mark.parametrize("axes", [[-1], [2]])
def test_layer_norm(square: str, axes: list[int]) -> None:
    data = weights(scale=(16,), bias=(16,)) | constants(axes=axes, eps=1e-5, two=2.0)
    check(LAYER_NORM.replace("SQUARE", square), data, "layer norm", LayerNormalization=1)


def test_layer_norm_over_another_axis_is_refused() -> None:
    data = weights(scale=(16,), bias=(16,)) | constants(axes=[1], eps=1e-5, two=2.0)
    note = refused(LAYER_NORM.replace("SQUARE", "sq = Mul(d, d)"), data, "layer norm")
    assert "not over the last axis alone" in note


def test_layer_norm_keeps_what_something_else_reads() -> None:
    text = LAYER_NORM.replace("SQUARE", "sq = Mul(d, d)")
    text = text.replace("(float[2, 5, 16] y)", "(float[2, 5, 16] y, float[2, 5, 16] d)")
    data = weights(scale=(16,), bias=(16,)) | constants(axes=[-1], eps=1e-5)
    assert "other uses" in refused(text, data, "layer norm")


RMS_NORM = """g (float[2, 5, 16] x) => (float[2, 5, 16] y) {
    sq = Pow(x, two) v = ReduceMean<keepdims = 1>(sq, axes) ve = Add(v, eps) r = Sqrt(ve) NORMAL y = Mul(scale, n) }"""


@pytest.mark.parametrize(
    "normal", ["n = Div(x, r)", "i = Reciprocal(r) n = Mul(x, i)", "i = Div(one, r) n = Mul(i, x)"]
)
def test_rms_norm(normal: str) -> None:
    data = weights(scale=(16,)) | constants(axes=[-1], eps=1e-5, two=2.0, one=1.0)
    check(RMS_NORM.replace("NORMAL", normal), data, "rms norm", RMSNormalization=1)


def test_rms_norm_over_another_axis_is_refused() -> None:
    data = weights(scale=(16,)) | constants(axes=[1], eps=1e-5, two=2.0)
    assert "not over the last axis alone" in refused(RMS_NORM.replace("NORMAL", "n = Div(x, r)"), data, "rms norm")


@pytest.mark.parametrize(
    "body", ["p = Mul(x, g) y = Mul(p, half)", "p = Mul(half, x) y = Mul(g, p)", "p = Mul(g, half) y = Mul(x, p)"]
)
@pytest.mark.parametrize("inner", ["s = Div(x, root)", "s = Mul(x, inverse)"])
def test_gelu(body: str, inner: str) -> None:
    text = f"g (float[4, 8] x) => (float[4, 8] y) {{ {inner} e = Erf(s) g = Add(e, one) {body} }}"
    data = constants(root=2.0**0.5, inverse=0.5**0.5, one=1.0, half=0.5)
    check(text, data, "gelu", Gelu=1)


@pytest.mark.parametrize("cube", ["c = Pow(x, three)", "xx = Mul(x, x) c = Mul(xx, x)"])
def test_tanh_gelu(cube: str) -> None:
    text = f"""g (float[4, 8] x) => (float[4, 8] y) {{ {cube} k = Mul(c, cubic) i = Add(x, k) f = Mul(i, factor)
        t = Tanh(f) g = Add(t, one) p = Mul(x, g) y = Mul(p, half) }}"""
    data = constants(three=3.0, cubic=0.044715, factor=(2 / np.pi) ** 0.5, one=1.0, half=0.5)
    model = check(text, data, "gelu", Gelu=1)
    assert model.graph[0].attributes["approximate"].as_string() == "tanh"


def test_gelu_with_another_constant_is_refused() -> None:
    text = "g (float[4] x) => (float[4] y) { s = Div(x, r) e = Erf(s) g = Add(e, one) p = Mul(x, g) y = Mul(p, half) }"
    assert "root is 1.5" in refused(text, constants(r=1.5, one=1.0, half=0.5), "gelu")


def test_silu() -> None:
    check("g (float[4] x) => (float[4] y) { s = Sigmoid(x) y = Mul(s, x) }", {}, "silu", Silu=1)


def test_silu_keeps_a_sigmoid_that_is_an_output() -> None:
    text = "g (float[4] x) => (float[4] y, float[4] s) { s = Sigmoid(x) y = Mul(x, s) }"
    assert "other uses" in refused(text, {}, "silu")


BATCH_NORM = """g (float[1, 6, 5, 5] x) => (float[?, ?, ?, ?] y) {
    c = CONV y = BatchNormalization<epsilon = 0.01>(c, s, b, m, v) }"""


@pytest.mark.parametrize(
    ("conv", "shape", "bias"),
    [
        ("Conv<group = 1>(x, w, cb)", (4, 6, 3, 3), True),
        ("Conv<group = 2>(x, w)", (4, 3, 3, 3), False),
        ("ConvTranspose<group = 1, strides = [2, 2]>(x, w, cb)", (6, 4, 3, 3), True),
        ("ConvTranspose<group = 2>(x, w)", (6, 2, 3, 3), False),
    ],
)
def test_batch_norm(conv: str, shape: tuple[int, ...], bias: bool) -> None:
    data = weights(w=shape, s=(4,), b=(4,), m=(4,)) | {"v": RNG.uniform(0.5, 2, 4).astype(np.float32)}
    if bias:
        data |= weights(cb=(4,))
    check(BATCH_NORM.replace("CONV", conv), data, "batch norm", **{conv.partition("<")[0]: 1})


def test_batch_norm_on_a_convolution_with_other_readers_is_refused() -> None:
    text = BATCH_NORM.replace("CONV", "Conv(x, w)")
    text = text.replace("(float[?, ?, ?, ?] y)", "(float[?, ?, ?, ?] y, float[?, ?, ?, ?] c)")
    data = weights(w=(4, 6, 3, 3), s=(4,), b=(4,), m=(4,)) | {"v": np.ones(4, np.float32)}
    assert "other uses" in refused(text, data, "batch norm")


EINSUM = """g (float[2, 24, 10] qkv) => (float[2, 8, 10] y) {
    q, k, v = Split<axis = 1, num_outputs = 3>(qkv) qs = Mul(q, a) qv = Reshape(qs, shape) ks = Mul(b, k)
    s = Einsum<equation = "FIRST">(qv, ks) p = Softmax<axis = AXIS>(s) y = Einsum<equation = "SECOND">(p, v) }"""


def _einsum(first: str, second: str, axis: int = -1) -> str:
    return EINSUM.replace("FIRST", first).replace("SECOND", second).replace("AXIS", str(axis))


def test_attention_from_einsum() -> None:
    text = _einsum("bct,bcs->bts", "bts,bcs->bct")
    data = constants(a=0.5, b=0.25, shape=[2, 8, 10])
    model = check(text, data, "attention from einsum", Split=1, ChannelMajorAttention=1)
    call = model.graph[-1]
    assert call.attributes["scale"].as_float() == pytest.approx(0.125)
    op = read_fused(call, model, ELEMENTWISE)
    assert op.key == ("ai.webinfer", "ChannelMajorAttention")
    assert op.anchor is not None
    assert op.anchor.float("scale", 0.0) == pytest.approx(0.125)


def test_attention_from_einsum_with_other_letters() -> None:
    data = constants(a=0.5, b=0.25, shape=[2, 8, 10])
    text = _einsum("ndi,ndj->nij", "nij,ndj->ndi")
    check(text, data, "attention from einsum", Split=1, ChannelMajorAttention=1)


def test_attention_from_einsum_refusals() -> None:
    data = constants(a=0.5, b=0.25, shape=[2, 8, 10])
    assert "are not bct,bcs->bts" in refused(_einsum("bct,bcs->bst", "bts,bcs->bct"), data, "attention from einsum")
    assert "axis 1" in refused(_einsum("bct,bcs->bts", "bts,bcs->bct", 1), data, "attention from einsum")
    text = _einsum("bct,bcs->bts", "bts,bcs->bct")
    text = text.replace("(float[2, 8, 10] y)", "(float[2, 8, 10] y, float[2, 10, 10] s)")
    assert "s is also used outside" in refused(text, data, "attention from einsum")


MATMUL = """g (float[2, 7, 24] x, float[2, 9, 24] z, float[2, 9, 24] w) => (float[2, 7, 24] y) {
    qr = Reshape(x, sq) q = Transpose<perm = [0, 2, 1, 3]>(qr) kr = Reshape(z, skv) k = Transpose<perm = KPERM>(kr)
    vr = Reshape(w, skv) v = Transpose<perm = [0, 2, 1, 3]>(vr) SCALED MASKED
    p = Softmax<axis = -1>(masked) o = MatMul(p, v) t = Transpose<perm = [0, 2, 1, 3]>(o) y = Reshape(t, joined) }"""


def _matmul(scaled: str, masked: str = "masked = Identity(scores)", kperm: str = "[0, 2, 3, 1]") -> str:
    return MATMUL.replace("SCALED", scaled).replace("MASKED", masked).replace("KPERM", kperm)


MATMUL_DATA = constants(sq=[2, 7, 4, 6], skv=[2, 9, 4, 6], joined=[2, 7, 24], c=0.7, d=3.0)


@pytest.mark.parametrize(
    ("scaled", "scale"),
    [
        ("scores = MatMul(q, k)", 1.0),
        ("raw = MatMul(q, k) scores = Mul(raw, c)", 0.7),
        ("raw = MatMul(q, k) scores = Div(raw, d)", 1 / 3),
        ("qs = Mul(c, q) ks = Mul(k, c) scores = MatMul(qs, ks)", 0.49),
        ("k2 = Transpose<perm = [0, 1, 2, 3]>(k) qs = Div(q, d) scores = MatMul(qs, k2)", 1 / 3),
    ],
)
def test_attention_from_matmul(scaled: str, scale: float) -> None:
    model = check(_matmul(scaled), MATMUL_DATA, "attention from matmul", Attention=1)
    attributes = model.graph[0].attributes
    assert attributes["q_num_heads"].as_int() == attributes["kv_num_heads"].as_int() == 4
    assert attributes["scale"].as_float() == pytest.approx(scale)


def test_attention_from_matmul_with_two_transposes_of_k() -> None:
    text = _matmul("kt = Transpose<perm = [0, 1, 3, 2]>(k) scores = MatMul(q, kt)", kperm="[0, 2, 1, 3]")
    check(text, MATMUL_DATA, "attention from matmul", Attention=1)


def test_attention_from_matmul_with_a_mask() -> None:
    text = _matmul("raw = MatMul(q, k) scores = Mul(raw, c)", "masked = Add(scores, mask)")
    model = check(text, MATMUL_DATA | weights(mask=(2, 1, 7, 9)), "attention from matmul", Attention=1)
    assert model.graph[0].inputs[3] is not None


WHOLE = """g (float[2, 3, 7, 8] q, float[2, 3, 9, 8] k, float[2, 3, 9, 5] v) => (float[2, 3, 7, 5] y) {
    qs = Mul(q, root) kt = Transpose<perm = [0, 1, 3, 2]>(k) ks = Mul(kt, root) scores = MatMul(qs, ks)
    masked = Add(scores, mask) p = Softmax(masked) y = MatMul(p, v) }"""


def test_attention_from_matmul_of_whole_heads() -> None:
    """Heads that are an axis already; q and k are each scaled by the root, as exporters write it."""
    data = weights(mask=(7, 9)) | {"root": np.array([0.6], np.float32)}
    model = check(WHOLE, data, "attention from matmul", Attention=1)
    (attention,) = (n for n in model.graph if n.op_type == "Attention")
    assert attention.attributes["scale"].as_float() == pytest.approx(0.36)
    assert "q_num_heads" not in attention.attributes


def test_attention_from_matmul_refusals() -> None:
    name = "attention from matmul"
    late = _matmul("raw = MatMul(q, k) scores = Add(raw, mask)", "masked = Mul(scores, c)")
    assert "before the scores are scaled" in refused(late, MATMUL_DATA | weights(mask=(2, 1, 7, 9)), name)
    clipped = _matmul("raw = MatMul(q, k) scores = Tanh(raw)")
    assert "Tanh" in refused(clipped, MATMUL_DATA, name)
    wrong = _matmul("scores = MatMul(q, k)").replace("float[2, 9, 24] z", "float[2, 18, 12] z")
    assert "no heads off the last axis" in refused(wrong, MATMUL_DATA, name)


GEMMS = """g (float[ROWS, 8] x) => (float[ROWS, 4] y, float[ROWS, 6] z, float[ROWS, 4] u) {
    y = Gemm<transB = 1>(x, w1, b1) z = Gemm(x, w2, b2) u = Gemm<alpha = 2.0>(x, w3, b1) }"""
GEMM_DATA = weights(w1=(4, 8), b1=(4,), w2=(8, 6), b2=(6,), w3=(8, 4))


def test_horizontal_gemm() -> None:
    check(GEMMS.replace("ROWS", "1"), GEMM_DATA, "horizontal gemm", Gemm=2, Split=1)


def test_horizontal_gemm_with_rows_is_refused() -> None:
    assert "several rows" in refused(GEMMS.replace("ROWS", "2"), GEMM_DATA, "horizontal gemm")


def test_horizontal_matmul_takes_its_biases_along() -> None:
    text = """g (float[1, 1, 8] x) => (float[1, 1, 4] y, float[1, 1, 6] z) {
        a = MatMul(x, w1) y = Add(b1, a) b = MatMul(x, w2) z = Add(b, b2) }"""
    check(text, weights(w1=(8, 4), b1=(4,), w2=(8, 6), b2=(6,)), "horizontal gemm", MatMul=1, Add=1, Split=1)


class _Wrong(Fusion):
    """Claims that x * sigmoid(x) is relu(x)."""

    name, order = "wrong", 1

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | None:
        if node.op_type != "Sigmoid":
            return None
        (mul,) = node.outputs[0].consumers()
        relu = ir.Node("", "Relu", [node.inputs[0]])
        return Rewrite((node, mul), tuple(mul.outputs), (relu,), tuple(relu.outputs))


def test_a_wrong_rewrite_is_dropped_with_its_reason() -> None:
    model = prepared("g (float[64] x) => (float[64] y) { s = Sigmoid(x) y = Mul(x, s) }")
    changes = run_fusions(model, [_Wrong()])
    assert operators(model) == {"Sigmoid": 1, "Mul": 1}
    (note,) = changes.notes
    assert note.startswith("wrong: output y differs by")
    assert "Sigmoid" in note
    (source,) = model.graph.inputs
    assert {n.op_type for n in source.consumers()} == {"Sigmoid", "Mul"}


def test_verification_computes_equal_structures_once() -> None:
    body = " ".join(f"s{i} = Sigmoid(x{i}) x{i + 1} = Mul(x{i}, s{i})" for i in range(20))
    model = prepared(f"g (float[64] x0) => (float[64] x20) {{ {body} }}")
    (silu,) = (f for f in all_fusions() if f.name == "silu")
    verifier = Verifier()
    for node in model.graph:
        found = silu.match(node, model)
        if isinstance(found, Rewrite):
            assert verifier.fault(found, model) is None
    assert len(verifier.seen) == 1
