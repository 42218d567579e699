"""The whole runtime on the main thread and in a worker, and a worker that renders while a job runs in its frames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.trace_format import check_trace
from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

REFERENCE = json.loads((make_golden.HERE / "reference.json").read_text())
FEEDS = f"const FEEDS = {json.dumps(REFERENCE['feeds'])};".encode()

SESSION = (
    FEEDS
    + b"""
import { FrameScheduler, load } from "/host/index.js";
import { BeaconSink, KillSwitch, TelemetryStream, TraceRecorder } from "/host/telemetry.js";

const feeds = { x: Float32Array.from(FEEDS.x.flat()), gain: Float32Array.of(FEEDS.gain),
                offset: BigInt64Array.from(FEEDS.offset, BigInt) };
const read = async (outputs) => Array.from(await outputs.get("y").read());

/** Everything that a game does, for whatever thread it runs on. */
export async function session(location) {
  const records = [];
  const kept = { write: (record) => records.push(record), flush: () => Promise.resolve() };
  const trace = new TraceRecorder();
  const killSwitch = new KillSwitch("/page/rules.json");
  const sinks = [kept, new BeaconSink("/page/beacons")];
  const telemetry = new TelemetryStream({ observers: [trace], sinks, sampleRate: 1, killSwitch });
  const options = { telemetry, admit: killSwitch.admit, backend: "webgpu" };
  (await load(location, options)).dispose();

  const model = await load(location, options);
  const { delivery } = model.info;
  const whole = await read(await model.run(feeds));
  await model.prepareSlices({ budgetMs: 1 });
  const scheduler = new FrameScheduler(model.device, { budgetMs: 1, telemetry });
  const urgent = scheduler.add(model.start(feeds), { priority: 1, deadlineMs: 5000 });
  const cancelled = scheduler.add(model.start(feeds));
  cancelled.cancel();
  while (scheduler.jobs.length > 0) {
    scheduler.frame({ now: await new Promise((resolve) => requestAnimationFrame(resolve)) });
  }
  const sliced = await read(await urgent.done);
  const outcome = await cancelled.done.catch(({ code }) => code);
  scheduler.dispose();
  const held = model.memory().bytes;
  const { device } = model;
  model.dispose();
  const lost = (await device.lost).reason;
  await telemetry.close();
  return { delivery, whole, sliced, outcome, held, lost, trace: trace.export(), faults: telemetry.faults.map(String),
           types: records.map(({ event }) => event.type) };
}
"""
)
# A page hands its canvas over; from then on the worker has the device, the frames and the model.
RENDERER = (
    FEEDS
    + b"""
import { FrameScheduler, load } from "/host/index.js";

const feeds = { x: Float32Array.from(FEEDS.x.flat()), gain: Float32Array.of(FEEDS.gain),
                offset: BigInt64Array.from(FEEDS.offset, BigInt) };

export async function render(canvas) {
  const model = await load("/pkg/golden/", { backend: "webgpu" });
  const { device } = model;
  const context = canvas.getContext("webgpu");
  context.configure({ device, format: "rgba8unorm", usage: GPUTextureUsage.RENDER_ATTACHMENT });
  await model.prepareSlices({ budgetMs: 1 });
  const scheduler = new FrameScheduler(device, { budgetMs: 1 });
  const job = scheduler.add(model.start(feeds));
  let frames = 0;
  let rendered = 0;
  while (scheduler.jobs.length > 0 || frames < 3) {
    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
    const encoder = device.createCommandEncoder();
    const view = context.getCurrentTexture().createView();
    const clearValue = { r: 0.2, g: 0.4, b: 1, a: 1 };
    encoder.beginRenderPass({ colorAttachments: [{ view, clearValue, loadOp: "clear", storeOp: "store" }] }).end();
    // The slice goes into the renderer's own encoder.
    rendered += scheduler.frame({ now, encoder }).dispatches;
    device.queue.submit([encoder.finish()]);
    frames += 1;
  }
  const y = Array.from(await (await job.done).get("y").read());
  return { y, frames, rendered };
}
"""
)
WORKER = b"""
onmessage = async ({ data: [path, name, ...args] }) => {
  try {
    postMessage({ value: await (await import(path))[name](...args) });
  } catch (error) {
    postMessage({ error: String(error.stack ?? error) });
  }
};
"""
CALL = {
    "main thread": "async ([path, name, ...args]) => (await import(path))[name](...args)",
    "worker": """(message) => new Promise((resolve, reject) => {
        const worker = new Worker("/page/worker.js", { type: "module" });
        worker.onerror = (event) => reject(new Error(event.message));
        worker.onmessage = ({ data }) => ("value" in data ? resolve(data.value) : reject(new Error(data.error)));
        worker.postMessage(message);
    })""",
}


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    with HostServer() as running:
        running.mount("host", host_dir())
        running.mount("pkg/golden", make_golden.HERE / "package")
        files = {"session.js": SESSION, "render.js": RENDERER, "worker.js": WORKER, "rules.json": b'{"rules": []}'}
        running.mount("page", {"index.html": b"<!doctype html><title>workers</title><body>", **files})
        yield running


@pytest.fixture
def page(chromium: Browser, server: HostServer) -> Iterator[Page]:
    """A page with a store of its own."""
    context = chromium.new_context()
    opened = context.new_page()
    opened.goto(f"{server.url}/page/")
    yield opened
    context.close()


def check_y(found: list[float]) -> None:
    np.testing.assert_allclose(found, np.ravel(REFERENCE["outputs"]["y"]), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("where", CALL)
def test_a_session(page: Page, where: str) -> None:
    result: dict[str, Any] = page.evaluate(CALL[where], ["/page/session.js", "session", "/pkg/golden/"])
    check_y(result["whole"])
    check_y(result["sliced"])
    assert result["outcome"] == "aborted"
    assert (result["delivery"]["store"], result["delivery"]["networkBytes"]) == ("opfs", 0)
    assert result["held"] > 0
    assert result["lost"] == "destroyed"
    assert result["faults"] == []
    assert result["types"].count("loaded") == 2
    assert "window" in result["types"]
    assert "device-lost" not in result["types"]
    names = {event["name"] for event in check_trace(result["trace"])}
    assert {"slice golden", "job golden (done)", "job golden (cancelled)"} <= names


def test_a_worker_renders_while_a_job_runs(page: Page) -> None:
    script = """async (call) => {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 64;
        document.body.append(canvas);
        const offscreen = canvas.transferControlToOffscreen();
        const result = await new Promise((resolve, reject) => {
            const worker = new Worker("/page/worker.js", { type: "module" });
            worker.onerror = (event) => reject(new Error(event.message));
            worker.onmessage = ({ data }) => ("value" in data ? resolve(data.value) : reject(new Error(data.error)));
            worker.postMessage(["/page/render.js", "render", offscreen], [offscreen]);
        });
        // A frame of the worker reaches the page's canvas with the page's own next frames.
        const picture = new OffscreenCanvas(64, 64).getContext("2d", { willReadFrequently: true });
        let pixel = [0, 0, 0, 0];
        for (let count = 0; count < 300 && pixel[3] === 0; count += 1) {
            await new Promise((resolve) => requestAnimationFrame(resolve));
            picture.drawImage(canvas, 0, 0);
            pixel = [...picture.getImageData(32, 32, 1, 1).data];
        }
        return { ...result, pixel };
    }"""
    result = page.evaluate(script)
    check_y(result["y"])
    assert result["frames"] >= 3
    assert result["rendered"] > 0
    assert result["pixel"] == [51, 102, 255, 255]
