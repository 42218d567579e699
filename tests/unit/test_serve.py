"""`webinfer serve`: the page, the package and the redirect are there until an interrupt; a taken port is one line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "golden" / "package"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    words = [sys.executable, "-m", "webinfer", "serve", str(PACKAGE), "--port", "0", "--json"]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        text += line
    yield process, json.loads(text)["url"]
    process.kill()
    process.communicate()


def read(url: str) -> bytes:
    with OPENER.open(url) as response:
        body: bytes = response.read()
        return body


def test_page_and_package_are_served(serving: tuple[subprocess.Popen[str], str]) -> None:
    process, url = serving
    page = read(url)
    assert b"<!doctype html>" in page.lower()
    assert read(urljoin(url, "/")) == page
    package = parse_qs(urlsplit(url).query)["package"][0]
    manifest = read(urljoin(url, f"{package}manifest.json"))
    assert manifest == (PACKAGE / "manifest.json").read_bytes()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (130, "webinfer: interrupted\n")


def test_a_taken_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = [sys.executable, "-m", "webinfer", "serve", str(PACKAGE), "--port", port]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"webinfer: port {port}: ")
    assert "--port" in done.stderr
