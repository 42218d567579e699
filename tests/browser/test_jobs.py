"""Sliced jobs in Chromium, on the main thread and in a worker: the numbers of a run, whoever submits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

# Feeds do not matter here, only that every way of running gives the same bytes.
JOBS = b"""
import { FrameScheduler, load } from "/host/index.js";

export async function jobs() {
  const model = await load("/pkg/golden/", { backend: "webgpu" });
  const { device } = model;
  const feeds = { x: new Float32Array([1, -2, 3, -4, 5, -6]), gain: new Float32Array([0.3]),
                  offset: new BigInt64Array([1n, -2n, 3n, 1n << 40n]) };
  const bytes = async (outputs) => {
    const read = await Promise.all([...outputs.values()].map((output) => output.readBytes()));
    return read.map((each) => [...each]);
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const run = await bytes(await model.run(feeds));

  const stepped = model.start(feeds);
  await stepped.started;
  let steps = 0;
  while (stepped.state === "running") {
    await stepped.step({ budgetMs: 1e-9, divideAboveMs: Infinity }).finished;
    steps += 1;
  }
  const results = { steps, run, stepped: await bytes(await stepped.done) };

  for (const way of ["scheduled", "encoded"]) {
    const scheduler = new FrameScheduler(device, { budgetMs: 1 });
    const job = scheduler.add(model.start(feeds), { priority: 1, deadlineMs: 1000 });
    for (let count = 0; scheduler.jobs.length > 0 && count < 600; count += 1) {
      const now = await frame();
      const encoder = way === "encoded" ? device.createCommandEncoder() : undefined;
      scheduler.frame({ now, encoder });
      if (encoder !== undefined) device.queue.submit([encoder.finish()]);
    }
    results[way] = await bytes(await job.done);
    scheduler.dispose();
  }
  results.kept = [];
  for (let count = 0; count < 300 && results.kept.length === 0; count += 1) {
    await model.run(feeds);
    results.kept = await keptCosts();
  }
  model.dispose();
  return results;
}

function keptCosts() {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("webinfer-records");
    opening.onerror = () => reject(opening.error);
    opening.onupgradeneeded = () => reject(new Error("the runtime keeps no records"));
    opening.onsuccess = () => {
      const keys = opening.result.transaction("records").objectStore("records").getAllKeys();
      keys.onsuccess = () => resolve(keys.result.filter((key) => key.startsWith("costs/")));
    };
  });
}
"""
WORKER = b"""
import { jobs } from "./jobs.js";
jobs().then((value) => postMessage({ value }), (error) => postMessage({ error: String(error) }));
"""
IN_WORKER = """() => new Promise((resolve, reject) => {
  const worker = new Worker("/page/worker.js", { type: "module" });
  worker.onerror = (event) => reject(new Error(event.message));
  worker.onmessage = ({ data }) => ("value" in data ? resolve(data.value) : reject(new Error(data.error)));
})"""
ON_MAIN_THREAD = "() => import('/page/jobs.js').then(({ jobs }) => jobs())"


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    with HostServer() as server:
        server.mount("host", host_dir())
        server.mount("pkg/golden", make_golden.HERE / "package")
        index = b"<!doctype html><title>jobs</title>"
        server.mount("page", {"index.html": index, "jobs.js": JOBS, "worker.js": WORKER})
        opened = chromium.new_page()
        opened.goto(f"{server.url}/page/index.html")
        yield opened


@pytest.mark.parametrize("where", [ON_MAIN_THREAD, IN_WORKER], ids=["main thread", "worker"])
def test_slices_give_the_numbers_of_a_run(page: Page, where: str) -> None:
    results = page.evaluate(where)
    assert results["steps"] == 3
    assert [len(output) for output in results["run"]] == [32, 32]
    for way in ("stepped", "scheduled", "encoded"):
        assert results[way] == results["run"], way
    assert ["/golden/" in key for key in results["kept"]] == [True]
