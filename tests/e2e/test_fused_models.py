"""The two real models from source file to fused graph: operator counts, numbers against the source, and time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir
import pytest

from exporters.onnx import open_onnx
from webinfer.fused import FusedOp, read_fused
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes.contract import Stage
from webinfer.passes.finish import Finish
from webinfer.passes.fix_dims import FixDims
from webinfer.passes.fold import Fold
from webinfer.passes.fuse import Fuse, Outline
from webinfer.passes.legalize import Legalize
from webinfer.passes.precision import Precision
from webinfer.reference import run_reference

VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Split", "Slice"})


def fuse(path: Path, dims: Mapping[str, int], precision: Literal["fp32", "fp16"]) -> ir.Model:
    """All stages, printed with `pytest -s`."""
    start = time.perf_counter()
    model = open_onnx(path).model
    stages: list[Stage] = [FixDims(dims), Legalize(), Fold(), Fuse(), Precision(precision), Outline(), Finish()]
    for stage in stages:
        report = stage.run(model)
        print(report, *report.changes.notes, sep="\n    ")
    print(f"{path.name} {precision}: {time.perf_counter() - start:.1f} s in all")
    return model


def anchors(model: ir.Model) -> Counter[str]:
    """Nodes by what computes them; views apart."""
    ops = [read_fused(node, model, ELEMENTWISE) for node in model.graph]
    counts = Counter(_kind(op) for op in ops)
    print(dict(counts))
    return counts


def _kind(op: FusedOp) -> str:
    name = op.anchor.op_type if op.anchor else "Pointwise"
    return "view" if name in VIEWS else name


def worst_error(source: Path, model: ir.Model, feeds: Mapping[str, npt.NDArray[Any]]) -> float:
    """Largest difference of any output from the source file, in ONNX Runtime CPU; non-finite values fail."""
    expected, found = run_reference(onnx.load(source), feeds), run_reference(ir.to_proto(model), feeds)
    assert expected.keys() == found.keys()
    worst = 0.0
    for name, want in expected.items():
        assert found[name].shape == want.shape
        assert np.isfinite(found[name]).all()
        worst = max(worst, float(np.abs(found[name] - want).max()))
    print(f"worst error {worst:.2e}")
    return worst


def terrain_feeds(sigma: float, difficulty: float, seed: int) -> dict[str, npt.NDArray[Any]]:
    """As the model's own package calls it: noise times sigma, sigma from 0.002 to 80, difficulty from 0 to 1."""
    noise = np.random.default_rng(seed).normal(size=(1, 1, 128, 128)) * sigma
    return {
        "noisy": noise.astype(np.float32),
        "sigma": np.array([sigma], np.float32),
        "difficulty": np.array([difficulty], np.float32),
    }


@pytest.fixture(scope="module")
def terrain(terrain_path: Path) -> ir.Model:
    return fuse(terrain_path, {"batch": 1}, "fp32")


@pytest.fixture(scope="module")
def terrain_fp16(terrain_path: Path) -> ir.Model:
    return fuse(terrain_path, {"batch": 1}, "fp16")


@pytest.fixture(scope="module")
def vit(vit_path: Path) -> ir.Model:
    return fuse(vit_path, {"batch_size": 1}, "fp32")


@pytest.mark.parametrize("precision", ["terrain", "terrain_fp16"])
def test_terrain_operators(precision: str, request: pytest.FixtureRequest) -> None:
    counts = anchors(request.getfixturevalue(precision))
    assert counts["Conv"] == 196
    assert counts["GroupNormalization"] == 139
    assert counts["ChannelMajorAttention"] == 28
    assert counts["AveragePool"] == 8
    assert counts["Resize"] == 4  # the other four are read by a convolution without being written
    assert counts["Gemm"] == 5
    assert sum(counts.values()) - counts["view"] <= 390
    named = ("Conv", "GroupNormalization", "ChannelMajorAttention", "AveragePool", "Resize", "Gemm")
    assert set(counts) - set(named) <= {"Pointwise", "Concat", "view"}
    assert counts["Concat"] <= 1


def test_vit_operators(vit: ir.Model) -> None:
    counts = anchors(vit)
    assert counts["Attention"] == 12
    assert counts["LayerNormalization"] == 25
    assert counts["MatMul"] == 72
    assert not {"Erf", "ReduceMean", "BatchNormalization", "Softmax"} & set(counts)
    assert sum(counts.values()) - counts["view"] <= 125


@pytest.mark.parametrize(("sigma", "difficulty"), [(80.0, 0.0), (80.0, 1.0), (1.0, 0.5), (0.01, 0.3)])
def test_terrain_numbers(terrain: ir.Model, terrain_path: Path, sigma: float, difficulty: float) -> None:
    assert worst_error(terrain_path, terrain, terrain_feeds(sigma, difficulty, 0)) <= 1e-4


@pytest.mark.parametrize(("sigma", "difficulty"), [(80.0, 0.0), (80.0, 1.0), (1.0, 0.5), (0.01, 0.3)])
def test_terrain_float16(terrain_fp16: ir.Model, terrain_path: Path, sigma: float, difficulty: float) -> None:
    assert worst_error(terrain_path, terrain_fp16, terrain_feeds(sigma, difficulty, 0)) <= 2e-2


def test_vit_numbers(vit: ir.Model, vit_path: Path) -> None:
    feeds = {"input_image": np.random.default_rng(0).normal(size=(1, 3, 224, 224)).astype(np.float32)}
    assert worst_error(vit_path, vit, feeds) <= 1e-5


def test_vit_numbers_in_float16(vit_path: Path) -> None:
    model = fuse(vit_path, {"batch_size": 1}, "fp16")
    feeds = {"input_image": np.random.default_rng(0).normal(size=(1, 3, 224, 224)).astype(np.float32)}
    assert worst_error(vit_path, model, feeds) <= 2e-2


def test_float16_halves_the_weights(terrain: ir.Model, terrain_fp16: ir.Model) -> None:
    full, half = (
        sum(v.const_value.nbytes for v in m.graph.initializers.values() if v.const_value is not None)
        for m in (terrain, terrain_fp16)
    )
    assert half <= 0.51 * full  # the embeddings of timestep and label stay float32
