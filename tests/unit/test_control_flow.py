"""If, Loop and Scan with known conditions are unrolled, operators without kernels are expanded, and both end."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest

from webinfer.errors import UnsupportedError
from webinfer.passes.control_flow import MAX_NODES
from webinfer.passes.fold import Fold
from webinfer.passes.legalize import Legalize
from webinfer.passes.specialise import deciding_inputs
from webinfer.reference import run_reference


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 23]> {text}')


def unrolled(text: str) -> onnx.ModelProto:
    """The model folded; it gives the same as before."""
    source = parse(text)
    model = ir.serde.deserialize_model(source)
    Legalize().run(model)
    Fold().run(model)
    folded = ir.serde.serialize_model(model)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in source.graph.input}
    feeds = {n: np.random.default_rng(0).standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    expected, found = run_reference(source, feeds), run_reference(folded, feeds)
    assert list(found) == list(expected)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)
    return folded


def operators(model: onnx.ModelProto) -> Counter[str]:
    return Counter(n.op_type for n in model.graph.node)


def test_if_takes_the_branch_of_its_condition() -> None:
    model = unrolled(
        "g (float[2] x) => (float[2] y) <bool c = {1}> {"
        "  z = Neg(x)"
        "  y = If(c)<then_branch = a () => (float[2] t) { t = Abs(z) },"
        "    else_branch = b () => (float[2] e) { e = Exp(z) }>"
        "}"
    )
    assert operators(model) == {"Neg": 1, "Abs": 1}


def test_loop_carries_values_and_stacks_others() -> None:
    model = unrolled(
        "g (float[2] x) => (float[2] last, float[3, 2] all) <int64 n = {3}, bool go = {1}> {"
        "  last, all = Loop(n, go, x)<body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w, float[2] s) {"
        "    d = Identity(c) f = Cast<to = 1>(i) w = Add(v, f) s = Mul(w, x)"
        "  }>"
        "}"
    )
    assert operators(model)["Mul"] == 3
    assert "Loop" not in operators(model)


def test_a_loop_ends_with_its_condition() -> None:
    model = unrolled(
        "g (float[2] x) => (float[2] last) <int64 n = {100}, bool go = {1}, int64 four = {4}> {"
        "  last = Loop(n, go, x)<body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w) {"
        "    d = Less(i, four) w = Sin(v)"
        "  }>"
        "}"
    )
    assert operators(model) == {"Sin": 5}


def test_a_loop_without_iterations() -> None:
    model = unrolled(
        "g (float[2] x) => (float[2] last) <int64 n = {0}, bool go = {1}> {"
        "  last = Loop(n, go, x)<body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w)"
        "    { d = Identity(c) w = Neg(v) }>"
        "}"
    )
    assert operators(model) == {"Identity": 1}


def test_loops_within_loops_and_outer_values() -> None:
    model = unrolled(
        "g (float[2] x) => (float[2] y) <int64 n = {2}, bool go = {1}> {"
        "  y = Loop(n, go, x)<body = outer (int64 i, bool c, float[2] v) => (bool d, float[2] w) {"
        "    d = Identity(c) k = Neg(v)"
        "    w = Loop(n, go, v)<body = inner (int64 j, bool e, float[2] p) => (bool f, float[2] q)"
        "      { f = Identity(e) m = Mul(p, k) q = Add(m, x) }>"
        "  }>"
        "}"
    )
    assert operators(model) == {"Neg": 2, "Mul": 4, "Add": 4}


def test_scan_goes_along_its_axes() -> None:
    model = unrolled(
        "g (float[2] s, float[2, 3] x) => (float[2] last, float[2, 3] all) {"
        "  last, all = Scan(s, x)<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],"
        "    scan_output_axes = [1], scan_output_directions = [1],"
        "    body = b (float[2] v, float[2] r) => (float[2] w, float[2] o) { w = Add(v, r) o = Mul(w, r) }>"
        "}"
    )
    assert operators(model)["Mul"] == 3
    assert "Scan" not in operators(model)


def test_too_many_iterations_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=f"more than {MAX_NODES} nodes; make fewer iterations"):
        unrolled(
            "g (float[2] x) => (float[2] last) <int64 n = {1000000}, bool go = {1}> {"
            "  last = Loop(n, go, x)<body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w)"
            "    { d = Identity(c) w = Sin(v) }>"
            "}"
        )


def test_a_condition_that_is_computed_from_inputs_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="whether it goes on after iteration 1 is not known before it runs"):
        unrolled(
            "g (float[2] x) => (float[2] last) <int64 n = {3}, bool go = {1}, float zero = {0.0}> {"
            "  last = Loop(n, go, x)<body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w)"
            "    { a = ReduceMax<keepdims = 0>(v) d = Less(a, zero) w = Sin(v) }>"
            "}"
        )


def test_operators_without_a_kernel_are_expanded() -> None:
    model = unrolled("g (float[2, 3] x) => (float[2, 3] y) { y = MeanVarianceNormalization<axes = [1]>(x) }")
    assert operators(model)["ReduceMean"] >= 1
    assert "MeanVarianceNormalization" not in operators(model)


RESHAPE = "g (float[2, 6] x, int64[m] s) => (float[a, b] y) { y = Reshape(x, s) }"
BY_SHAPE = "g (float[2, 6] x, float[k] s) => (float[a, b] y) { z = Shape(s) y = Reshape(x, z) }"
COMPUTED = "g (float[6] x, int64 n, int64[1] u) => (float[m] y) { e = Add(n, u) y = Slice(x, u, e) }"
BRANCH = """g (float[2] x, bool c) => (float[2] y) {
  y = If(c)<then_branch = a () => (float[2] t) { t = Abs(x) }, else_branch = b () => (float[2] e) { e = Neg(x) }>
}"""
CARRIED = """g (float[2] x, int64 n, bool c, int64[1] k) => (float[2] y, int64[1] l) {
  y, l = Loop(n, c, x, k)<body = b (int64 i, bool d, float[2] v, int64[1] m) => (bool e, float[2] w, int64[1] o) {
    e = Identity(d) o = Identity(m) w = Expand(v, m)
  }>
}"""


@pytest.mark.parametrize(
    ("text", "inputs"),
    [(RESHAPE, {"s"}), (BY_SHAPE, set()), (COMPUTED, {"n", "u"}), (BRANCH, {"c"}), (CARRIED, {"n", "c", "k", "x"})],
)
def test_deciding_inputs(text: str, inputs: set[str]) -> None:
    assert deciding_inputs(ir.serde.deserialize_model(parse(text))) == inputs
