"""Loss of the device in Chromium, in the middle of jobs: they end with the bytes of an undisturbed run."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

LOSS = b"""
import { FrameScheduler, load } from "/host/index.js";

export async function lose() {
  const events = [];
  const model = await load("/pkg/golden/", { backend: "webgpu", onLoss: (event) => events.push(event) });
  const uncaptured = [];
  const watch = () => model.device.addEventListener("uncapturederror", ({ error }) => uncaptured.push(error.message));
  watch();
  const feeds = { x: new Float32Array([1, -2, 3, -4, 5, -6]), gain: new Float32Array([0.3]),
                  offset: new BigInt64Array([1n, -2n, 3n, 4n]) };
  const chain = {
    steps: 4, checkpointEvery: 1, carry: { z: "offset" },
    feeds: (step) => (step === 0 ? feeds : { x: feeds.x, gain: feeds.gain }),
  };
  const bytes = async (outputs) => {
    const read = await Promise.all([...outputs.values()].map((output) => output.readBytes()));
    return read.map((each) => [...each]);
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const scheduler = new FrameScheduler(model.device, { budgetMs: 1e-9 });
  const play = async (job, lossAt) => {
    let lost = false;
    const outcome = job.done.then(bytes);
    scheduler.add(job);
    for (let count = 0; scheduler.jobs.length > 0 && count < 2000; count += 1) {
      if (!lost && job.progress.dispatches >= lossAt) {
        lost = true;
        model.device.destroy();
      }
      scheduler.frame({ now: await frame() });
    }
    return outcome;
  };
  const requested = () => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/pkg/")).length;
  const results = { run: await play(model.start(feeds), Infinity) };
  results.steps = await play(model.startSteps(chain), Infinity);
  const first = model.device;
  const requests = requested();
  results.lostRun = await play(model.start(feeds), 1);
  watch();
  const second = model.device;
  results.lostSteps = await play(model.startSteps(chain), 8);
  results.devices = new Set([first, second, model.device]).size;
  results.requests = requested() - requests;
  results.recovered = await Promise.all(events.map(({ recovered }) => recovered.then(() => true)));
  results.diagnoses = events.map(({ diagnosis }) => diagnosis);
  results.uncaptured = uncaptured;
  scheduler.dispose();
  model.dispose();
  return results;
}
"""


def test_jobs_survive_the_loss_of_their_device(chromium: Browser) -> None:
    with HostServer() as server:
        server.mount("host", host_dir())
        server.mount("pkg/golden", make_golden.HERE / "package")
        server.mount("page", {"index.html": b"<!doctype html><title>loss</title>", "loss.js": LOSS})
        page = chromium.new_page()
        page.goto(f"{server.url}/page/index.html")
        results = page.evaluate("() => import('/page/loss.js').then(({ lose }) => lose())")
        page.close()
    assert results["lostRun"] == results["run"]
    assert results["lostSteps"] == results["steps"]
    assert results["devices"] == 3
    assert results["requests"] == 0
    assert results["recovered"] == [True, True]
    assert results["uncaptured"] == []
    for diagnosis in results["diagnoses"]:
        assert diagnosis["what"] == "device-lost"
        assert diagnosis["reason"] == "destroyed"
        assert diagnosis["job"]["dispatches"] >= 1
        assert diagnosis["lastKernels"]
