"""Fusions that group operators into functions: concat folding, elementwise tails and elementwise trees."""

from __future__ import annotations

from tests.unit.graphs import check, constants, refused, weights
from webinfer.fused import read_fused
from webinfer.ops.elementwise import ELEMENTWISE

CONCAT = """g (float[1, 4, 6, 6] a, float[1, 4, 6, 6] b) => (float[1, 8, 6, 6] y, float[1, 3, 6, 6] z) {
    c = Concat<axis = 1>(a, b) y = GroupNormalization<num_groups = 4>(c, s, t) z = Conv<CONV>(c, w) }"""


def test_concat_into_its_consumers() -> None:
    text = CONCAT.replace("CONV", "strides = [1, 1]")
    data = weights(s=(8,), t=(8,), w=(3, 8, 1, 1))
    model = check(text, data, "concat into consumer", ConcatGroupNorm=1, ConcatConv=1)
    op = read_fused(model.graph[-1], model, ELEMENTWISE)
    assert op.sources() == ("a", "b")


def test_concat_that_another_operator_reads_is_refused() -> None:
    text = CONCAT.replace("CONV", "strides = [1, 1], pads = [1, 1, 1, 1]").replace("[1, 3, 6, 6] z", "[1, 3, 6, 6] z")
    note = refused(text, weights(s=(8,), t=(8,), w=(3, 8, 3, 3)), "concat into consumer")
    assert "needs the concatenated tensor in memory" in note


def test_concat_of_three_is_refused() -> None:
    text = """g (float[1, 4, 6, 6] a) => (float[1, 12, 6, 6] y) {
        c = Concat<axis = 1>(a, a, a) y = GroupNormalization<num_groups = 4>(c, s, t) }"""
    assert "3 tensors" in refused(text, weights(s=(12,), t=(12,)), "concat into consumer")


def test_epilogue_takes_the_time_conditioned_norm() -> None:
    text = """g (float[1, 8, 4, 4] x, float[1, 16, 1, 1] e) => (float[1, 8, 4, 4] y) {
        s, t = Split<axis = 1, num_outputs = 2>(e) n = GroupNormalization<num_groups = 4>(x, g, b)
        s1 = Add(s, one) m = Mul(n, s1) a = Add(m, t) sg = Sigmoid(a) y = Mul(a, sg) }"""
    data = weights(g=(8,), b=(8,)) | constants(one=1.0)
    model = check(text, data, "silu", "epilogue", Split=1, GroupNormAddMulAddSilu=1)
    op = read_fused(model.graph[-1], model, ELEMENTWISE)
    assert op.anchor is not None
    assert op.anchor.op_type == "GroupNormalization"
    assert [s.op_type for s in op.epilogue] == ["Add", "Mul", "Add", "Silu"]


def test_epilogue_gives_a_residual_add_to_the_later_convolution() -> None:
    text = """g (float[1, 4, 6, 6] x) => (float[1, 4, 6, 6] y) {
        a = Conv<pads = [1, 1, 1, 1]>(x, w3) b = Conv(x, w1) s = Add(a, b) y = Relu(s) }"""
    model = check(text, weights(w3=(4, 4, 3, 3), w1=(4, 4, 1, 1)), "epilogue", Conv=1, ConvAddRelu=1)
    assert list(model.graph[-1].attributes) == []


def test_epilogue_of_a_matrix_product() -> None:
    text = """g (float[1, 5, 8] x, float[1, 5, 6] r) => (float[1, 5, 6] y) {
        p = MatMul(x, w) q = Add(b, p) l = Mul(q, scale) y = Add(l, r) }"""
    check(text, weights(w=(8, 6), b=(6,), scale=(6,)), "epilogue", MatMulAddMulAdd=1)


def test_epilogue_stops_at_a_value_with_another_reader() -> None:
    text = """g (float[1, 4, 6, 6] x) => (float[1, 4, 6, 6] y, float[1, 4, 6, 6] r) {
        c = Conv(x, w) r = Relu(c) y = Neg(r) }"""
    check(text, weights(w=(4, 4, 1, 1)), "epilogue", ConvRelu=1, Neg=1)


def test_epilogue_refuses_operands_that_no_kernel_takes() -> None:
    text = "g (float[1, 4, 6, 6] x, float[1, 1, 6, 6] m) => (float[1, 4, 6, 6] y) { c = Conv(x, w) y = Mul(c, m) }"
    assert "m [1, 1, 6, 6] does not fit Conv's [1, 4, 6, 6]" in refused(text, weights(w=(4, 4, 1, 1)), "epilogue")


def test_epilogue_takes_three_operands_at_most() -> None:
    text = """g (float[1, 4, 6, 6] x, float[1, 4, 6, 6] a, float[1, 4, 6, 6] b, float[1, 4, 6, 6] c,
               float[1, 4, 6, 6] d) => (float[1, 4, 6, 6] y) {
        p = Conv(x, w) q = Add(p, a) r = Add(q, b) s = Add(r, c) y = Add(s, d) }"""
    check(text, weights(w=(4, 4, 1, 1)), "epilogue", ConvAddAddAdd=1, Add=1)


