"""Dawn in Node: the golden package through sessions and commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.golden.check import check_commands, check_damaged_package, check_session
from webinfer.devices import host_dir
from webinfer.session import DeviceSession

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


def test_a_runtime_without_node_modules_beside_it_finds_dawn(tmp_path: Path) -> None:
    """An installed wheel carries the built runtime alone."""
    runtime = Path(shutil.copytree(host_dir(), tmp_path / "dist"))
    with DeviceSession("dawn-lavapipe", runtime=runtime) as session:
        assert session.facts.adapter.is_software
