"""One headless Chromium with a software WebGPU adapter per test module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from webinfer.devices import browser_path, find_device


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser of device chromium-swiftshader."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path("chromium"),
            args=["--no-sandbox", "--disable-background-networking", *find_device("chromium-swiftshader").flags],
        )
        yield browser
        browser.close()
