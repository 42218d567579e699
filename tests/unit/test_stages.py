"""The stages before lowering: each does its step, keeps the numbers, and names itself when it breaks its contract."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from tests.unit.graphs import assert_equal, operators, parse, prepared, random_feeds
from webinfer.errors import GraphError, SourceError, UnsupportedError
from webinfer.passes.contract import Changes, Stage
from webinfer.passes.finish import Finish
from webinfer.passes.fix_dims import FixDims
from webinfer.passes.fold import Fold
from webinfer.passes.legalize import Legalize
from webinfer.passes.opset import TARGET

DYNAMIC = "g (float[batch, 4] x) => (float[batch, 4] y) { y = Relu(x) }"


def test_dims_are_fixed_and_old_shapes_forgotten() -> None:
    model = parse(DYNAMIC)
    FixDims({"batch": 3}).run(model)
    assert list(model.graph.inputs[0].shape or ()) == [3, 4]
    assert model.graph.outputs[0].shape is None


def test_a_dynamic_dimension_left_over_names_the_flag() -> None:
    with pytest.raises(SourceError, match=r"'batch' \(axis 0 of input 'x'\).*--dim batch=SIZE"):
        FixDims({}).run(parse(DYNAMIC))


def test_an_unnamed_dimension_is_addressed_by_input_and_axis() -> None:
    model = parse("g (float[?, 4] x) => (float[?, 4] y) { y = Relu(x) }")
    with pytest.raises(SourceError, match="--dim x:0=SIZE"):
        FixDims({}).run(model)
    model = parse("g (float[?, 4] x) => (float[?, 4] y) { y = Relu(x) }")
    FixDims({"x:0": 2}).run(model)
    assert list(model.graph.inputs[0].shape or ()) == [2, 4]


def test_an_unknown_dimension_name_lists_the_known_ones() -> None:
    with pytest.raises(SourceError, match=r"--dim bacth=1.*batch"):
        FixDims({"batch": 1, "bacth": 1}).run(parse(DYNAMIC))


def test_a_dimension_below_one_is_refused() -> None:
    with pytest.raises(SourceError, match="batch=0"):
        FixDims({"batch": 0}).run(parse(DYNAMIC))


@dataclass(frozen=True)
class _Breaks(Stage):
    name: ClassVar[str] = "breaks"
    start: bool = True

    def requires(self, model: ir.Model) -> str | None:
        return None if self.start else "it is not Tuesday"

    def apply(self, model: ir.Model) -> Changes:
        return Changes()

    def ensures(self, model: ir.Model) -> str | None:
        return "nothing was done"


def test_a_stage_that_breaks_its_contract_is_named() -> None:
    with pytest.raises(GraphError, match="stage breaks broke its contract: nothing was done"):
        _Breaks().run(parse(DYNAMIC))
    with pytest.raises(GraphError, match="stage breaks cannot start: it is not Tuesday"):
        _Breaks(start=False).run(parse(DYNAMIC))


def test_a_stage_that_loses_the_order_is_named() -> None:
    @dataclass(frozen=True)
    class Reverses(Stage):
        name: ClassVar[str] = "reverses"

        def apply(self, model: ir.Model) -> Changes:
            first, second = list(model.graph)
            model.graph.remove(first)
            model.graph.insert_after(second, first)
            return Changes()

        def ensures(self, model: ir.Model) -> str | None:
            return None

    model = parse("g (float[4] x) => (float[4] y) { t = Relu(x) y = Neg(t) }")
    with pytest.raises(GraphError, match=r"reverses broke its contract.*reads 't' before"):
        Reverses().run(model)


@pytest.mark.parametrize("opset", [11, 14, 18, 21])
def test_opsets_are_converted_and_keep_their_numbers(opset: int) -> None:
    # Softmax before opset 13 flattens from its axis on; after it, one axis is normalized.
    text = "g (float[2, 3, 4] x) => (float[2, 3, 4] y) { t = Softmax<axis = 1>(x) c = Constant<value = float {2.0}>() "
    text += "y = Mul(t, c) }"
    model = parse(text, opset=opset)
    before = ir.to_proto(model)
    FixDims({}).run(model)
    report = Legalize().run(model)
    assert model.opset_imports[""] == TARGET
    assert report.changes.counts["opset versions up"] == TARGET - opset
    assert "Constant" not in operators(model)
    assert_equal(before, model, random_feeds(model))


def test_newer_opsets_stay() -> None:
    model = parse(DYNAMIC, opset=24)
    Legalize().run(model)
    assert model.opset_imports[""] == 24


def test_source_functions_are_inlined() -> None:
    proto = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 18, "f" : 1]>
        g (float[4] x) => (float[4] y) { y = f.twice(x) }
        <domain: "f", opset_import: ["" : 18]> twice (a) => (b) { b = Add(a, a) }
    """)
    model = ir.serde.deserialize_model(proto)
    Legalize().run(model)
    assert operators(model) == {"Add": 1}
    assert_equal(proto, model, random_feeds(model))


def test_scalar_axes_become_one_dimensional() -> None:
    model = parse("g (float[4] x) => (float[1, 4] y) { y = Unsqueeze(x, axes) }", {"axes": np.array(0, np.int64)})
    Legalize().run(model)
    assert list(model.graph[0].inputs[1].shape or ()) == [1]  # type: ignore[union-attr]
    Fold().run(model)
    assert list(model.graph[0].outputs[0].shape or ()) == [1, 4]


