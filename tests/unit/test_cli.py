"""The command line: exit statuses, one-line errors, JSON documents, and nothing swallowed."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.commands import call, error
from webinfer import cli
from webinfer.commands.export import parse_dims
from webinfer.errors import InputError
from webinfer.manifest import FORMAT_VERSION
from webinfer.package import read_package
from webinfer.symbols import Symbol

GOLDEN = Path(__file__).parents[1] / "golden" / "package"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "package"))


@pytest.fixture
def feeds(tmp_path: Path) -> dict[str, Path]:
    files = {}
    for spec in read_package(GOLDEN).components[0].inputs:
        files[spec.name] = tmp_path / f"{spec.name}.npy"
        np.save(files[spec.name], np.zeros(spec.shape, spec.dtype))
    return files


def run_words(package: Path, feeds: dict[str, Path], tmp_path: Path) -> list[object]:
    inputs = [word for name, file in feeds.items() for word in ("--input", f"{name}={file}")]
    return ["run", package, "-o", tmp_path / "out.npz", "--device", "dawn-lavapipe", *inputs]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["walk"], "walk"),
        (["inspect"], "PKG"),
        (["inspect", "x", "--tall"], "--tall"),
        (["bench", str(GOLDEN), "--rounds", "0"], "--rounds"),
        (["export", "m.onnx", "-o", "x", "--target", "toaster"], "toaster"),
    ],
)
def test_usage_errors(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*words) == 2
    assert message in error(capsys)


@pytest.mark.parametrize("command", ["inspect", "verify", "serve", "bench"])
def test_a_missing_package(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(command, tmp_path) == 2
    assert "no manifest.json here; expected a folder that `webinfer export -o` wrote" in error(capsys)


def test_a_manifest_of_another_version(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((package / "manifest.json").read_text())
    (package / "manifest.json").write_text(json.dumps(manifest | {"format_version": 99}))
    assert call("inspect", package) == 2
    assert f"format_version 99, this webinfer reads {FORMAT_VERSION}" in error(capsys)


@pytest.mark.parametrize("command", ["verify", "run", "bench", "serve"])
def test_a_shard_with_a_flipped_byte(
    command: str, package: Path, feeds: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = next(package.glob("*.safetensors"))
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    words = run_words(package, feeds, tmp_path) if command == "run" else [command, package]
    assert call(*words) == 2
    text = error(capsys)
    assert shard.name in text
    assert "SHA-256" in text


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("y", np.zeros(1), "input 'y' is not one of the model's"),
        ("x", np.zeros((3, 3), np.float32), "input x: expected shape [2, 3], found [3, 3]"),
        ("x", np.zeros((2, 3)), "input x: expected dtype float32, found float64"),
        ("x", None, "input x (float32 [2, 3]) is missing"),
    ],
)
def test_wrong_inputs_of_run(
    name: str,
    array: np.ndarray | None,
    message: str,
    package: Path,
    feeds: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if array is None:
        del feeds[name]
    else:
        feeds[name] = tmp_path / "wrong.npy"
        np.save(feeds[name], array)
    assert call(*run_words(package, feeds, tmp_path)) == 2
    assert message in error(capsys)
    assert not (tmp_path / "out.npz").exists()


def test_an_output_that_cannot_be_written(
    package: Path, feeds: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = run_words(package, feeds, tmp_path)
    words[words.index("-o") + 1] = tmp_path / "nowhere" / "out.npz"
    assert call(*words) == 2
    assert "expected a path ending in .npz inside an existing folder" in error(capsys)


def test_a_disk_that_is_full_at_the_output(
    package: Path,
    feeds: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def savez(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", savez)
    before = {p.name for p in tmp_path.iterdir()}
    assert call(*run_words(package, feeds, tmp_path)) == 2
    assert "out.npz: could not be written (No space left on device); free some space" in error(capsys)
    assert {p.name for p in tmp_path.iterdir()} == before


def test_an_unknown_device(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("verify", package, "--device", "gpu") == 2
    assert "device 'gpu': expected one of" in error(capsys)


def test_an_unknown_peer(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("bench", package, "--device", "dawn-lavapipe", "--against", "abacus") == 2
    assert "--against abacus: expected one of ort-web, ort-webgpu-native" in error(capsys)


def test_a_peer_needs_its_kind_of_device(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("bench", package, "--device", "dawn-lavapipe", "--against", "ort-web") == 2
    assert "--against ort-web: runs on chromium-* or firefox-*, not on dawn-lavapipe" in error(capsys)


def test_frames_need_a_page(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("bench", package, "--device", "dawn-lavapipe", "--frames", "1") == 2
    assert "--frames: needs a browser that renders, not dawn-lavapipe" in error(capsys)


def test_a_peer_needs_the_file_that_the_package_came_from(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(b"another model")
    words = ["bench", package, "--device", "chromium-swiftshader", "--against", "ort-web", "--source"]
    assert call(*words, other) == 2
    assert "not the file that" in error(capsys)
    assert call(*words, tmp_path / "none.onnx") == 2
    assert "the original model is not here" in error(capsys)


def test_errors_are_documents_with_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("inspect", tmp_path, "--json") == 2
    found = capsys.readouterr()
    document = json.loads(found.out)
    assert document["error"]["type"] == "PackageError"
    assert document["error"]["message"] in found.err


def test_inspect_holds_what_programs_read(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("inspect", package, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    manifest = read_package(package)
    for component, declared in zip(document["components"], manifest.components, strict=True):
        for tier, program in zip(component["tiers"], declared.programs, strict=True):
            assert tier["tier"] == program.tier
            assert tier["rank"] == program.rank
            assert tier["predicted_ms"] == program.predicted_ms
            assert tier["predicted_ms"].keys() == document["skus"].keys()
            assert tier["dispatches"] == len(program.dispatches)
            assert tier["activation_peak_bytes"] == program.plan.activation_peak_bytes
            assert tier["activation_lower_bound_bytes"] == program.plan.activation_lower_bound_bytes
            assert tier["weight_bytes"] == program.plan.weight_bytes
            assert tier["gpu_bytes"] == program.plan.gpu_bytes
            assert tier["package_bytes"] == sum(f.stat().st_size for f in package.rglob("*") if f.is_file())
            assert sum(k["dispatches"] for k in tier["kernels"]) == len(program.dispatches)
    assert call("inspect", package) == 0
    text = capsys.readouterr().out
    assert all(kernel.name in text for kernel in manifest.kernels)
    assert all(sku.name in text for sku in manifest.skus)


def test_devices_and_doctor_print_documents(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("devices", "--json") == 0
    assert {d["id"] for d in json.loads(capsys.readouterr().out)["devices"]} >= {"dawn-lavapipe", "firefox-lavapipe"}
    assert call("doctor", "--json") in (0, 1)
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is not any(f["fix"] for f in document["findings"])


def test_unknown_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    def break_(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "inspect_package", break_)
    with pytest.raises(ZeroDivisionError):
        cli.main(["inspect", str(package)])


def test_what_the_system_refuses_is_one_line(
    monkeypatch: pytest.MonkeyPatch, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(package))

    monkeypatch.setattr(cli, "inspect_package", refuse)
    assert call("inspect", package) == 2
    assert error(capsys).startswith(f"webinfer: {package}: Permission denied; check the path")


def test_an_interrupt_is_one_line(
    monkeypatch: pytest.MonkeyPatch, package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "inspect_package", interrupt)
    assert call("inspect", package) == 130
    assert error(capsys) == "webinfer: interrupted\n"


def test_dims() -> None:
    assert parse_dims(["batch=1", "seq=1..128"]) == {"batch": 1, "seq": Symbol("seq", 1, 128)}
    for pair in ["batch", "batch=", "batch=x", "batch=0", "seq=8..4", "=1"]:
        with pytest.raises(InputError, match="--dim"):
            parse_dims([pair])
    with pytest.raises(InputError, match="given twice"):
        parse_dims(["a=1", "a=2"])
