"""Small models for the tests of stages and fusions, written in ONNX's text syntax, and their comparison by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir

from webinfer.fused import read_fused
from webinfer.fusions import all_fusions
from webinfer.ops.elementwise import ELEMENTWISE
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


_RNG = np.random.default_rng(1)


def weights(**shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Random float32 constants."""
    return {name: _RNG.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def constants(**values: float | list[int]) -> dict[str, np.ndarray]:
    """Float scalars, and int64 tensors for lists."""
    return {n: np.array(v, np.int64 if isinstance(v, list) else np.float32) for n, v in values.items()}


def check(text: str, data: Arrays, *names: str, **expected: int) -> ir.Model:
    """Fuse and compare the operators and the numbers."""
    model = prepared(text, data)
    before = ir.to_proto(model)
    fuse(model, *names)
    assert operators(model) == expected
    assert_equal(before, model, random_feeds(model))
    for node in model.graph:
        read_fused(node, model, ELEMENTWISE)
    return model


def refused(text: str, data: Arrays, name: str) -> str:
    """The only note of a fusion that changes nothing."""
    model = prepared(text, data)
    before = operators(model)
    changes = fuse(model, name)
    assert operators(model) == before
    assert not any(changes.counts.values())
    (note,) = changes.notes
    assert note.startswith(name)
    return note
