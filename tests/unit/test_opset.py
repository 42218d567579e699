"""Operators of older opsets against ONNX Runtime: what the conversion gives is what the old operator gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper, reference

from webinfer.errors import SourceError, UnsupportedError
from webinfer.passes.legalize import Legalize
from webinfer.passes.opset import ADAPTERS, TARGET
from webinfer.reference import run_reference

Array = np.ndarray[Any, np.dtype[Any]]


def floats(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def model_of(
    opset: int, op_type: str, inputs: Sequence[Array], constant: Sequence[int] = (), outputs: int = 1, **attributes: Any
) -> onnx.ModelProto:
    """A model of one node with inputs i0, i1, ... of which `constant` are initializers."""
    named = {f"i{k}": array for k, array in enumerate(inputs)}
    results = [f"o{k}" for k in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op_type, list(named), results, **attributes)],
        op_type,
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for k, (n, a) in enumerate(named.items())
            if k not in constant
        ],
        [onnx.ValueInfoProto(name=r) for r in results],
        [numpy_helper.from_array(inputs[k], f"i{k}") for k in constant],
    )
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    )


def legalized(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model at the newest dialect."""
    converted = ir.serde.deserialize_model(model)
    Legalize().run(converted)
    assert converted.opset_imports[""] >= TARGET
    return ir.serde.serialize_model(converted)


def run(model: onnx.ModelProto, feeds: dict[str, Array]) -> dict[str, Array]:
    """ONNX Runtime; ONNX's reference where it has no kernel."""
    try:
        return run_reference(model, feeds, plain=True)
    except SourceError:
        names = [v.name for v in model.graph.output]
        values = reference.ReferenceEvaluator(model).run(names, feeds)
        return dict(zip(names, map(np.asarray, values), strict=True))


BOXES = np.array([[0, 0, 4, 5], [1, 2, 7, 6]], np.float32)
GRID = np.clip(floats(1, 3, 3, 2), -1, 1)
NORM = [floats(2, 3, 4), floats(3), floats(3), floats(3), np.abs(floats(3)) + 0.1]
# opset, operator, inputs, positions of constants, number of outputs, attributes
NODES: list[tuple[int, str, list[Array], tuple[int, ...], int, dict[str, Any]]] = [
    *((7, op, [floats(2, 3, 4)], (), 1, {}) for op in ("Softmax", "LogSoftmax", "Hardmax")),
    *((12, "Softmax", [floats(2, 3, 4)], (), 1, {"axis": axis}) for axis in (0, 1, 2)),
    (11, "LogSoftmax", [floats(2, 3, 4)], (), 1, {"axis": -2}),
    (6, "PRelu", [floats(2, 3, 4), floats(3)], (), 1, {}),
    (6, "Gemm", [floats(2, 3), floats(3, 4), floats(4)], (), 1, {"broadcast": 1}),
    (7, "Clip", [floats(3, 4)], (), 1, {"min": -0.5, "max": 0.3}),
    (10, "Clip", [floats(3, 4)], (), 1, {"max": 0.3}),
    (10, "Pad", [floats(3, 4)], (), 1, {"pads": [1, 0, 0, 2], "value": 2.5}),
    (10, "Pad", [floats(3, 4)], (), 1, {"pads": [1, 0, 0, 2], "mode": "reflect"}),
    (9, "Slice", [floats(5, 6)], (), 1, {"starts": [1, -3], "ends": [4, 100], "axes": [1, 0]}),
    (9, "Slice", [floats(5, 6)], (), 1, {"starts": [1], "ends": [4]}),
    (9, "TopK", [floats(5, 6)], (), 2, {"k": 3, "axis": 0}),
    (8, "Upsample", [floats(1, 2, 3, 4)], (), 1, {"scales": [1.0, 1.0, 2.0, 3.0]}),
    (8, "Upsample", [floats(1, 2, 3, 4)], (), 1, {"scales": [1.0, 1.0, 2.0, 1.5], "mode": "linear"}),
    (9, "Upsample", [floats(1, 2, 3, 4), np.array([1, 1, 2.5, 2], np.float32)], (1,), 1, {}),
    *(
        (10, "Resize", [floats(1, 2, 7, 10), np.array([1, 1, *factors], np.float32)], (1,), 1, {"mode": mode})
        for factors in ((2.5, 2), (0.6, 0.6), (0.5, 0.4), (1.7, 1.3))
        for mode in ("nearest", "linear")
    ),
    *((version, "Dropout", [floats(3, 4)], (), 1, {"ratio": 0.3}) for version in (7, 11)),
    (11, "Squeeze", [floats(1, 4, 1)], (), 1, {"axes": [0, 2]}),
    (11, "Squeeze", [floats(1, 4, 1)], (), 1, {}),
    (11, "Unsqueeze", [floats(4)], (), 1, {"axes": [0, 2]}),
    (11, "ReduceSum", [floats(3, 4)], (), 1, {"axes": [1], "keepdims": 0}),
    (13, "ReduceLogSumExp", [floats(3, 4)], (), 1, {"axes": [-1]}),
    (11, "ReduceMax", [floats(3, 4)], (), 1, {}),
    (7, "Split", [floats(6, 4)], (), 2, {"axis": 0}),
    (11, "Split", [floats(6, 4)], (), 2, {"axis": 0, "split": [2, 4]}),
    (13, "Split", [floats(6, 4)], (), 3, {"axis": 0}),
    *((version, "BatchNormalization", NORM, (), 1, {"epsilon": 1e-3}) for version in (7, 9, 13)),
    (9, "Scatter", [floats(3, 3), np.array([[0, 2, 1]], np.int64), floats(1, 3)], (), 1, {"axis": 0}),
    *(
        (16, "GridSample", [floats(1, 2, 5, 5), GRID], (), 1, {"mode": mode})
        for mode in ("bilinear", "bicubic", "nearest")
    ),
    (16, "GridSample", [floats(1, 2, 5, 5), GRID], (), 1, {}),
    (17, "DFT", [floats(2, 8, 3, 1)], (), 1, {}),
    (17, "DFT", [floats(2, 8, 3, 1)], (), 1, {"axis": 2, "onesided": 1}),
    (18, "GroupNormalization", [floats(2, 6, 3, 3), floats(2), floats(2)], (), 1, {"num_groups": 2}),
    (
        10,
        "RoiAlign",
        [floats(1, 2, 8, 8), BOXES, np.array([0, 0])],
        (),
        1,
        {"output_height": 3, "output_width": 3, "sampling_ratio": 2},
    ),
]