def test_epilogue_leaves_another_operators_tail_to_it() -> None:
    text = """g (float[1, 4, 6, 6] x) => (float[1, 4, 6, 6] y) {
        a = Conv(x, w1) ra = Relu(a) b = Conv(x, w2) y = Add(ra, b) }"""
    check(text, weights(w1=(4, 4, 1, 1), w2=(4, 4, 1, 1)), "epilogue", ConvRelu=1, ConvAdd=1)


def test_epilogue_behind_a_concat() -> None:
    text = """g (float[1, 4, 6, 6] a, float[1, 4, 6, 6] b) => (float[1, 8, 6, 6] y) {
        c = Concat<axis = 1>(a, b) n = GroupNormalization<num_groups = 4>(c, s, t) y = Relu(n) }"""
    model = check(text, weights(s=(8,), t=(8,)), "concat into consumer", "epilogue", ConcatGroupNormRelu=1)
    assert len(model.functions) == 1


def test_equal_structures_share_one_function() -> None:
    text = """g (float[1, 4, 6, 6] x) => (float[1, 4, 3, 3] y) {
        a = Conv(x, w1) ra = Relu(a) b = Conv(ra, w2) rb = Relu(b) c = Conv<strides = [2, 2]>(rb, w1) y = Relu(c) }"""
    model = check(text, weights(w1=(4, 4, 1, 1), w2=(4, 4, 1, 1)), "epilogue", ConvRelu=3)
    assert len(model.functions) == 2


def test_pointwise() -> None:
    text = """g (float[1, 4, 6, 6] x, float[1, 4, 1, 1] s) => (float[1, 4, 6, 6] y, float[1, 4, 6, 6] z) {
        e = Exp(s) a = Mul(x, e) b = Tanh(a) c = Neg(x) y = Add(b, c) z = Abs(x) }"""
    check(text, {}, "pointwise", Pointwise=1, Abs=1)


def test_pointwise_takes_integers_and_truth_values() -> None:
    check("g (int64[4] x) => (int64[4] y) { a = Add(x, x) y = Mul(a, x) }", {}, "pointwise", Pointwise=1)
    text = "g (float[4] x, float[4] y) => (float[4] z) { m = Greater(x, y) z = Where(m, x, y) }"
    check(text, {}, "pointwise", Pointwise=1)


def test_pointwise_keeps_64_bit_integers_apart() -> None:
    text = "g (int64[4] n, float[4] x) => (float[4] z) { y = Cast<to=1>(n) z = Mul(x, y) }"
    check(text, {}, "pointwise", Cast=1, Mul=1)


def test_pointwise_takes_six_operands_at_most() -> None:
    inputs = ", ".join(f"float[4] x{i}" for i in range(9))
    body = " ".join(f"t{i} = Add({f't{i - 1}' if i > 1 else 'x0'}, x{i})" for i in range(1, 8))
    model = check(f"g ({inputs}) => (float[4] y) {{ {body} y = Add(t7, x8) }}", {}, "pointwise", Pointwise=2)
    assert all(len(n.inputs) <= 6 for n in model.graph)


def test_one_element_values_are_read_without_their_views() -> None:
    text = """g (float[1] sigma, float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y) {
        r = Reciprocal(sigma) u = Unsqueeze(r, axes) y = Mul(x, u) }"""
    data = constants(axes=[1, 2, 3])
    check(text, data, "views of scalars", Reciprocal=1, Mul=1)
    check(text, data, "views of scalars", "pointwise", Pointwise=1)


def test_a_view_that_makes_the_rank_of_the_result_stays() -> None:
    text = "g (float[1] a) => (float[1, 1, 1] y) { u = Unsqueeze(a, axes) y = Neg(u) }"
    check(text, constants(axes=[1, 2]), "views of scalars", Unsqueeze=1, Neg=1)


def test_tiny_values_are_computed_again_by_each_reader() -> None:
    text = """g (float[1] s, float[1, 1, 8, 8] x) => (float[1, 1, 8, 8] y, float[1, 1, 8, 8] z) {
        q = Mul(s, s) y = Mul(x, q) z = Add(x, q) }"""
    check(text, {}, "pointwise", Pointwise=2)


def test_a_tiny_value_that_an_operator_needs_stays_as_well() -> None:
    text = """g (float[1, 1] s, float[1, 1, 8, 8] x) => (float[1, 1, 8, 8] y, float[1, 4] z) {
        e = Exp(s) q = Mul(e, e) y = Mul(x, q) z = Gemm(q, w) }"""
    check(text, weights(w=(1, 4)), "pointwise", Pointwise=2, Gemm=1)
