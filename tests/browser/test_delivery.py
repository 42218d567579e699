"""Delivery in Chromium: OPFS, the Cache API in its place, a visit without a server, a zip and a folder as files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.golden import make_golden
from webinfer.devices import host_dir
from webinfer.server import HostServer

PACKAGE = make_golden.HERE / "package"
FILES = {str(p.relative_to(PACKAGE)): p.read_bytes() for p in PACKAGE.rglob("*") if p.is_file()}
REFERENCE = json.loads((make_golden.HERE / "reference.json").read_text())
# The page imports the runtime as a game does; what a test wants from it comes back as JSON.
PAGE = b"""<!doctype html><title>delivery</title><input type="file" id="files" multiple>
<script type="module">
import { load } from "/runtime/index.js";
window.attempt = async (location, feeds, options = {}) => {
  try {
    const model = await load(location, options);
    const typed = { x: Float32Array.from(feeds.x.flat()), gain: Float32Array.of(feeds.gain),
                    offset: BigInt64Array.from(feeds.offset, BigInt) };
    const outputs = await model.run(typed);
    const y = Array.from(await outputs.get("y").read());
    const { delivery } = model.info;
    model.dispose();
    return { y, delivery };
  } catch (error) {
    return { code: error.code ?? String(error) };
  }
};
window.stored = async () => {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("webinfer");
  const names = [];
  for await (const name of folder.keys()) names.push(name);
  return names;
};
</script>"""


@pytest.fixture(scope="module")
def server() -> Iterator[HostServer]:
    with HostServer() as running:
        running.mount("runtime", host_dir())
        running.mount("page", {"index.html": PAGE})
        yield running


@pytest.fixture(scope="module")
def browser_context(chromium: Browser) -> BrowserContext:
    return chromium.new_context()


@pytest.fixture
def page(browser_context: BrowserContext, server: HostServer) -> Iterator[Page]:
    """A page with an empty store."""
    opened = browser_context.new_page()
    opened.goto(f"{server.url}/page/")
    opened.wait_for_function("window.attempt !== undefined")
    opened.evaluate(
        """async () => {
            await (await navigator.storage.getDirectory()).removeEntry("webinfer", { recursive: true }).catch(() => {});
            await caches.delete("webinfer");
        }"""
    )
    yield opened
    opened.close()


def attempt(page: Page, location: str, options: str = "{}") -> dict[str, Any]:
    """Load from what the expression `location` gives and run once; a failure has `code`."""
    script = f"async (feeds) => await window.attempt({location}, feeds, {options})"
    outcome: dict[str, Any] = page.evaluate(script, REFERENCE["feeds"])
    if "y" in outcome:
        np.testing.assert_allclose(outcome["y"], np.ravel(REFERENCE["outputs"]["y"]), rtol=1e-6, atol=1e-5)
    return outcome


@pytest.mark.parametrize("kind", ["opfs", "cache", "memory"])
def test_a_second_visit_needs_no_network_and_no_server(page: Page, server: HostServer, kind: str) -> None:
    path = server.mount(f"pkg/{kind}", FILES)
    if kind != "opfs":
        page.evaluate("delete StorageManager.prototype.getDirectory")
    if kind == "memory":
        page.evaluate("() => { CacheStorage.prototype.open = () => Promise.reject(new Error('a private window')); }")
    first = attempt(page, f"'{path}'")["delivery"]
    assert (first["store"], first["manifest"], first["notes"]) == (kind, "network", [])
    assert first["networkBytes"] > 0
    second = attempt(page, f"'{path}'")["delivery"]
    assert (second["networkBytes"], second["storedBytes"]) == (0, first["networkBytes"])
    page.context.set_offline(True)
    try:
        offline = attempt(page, f"'{path}'")["delivery"]
        assert attempt(page, f"'{path}'", "{ cache: 'none', download: { backoffMs: 1 } }") == {"code": "fetch"}
    finally:
        page.context.set_offline(False)
    assert (offline["manifest"], offline["networkBytes"]) == ("store", 0)


def test_a_damaged_entry_is_replaced(page: Page, server: HostServer) -> None:
    path = server.mount("pkg/damaged", FILES)
    attempt(page, f"'{path}'")
    page.evaluate(
        """async () => {
            const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("webinfer");
            for (const name of await stored()) {
                const writable = await (await folder.getFileHandle(name)).createWritable();
                await writable.write("<!doctype html>");
                await writable.close();
            }
        }"""
    )
    healed = attempt(page, f"'{path}'")["delivery"]
    assert healed["storedBytes"] == 0
    assert any("damaged" in note for note in healed["notes"])
    assert attempt(page, f"'{path}'")["delivery"]["networkBytes"] == 0


def test_a_page_in_place_of_a_shard_is_refused_and_never_stored(page: Page, server: HostServer) -> None:
    shard = next(name for name in FILES if name.endswith(".safetensors"))
    path = server.mount("pkg/html", FILES | {shard: b"<!doctype html><title>app</title>"})
    assert attempt(page, f"'{path}'") == {"code": "html-answer"}
    hashes = {entry["path"]: entry["sha256"] for entry in json.loads(FILES["manifest.json"])["files"]}
    assert hashes[shard] not in page.evaluate("stored()")
    server.mount("pkg/html", FILES)
    assert "y" in attempt(page, f"'{path}'")


def archive(files: dict[str, bytes], folder: str = "golden.webinfer/") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for path, content in files.items():
            target.writestr(folder + path, content)
    return made.getvalue()


@pytest.mark.parametrize("folder", ["", "golden.webinfer/"])
def test_a_zip_as_a_file(page: Page, tmp_path: Path, folder: str) -> None:
    (tmp_path / "golden.zip").write_bytes(archive(FILES, folder))
    page.set_input_files("#files", tmp_path / "golden.zip")
    outcome = attempt(page, "document.getElementById('files').files[0]")
    assert outcome["delivery"] == {
        "store": "none",
        "manifest": "file",
        "networkBytes": 0,
        "retries": 0,
        "storedBytes": 0,
        "notes": [],
    }


def test_what_is_no_package_is_said_so(page: Page, tmp_path: Path) -> None:
    shard = next(name for name in FILES if name.endswith(".safetensors"))
    wrong = FILES[shard][:-1] + bytes([FILES[shard][-1] ^ 1])
    for content, code in (
        (b"not a zip", "zip-invalid"),
        (archive({**FILES, "../secret": b""}), "zip-invalid"),
        (archive({"other": b""}), "missing-file"),
        (archive(FILES | {shard: wrong}), "hash-mismatch"),
        (archive(FILES)[:-5000], "zip-invalid"),
    ):
        (tmp_path / "golden.zip").write_bytes(content)
        page.set_input_files("#files", tmp_path / "golden.zip")
        assert attempt(page, "document.getElementById('files').files[0]") == {"code": code}


def test_a_folder_as_files_and_as_a_handle(page: Page) -> None:
    page.set_input_files("#files", [])
    page.evaluate("document.getElementById('files').webkitdirectory = true")
    page.set_input_files("#files", PACKAGE)
    assert "y" in attempt(page, "document.getElementById('files').files")
    assert "y" in attempt(
        page,
        """await (async () => {
            const root = await (await navigator.storage.getDirectory()).getDirectoryHandle("dropped", { create: true });
            for (const file of document.getElementById('files').files) {
                const parts = file.webkitRelativePath.split("/").slice(1);
                let at = root;
                for (const part of parts.slice(0, -1)) at = await at.getDirectoryHandle(part, { create: true });
                const writable = await (await at.getFileHandle(parts.at(-1), { create: true })).createWritable();
                await writable.write(file);
                await writable.close();
            }
            return root;
        })()""",
    )
