"""Opening source files: what is accepted, and the one-line error for each kind of bad file."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from exporters.onnx import open_onnx
from webinfer.errors import SourceError


def _proto() -> onnx.ModelProto:
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 23]> g (float[2, 64] x) => (float[2, 64] y) { y = Add(x, w) }'
    )
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(128, dtype=np.float32).reshape(2, 64), "w"))
    return proto


def _external(folder: Path, location: str, stored: str) -> Path:
    """A model whose weight lies in the file `stored`, referred to as `location`."""
    proto = _proto()
    (tensor,) = proto.graph.initializer
    (folder / stored).parent.mkdir(parents=True, exist_ok=True)
    (folder / stored).write_bytes(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "512")):
        tensor.external_data.add(key=key, value=value)
    path = folder / "model" / "m.onnx"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(proto.SerializeToString())
    return path


def _refused(path: Path) -> str:
    with pytest.raises(SourceError) as caught:
        open_onnx(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


def test_good_file(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(_proto().SerializeToString())
    source = open_onnx(path)
    assert len(source.model.graph) == 1
    assert list(source.sha256) == ["m.onnx"]
    assert len(source.sha256["m.onnx"]) == 64


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty file"),
        (b"\x00\x01\x02 hello", "not an ONNX model"),
        (b"<!doctype html><html>", "web page"),
        (b'{"error": "not found"}', "JSON"),
        (b"PK\x03\x04archive", "zip archive"),
        (b"GGUF\x03\x00", "GGUF"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "git lfs pull"),
        (onnx.ModelProto(ir_version=10).SerializeToString(), "without a graph"),
    ],
)
def test_not_a_model(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    assert expected in _refused(path)


def test_missing_and_folder(tmp_path: Path) -> None:
    assert "missing" in _refused(tmp_path / "none.onnx")
    assert "a folder" in _refused(tmp_path)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    whole = _proto().SerializeToString()
    path = tmp_path / "m.onnx"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        _refused(path)


def test_truncation_names_the_sizes(tmp_path: Path) -> None:
    whole = _proto().SerializeToString()
    path = tmp_path / "m.onnx"
    path.write_bytes(whole[:300])
    message = _refused(path)
    assert "cut off" in message
    assert "found 300" in message


def test_damaged_bytes_never_crash(tmp_path: Path) -> None:
    whole = bytearray(_proto().SerializeToString())
    path = tmp_path / "m.onnx"
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 3):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(damaged)
        with contextlib.suppress(SourceError):  # a damaged file may still be valid
            open_onnx(path)


def test_unknown_operator_is_named(tmp_path: Path) -> None:
    proto = _proto()
    proto.graph.node[0].op_type = "Frobnicate"
    path = tmp_path / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    assert "Frobnicate" in _refused(path)


@pytest.mark.parametrize("location", ["w.bin", "./w.bin", "sub/../w.bin"])
def test_external_data_is_found(tmp_path: Path, location: str) -> None:
    if location.startswith("sub"):
        (tmp_path / "model" / "sub").mkdir(parents=True)
    source = open_onnx(_external(tmp_path, location, "model/w.bin"))
    tensor = source.model.graph.initializers["w"].const_value
    assert isinstance(tensor, ir.ExternalTensor)
    assert tensor.location == "w.bin"
    assert float(tensor.numpy()[1, 63]) == 127.0
    assert set(source.sha256) == {"m.onnx", "w.bin"}


def test_missing_external_data_names_the_file(tmp_path: Path) -> None:
    path = _external(tmp_path, "w.bin", "model/w.bin")
    (path.parent / "w.bin").unlink()
    message = _refused(path)
    assert "'w'" in message
    assert str(path.parent / "w.bin") in message


def test_short_external_data(tmp_path: Path) -> None:
    path = _external(tmp_path, "w.bin", "model/w.bin")
    (path.parent / "w.bin").write_bytes(b"0" * 100)
    message = _refused(path)
    assert "512 bytes, found 100" in message


def test_external_data_that_is_a_pointer(tmp_path: Path) -> None:
    path = _external(tmp_path, "w.bin", "model/w.bin")
    (path.parent / "w.bin").write_bytes(b"version https://git-lfs.github.com/spec/v1\n" + b"0" * 600)
    assert "git lfs pull" in _refused(path)


def test_external_data_outside_the_folder(tmp_path: Path) -> None:
    assert "outside" in _refused(_external(tmp_path, "../w.bin", "w.bin"))
    assert "outside" in _refused(_external(tmp_path, str(tmp_path / "w.bin"), "w.bin"))


def test_external_data_through_a_link(tmp_path: Path) -> None:
    path = _external(tmp_path, "w.bin", "elsewhere/w.bin")
    (path.parent / "w.bin").symlink_to(tmp_path / "elsewhere" / "w.bin")
    assert "outside" in _refused(path)
