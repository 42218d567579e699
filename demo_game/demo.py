"""Serves the page on which the terrain model runs, or takes a picture of it in a headless browser.

`python demo_game/demo.py PACKAGE` prints the address and serves until interrupted; `--picture FILE.png` waits for the
terrain in headless Chromium, writes the picture and exits (1 where the page reports a fault).
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import shutil
import sys
import threading
import time
import webbrowser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE_TIMEOUT_S = 600


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves demo_game at /, the built runtime at /runtime/ and the package at /terrain.webinfer/."""

    package = Path()
    # The machine's own table of types is not asked: modules must be JavaScript everywhere.
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript"}

    def translate_path(self, path: str) -> str:
        """Map an URL path to a file; the base class has already no way out of the folder that it is given."""
        for prefix, folder in (("/runtime/", ROOT / "js_runtime" / "dist"), ("/terrain.webinfer/", self.package)):
            if path.startswith(prefix):
                self.directory = str(folder)
                return super().translate_path(path[len(prefix) - 1 :])
        self.directory = str(ROOT / "demo_game")
        return super().translate_path(path)

    def end_headers(self) -> None:
        """Nothing is cached, so that a new export is seen at once."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class names it so)
        """Say nothing per request."""


def take_picture(url: str, target: Path) -> int:
    """Open `url` in headless Chromium on SwiftShader, write a PNG once the terrain is drawn; returns the exit code."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (serving needs no Playwright)

    device = json.loads((ROOT / "device_matrix" / "devices" / "chromium-swiftshader.json").read_text())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*device["flags"], "--disable-background-networking", "--disable-component-update"],
            chromium_sandbox=os.geteuid() != 0,
        )
        page = browser.new_page(viewport={"width": 960, "height": 640})
        page.on("console", lambda message: print(f"page: {message.text}", file=sys.stderr))
        page.on("pageerror", lambda error: print(f"page: {error}", file=sys.stderr))
        page.goto(url)
        deadline = time.monotonic() + PICTURE_TIMEOUT_S
        while (state := page.get_attribute("body", "data-state")) not in ("done", "failed"):
            if time.monotonic() > deadline:
                break
            page.wait_for_timeout(200)
        print(page.inner_text("#status"))
        if state == "done":
            page.screenshot(path=target)
            print(f"wrote {target}")
        elif state != "failed":
            print(f"no terrain within {PICTURE_TIMEOUT_S} s: is the machine busy?", file=sys.stderr)
        browser.close()
    return int(state != "done")


def main() -> int:
    """Parse the arguments, start the server; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    Pages.package = arguments.package.resolve()
    with http.server.ThreadingHTTPServer(("127.0.0.1", arguments.port), Pages) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        if arguments.picture:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            return take_picture(url, arguments.picture)
        print(f"terrain at {url} (Ctrl-C ends)", flush=True)
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin":
            webbrowser.open(url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
