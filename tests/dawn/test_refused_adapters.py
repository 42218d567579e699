"""No adapter, or one of which a package asks too much: one line with what was needed, offered, and what to do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.commands import call, error
from webinfer.package import MANIFEST

GOLDEN = Path(__file__).parents[1] / "golden" / "package"


def demanding(folder: Path, **change: object) -> Path:
    """The golden package, every program of which requires more."""
    package = Path(shutil.copytree(GOLDEN, folder / "package"))
    manifest = json.loads((package / MANIFEST).read_text())
    for program in manifest["components"][0]["programs"]:
        program["requires"] |= change
    (package / MANIFEST).write_text(json.dumps(manifest))
    return package


def test_no_adapter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nonexistent")
    monkeypatch.setenv("VK_DRIVER_FILES", "/nonexistent")
    assert call("verify", GOLDEN, "--device", "dawn-native") == 2
    text = error(capsys)
    assert "device dawn-native: start: WebGPU offers no adapter in this host (no-adapter)" in text
    assert "`webinfer doctor` says what is missing" in text


def test_a_limit_that_the_adapter_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = demanding(tmp_path, limits={"maxBufferSize": 2**50})
    assert call("verify", package, "--device", "dawn-lavapipe") == 2
    text = error(capsys)
    assert "device dawn-lavapipe: load: no program of the package fits this adapter" in text
    assert f"lacks maxBufferSize {2**50} (it offers " in text
    assert "use another adapter or export for a smaller target (limits)" in text


def test_a_feature_that_the_adapter_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = demanding(tmp_path, features=["shader-f16"])
    assert call("verify", package, "--device", "dawn-swiftshader") == 2
    text = error(capsys)
    assert "lacks feature shader-f16; use another adapter or export for a smaller target (features)" in text


def test_a_tier_that_the_package_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("verify", GOLDEN, "--device", "dawn-lavapipe", "--tier", "fp16-register") == 2
    assert "tier fp16-register: the package has fp32-register, fp32-workgroup (unknown-tier)" in error(capsys)
