"""The fallback in Chromium: ONNX Runtime Web in a worker, on packages of every type, against ONNX Runtime CPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.portable import attempt, mount, visit
from tests.golden import make_golden
from webinfer.compile import PackageFiles, compile_in_memory
from webinfer.feeds import seeded_feeds
from webinfer.package import write_package
from webinfer.reference import Array, Reference
from webinfer.server import HostServer

GOLDEN = make_golden.HERE / "package"
REFERENCE = json.loads((make_golden.HERE / "reference.json").read_text())
# Every element type on both ends; ONNX Runtime CPU has these kernels.
TYPES = """<ir_version: 10, opset_import: ["" : 21]>
types (float16[3,5] h, int64[4] wide, bool[7] flag, uint8[6] small, int8[5] narrow, int32[3] word, uint32[3] plain) =>
  (float16[3,5] h2, int64[4] wide2, bool[7] flag2, uint8[6] small2, int8[5] narrow2, int32[3] word2, uint32[3] plain2)
{
  h2 = Mul(h, h)
  wide2 = Add(wide, wide)
  flag2 = Not(flag)
  shrunk = Cast<to=1>(small)
  half = Constant<value=float {0.5}>()
  halved = Mul(shrunk, half)
  small2 = Cast<to=2>(halved)
  narrow2 = Identity(narrow)
  word2 = Abs(word)
  plain2 = Identity(plain)
}"""

# As quantizers write it: 8-bit weights and activations between QuantizeLinear and DequantizeLinear.
QUANTIZED = """<ir_version: 10, opset_import: ["" : 21]>
quantized (float[1,4,9,9] x) => (float[1,6,7,7] y)
<float scale = {0.02}, uint8 zero = {117}>
{
  q = QuantizeLinear(x, scale, zero)
  d = DequantizeLinear(q, scale, zero)
  kernel = DequantizeLinear<axis=0>(weights, scales, zeros)
  c = Conv(d, kernel)
  r = QuantizeLinear(c, scale, zero)
  y = DequantizeLinear(r, scale, zero)
}"""

HALVES = """<ir_version: 10, opset_import: ["" : 21]>
halves (float16[1,8,12,12] x) => (float16[1,8,12,12] y)
{
  c = Conv<pads=[1,1,1,1]>(x, w)
  n = GroupNormalization<num_groups=4, epsilon=0.00001>(c, gain, shift)
  s = Sigmoid(n)
  m = Mul(n, s)
  y = Add(m, x)
}"""

# The Conv's accuracy: half a step of its output for 8 bits, two of float16's last places.
MODELS = {"types": (TYPES, 0.0), "quantized": (QUANTIZED, 0.021), "halves": (HALVES, 4e-3)}


RANDOM = np.random.default_rng(5)
INITIALIZERS: dict[str, Array] = {
    "weights": RANDOM.integers(-100, 100, [6, 4, 3, 3]).astype(np.int8),
    "scales": RANDOM.uniform(0.001, 0.003, 6).astype(np.float32),
    "zeros": np.zeros(6, np.int8),
    "w": RANDOM.normal(0, 0.2, [8, 8, 3, 3]).astype(np.float16),
    "gain": RANDOM.normal(1, 0.2, 8).astype(np.float16),
    "shift": RANDOM.normal(0, 0.2, 8).astype(np.float16),
}


def compiled(text: str) -> PackageFiles:
    """A package of the model; what it reads and does not make comes from INITIALIZERS."""
    model = onnx.parser.parse_model(text)
    for name in {name for node in model.graph.node for name in node.input} & INITIALIZERS.keys():
        if not any(name in node.output for node in model.graph.node):
            model.graph.initializer.append(onnx.numpy_helper.from_array(INITIALIZERS[name], name))
    return compile_in_memory(ir.from_proto(model), {}, {})


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    with HostServer() as running:
        mount(running)
        running.mount("pkg/golden", GOLDEN)
        yield running


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A visitor whose stores are empty."""
    made = chromium.new_context()
    yield made
    made.close()


def golden_feeds() -> dict[str, Array]:
    feeds = REFERENCE["feeds"]
    return {
        "x": np.array(feeds["x"], np.float32),
        "gain": np.array(feeds["gain"], np.float32),
        "offset": np.array(feeds["offset"], np.int64),
    }


def expect_golden(outcome: dict[str, Any]) -> None:
    assert "outputs" in outcome, outcome
    np.testing.assert_allclose(outcome["outputs"]["y"]["values"], REFERENCE["outputs"]["y"], rtol=1e-6, atol=1e-5)
    assert outcome["outputs"]["z"]["values"].tolist() == REFERENCE["outputs"]["z"]


