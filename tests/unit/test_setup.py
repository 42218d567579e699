"""The set-up derives backports from the machine's own apt sources, and the lock file follows pyproject.toml."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def apt_backports() -> ModuleType:
    spec = importlib.util.spec_from_file_location("apt_backports", ROOT / ".ci" / "apt_backports.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _write(etc_apt: Path, name: str, text: str) -> None:
    (etc_apt / "sources.list.d").mkdir(exist_ok=True)
    (etc_apt / name).write_text(text)


def test_backports_from_deb822(tmp_path: Path, apt_backports: ModuleType) -> None:
    _write(
        tmp_path,
        "sources.list.d/debian.sources",
        "# the mirror\nTypes: deb deb-src\nURIs: http://mirror.test/debian\nSuites: bookworm bookworm-updates\n"
        "Components: main contrib\nSigned-By: /keys/a.gpg\n\n"
        "Types: deb\nURIs: http://mirror.test/security\nSuites: bookworm-security\nComponents: main\n",
    )
    assert apt_backports.backports(tmp_path, "bookworm") == (
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm-backports\n"
        "Components: main contrib\nSigned-By: /keys/a.gpg\n"
    )


def test_backports_from_one_line(tmp_path: Path, apt_backports: ModuleType) -> None:
    _write(
        tmp_path,
        "sources.list",
        "# deb http://old.test/debian bookworm main\ndeb-src http://mirror.test/debian bookworm main\n"
        "deb http://mirror.test/security bookworm-security main\n"
        "deb [signed-by=/keys/a.gpg arch=amd64,arm64] http://mirror.test/debian bookworm main non-free # ours\n",
    )
    assert apt_backports.backports(tmp_path, "bookworm") == (
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm-backports\nComponents: main non-free\n"
        "Signed-By: /keys/a.gpg\nArchitectures: amd64 arm64\n"
    )


def test_backports_keeps_an_inline_key(tmp_path: Path, apt_backports: ModuleType) -> None:
    key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----"
    _write(
        tmp_path,
        "sources.list.d/x.sources",
        f"Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\nComponents: main\nSigned-By:{key}\n",
    )
    assert apt_backports.backports(tmp_path, "bookworm").endswith(f"Components: main\nSigned-By:{key}\n")


def test_backports_without_a_source(tmp_path: Path, apt_backports: ModuleType) -> None:
    _write(
        tmp_path,
        "sources.list.d/x.sources",
        "Enabled: no\nTypes: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\nComponents: main\n",
    )
    assert apt_backports.backports(tmp_path, "bookworm") is None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_pin_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pins = [
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["browsers"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
    ]
    lock = (ROOT / "requirements.lock").read_text()
    locked = {_normal(name): version for name, version in re.findall(r"^([\w.\-]+)==([^\s;]+)", lock, re.MULTILINE)}
    for pin in pins:
        name, _, version = pin.partition("==")
        assert version, f"{pin}: expected an exact pin"
        found = locked.get(_normal(name))
        assert found == version, f"{pin}: requirements.lock has {found}; run `make lock`"


def test_lock_names_no_index() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"https?://|file:|--index|--extra-index|--find-links", lock)
    assert all("--hash=sha256:" in part for part in re.split(r"\n(?=\S)", lock.strip()))


def test_without_root_the_setup_says_what_to_install(tmp_path: Path) -> None:
    """A machine without any of the packages, and an unprivileged user: `dpkg-query` knows nothing, `id` is not 0."""
    for name, body in {"dpkg-query": "exit 1", "id": "echo 1000", "apt-get": "echo called apt-get >&2; exit 1"}.items():
        stub = tmp_path / name
        stub.write_text(f"#!/bin/sh\n{body}\n")
        stub.chmod(0o755)
    done = subprocess.run(
        ["bash", ROOT / ".ci" / "system"],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "apt-get install chromium firefox-esr libvulkan1" in done.stderr
    assert "mesa-vulkan-drivers >= 25" in done.stderr
    assert "called apt-get" not in done.stderr
