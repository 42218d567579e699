"""`webinfer bench --frames`: a page that renders with and without inference, and what is recorded of it. No times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import call
from tests.golden import make_golden
from webinfer.commands import bench_frames
from webinfer.resources import data_dir


def test_turns_of_frames_without_and_with_inference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The same versions as the peers', which are installed on demand.
    modules = data_dir("js_runtime") / "node_modules"
    peers = json.loads((data_dir("device_matrix") / "peers" / "package.json").read_text())["dependencies"]
    for name, version in peers.items():
        assert json.loads((modules / name / "package.json").read_text())["version"] == version
    monkeypatch.setattr(bench_frames, "web_modules", lambda: Path(modules))
    package = make_golden.HERE / "package"

    # 1: frames were late here and now, which is no fault of the command.
    assert call("bench", package, "--device", "chromium-swiftshader", "--frames", "1", "--json") in (0, 1)
    record = json.loads(capsys.readouterr().out)

    turns = record["stretches"]
    assert [turn["contender"] for turn in turns] == ["none", "webinfer", "none", "webinfer"]
    assert all(turn["frames"] > 0 for turn in turns)
    assert all(turn["runs"] > 0 for turn in turns if turn["contender"] == "webinfer")
    assert record["software"]
    slices = record["slices"]
    assert slices["measured"] > 0
    assert slices["clock"] == ["timestamp"]
    # What was planned keeps to the budget, but for one undivided piece.
    assert slices["predicted_excess_max_ms"] <= 0
