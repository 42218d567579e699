"""`webinfer export` on bad sources, full disks and interrupts: one line, exit status, and the older package whole."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.commands import call
from webinfer import package as package_module
from webinfer.package import MANIFEST, read_package, verify_hashes

ROOT = Path(__file__).parents[2]
HEAD = '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]> '
GOOD = "g (float[2, 64] x) => (float[2, 64] y) { y = Add(x, w) }"
# Runs `webinfer export` and breaks it when the file that is number AT is flushed to the disk: there the package is half
# written, whatever the machine's speed.
BREAKS_WHILE_WRITING = """
import os, signal, sys
from webinfer import cli
flush, calls = os.fsync, 0
def fsync(file):
    global calls
    calls += 1
    if calls == int(sys.argv[1]):
        os.kill(os.getpid(), int(sys.argv[2]))
    flush(file)
os.fsync = fsync
cli.main(sys.argv[3:])
"""


def model(folder: Path, text: str, **weights: np.ndarray) -> Path:
    proto = onnx.parser.parse_model(HEAD + text)
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(array, name) for name, array in weights.items())
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def good(folder: Path) -> Path:
    return model(folder, GOOD, w=np.ones((2, 64), np.float32))


def words(source: Path, output: Path, *more: str) -> list[str]:
    return ["export", str(source), "--target", "webgpu-all", "--precision", "fp32", "-o", str(output), *more]


def refusal(capsys: pytest.CaptureFixture[str], *, lines: int = 1) -> str:
    """The message of a refused export, after plain lines of progress; never a traceback."""
    text = capsys.readouterr().err.rstrip("\n").split("\n")
    assert all(line.startswith("[") for line in text[:-lines]), text
    assert text[-lines].startswith("webinfer: ")
    return "\n".join(text[-lines:])


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def no_onnx(folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_text("weights: none\n")
    return path


def truncated(folder: Path) -> Path:
    path = good(folder)
    path.write_bytes(path.read_bytes()[:-40])
    return path


def external(location: str) -> onnx.TensorProto:
    tensor = onnx.numpy_helper.from_array(np.ones((2, 64), np.float32), "w")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def with_external(folder: Path, location: str, *, link: bool = False) -> Path:
    """A model whose weight lies outside its folder, or in a link to there."""
    (folder / "outside.bin").write_bytes(bytes(512))
    (folder / "model").mkdir()
    if link:
        (folder / "model" / location).symlink_to(folder / "outside.bin")
    proto = onnx.parser.parse_model(HEAD + GOOD)
    proto.graph.initializer.append(external(location))
    path = folder / "model" / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (lambda f: f / "none.onnx", ["none.onnx: expected an .onnx file, it is missing; give the path"]),
        (no_onnx, ["m.onnx: not an ONNX model; give an .onnx file"]),
        (truncated, ["m.onnx: cut off: expected", "get it again"]),
        (lambda f: with_external(f, "w.bin"), ["tensor 'w'", "w.bin is missing; download that file"]),
        (lambda f: with_external(f, "../outside.bin"), ["tensor 'w'", "'../outside.bin', outside the model's folder"]),
        (
            lambda f: with_external(f, str(f / "outside.bin")),
            ["outside the model's folder; put the file"],
        ),
        (lambda f: with_external(f, "w.bin", link=True), ["tensor 'w'", "'w.bin', outside the model's folder"]),
        (
            lambda f: model(f, "g (float[N, 64] x, float[N, M] u) => (float[N, 64] y) { y = Relu(x) }"),
            ["'N' (axis 0 of input 'x')", "'M' (axis 1 of input 'u')", "add --dim N=SIZE --dim M=SIZE"],
        ),
        (
            lambda f: model(f, "g (string[4] x) => (string[4] y) { y = Identity(x) }"),
            ["m.onnx: input 'x' is string; expected one of float32"],
        ),
        (
            lambda f: model(f, "g (float[2, 64] x, float[3, 7] u) => (float[2, 64] y) { y = Add(x, u) }"),
            ["m.onnx: ONNX Runtime cannot load it", "Add", "Incompatible dimensions; export the model again"],
        ),
    ],
    ids=[
        "missing",
        "not-onnx",
        "truncated",
        "no-data",
        "dots",
        "absolute",
        "link",
        "dynamic",
        "string",
        "add",
    ],
)
def test_bad_sources(source: object, parts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(source)
    assert call(*words(source(tmp_path), tmp_path / "p.webinfer")) == 2
    text = refusal(capsys)
    for part in parts:
        assert part in text
    assert not (tmp_path / "p.webinfer").exists()


def test_a_dimension_that_the_model_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*words(good(tmp_path), tmp_path / "p", "--dim", "seq=8")) == 2
    assert "--dim seq=8: no dynamic dimension has this name; the model's are: none" in refusal(capsys)


def test_every_node_without_a_kernel_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """g (float[2, 3, 4] x, float[2, 4, 4] m) => (float[2, 4, 4] i, float[3, 3] d, float[2, 3, 4] z) {
        [inverse] i = com.microsoft.Inverse(m) [distance] d = com.microsoft.CDist<metric = "euclidean">(v, v)
        z = Relu(x) }"""
    source = model(tmp_path, text, v=np.ones((3, 4), np.float32))
    assert call(*words(source, tmp_path / "p")) == 2
    advice = "no kernel for this operator; export the model without it, or add it in webinfer/ops"
    assert refusal(capsys, lines=3).split("\n") == [
        "webinfer: 2 of 3 nodes have no kernel:",
        f"  inverse: com.microsoft::Inverse(float32[2, 4, 4]): {advice}",
        f"  distance: com.microsoft::CDist(float32[3, 4], float32[3, 4]): {advice}",
    ]


def test_element_types_without_a_kernel_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "g (float[4] x) => (float[4] y) { a = Cast<to = 17>(x) y = Cast<to = 1>(a) }"
    assert call(*words(model(tmp_path, text), tmp_path / "p")) == 2
    assert refusal(capsys, lines=3).count("no kernel computes in float8e4m3fn; cast to float32 in the model") == 2


def test_float64_is_read_as_float32_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = model(tmp_path, "g (double[4] x) => (double[4] y) { y = Add(x, c) }", c=np.arange(4.0))
    assert call(*words(source, tmp_path / "p")) == 0
    assert "warning: 3 float64 tensors are computed in float32" in capsys.readouterr().err
    component = read_package(tmp_path / "p").components[0]
    assert [s.dtype for s in (*component.inputs, *component.outputs)] == ["float32", "float32"]


def test_results_of_unknown_size_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = model(tmp_path, "g (float[2, 64] x) => (int64[2, K] y) { [where] y = NonZero(x) }")
    assert call(*words(source, tmp_path / "p")) == 2
    text = refusal(capsys, lines=2)
    assert "make their shapes constant in the model" in text
    assert "where (ai.onnx::NonZero)(float32[2, 64])" in text


def test_an_output_folder_that_exists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, output = good(tmp_path), tmp_path / "p.webinfer"
    assert call(*words(source, output)) == 0
    before = contents(output)
    capsys.readouterr()
    assert call(*words(source, output)) == 2
    assert "p.webinfer exists: choose another folder with -o or pass --overwrite" in refusal(capsys)
    assert contents(output) == before
    (tmp_path / "photos").mkdir()
    assert call(*words(source, tmp_path / "photos", "--overwrite")) == 2
    assert "exists and is no webinfer package: choose another folder" in refusal(capsys)


@pytest.fixture
def older(tmp_path: Path) -> dict[str, bytes]:
    """The files of a package at p.webinfer, beside a source of which the next one is made."""
    output = tmp_path / "p.webinfer"
    assert call(*words(good(tmp_path), output)) == 0
    model(tmp_path, "g (float[8] x) => (float[8] y) { y = Mul(x, w) }", w=np.arange(8, dtype=np.float32))
    return contents(output)


def check_whole(folder: Path, older: dict[str, bytes]) -> None:
    """The older package is there, untouched, and the next export succeeds."""
    output = folder / "p.webinfer"
    assert contents(output) == older
    verify_hashes(output, read_package(output))
    assert call(*words(folder / "m.onnx", output, "--overwrite")) == 0
    assert contents(output) != older
    verify_hashes(output, read_package(output))


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name not in ("m.onnx", "p.webinfer")]


@pytest.mark.parametrize("at", [1, 2, 4])
def test_a_full_disk(
    at: int,
    tmp_path: Path,
    older: dict[str, bytes],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flush, calls = os.fsync, iter(range(1, 1000))

    def fsync(file: int) -> None:
        if next(calls) == at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(file)

    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        assert call(*words(tmp_path / "m.onnx", tmp_path / "p.webinfer", "--overwrite")) == 2
    text = refusal(capsys)
    assert "p.webinfer could not be written (No space left on device); the older package, if any, is untouched" in text
    assert leftovers(tmp_path) == []
    check_whole(tmp_path, older)


def test_a_file_that_may_not_grow(tmp_path: Path, older: dict[str, bytes]) -> None:
    """A limit that the kernel enforces, as a quota does."""
    done = subprocess.run(
        [sys.executable, "-m", "webinfer", *words(tmp_path / "m.onnx", tmp_path / "p.webinfer", "--overwrite")],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "could not be written (File too large)" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert leftovers(tmp_path) == []
    check_whole(tmp_path, older)


@pytest.mark.parametrize("at", [1, 3])
@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupt_while_writing(kind: signal.Signals, at: int, tmp_path: Path, older: dict[str, bytes]) -> None:
    export = words(tmp_path / "m.onnx", tmp_path / "p.webinfer", "--overwrite")
    done = subprocess.run(
        [sys.executable, "-c", BREAKS_WHILE_WRITING, str(at), str(int(kind)), *export],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if kind is signal.SIGINT:
        assert done.returncode == 130
        assert done.stderr.splitlines()[-1] == "webinfer: interrupted"
        assert leftovers(tmp_path) == []
    else:
        # The process has no chance to clean up: a hidden folder stays, which no command takes for a package.
        assert done.returncode == -kind
        assert all(name.startswith(".p.webinfer-") for name in leftovers(tmp_path))
    assert "Traceback" not in done.stderr
    check_whole(tmp_path, older)


def test_systems_that_cannot_exchange_folders(
    tmp_path: Path, older: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rename, output = Path.rename, tmp_path / "p.webinfer"

    def fail(path: Path, target: Path) -> Path:
        if target == output and not path.name.endswith(".old"):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        return rename(path, target)

    monkeypatch.setattr(package_module, "_exchange", lambda *_: False)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail)
        assert call(*words(tmp_path / "m.onnx", output, "--overwrite")) == 2
    assert leftovers(tmp_path) == []
    check_whole(tmp_path, older)
    assert leftovers(tmp_path) == []


def test_the_error_is_a_document_with_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*words(no_onnx(tmp_path), tmp_path / "p", "--json")) == 2
    assert json.loads(capsys.readouterr().out)["error"]["type"] == "SourceError"
    assert not (tmp_path / "p" / MANIFEST).exists()


def test_random_numbers_cannot_be_compared(tmp_path: Path) -> None:
    source = model(tmp_path, "g (float[4, 4] x) => (float[4, 4] y) { r = RandomNormalLike(x) y = Add(x, r) }")
    assert call(*words(source, tmp_path / "p")) == 0
    package = read_package(tmp_path / "p")
    assert package.quality == {}
    assert package.components[0].programs[0].precision == "fp32"