@pytest.mark.parametrize(("opset", "op_type", "inputs", "constant", "outputs", "attributes"), NODES)
def test_old_operators(
    opset: int, op_type: str, inputs: list[Array], constant: tuple[int, ...], outputs: int, attributes: dict[str, Any]
) -> None:
    model = model_of(opset, op_type, inputs, constant, outputs, **attributes)
    feeds = {f"i{k}": array for k, array in enumerate(inputs) if k not in constant}
    expected, found = run(model, feeds), run(legalized(model), feeds)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)


def test_broadcasting_along_an_axis() -> None:
    """ONNX Runtime does not know opset 6 any more."""
    x, y = floats(2, 3, 4), floats(3)
    model = legalized(model_of(6, "Add", [x, y], broadcast=1, axis=1))
    np.testing.assert_array_equal(run(model, {"i0": x, "i1": y})["o0"], x + y[:, None])


def test_every_adapter_is_tested() -> None:
    """Scan of opset 8 is in the conformance suite."""
    tested = {op_type for _, op_type, *_ in NODES} | {"Scan", "Add"}
    assert [ops for _, ops, _ in ADAPTERS if not tested & set(ops.split())] == []


@pytest.mark.parametrize("opset", [23, 24, 28])
def test_newer_models_keep_their_opset(opset: int) -> None:
    assert legalized(model_of(opset, "Relu", [floats(2)])).opset_import[0].version == opset


def test_axes_given_as_a_scalar() -> None:
    model = model_of(13, "Unsqueeze", [floats(4), np.array(0, np.int64)], (1,))
    (axes,) = (t for t in legalized(model).graph.initializer if t.dims)
    assert numpy_helper.to_array(axes).tolist() == [0]


@pytest.mark.parametrize(
    ("opset", "op_type", "inputs", "attributes", "why"),
    [
        (7, "BatchNormalization", NORM, {"spatial": 0}, "spatial=0 was dropped"),
        (10, "Resize", [floats(1, 1, 4, 4), np.array([1, 1, 2, 0.5], np.float32)], {}, "shrinks one axis and enlarges"),
        (4, "Reshape", [floats(2, 3)], {"shape": [6]}, "of opset 4: re-export the model with opset 7 or newer"),
    ],
)
def test_what_has_no_newer_form_is_refused(
    opset: int, op_type: str, inputs: list[Array], attributes: dict[str, Any], why: str
) -> None:
    constant = tuple(range(1, len(inputs))) if op_type == "Resize" else ()
    with pytest.raises(UnsupportedError, match=why):
        legalized(model_of(opset, op_type, inputs, constant, **attributes))
