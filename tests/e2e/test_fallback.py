"""The terrain model on ONNX Runtime Web in Chromium, where a measurement chooses between it and a software adapter."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from playwright.sync_api import sync_playwright

from tests.browser.portable import attempt, mount, visit
from tests.e2e.conftest import Exported, Precision
from tests.e2e.test_fused_models import terrain_feeds
from webinfer.devices import browser_path, find_device
from webinfer.reference import Reference
from webinfer.server import HostServer


def test_terrain(exported: Callable[[str, Precision], Exported]) -> None:
    package = exported("terrain", "fp32")
    feeds = terrain_feeds(0.5, 0.3, 0)
    expected = Reference(package.source).run(feeds)["denoised"]
    with HostServer() as server, sync_playwright() as playwright:
        mount(server)
        location = server.mount("pkg/terrain", package.folder)
        browser = playwright.chromium.launch(
            executable_path=browser_path("chromium"),
            args=["--no-sandbox", "--disable-background-networking", *find_device("chromium-swiftshader").flags],
        )
        page = visit(browser.new_context(), server)
        chosen = attempt(page, location, feeds)
        insisted = attempt(page, location, feeds, "{ backend: 'wasm' }")
        browser.close()
    for outcome in (chosen, insisted):
        assert "outputs" in outcome, outcome
        np.testing.assert_allclose(outcome["outputs"]["denoised"]["values"], expected, rtol=0, atol=1e-4)
    numbers = re.search(r"predicted fp32-register (\d+) ms, measured wasm (\d+) ms", "\n".join(chosen["reasons"]))
    assert numbers is not None, chosen["reasons"]
    predicted, measured = map(int, numbers.groups())
    if predicted != measured:
        assert chosen["backend"] == ("wasm" if measured < predicted else "webgpu")
    assert insisted["backend"] == "wasm"
    assert insisted["delivery"]["networkBytes"] == 0
