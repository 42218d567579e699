"""Writes and reads packages: shards, kernels, the portable model, the manifest, hashes.

A package is built as a mapping path -> bytes, written into a folder beside its destination and renamed into place, so
an interrupted export leaves an older package whole.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx_ir as ir
import safetensors.numpy
from pydantic import ValidationError

from webinfer import manifest
from webinfer.errors import PackageError

SHARD_BYTES = 16 * 2**20
MANIFEST = "manifest.json"


def sha256(data: bytes) -> str:
    """Hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def shard_weights(arrays: Mapping[str, np.ndarray]) -> tuple[dict[str, bytes], dict[str, manifest.Weight]]:
    """Serialise arrays into safetensors shards of about SHARD_BYTES, in the given order.

    Returns the shard files by name and, per array, where its bytes lie.
    """
    groups: list[dict[str, np.ndarray]] = []
    room = 0
    for name, array in arrays.items():
        if not groups or array.nbytes > room:
            groups.append({})
            room = SHARD_BYTES
        groups[-1][name] = array
        room -= array.nbytes
    files: dict[str, bytes] = {}
    weights: dict[str, manifest.Weight] = {}
    for number, group in enumerate(groups, 1):
        path = f"weights-{number:05d}-of-{len(groups):05d}.safetensors"
        files[path] = data = safetensors.numpy.save({name: _stored(array) for name, array in group.items()})
        (header_bytes,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + header_bytes])
        for name, array in group.items():
            begin, end = header[name]["data_offsets"]
            weights[name] = manifest.Weight(
                name=name,
                dtype=str(array.dtype),  # type: ignore[arg-type]
                shape=list(array.shape),
                file=path,
                offset=8 + header_bytes + begin,
                size_bytes=end - begin,
            )
    return files, weights


def _stored(array: np.ndarray) -> np.ndarray:
    """The array as a shard holds it: safetensors has no types below 8 bits, so these are bytes as ONNX packs them."""
    if array.dtype.name in ("int4", "uint4", "int2", "uint2"):
        return np.frombuffer(ir.tensor(array).tobytes(), np.uint8)
    return np.ascontiguousarray(array).reshape(array.shape)


def portable_model(model: ir.Model, weights: Mapping[str, manifest.Weight]) -> bytes:
    """Serialise the model with its initializers as external data inside the shards; the model is left unchanged."""
    original = {n: v.const_value for n, v in model.graph.initializers.items()}
    try:
        for name, weight in weights.items():
            value = model.graph.initializers.get(name)
            if value is not None and value.const_value is not None:
                value.const_value = ir.ExternalTensor(
                    weight.file,
                    weight.offset,
                    weight.size_bytes,
                    value.const_value.dtype,
                    shape=ir.Shape(value.const_value.shape.numpy()),
                    name=name,
                )
        data: bytes = ir.to_proto(model).SerializeToString()
        return data
    finally:
        for name, tensor in original.items():
            model.graph.initializers[name].const_value = tensor


def file_entries(files: Mapping[str, bytes]) -> list[manifest.FileEntry]:
    """Size and hash of every file."""
    return [manifest.FileEntry(path=p, size_bytes=len(d), sha256=sha256(d)) for p, d in sorted(files.items())]


def check_destination(destination: Path, *, overwrite: bool) -> None:
    """Raises PackageError where a package cannot go to `destination`, before any work is done."""
    if destination.exists() and not overwrite:
        raise PackageError(f"{destination} exists: choose another folder with -o or pass --overwrite")
    if destination.exists() and not (destination / MANIFEST).is_file():
        raise PackageError(f"{destination} exists and is no webinfer package: choose another folder with -o")


def write_package(files: Mapping[str, bytes], destination: Path, *, overwrite: bool = False) -> None:
    """Write all files to a folder beside `destination`, then rename it into place.

    Raises PackageError where the destination exists (without `overwrite`) or the disk refuses; an older package stays.
    """
    check_destination(destination, overwrite=overwrite)
    temporary: Path | None = None
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{destination.name}-", dir=destination.parent))
        for path, data in files.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
        temporary.chmod(0o755)
        _swap(temporary, destination)
        temporary = None
    except OSError as fault:
        raise PackageError(
            f"{destination} could not be written ({fault.strerror}); the older package, if any, is "
            f"untouched: free some space or choose another folder with -o"
        ) from fault
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def _swap(new: Path, destination: Path) -> None:
    """Rename `new` to `destination`; what was there is removed last."""
    if not destination.exists():
        new.rename(destination)
    elif _exchange(new, destination):
        shutil.rmtree(new, ignore_errors=True)
    else:
        aside = new.with_name(new.name + ".old")
        destination.rename(aside)
        try:
            new.rename(destination)
        except BaseException:
            aside.rename(destination)
            raise
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step (Linux renameat2); False where the system cannot.

    With two renames, a process killed between them would leave no package at all.
    """
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    at_cwd, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of linux/fs.h
    return bool(renameat2(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), ctypes.c_uint(exchange)) == 0)


def parse_manifest(text: str | bytes, origin: str) -> manifest.Manifest:
    """Validate a manifest; raises PackageError naming the version or the first wrong field."""
    try:
        raw = json.loads(text)
    except ValueError as fault:
        raise PackageError(f"{origin}: not JSON ({fault}); export the package again") from fault
    version = raw.get("format_version") if isinstance(raw, dict) else None
    if version != manifest.FORMAT_VERSION:
        raise PackageError(
            f"{origin}: format_version {version!r}, this webinfer reads {manifest.FORMAT_VERSION}: "
            "export the package again, or use the webinfer that wrote it"
        )
    try:
        return manifest.Manifest.model_validate(raw)
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        raise PackageError(
            f"{origin}: {where}: {first['msg']} ({fault.error_count()} faults); export it again"
        ) from None


def read_package(folder: Path) -> manifest.Manifest:
    """Read and validate a package's manifest. Raises PackageError where there is none or it is damaged."""
    path = folder / MANIFEST
    if not path.is_file():
        raise PackageError(f"{folder}: no {MANIFEST} here; expected a folder that `webinfer export -o` wrote")
    return parse_manifest(path.read_bytes(), str(path))


def verify_hashes(folder: Path, package: manifest.Manifest) -> None:
    """Compare size and SHA-256 of every listed file; raises PackageError naming the first that differs."""
    for entry in package.files:
        path = folder / entry.path
        if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
            raise PackageError(f"{path}: missing, though {MANIFEST} lists it; export the package again")
        data = path.read_bytes()
        if len(data) != entry.size_bytes or sha256(data) != entry.sha256:
            raise PackageError(
                f"{path}: {len(data):,} bytes with SHA-256 {sha256(data)[:12]}..., expected "
                f"{entry.size_bytes:,} bytes with {entry.sha256[:12]}...; export the package again"
            )
