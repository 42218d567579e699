"""Dawn in Node: the golden package through sessions and commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.check import check_commands, check_damaged_package, check_session

DEVICES = ["dawn-lavapipe", "dawn-swiftshader"]


@pytest.mark.parametrize("device", DEVICES)
def test_session(device: str) -> None:
    check_session(device)


@pytest.mark.parametrize("device", DEVICES)
def test_damaged_package(device: str) -> None:
    check_damaged_package(device)


@pytest.mark.parametrize("device", DEVICES)
def test_commands(device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_commands(device, tmp_path, capsys)
