"""The preview page in Chromium: a run from query parameters, what it shows, and how it fails."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

PACKAGE = make_golden.HERE / "package"
REFERENCE = json.loads((make_golden.HERE / "reference.json").read_text())
SETTLED = "['done', 'error'].includes(document.documentElement.dataset.state)"


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    with HostServer() as running:
        running.mount("host", host_dir())
        running.mount("pkg/main", PACKAGE)
        yield running


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Page:
    return chromium.new_page()


def visit(page: Page, server: HostServer, **query: str) -> Any:
    """Open the page, wait until it is done or failed, and return window.__webinfer."""
    page.goto(f"{server.url}/host/page/index.html?{urlencode({'autorun': '1', **query})}")
    page.wait_for_function(SETTLED, timeout=60_000)
    return page.evaluate("window.__webinfer")


def test_a_run_from_the_address_line_gives_the_reference(page: Page, server: HostServer) -> None:
    values = {
        f"value.{name}": ",".join(map(repr, np.ravel(value).tolist())) for name, value in REFERENCE["feeds"].items()
    }
    outcome = visit(page, server, profile="1", **values)
    assert "error" not in outcome
    for name, dtype in (("y", "<f4"), ("z", "<i8")):
        found = np.frombuffer(base64.b64decode(outcome["outputs"][name]["base64"]), dtype)
        np.testing.assert_allclose(found, np.ravel(REFERENCE["outputs"][name]), rtol=1e-6, atol=1e-5)
    assert page.inner_text("#badges").startswith("software adapter (CPU)")
    assert "matmul_register" in page.inner_text("#kernels")
    assert "planned activation peak" in page.inner_text("#memory")
    assert "tiles in registers" in page.inner_text("#adapter")


def test_names_from_a_package_stay_text(page: Page, server: HostServer) -> None:
    text = (PACKAGE / "manifest.json").read_text()
    hostile = "<img src=x onerror=document.title='owned'>"
    document = json.loads(text)
    document["name"] = hostile
    files = {p: (PACKAGE / p).read_bytes() for p in [f["path"] for f in document["files"]]}
    path = server.mount("pkg/hostile", {**files, "manifest.json": json.dumps(document).encode()})
    assert "error" not in visit(page, server, package=path)
    assert page.inner_text("#name") == hostile
    assert page.evaluate("document.querySelectorAll('img').length") == 0


def test_a_package_that_is_not_there_is_said_so(page: Page, server: HostServer, tmp_path: Path) -> None:
    path = server.mount("pkg/empty", tmp_path)
    outcome = visit(page, server, package=path)
    assert outcome["error"]["code"] == "fetch"
    assert "404" in page.inner_text("#status")


def test_a_zip_dropped_on_the_page_is_run(page: Page, server: HostServer) -> None:
    visit(page, server)
    files = {str(p.relative_to(PACKAGE)): p.read_bytes() for p in PACKAGE.rglob("*") if p.is_file()}
    renamed = {**json.loads(files["manifest.json"]), "name": "dropped"}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for path, content in {**files, "manifest.json": json.dumps(renamed).encode()}.items():
            target.writestr(path, content)
    page.evaluate(
        """(base64) => {
            const transfer = new DataTransfer();
            const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            transfer.items.add(new File([bytes], "golden.zip"));
            document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
        }""",
        base64.b64encode(made.getvalue()).decode(),
    )
    page.wait_for_function(f"{SETTLED} && document.getElementById('name').textContent === 'dropped'", timeout=60_000)
    outcome = page.evaluate("window.__webinfer")
    assert outcome["info"]["delivery"]["manifest"] == "file"
    assert page.locator("#inputs button").count() == 1
