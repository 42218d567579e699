"""A page without a bundler that loads packages on any backend, and tells what came of it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from playwright.sync_api import BrowserContext, Page, Route

from webinfer.devices import host_dir
from webinfer.reference import Array
from webinfer.resources import data_dir
from webinfer.server import HostServer

ORT = data_dir("js_runtime") / "node_modules" / "onnxruntime-web" / "dist"
# As a page without a bundler writes it. `attempt` loads, runs and tells; tensors travel as base64.
PAGE = """<!doctype html><title>fallback</title>
<script type="importmap">{"imports": {"onnxruntime-web/wasm": "/ort/ort.wasm.bundle.min.mjs"}}</script>
<script type="module">
import { load } from "/runtime/index.js";
const decode = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const encode = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
window.attempt = async (location, feeds, options = {}) => {
  const events = [];
  const telemetry = { emit: (event) => void events.push(event) };
  try {
    const model = await load(location, { telemetry, ...options });
    const given = {};
    for (const [name, { data, shape }] of Object.entries(feeds)) given[name] = { bytes: decode(data), shape };
    let ticks = 0;
    const ticking = setInterval(() => { ticks += 1; }, 1);
    const outputs = await model.run(given);
    clearInterval(ticking);
    const read = {};
    for (const [name, output] of outputs) {
      read[name] = { dtype: output.dtype, shape: output.shape, data: encode(await output.readBytes()) };
    }
    const { backend, reasons, delivery } = model.info;
    const bytes = model.memory().bytes;
    model.dispose();
    const moves = events.filter(({ type }) => type === "fallback");
    const fallbacks = moves.map(({ from, to, reason }) => [from, to, reason]);
    return { backend, reasons, delivery, outputs: read, ticks, bytes, fallbacks };
  } catch (error) {
    return { code: error.code ?? String(error), message: error.message, attempts: error.attempts ?? [] };
  }
};
</script>"""


def mount(server: HostServer) -> None:
    """Serve the page, the runtime and ONNX Runtime Web."""
    server.mount("runtime", host_dir())
    server.mount("ort", ORT)
    server.mount("page", {"index.html": PAGE.encode()})


def visit(context: BrowserContext, server: HostServer, *, before: str = "", isolated: bool = True) -> Page:
    """The page, after the script `before`."""
    page = context.new_page()
    if before:
        page.add_init_script(before)
    if not isolated:
        page.route("**/page/", _without_isolation)
    page.goto(f"{server.url}/page/")
    page.wait_for_function("window.attempt !== undefined")
    assert page.evaluate("crossOriginIsolated") is isolated
    return page


def _without_isolation(route: Route) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, headers={k: v for k, v in answer.headers.items() if "cross-origin" not in k})


def attempt(page: Page, location: str, feeds: Mapping[str, Array], options: str = "{}") -> dict[str, Any]:
    sent = {
        name: {"data": base64.b64encode(np.ascontiguousarray(value).tobytes()).decode(), "shape": list(value.shape)}
        for name, value in feeds.items()
    }
    script = f"async ([location, feeds]) => await window.attempt(location, feeds, {options})"
    outcome: dict[str, Any] = page.evaluate(script, [location, sent])
    for tensor in outcome.get("outputs", {}).values():
        values = np.frombuffer(base64.b64decode(tensor["data"]), tensor["dtype"])
        tensor["values"] = values.reshape(tensor["shape"])
    return outcome
