"""Browsers: the golden package through sessions and commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.golden.check import check_commands, check_damaged_package, check_session
from webinfer.devices import browser_path
from webinfer.server import HostServer
from webinfer.session import DeviceSession

DEVICES = ["chromium-swiftshader", "chromium-compat", "firefox-lavapipe"]


@pytest.mark.parametrize("device", DEVICES)
def test_session(device: str) -> None:
    check_session(device)


@pytest.mark.parametrize("device", DEVICES)
def test_damaged_package(device: str) -> None:
    check_damaged_package(device)


@pytest.mark.parametrize("device", DEVICES)
def test_commands(device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_commands(device, tmp_path, capsys)


def test_compatibility_mode_is_what_it_says() -> None:
    with DeviceSession("chromium-compat") as session:
        assert "core-features-and-limits" not in session.facts.features
        assert session.facts.adapter.is_software


def test_a_page_is_cross_origin_isolated() -> None:
    with HostServer() as server, sync_playwright() as playwright:
        server.mount("page", {"index.html": b"<!doctype html><title>isolated</title>"})
        browser = playwright.chromium.launch(executable_path=browser_path("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{server.url}/page/")
        assert page.evaluate("crossOriginIsolated") is True
        browser.close()
