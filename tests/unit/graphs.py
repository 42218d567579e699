"""Small models for the tests of stages and fusions, written in ONNX's text syntax, and their comparison by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir

from webinfer.fusions import all_fusions
from webinfer.passes.contract import Changes
from webinfer.passes.fix_dims import FixDims
from webinfer.passes.fold import Fold
from webinfer.passes.fuse import run_fusions
from webinfer.passes.legalize import Legalize
from webinfer.reference import run_reference

Arrays = Mapping[str, npt.NDArray[Any]]


def parse(text: str, weights: Arrays | None = None, *, opset: int = 23) -> ir.Model:
    """A model from the text of its graph; `weights` become initializers."""
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> {text}')
    for name, array in (weights or {}).items():
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return ir.serde.deserialize_model(proto)


def prepared(text: str, weights: Arrays | None = None) -> ir.Model:
    """The model after the stages that precede fusions."""
    model = parse(text, weights)
    for stage in (FixDims({}), Legalize(), Fold()):
        stage.run(model)
    return model


def fuse(model: ir.Model, *names: str) -> Changes:
    """Run the fusions with these names, in their order."""
    return run_fusions(model, [f for f in all_fusions() if f.name in names])


def operators(model: ir.Model) -> Counter[str]:
    """Operator counts, function names without their hash."""
    return Counter(n.op_type.partition("__")[0] for n in model.graph)


def random_feeds(model: ir.Model, seed: int = 0) -> dict[str, npt.NDArray[Any]]:
    """Random numbers of each input's shape and type."""
    rng = np.random.default_rng(seed)
    feeds = {}
    for value in model.graph.inputs:
        assert value.dtype is not None
        assert value.shape is not None
        feeds[value.name or ""] = rng.normal(size=value.shape.numpy()).astype(value.dtype.numpy())
    return feeds


def assert_equal(before: onnx.ModelProto, after: ir.Model, feeds: Arrays, relative: float = 1e-5) -> None:
    """Both models give the same outputs, within `relative` of the largest magnitude; non-finite values fail."""
    expected, found = run_reference(before, feeds), run_reference(ir.to_proto(after), feeds)
    assert expected.keys() == found.keys()
    for name, want in expected.items():
        got = found[name]
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        assert np.isfinite(want).all()
        assert np.isfinite(got).all()
        worst = np.abs(got.astype(np.float64) - want.astype(np.float64)).max()
        assert worst <= relative * np.abs(want).max(), f"{name}: {worst}"
