"""Opens one page in headless Firefox over WebDriver BiDi and keeps it until standard input closes.

Run as `python -m webinfer.hosts.firefox JSON`: {"url", "executable", "flags", "prefs"}. Console messages and failures
go to standard output; the exit status is 1 when the browser died by itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from webinfer.hosts.parent import when_parent_leaves

START_TIMEOUT_S = 90.0
# A fresh profile contacts update, telemetry and settings services at once; none of it belongs in a measurement.
QUIET_PREFS: dict[str, Any] = {
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.disable_open_during_load": False,
    "extensions.getAddons.cache.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}


def main() -> int:
    """Return 0 when the parent closed standard input, 1 when Firefox died."""
    options = json.loads(sys.argv[1])
    profile = Path(tempfile.mkdtemp(prefix="webinfer-firefox-"))
    process: subprocess.Popen[bytes] | None = None
    try:
        prefs = {**QUIET_PREFS, **options["prefs"]}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in prefs.items()]
        (profile / "user.js").write_text("".join(lines))
        process = subprocess.Popen(
            [
                options["executable"],
                "--headless",
                "--no-remote",
                "--profile",
                str(profile),
                "--remote-debugging-port",
                "0",
                *options["flags"],
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
        )
        return _drive(process, _endpoint(profile, process), options["url"])
    finally:
        if process is not None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(profile, ignore_errors=True)


def _endpoint(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """WebSocket URL of the BiDi server; Firefox writes its address into the profile once it listens."""
    file = profile / "WebDriverBiDiServer.json"
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            server = json.loads(file.read_text())
            return f"ws://{server['ws_host']}:{server['ws_port']}/session"
        except (FileNotFoundError, ValueError):
            time.sleep(0.1)
    raise SystemExit(f"Firefox opened no WebDriver BiDi port within {START_TIMEOUT_S:.0f} s")


def _drive(process: subprocess.Popen[bytes], endpoint: str, url: str) -> int:
    closed = threading.Event()

    when_parent_leaves(closed.set)
    # A proxy from the environment must not see loopback traffic; pings would end the session while a shader compiles.
    with connect(endpoint, proxy=None, ping_interval=None, max_size=None) as socket:
        _call(socket, 1, "session.new", {"capabilities": {}})
        _call(socket, 2, "session.subscribe", {"events": ["log.entryAdded", "browsingContext.contextDestroyed"]})
        context = _call(socket, 3, "browsingContext.getTree", {})["contexts"][0]["context"]
        _call(socket, 4, "browsingContext.navigate", {"context": context, "url": url, "wait": "interactive"})
        while not closed.is_set():
            try:
                message = json.loads(socket.recv(timeout=0.2))
            except TimeoutError:
                continue
            except ConnectionClosed:
                print(f"Firefox closed the connection (exit status {process.poll()})", flush=True)
                return 1
            if message.get("method") == "log.entryAdded":
                _print_log(message)
            if message.get("method") == "browsingContext.contextDestroyed":
                print("the tab was closed or crashed", flush=True)
                return 1
    return 0


def _call(socket: ClientConnection, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    socket.send(json.dumps({"id": number, "method": method, "params": params}))
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        message = json.loads(socket.recv(timeout=max(deadline - time.monotonic(), 0.0)))
        if message.get("method") == "log.entryAdded":
            _print_log(message)
        if message.get("id") != number:
            continue
        if message["type"] == "error":
            raise SystemExit(f"{method}: {message['error']}: {message['message']}")
        result: dict[str, Any] = message["result"]
        return result


def _print_log(message: dict[str, Any]) -> None:
    entry = message["params"]
    print(f"console {entry['level']}: {entry['text']}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
