"""The adapters inside three.js, PlayCanvas and Babylon.js: the example pages, and devices that are lost under them."""

from __future__ import annotations

import base64
import io
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from js_runtime.examples.landscape import SIZE, landscape
from webinfer.compile import compile_in_memory
from webinfer.reference import run_reference
from webinfer.server import HostServer

EXAMPLES = Path(__file__).parents[2] / "js_runtime" / "examples"
ENGINES = ["three", "playcanvas", "babylon"]

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


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    subprocess.run(["node", EXAMPLES / "build.mjs"], check=True)
    model = landscape()
    package = compile_in_memory(ir.serde.deserialize_model(model), {}, {})
    with HostServer() as running:
        running.mount("examples", EXAMPLES / "dist")
        running.mount("land", package.files)
        yield running


@pytest.fixture(params=ENGINES)
def page(chromium: Browser, server: HostServer, request: pytest.FixtureRequest) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 320, "height": 180})
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    opened.goto(f"{server.url}/examples/{request.param}/index.html?package=/land/&budget=20")
    opened.wait_for_function("globalThis.example?.generator.counts.runs >= 2", timeout=60_000)
    yield opened
    opened.close()
    assert faults == []


def test_an_engine_renders_what_the_model_makes(page: Page) -> None:
    first = page.evaluate("example.generator.counts")
    # Frames go on while slices of the next landscapes run.
    page.wait_for_function("(runs) => example.generator.counts.runs >= runs", arg=first["runs"] + 1)
    later = page.evaluate("example.generator.counts")
    assert later["frames"] - first["frames"] > later["runs"] - first["runs"]

    picture = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), np.int32)
    colours = np.unique(picture.reshape(-1, 3), axis=0)
    assert len(colours) > 1000

    read = page.evaluate(READ, SIZE)
    assert read.pop("same"), "the engine's texture is a copy"
    arrays = {name: np.frombuffer(base64.b64decode(text), np.float32) for name, text in read.items()}
    expected = reference(arrays)
    np.testing.assert_allclose(arrays["heights"].reshape(expected.shape), expected, rtol=0, atol=1e-5)


def reference(arrays: dict[str, npt.NDArray[np.float32]]) -> npt.NDArray[Any]:
    """ONNX Runtime on the noise of the page."""
    feeds = {"noise": arrays["noise"].reshape(1, 1, SIZE, SIZE), "roughness": arrays["roughness"].reshape(())}
    return run_reference(landscape(), feeds)["height"]
