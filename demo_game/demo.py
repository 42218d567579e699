"""Serves the game, or takes a picture of it in a headless browser.

`python demo_game/demo.py PACKAGE` prints the address and serves until interrupted; `--picture FILE.png` flies for a few
seconds in headless Chromium, writes the picture and exits (1 where the game reports a fault). The game must be built
(`npm --prefix demo_game run build`).
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import shutil
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "demo_game" / "dist"
PICTURE_TIMEOUT_S = 300
# A place with water, meadows and snow; a size that a software adapter draws several times a second.
PICTURE_QUERY = "seed=halcyon&quality=medium&size=960x540"
# Land as far as one sees clearly.
PICTURE_TILES = 24


class Pages(http.server.SimpleHTTPRequestHandler):
    """Serves the built game at / and the package at /terrain.webinfer/."""

    package = Path()
    # The machine's own table of types is not asked: modules must be JavaScript everywhere.
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def translate_path(self, path: str) -> str:
        """Map an URL path to a file; the base class has already no way out of the folder that it is given."""
        prefix = "/terrain.webinfer/"
        if path.startswith(prefix):
            self.directory = str(self.package)
            return super().translate_path(path[len(prefix) - 1 :])
        self.directory = str(BUILT)
        return super().translate_path(path)

    def end_headers(self) -> None:
        """Nothing is cached, so that a new export is seen at once; isolation lets WebAssembly have threads."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class names it so)
        """Say nothing per request."""


@contextmanager
def serving(package: Path, port: int = 0) -> Iterator[str]:
    """Serve in a thread; yields the address of the page."""
    handler = type("PackagePages", (Pages,), {"package": package.resolve()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def take_picture(url: str, target: Path) -> int:
    """Open `url` in headless Chromium on SwiftShader, fly for a moment, write a PNG; returns the exit code."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (serving needs no Playwright)

    device = json.loads((ROOT / "device_matrix" / "devices" / "chromium-swiftshader.json").read_text())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*device["flags"], "--disable-background-networking", "--disable-component-update"],
            chromium_sandbox=os.geteuid() != 0,
        )
        page = browser.new_page(viewport={"width": 960, "height": 540})
        page.set_default_timeout(PICTURE_TIMEOUT_S * 1000)
        page.on("console", lambda message: print(f"page: {message.text}", file=sys.stderr))
        page.on("pageerror", lambda error: print(f"page: {error}", file=sys.stderr))
        page.goto(f"{url}?{PICTURE_QUERY}")
        page.wait_for_function(f"window.game?.made >= {PICTURE_TILES} || window.game?.faults.length > 0")
        page.keyboard.press("Enter")
        page.evaluate("window.game.autopilot = true")
        page.wait_for_function("window.game.run.distance > 150")
        faults = page.evaluate("window.game.faults")
        page.screenshot(path=target)
        print(page.evaluate("`land by ${window.game.backend} (${window.game.reason})`"))
        print(f"wrote {target}")
        for fault in faults:
            print(fault, file=sys.stderr)
        browser.close()
    return int(bool(faults))


def main() -> int:
    """Parse the arguments, start the server; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    with serving(arguments.package, arguments.port) as url:
        if arguments.picture:
            return take_picture(url, arguments.picture)
        print(f"the game is at {url} (Ctrl-C ends)", flush=True)
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin":
            webbrowser.open(url)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
