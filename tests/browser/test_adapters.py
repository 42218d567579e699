"""The adapters inside three.js, PlayCanvas and Babylon.js: the example pages, and devices that are lost under them."""

from __future__ import annotations

import base64
import io
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from js_runtime.examples.landscape import SIZE, landscape
from webinfer.compile import compile_in_memory
from webinfer.reference import run_reference
from webinfer.server import HostServer

EXAMPLES = Path(__file__).parents[2] / "js_runtime" / "examples"

# The texture inside the engine's texture object, and what is in it, read through the GPU.
READ = """async (size) => {
  const { generator, shown } = example;
  await generator.stop();
  const texture = shown();
  const { device } = generator;
  const usage = GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ;
  const buffer = device.createBuffer({ size: size * size * 4, usage });
  const encoder = device.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: size * 4 }, [size, size]);
  device.queue.submit([encoder.finish()]);
  await buffer.mapAsync(GPUMapMode.READ);
  const text = (array) => btoa(Array.from(new Uint8Array(array), (byte) => String.fromCharCode(byte)).join(""));
  const read = { same: texture === generator.heights, heights: text(buffer.getMappedRange()) };
  for (const [name, array] of Object.entries(generator.feeds)) read[name] = text(array.buffer);
  return read;
}"""

# A browser says "destroyed" of every loss that a page can bring about, which PlayCanvas takes for its own doing.
LOSE = {
    "playcanvas": """() => {
      const { graphicsDevice } = example.engine;
      graphicsDevice.wgpu.destroy();
      void graphicsDevice.handleDeviceLost({ reason: "unknown", message: "for the test" });
    }""",
    "babylon": "() => example.engine._device.destroy()",
}


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    subprocess.run(["node", EXAMPLES / "build.mjs"], check=True)
    model = landscape()
    package = compile_in_memory(ir.serde.deserialize_model(model), {}, {})
    with HostServer() as running:
        running.mount("examples", EXAMPLES / "dist")
        running.mount("land", package.files)
        yield running


@contextmanager
def example(chromium: Browser, server: HostServer, engine: str) -> Iterator[Page]:
    """The page of an engine once slices of its second landscape ran; errors on it fail the test."""
    page = chromium.new_page(viewport={"width": 320, "height": 180})
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(f"{server.url}/examples/{engine}/index.html?package=/land/&budget=4")
    page.wait_for_function("globalThis.example?.generator.counts.runs >= 2", timeout=120_000)
    yield page
    page.close()
    assert faults == []


@pytest.mark.parametrize("engine", ["three", "playcanvas", "babylon"])
def test_an_engine_renders_what_the_model_makes(chromium: Browser, server: HostServer, engine: str) -> None:
    with example(chromium, server, engine) as page:
        first = page.evaluate("example.generator.counts")
        page.wait_for_function("(runs) => example.generator.counts.runs > runs", arg=first["runs"], timeout=120_000)
        later = page.evaluate("example.generator.counts")
        # A landscape takes slices of several frames.
        assert later["frames"] - first["frames"] > later["runs"] - first["runs"]
        picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), np.int32)
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1000
        assert_shows_the_reference(page)


@pytest.mark.parametrize("engine", LOSE)
def test_a_model_follows_the_engine_to_its_new_device(chromium: Browser, server: HostServer, engine: str) -> None:
    with example(chromium, server, engine) as page:
        page.evaluate("() => { globalThis.before = example.generator.device; }")
        page.evaluate(LOSE[engine])
        page.wait_for_function("example.generator.device !== before", timeout=120_000)
        runs = page.evaluate("example.generator.counts.runs")
        page.wait_for_function("(runs) => example.generator.counts.runs > runs", arg=runs, timeout=120_000)
        assert_shows_the_reference(page)


def assert_shows_the_reference(page: Page) -> None:
    """The engine's texture is the model's, and what is in it is what ONNX Runtime makes of the page's noise."""
    read = page.evaluate(READ, SIZE)
    assert read.pop("same"), "the engine's texture is a copy"
    arrays = {name: np.frombuffer(base64.b64decode(text), np.float32) for name, text in read.items()}
    feeds = {"noise": arrays["noise"].reshape(1, 1, SIZE, SIZE), "roughness": arrays["roughness"].reshape(())}
    expected = run_reference(landscape(), feeds)["height"]
    np.testing.assert_allclose(arrays["heights"].reshape(expected.shape), expected, rtol=0, atol=1e-5)
