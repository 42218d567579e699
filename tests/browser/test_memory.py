"""GPU memory in Chromium: two models within a budget for one, whose weights come back from OPFS without the server."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from playwright.sync_api import Browser

from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

PACKAGE = make_golden.HERE / "package"
FILES = {str(p.relative_to(PACKAGE)): p.read_bytes() for p in PACKAGE.rglob("*") if p.is_file()}
REFERENCE = json.loads((make_golden.HERE / "reference.json").read_text())
PAGE = b"""<!doctype html><title>memory</title>
<script type="module">
import { deviceMemory, load } from "/runtime/index.js";
let device, models;
window.loadTwo = async (location) => {
  device = await (await navigator.gpu.requestAdapter()).requestDevice();
  const memory = deviceMemory(device);
  const first = await load(location, { device, backend: "webgpu" });
  // Room for what one model holds, and for the outputs that callers of the other may still use.
  memory.budgetBytes = memory.use().bytes + 512;
  models = [first, await load(location, { device, backend: "webgpu" })];
};
window.run = async (which, feeds) => {
  const outputs = await models[which].run({ x: Float32Array.from(feeds.x.flat()), gain: Float32Array.of(feeds.gain),
                                            offset: BigInt64Array.from(feeds.offset, BigInt) });
  const y = Array.from(await outputs.get("y").read());
  const use = deviceMemory(device).use();
  return { y, use, weights: models.map((model) => model.memory().byKind.weight.bytes) };
};
window.refuse = async (location) => {
  for (const model of models) model.dispose();
  const memory = deviceMemory(device);
  const left = memory.use().bytes;
  memory.budgetBytes = 100;
  const { code, message } = await load(location, { device, backend: "webgpu" }).catch((error) => error);
  return { left, code, message };
};
</script>"""


def test_evicted_weights_come_back_without_the_server(chromium: Browser) -> None:
    with HostServer() as server:
        server.mount("runtime", host_dir())
        server.mount("page", {"index.html": PAGE})
        server.mount("golden", FILES)
        page = chromium.new_context().new_page()
        page.goto(f"{server.url}/page/")
        page.wait_for_function("window.refuse !== undefined")
        page.evaluate("(location) => loadTwo(location)", f"{server.url}/golden/")
        server.mount("golden", {})
        for which in (0, 1, 0, 1):
            found: dict[str, Any] = page.evaluate("([which, feeds]) => run(which, feeds)", [which, REFERENCE["feeds"]])
            expected = np.array(REFERENCE["outputs"]["y"], np.float32).ravel()
            np.testing.assert_allclose(np.array(found["y"]), expected, rtol=1e-5, atol=1e-5)
            use = found["use"]
            assert use["bytes"] <= use["budgetBytes"]
            assert use["bytes"] == sum(model["bytes"] for model in use["models"])
            assert found["weights"][which] > 0 == found["weights"][1 - which]
        server.mount("golden", FILES)
        refused = page.evaluate("(location) => refuse(location)", f"{server.url}/golden/")
        assert refused["left"] == 0
        assert refused["code"] == "memory-budget"
        assert "the budget is 100" in refused["message"]
        page.context.close()
