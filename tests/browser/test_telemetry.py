"""Telemetry in Chromium: the HUD shows what runs, a beacon leaves a hidden page, and the trace is one."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.trace_format import check_trace
from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

# The page's own navigator.sendBeacon is watched, not replaced: the browser must take what it is given.
PLAY = b"""
import { FrameScheduler, load } from "/host/index.js";
import { BeaconSink, Hud, TelemetryStream, TraceRecorder } from "/host/telemetry.js";

export async function play() {
  const beacons = [];
  const send = navigator.sendBeacon.bind(navigator);
  navigator.sendBeacon = (url, body) => {
    const taken = send(url, body);
    beacons.push({ taken, text: body.text() });
    return taken;
  };
  const hud = new Hud({ everyMs: 0 });
  document.body.append(hud.element);
  const trace = new TraceRecorder();
  const sinks = [new BeaconSink("/page/beacons")];
  const telemetry = new TelemetryStream({ observers: [hud, trace], sinks, sampleRate: 1 });
  const model = await load("/pkg/golden/", { telemetry, backend: "webgpu" });
  const feeds = { x: new Float32Array(6), gain: new Float32Array(1), offset: new BigInt64Array(4) };
  const scheduler = new FrameScheduler(model.device, { budgetMs: 4, telemetry });
  for (let run = 0; run < 3; run += 1) {
    const job = scheduler.add(model.start(feeds));
    while (scheduler.jobs.length > 0) {
      scheduler.frame({ now: await new Promise((resolve) => requestAnimationFrame(resolve)) });
    }
    await job.done;
  }
  trace.profile(await model.profile(feeds));
  const texts = {};
  for (const row of ["frame", "slice", "memory", "tier", "jobs"]) {
    texts[row] = hud.element.querySelector(`.webinfer-hud-${row}`).textContent;
  }
  dispatchEvent(new PageTransitionEvent("pagehide"));
  const bodies = await Promise.all(beacons.map(async ({ taken, text }) => ({ taken, text: await text })));
  const tier = model.info.tier;
  model.dispose();
  return { texts, tier, bodies, trace: trace.export() };
}
"""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    with HostServer() as server:
        server.mount("host", host_dir())
        server.mount("pkg/golden", make_golden.HERE / "package")
        server.mount("page", {"index.html": b"<!doctype html><title>telemetry</title><body>", "play.js": PLAY})
        opened = chromium.new_page()
        opened.goto(f"{server.url}/page/index.html")
        yield opened


def test_a_session_is_shown_sent_and_traced(page: Page) -> None:
    session = page.evaluate("() => import('/page/play.js').then(({ play }) => play())")

    texts = session["texts"]
    assert texts["tier"] == f"{session['tier']} (software adapter)"
    assert texts["jobs"] == "0"
    frame_ms = float(texts["frame"].split(" ms")[0])
    assert frame_ms > 0
    assert "budget 4.0" in texts["slice"]
    assert "MiB, peak" in texts["memory"]

    [body] = session["bodies"]
    assert body["taken"]
    records = json.loads(body["text"])["records"]
    events = {record["event"]["type"]: record["event"] for record in records}
    assert events["loaded"]["networkBytes"] > 0
    assert (events["window"]["jobsDone"], events["window"]["jobsFailed"]) == (3, 0)
    assert {record["subject"]["model"] for record in records} == {"golden"}

    trace = check_trace(session["trace"])
    names = {event["args"]["name"] for event in trace if event["name"] == "thread_name"}
    assert names == {"page", "frames", "encoding", "slices", "kernels", "profile"}
    assert any(event["name"] == "frame" for event in trace)
    # Slices and kernels lie on the GPU's tracks, under the names that the package gives its kernels.
    kernels = {path.stem for path in (make_golden.HERE / "package" / "kernels").iterdir()}
    [gpu] = {event["pid"] for event in trace if event["name"] == "slice golden"}
    for category in ("kernel", "profile"):
        found = [event for event in trace if event["cat"] == category]
        assert found
        assert {event["name"] for event in found} <= kernels
        assert {event["pid"] for event in found} == {gpu}
