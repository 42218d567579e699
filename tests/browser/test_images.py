"""Everything that a browser can draw as a model's input, on the main thread and in a worker, against ONNX Runtime."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

from tests.browser.test_workers import CALL, WORKER
from tests.images.make_images import write
from webinfer.devices import browser_path, find_device, host_dir
from webinfer.server import HostServer

SOURCES = b"""
import { load } from "/host/index.js";

const drawn = (image, canvas) => {
  Object.assign(canvas, { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
};

/** A clip of one colour, as this browser records it. */
async function clip(colour) {
  const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 48 });
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(30), { videoBitsPerSecond: 4e6 });
  const chunks = [];
  recorder.ondataavailable = ({ data }) => chunks.push(data);
  const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start();
  for (let frame = 0; frame < 15; frame += 1) {
    context.fillStyle = colour;
    context.fillRect(0, 0, 64, 48);
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  recorder.stop();
  await stopped;
  const video = Object.assign(document.createElement("video"), { muted: true, loop: true });
  video.src = URL.createObjectURL(new Blob(chunks, { type: recorder.mimeType }));
  const shown = new Promise((resolve, reject) => {
    video.requestVideoFrameCallback(resolve);
    video.onerror = () => reject(video.error);
  });
  await Promise.all([video.play(), shown]);
  return video;
}

/** What the model `photo` answers on every kind of source that this thread has. */
export async function sources({ pixels, size: [height, width], options }, colour, featureLevel) {
  const model = await load("/pkg/photo/", { backend: "webgpu", featureLevel });
  const image = new ImageData(Uint8ClampedArray.from(pixels), width, height);
  const canvas = drawn(image, new OffscreenCanvas(width, height));
  const frame = new VideoFrame(canvas, { timestamp: 0 });
  const kinds = { image, canvas, frame, bitmap: await createImageBitmap(image) };
  if (typeof document === "object") kinds.element = drawn(image, document.createElement("canvas"));
  const results = { ways: {} };
  const run = async (feed) => {
    const job = model.start({ image: feed }, { textures: { features: { layout: "nhwc", buffer: true } } });
    await job.started;
    while (job.state === "running") await job.step({ budgetMs: 100 }).finished;
    const outputs = await job.done;
    const { usage, format } = outputs.get("features").texture();
    const read = async (name) => Array.from(await outputs.get(name).read());
    return { features: await read("features"), negative: await read("negative"), ways: job.images, usage, format };
  };
  for (const [kind, source] of Object.entries(kinds)) results[kind] = await run({ image: source, ...options });
  frame.close();
  results.closed = await model.run({ image: { image: frame } }).catch(({ code }) => code);
  const faint = new OffscreenCanvas(width, height);
  const context = faint.getContext("2d");
  context.fillStyle = colour;
  context.globalAlpha = 0.5;
  context.fillRect(0, 0, width, height);
  results.faint = await run({ image: faint });
  if (typeof document === "object") results.video = await run({ image: await clip(colour) });
  model.dispose();
  return results;
}
"""
COLOUR = (200, 100, 40)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("images")
    write(folder)
    return folder, json.loads((folder / "images.json").read_text())


@pytest.fixture(scope="module")
def url(cases: tuple[Path, dict[str, Any]]) -> Iterator[str]:
    with HostServer() as server:
        server.mount("host", host_dir())
        server.mount("pkg/photo", cases[0] / "photo.webinfer")
        index = b"<!doctype html><title>images</title>"
        server.mount("page", {"index.html": index, "sources.js": SOURCES, "worker.js": WORKER})
        yield f"{server.url}/page/index.html"


@pytest.fixture(scope="module")
def compatible(chromium: Browser) -> Iterator[Browser]:
    """The browser of device chromium-compat."""
    flags = ["--no-sandbox", "--disable-background-networking", *find_device("chromium-compat").flags]
    browser = chromium.browser_type.launch(executable_path=browser_path("chromium"), args=flags)
    yield browser
    browser.close()


@pytest.mark.parametrize(
    ("where", "level"), [("main thread", "core"), ("worker", "core"), ("main thread", "compatibility")]
)
def test_every_source_gives_the_numbers_of_onnx_runtime(
    request: pytest.FixtureRequest, url: str, cases: tuple[Path, dict[str, Any]], where: str, level: str
) -> None:
    browser: Browser = request.getfixturevalue("chromium" if level == "core" else "compatible")
    page = browser.new_page()
    page.goto(url)
    case = cases[1]["photo"]
    colour = "rgb({}, {}, {})".format(*COLOUR)
    results = page.evaluate(CALL[where], ["/page/sources.js", "sources", case, colour, level])
    page.close()
    kinds = ["image", "canvas", "frame", "bitmap", *(["element"] if where == "main thread" else [])]
    for kind in kinds:
        for name in ("features", "negative"):
            np.testing.assert_allclose(results[kind][name], case["outputs"][name]["values"], atol=2e-5, err_msg=kind)
        assert {use["tensor"]: use["way"] for use in results[kind]["ways"]} == {
            "image": "fused",
            "features": "converted",
        }
        assert results[kind]["format"] == "rgba16float"
    assert results["closed"] == "image-source"
    # Half transparent: the colour is straight, up to what premultiplied bytes lose.
    expected = np.repeat(1 - np.array(COLOUR) / 255, 5 * 7)
    np.testing.assert_allclose(results["faint"]["negative"], expected, atol=2.1 / 255)
    if where == "main thread":
        # Lossy, in a video's colours.
        np.testing.assert_allclose(results["video"]["negative"], expected, atol=12 / 255)
        assert results["video"]["ways"][0]["way"] == "converted"
