"""Self-test and crash marks in Chromium: a killed tab lowers the tier, one that was left or still loads does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page

from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

PAGE = b"""<!doctype html><title>tiers</title>
<script type="module">
import { load } from "/runtime/index.js";
window.attempt = async (options) => {
  try {
    const model = await load("/pkg/", { backend: "webgpu", ...options });
    const { tier, reasons } = model.info;
    model.dispose();
    return { tier, reasons };
  } catch (error) {
    return { code: error.code ?? String(error), message: error.message };
  }
};
</script>"""


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    with HostServer() as running:
        running.mount("runtime", host_dir())
        running.mount("pkg", make_golden.HERE / "package")
        running.mount("page", {"index.html": PAGE})
        yield running


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser that has never been here."""
    opened = chromium.new_context()
    yield opened
    opened.close()


def open_page(context: BrowserContext, server: HostServer) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/page/")
    page.wait_for_function("window.attempt !== undefined")
    return page


def attempt(page: Page, **options: object) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("(options) => window.attempt(options)", options)
    return found


def begin_a_load_that_hangs(page: Page) -> None:
    """Its weights never come; returns when the phase is marked."""
    page.route("**/weights-*", lambda _: None)
    page.evaluate("() => { window.attempt({ cache: 'none' }); }")
    page.wait_for_function("""() => Object.values(localStorage).some((text) => text.includes('"during":"weights"'))""")


def test_the_self_test_is_fetched_and_passes(context: BrowserContext, server: HostServer) -> None:
    page = open_page(context, server)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    assert "self-test: left out, the adapter runs shaders on the CPU" in attempt(page)["reasons"]
    assert not any("self_test" in url or "golden.safetensors" in url for url in fetched)
    reasons = attempt(page, selfTest="always")["reasons"]
    assert any(reason.startswith("self-test: fp32-register passed 3 runs, drift ") for reason in reasons)
    assert any("self_test" in url for url in fetched)


def test_a_tab_that_was_killed_during_a_load(context: BrowserContext, server: HostServer) -> None:
    page = open_page(context, server)
    begin_a_load_that_hangs(page)
    with pytest.raises(Error, match="crash"):
        page.goto("chrome://crash", timeout=10_000)
    again = open_page(context, server)
    # A software adapter has one program only, so none is left.
    found = attempt(again)
    assert found["code"] == "crashed"
    assert "fp32-register: an earlier load died during weights" in found["message"]
    # Who asks for a tier gets it; the load that ends well does not undo what is known.
    assert attempt(again, tier="fp32-register")["tier"] == "fp32-register"
    assert attempt(again)["code"] == "crashed"


def test_a_tab_that_was_left_during_a_load(context: BrowserContext, server: HostServer) -> None:
    page = open_page(context, server)
    begin_a_load_that_hangs(page)
    page.unroute_all(behavior="ignoreErrors")
    page.goto("about:blank")
    assert attempt(open_page(context, server))["tier"] == "fp32-register"


def test_another_tab_that_is_still_loading(context: BrowserContext, server: HostServer) -> None:
    begin_a_load_that_hangs(open_page(context, server))
    assert attempt(open_page(context, server))["tier"] == "fp32-register"