def test_shape_arithmetic_folds_to_static_shapes() -> None:
    text = """g (float[b, 3, 8] x) => (float[?, ?] y) {
        zero = Constant<value = int64 {0}>() minus = Constant<value = int64[1] {-1}>()
        axes = Constant<value = int64[1] {0}>()
        s = Shape(x) b0 = Gather(s, zero) b1 = Unsqueeze(b0, axes) target = Concat<axis = 0>(b1, minus)
        y = Reshape(x, target) }"""
    model = parse(text)
    before = ir.to_proto(model)
    for stage in (FixDims({"b": 2}), Legalize(), Fold()):
        stage.run(model)
    assert operators(model) == {"Reshape": 1}
    assert list(model.graph.outputs[0].shape or ()) == [2, 24]
    assert_equal(before, model, random_feeds(model))


def test_large_constants_fold_as_onnx_runtime_computes_them() -> None:
    text = """g (float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y) {
        none = Constant<value = float[0] {}>() sizes = Constant<value = int64[4] {1, 8, 16, 16}>()
        p = Resize<mode = "cubic", coordinate_transformation_mode = "half_pixel">(table, , , sizes) y = Add(x, p) }"""
    table = np.random.default_rng(0).normal(size=(1, 8, 37, 37)).astype(np.float32)
    model = parse(text, {"table": table})
    before = ir.to_proto(model)
    for stage in (FixDims({}), Legalize(), Fold()):
        report = stage.run(model)
    assert report.changes.counts["computed by ONNX Runtime"] == 1
    assert operators(model) == {"Add": 1}
    assert_equal(before, model, random_feeds(model), relative=0)


def test_noops_duplicates_and_dead_code_go() -> None:
    text = """g (float[4] x) => (float[4] y) {
        a = Identity(x) b = Cast<to = 1>(a) c = Dropout(b) d = Reshape(c, shape)
        p = Add(d, w1) q = Add(d, w2) unused = Exp(d) y = Mul(p, q) }"""
    ones = np.ones(4, np.float32)
    model = parse(text, {"w1": ones, "w2": ones, "shape": np.array([4], np.int64)})
    before = ir.to_proto(model)
    for stage in (FixDims({}), Legalize(), Fold()):
        stage.run(model)
    assert operators(model) == {"Add": 1, "Mul": 1}
    assert len(model.graph.initializers) == 1
    assert_equal(before, model, random_feeds(model))


def test_a_noop_at_the_graph_output_keeps_the_output_name() -> None:
    model = parse("g (float[4] x) => (float[4] y) { t = Relu(x) y = Identity(t) }")
    before = ir.to_proto(model)
    for stage in (FixDims({}), Legalize(), Fold()):
        stage.run(model)
    assert operators(model) == {"Relu": 1}
    assert [v.name for v in model.graph.outputs] == ["y"]
    assert_equal(before, model, random_feeds(model))


def test_a_data_dependent_shape_is_named() -> None:
    model = parse("g (float[4] x) => (int64[1, n] y) { y = NonZero(x) }")
    FixDims({}).run(model)
    Legalize().run(model)
    with pytest.raises(UnsupportedError, match=r"ai\.onnx::NonZero.*no size before it runs"):
        Fold().run(model)


def test_the_final_check_names_an_operator_that_onnx_does_not_have() -> None:
    model = parse("g (float[4] x) => (float[4] y) { y = Relu(x) }")
    FixDims({}).run(model)
    Fold().run(model)
    Finish().run(model)
    model.graph[0].op_type = "Rely"
    with pytest.raises(GraphError, match="Rely"):
        Finish().run(model)


def test_shapes_there_and_back_are_no_work() -> None:
    text = """g (float[2, 3] x) => (float[2, 3] y) {
        a = Unsqueeze(x, one) b = Reshape(a, flat) c = Neg(b) d = Reshape(c, back) e = Flatten(d) y = Abs(e) }"""
    constants = {"one": np.array([1]), "flat": np.array([2, 3]), "back": np.array([1, 2, 3])}
    model = prepared(text, constants)
    assert operators(model) == {"Neg": 1, "Reshape": 1, "Flatten": 1, "Abs": 1}


@pytest.mark.parametrize(("truth", "left"), [([[True]], "x"), ([[False]], "z")])
def test_a_choice_that_is_known(truth: list[list[bool]], left: str) -> None:
    text = "g (float[2, 3] x, float[2, 3] z) => (float[2, 3] y) { a = Where(c, x, z) y = Neg(a) }"
    model = prepared(text, {"c": np.array(truth)})
    (node,) = model.graph
    assert node.inputs[0] is not None
    assert node.inputs[0].name == left


def test_a_choice_that_also_gives_the_shape_stays() -> None:
    text = "g (float[3] x, float[2, 3] z) => (float[2, 3] y) { y = Where(c, x, z) }"
    assert operators(prepared(text, {"c": np.array([[True]])})) == {"Where": 1}


def test_folded_scalars_stay_scalars() -> None:
    model = prepared("g (float[2, 3] x) => (int64 n) { n = Size(x) }")
    shape = model.graph.outputs[0].shape
    assert shape is not None
    assert shape.rank() == 0
