"""`webinfer lint`: nodes with and without a kernel, costs, advice; text, JSON and the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from tests.commands import call
from webinfer.cost import all_skus, predict
from webinfer.kernel import Dispatch, Kernel
from webinfer.tiers import all_tiers

HEAD = '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]> '
GOOD = "g (float[2, 64] x) => (float[2, 32] y) { [product] h = MatMul(x, w) [tail] y = Relu(h) }"
BAD = """g (float[2, 4, 4] m) => (float[2, 4, 4] y) <float[2, 4, 4] i> {
    [inverse] i = com.microsoft.Inverse(m) [tail] y = Relu(i) }"""


def model(folder: Path, text: str, **constants: np.ndarray) -> Path:
    proto = onnx.parser.parse_model(HEAD + text)
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(a, n) for n, a in constants.items())
    path = folder / "m.onnx"
    onnx.save(proto, path)
    return path


def report(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    status = call("lint", *map(str, words), "--json")
    return status, json.loads(capsys.readouterr().out)


def test_a_supported_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = model(tmp_path, GOOD, w=np.ones((64, 32), np.float32))
    status, data = report(capsys, source)
    assert status == 0
    (node,) = data["nodes"]  # the Relu is part of the product
    assert node["covers"] == ["MatMul", "Relu"]
    assert set(node["tiers"]) == set(all_tiers())
    assert not any(node["tiers"].values())
    assert node["flops"] >= 2 * 2 * 64 * 32
    assert node["dispatches"] == 1
    assert data["totals"].keys() == all_skus().keys() == node["predicted"].keys()
    assert all(ms > 0 for ms in data["totals"].values())


def test_a_slow_form_is_named_with_the_faster_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "g (float[2, 64] x) => (float[2, 33] y) { y = MatMul(x, w) }"
    _, data = report(capsys, model(tmp_path, odd, w=np.ones((64, 33), np.float32)))
    assert "columns are a multiple of 4" in data["nodes"][0]["advice"]


def test_what_has_no_kernel_is_named_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, page = model(tmp_path, BAD), tmp_path / "report.html"
    assert call("lint", source, "--html", page) == 1
    captured = capsys.readouterr()
    assert "inverse: com.microsoft::Inverse(float32[2, 4, 4])" in captured.out
    assert "no kernel for this operator" in captured.out
    assert "1 nodes cannot run on every tier" in captured.err
    text = page.read_text()
    assert "com.microsoft::Inverse" in text
    assert "no kernel for this operator" in text
    status, data = report(capsys, source)
    assert status == 1
    by_name = {n["name"]: n for n in data["nodes"]}
    assert all(by_name["inverse"]["tiers"].values())
    assert by_name["inverse"]["dispatches"] == 0
    assert not any(by_name["tail"]["tiers"].values())


def test_the_page_escapes_names_of_the_model(tmp_path: Path) -> None:
    proto = onnx.load(model(tmp_path, BAD))
    proto.graph.node[0].name = "<script>alert(1)</script>"
    onnx.save(proto, tmp_path / "m.onnx")
    assert call("lint", tmp_path / "m.onnx", "--html", tmp_path / "r.html") == 1
    assert "<script>alert" not in (tmp_path / "r.html").read_text()


def test_results_of_unknown_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = model(tmp_path, "g (float[4] x) => (int64[1, N] y) { [which] y = NonZero(x) }")
    status, data = report(capsys, source, "--html", tmp_path / "r.html")
    assert status == 1
    assert "which" in data["unsized"]
    assert "which" in (tmp_path / "r.html").read_text()


def test_the_cost_model_is_the_roofline() -> None:
    sku = all_skus()["nvidia-gtx-1650"]
    kernel = Kernel("k", "", (64, 1, 1), (), ())
    heavy = Dispatch(kernel, (), (), (1, 1, 1), "n", flops=10**12, bytes=1)
    wide = Dispatch(kernel, (), (), (1, 1, 1), "n", flops=1, bytes=10**11)
    compute = predict([heavy], sku, "fp32")
    assert compute.bound == "compute"
    assert compute.ms == pytest.approx(10**12 / (sku.f32_gflops * sku.compute_efficiency * 1e6), rel=1e-3)
    memory = predict([wide], sku, "fp32")
    assert memory.bound == "memory"
    assert memory.ms == pytest.approx(10**11 / (sku.bandwidth_gb_per_s * sku.bandwidth_efficiency * 1e6), rel=1e-3)
    assert predict([], sku, "fp32").ms == 0


def test_every_sku_names_a_tier() -> None:
    assert all(sku.tier in all_tiers() for sku in all_skus().values())
