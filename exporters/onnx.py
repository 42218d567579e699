"""Opens a source .onnx file: checks that it is whole and safe to read, and leaves its tensors on disk until needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx_ir as ir
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from webinfer.errors import SourceError

_LFS = b"version https://git-lfs.github.com/spec/"
# First bytes of files that are given by mistake, and what to do about them.
_OTHER_FORMATS = (
    (b"PK\x03\x04", "a zip archive or a PyTorch checkpoint; unpack it, or export the model to ONNX"),
    (b"GGUF", "a GGUF file; export from it with the GGUF exporter"),
    (b"\x89HDF", "an HDF5 file; export the model to ONNX"),
    (b"<", "a web page or XML; download the file itself"),
    (b"{", "JSON; give the .onnx file"),
)
# Fields of ModelProto that a whole file may have (onnx.proto), by number.
_MODEL_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})
_GRAPH_FIELD = 7


@dataclass(frozen=True)
class Source:
    """A checked model; sha256 maps the name of every file it consists of to its digest, the .onnx file first."""

    path: Path
    model: ir.Model
    sha256: Mapping[str, str]


def open_onnx(path: Path) -> Source:
    """Open `path` and check it.

    Raises SourceError, one line with the next step, for a file that is missing, not ONNX, cut off, a Git LFS pointer,
    or not valid, and for external data that is missing, cut off, or outside the model's folder.
    """
    if not path.is_file():
        what = "a folder" if path.is_dir() else "missing"
        raise SourceError(f"{path}: expected an .onnx file, it is {what}; give the path of the model file")
    _check_whole(path)
    try:
        proto = onnx.load_model(path, format="protobuf", load_external_data=False)
    except DecodeError as error:
        raise SourceError(f"{path}: not an ONNX model ({_line(error)}); download or export it again") from error
    if not proto.graph.node or not proto.opset_import:
        raise SourceError(f"{path}: an ONNX model without nodes or opset; it is cut off or empty, export it again")
    files = _check_external(proto, path)
    try:
        # By path, so that models beyond protobuf's 2 GiB pass and external data is found.
        onnx.checker.check_model(str(path))
        model = ir.serde.deserialize_model(proto)
    except Exception as error:
        raise SourceError(f"{path}: not a valid ONNX model: {_line(error)}; export it again") from error
    ir.external_data.set_base_dir(model.graph, path.parent)
    digests = {file.relative_to(path.parent).as_posix(): _sha256(file) for file in (path, *files)}
    return Source(path, model, digests)


def _line(error: Exception) -> str:
    """First line of a library's message, which may be a page."""
    text = " ".join(str(error).split())
    return text[:200] or type(error).__name__


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_whole(path: Path) -> None:
    """Walk the top-level fields of the protobuf message: each must be one of ModelProto's and lie inside the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(64)
        if head.startswith(_LFS):
            raise SourceError(f"{path}: a Git LFS pointer, not the model; run `git lfs pull` in its repository")
        for magic, what in _OTHER_FORMATS:
            if head.lstrip().startswith(magic):
                raise SourceError(f"{path}: expected an ONNX model, found {what}")
        position, seen = 0, set[int]()
        while position < size:
            file.seek(position)
            tag, used = _varint(file.read(10))
            field, wire = tag >> 3, tag & 7
            if used == 0 or field not in _MODEL_FIELDS or wire not in (0, 2):
                where = "" if not seen else f" (byte {position} is no field of one)"
                raise SourceError(f"{path}: not an ONNX model{where}; give an .onnx file in protobuf format")
            file.seek(position + used)
            value, length = _varint(file.read(10))
            position += used + length + (value if wire == 2 else 0)
            if length == 0 or position > size:
                raise SourceError(f"{path}: cut off: expected {position} bytes or more, found {size}; get it again")
            seen.add(field)
    if _GRAPH_FIELD not in seen:
        found = "an empty file" if size == 0 else "a model without a graph"
        raise SourceError(f"{path}: {found}; it is cut off or not a model, download it again")


def _varint(data: bytes) -> tuple[int, int]:
    """(value, bytes used) of a base-128 number; 0 bytes used where there is none (protobuf encoding, "Varints")."""
    value = 0
    for n, byte in enumerate(data):
        value |= (byte & 0x7F) << (7 * n)
        if byte < 0x80:
            return value, n + 1
    return 0, 0


def _tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Every tensor of the model: initializers and attributes, in the graph, its subgraphs and functions."""
    graphs = [proto.graph]
    nodes = [n for f in proto.functions for n in f.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            for sparse in graph.sparse_initializer:
                yield from (sparse.values, sparse.indices)
            nodes.extend(graph.node)
            continue
        for attribute in nodes.pop().attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            graphs.extend([attribute.g] if attribute.HasField("g") else [])
            graphs.extend(attribute.graphs)


def _check_external(proto: onnx.ModelProto, path: Path) -> list[Path]:
    """Contain, find and measure every external data file; locations are normalised in place. Returns the files."""
    folder = path.parent.resolve()
    files: dict[Path, None] = {}
    for tensor in _tensors(proto):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        entries = {e.key: e for e in tensor.external_data}
        where = f"{path}: tensor {tensor.name!r}"
        if "location" not in entries or not entries["location"].value:
            raise SourceError(f"{where} has external data without a location; export the model again")
        location = entries["location"].value
        target = (folder / location).resolve()
        if Path(location).is_absolute() or not target.is_relative_to(folder) or target == folder:
            raise SourceError(
                f"{where} has its data in {location!r}, outside the model's folder; put the file into "
                f"{folder} (no links to other folders) and export the model with a relative location"
            )
        if not target.is_file():
            raise SourceError(
                f"{where} has its data in {location!r}, and {folder / target.name} is missing; "
                f"download that file as well and put it beside the model"
            )
        _check_extent(entries, target, where)
        normal = target.relative_to(folder)
        entries["location"].value = normal.as_posix()
        files[path.parent / normal] = None
    return list(files)


def _check_extent(entries: Mapping[str, onnx.StringStringEntryProto], target: Path, where: str) -> None:
    size = target.stat().st_size
    with target.open("rb") as file:
        if file.read(len(_LFS)) == _LFS:
            raise SourceError(f"{where}: {target} is a Git LFS pointer; run `git lfs pull` in its repository")
    try:
        offset, length = (int(entries[k].value) if k in entries else 0 for k in ("offset", "length"))
    except ValueError as error:
        raise SourceError(f"{where} has an offset or length that is no number; export the model again") from error
    if offset < 0 or length < 0 or offset + length > size:
        raise SourceError(
            f"{where}: {target} is cut off: expected {offset + length} bytes, found {size}; download it again"
        )