NO_GPU = "Object.defineProperty(Navigator.prototype, 'gpu', { value: undefined });"
NO_ADAPTER = "GPU.prototype.requestAdapter = () => Promise.resolve(null);"


@pytest.mark.parametrize(
    ("before", "code", "isolated"), [(NO_GPU, "no-webgpu", True), (NO_ADAPTER, "no-adapter", False)]
)
def test_without_webgpu(context: BrowserContext, server: HostServer, before: str, code: str, isolated: bool) -> None:
    page = visit(context, server, before=before, isolated=isolated)
    outcome = attempt(page, "/pkg/golden/", golden_feeds())
    expect_golden(outcome)
    assert outcome["backend"] == "wasm"
    assert outcome["fallbacks"] == [["webgpu", "webnn", code], ["webnn", "wasm", "not-on-backend"]]
    how = outcome["reasons"][-1]
    assert "WebAssembly in a worker" in how
    assert ("not cross-origin isolated" in how) is not isolated
    assert outcome["bytes"] == 0


def test_files_are_fetched_once_for_both_backends(context: BrowserContext, server: HostServer) -> None:
    page = visit(context, server)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url.removeprefix(server.url)))
    expect_golden(attempt(page, "/pkg/golden/", golden_feeds(), "{ backend: 'webgpu' }"))
    assert not any("load_portable" in url or url.startswith("/ort/") for url in fetched)
    fetched.clear()
    outcome = attempt(page, "/pkg/golden/", golden_feeds(), "{ backend: 'wasm' }")
    expect_golden(outcome)
    assert [url for url in fetched if url.startswith("/pkg/")] == [
        "/pkg/golden/manifest.json",
        "/pkg/golden/golden.onnx",
    ]
    assert sum("load_portable" in url for url in fetched) == 1
    context.set_offline(True)
    offline = attempt(page, "/pkg/golden/", golden_feeds(), "{ backend: 'wasm' }")
    context.set_offline(False)
    expect_golden(offline)
    assert (offline["delivery"]["manifest"], offline["delivery"]["networkBytes"]) == ("store", 0)


@pytest.mark.parametrize("backend", ["wasm", "webgpu"])
def test_answers_are_those_of_the_reference(
    context: BrowserContext, server: HostServer, tmp_path: Path, backend: str
) -> None:
    page = visit(context, server)
    for name, (text, tolerance) in MODELS.items():
        package = compiled(text)
        write_package(package.files, tmp_path / name)
        location = server.mount(f"pkg/{name}", package.files)
        feeds = seeded_feeds(package.inputs, 3, {})
        outcome = attempt(page, location, feeds, f"{{ backend: '{backend}' }}")
        assert "outputs" in outcome, outcome
        for output, expected in Reference(tmp_path / name / "model.onnx").run(feeds).items():
            found = outcome["outputs"][output]["values"]
            assert found.dtype == expected.dtype, output
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, err_msg=f"{name}: {output}")


def test_a_runtime_that_is_not_there(context: BrowserContext, server: HostServer) -> None:
    page = visit(context, server, before=NO_GPU)
    module = "{ portable: { module: () => import('/ort/nowhere.mjs') } }"
    outcome = attempt(page, "/pkg/golden/", golden_feeds(), module)
    assert outcome["code"] == "no-backend"
    assert [(a["backend"], a["code"]) for a in outcome["attempts"]] == [
        ("webgpu", "no-webgpu"),
        ("webnn", "not-on-backend"),
        ("wasm", "portable-missing"),
    ]
    assert "nowhere.mjs" in outcome["message"]
    # The runtime's module is there, its WebAssembly is not.
    binary = attempt(page, "/pkg/golden/", golden_feeds(), "{ backend: 'wasm', portable: { wasmPaths: '/nowhere/' } }")
    assert binary["code"] == "portable-failed"


def test_the_page_goes_on_while_a_model_runs(context: BrowserContext, server: HostServer) -> None:
    """Products of large matrices take WebAssembly a second or so."""
    text = """<ir_version: 10, opset_import: ["" : 21]> heavy (float[700,700] x) => (float[700,700] y) {
      a = MatMul(x, x) b = MatMul(a, x) c = MatMul(b, x) d = MatMul(c, x) e = MatMul(d, x) y = MatMul(e, x) }"""
    server.mount("pkg/heavy", compiled(text).files)
    x = np.eye(700, dtype=np.float32)
    outcome = attempt(visit(context, server), "/pkg/heavy/", {"x": x}, "{ backend: 'wasm' }")
    assert "outputs" in outcome, outcome
    assert outcome["outputs"]["y"]["values"].tolist() == x.tolist()
    assert outcome["ticks"] > 2
