"""What every device must do with the golden package, whose reference is ONNX Runtime CPU on its own model.onnx."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.commands import call
from webinfer.feeds import check_feeds, seeded_feeds
from webinfer.package import MANIFEST, read_package, sha256
from webinfer.quality import compare_all
from webinfer.reference import Reference, intermediates
from webinfer.session import DeviceSession, HostError

PACKAGE = Path(__file__).parent / "package"
BAR = 1e-5
BROKEN = "scale_shift"


def feeds(seed: int) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Inputs of the golden package."""
    specs = read_package(PACKAGE).components[0].inputs
    made = seeded_feeds(specs, seed)
    check_feeds(specs, made)
    return made


def check_session(device: str) -> None:
    """Load from a folder and from memory, run, capture, profile, compile, dispose; live memory stays flat."""
    component = read_package(PACKAGE).components[0]
    reference = Reference(PACKAGE / component.model)
    with DeviceSession(device) as session:
        empty = session.memory()
        model = session.load(PACKAGE)
        program = next(p for p in component.programs if p.tier == model.tier)
        for seed in range(3):
            result = model.run(feeds(seed), repeat=2)
            assert all(d.holds(BAR) for d in compare_all(reference.run(feeds(seed)), result.outputs))
            assert len(result.wall_ms) == 2
            assert all(ms > 0 for ms in result.wall_ms)
        warm = session.memory()
        for seed in range(20):
            model.run(feeds(seed), read=False)
        assert session.memory() == warm
        inner = [name for name, tensor in program.tensors.items() if tensor.producer >= 0]
        expected = intermediates(PACKAGE / component.model, feeds(0), inner)
        assert set(expected) == set(inner)
        captured = model.run(feeds(0), capture=inner, outputs=[]).captured
        assert all(d.holds(BAR) for d in compare_all(expected, captured))
        timed = model.run(feeds(0), profile=True)
        assert [k.kernel for k in timed.kernels] == [d.kernel for d in program.dispatches]
        sources = {k.name: (PACKAGE / k.file).read_text() for k in read_package(PACKAGE).kernels}
        assert [m for m in session.compile(sources) if m.type == "error"] == []
        wrong = session.compile({"wrong": "@compute @workgroup_size(1) fn main() { let x = missing; }"})
        assert any(m.name == "wrong" and m.type == "error" for m in wrong)
        files = {str(p.relative_to(PACKAGE)): p.read_bytes() for p in PACKAGE.rglob("*") if p.is_file()}
        again = session.load(files, tier=model.tier)
        np.testing.assert_array_equal(again.run(feeds(0)).outputs["y"], model.run(feeds(0)).outputs["y"])
        again.dispose()
        model.dispose()
        assert session.memory() == empty


def check_damaged_package(device: str) -> None:
    """The runtime refuses a flipped byte by itself: a game has no `verify` in front of it."""
    files = {str(p.relative_to(PACKAGE)): p.read_bytes() for p in PACKAGE.rglob("*") if p.is_file()}
    shard = next(name for name in files if name.endswith(".safetensors"))
    files[shard] = files[shard][:-1] + bytes([files[shard][-1] ^ 1])
    with DeviceSession(device) as session, pytest.raises(HostError, match=shard) as caught:
        session.load(files)
    assert caught.value.code == "hash-mismatch"


def broken_package(folder: Path) -> Path:
    """A copy of the golden package in which one kernel computes something else, with hashes that fit."""
    package = Path(shutil.copytree(PACKAGE, folder / "broken"))
    path = f"kernels/{BROKEN}.wgsl"
    source = (package / path).read_text()
    changed = source.replace("* gain[0]", "* gain[0] * 1.5")
    assert changed != source
    (package / path).write_text(changed)
    manifest = json.loads((package / MANIFEST).read_text())
    entry = next(f for f in manifest["files"] if f["path"] == path)
    entry |= {"size_bytes": len(changed.encode()), "sha256": sha256(changed.encode())}
    (package / MANIFEST).write_text(json.dumps(manifest))
    return package


def check_commands(device: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`run` writes what the reference gives, `verify` passes and names a broken kernel, `bench` measures."""
    made = feeds(0)
    words = []
    for name, array in made.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--input", f"{name}={folder / name}.npy"]
    output = folder / "out.npz"
    assert call("run", str(PACKAGE), "-o", str(output), "--device", device, "--json", *words) == 0
    assert json.loads(capsys.readouterr().out)["device"] == device
    component = read_package(PACKAGE).components[0]
    expected = Reference(PACKAGE / component.model).run(made)
    with np.load(output) as found:
        assert all(d.holds(BAR) for d in compare_all(expected, dict(found)))
    assert call("verify", str(PACKAGE), "--device", device, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["holds"] is True
    assert {c["output"] for c in document["checks"]} == {o.name for o in component.outputs}
    assert call("bench", str(PACKAGE), "--device", device, "--rounds", "2", "--json") == 0
    (own,) = json.loads(capsys.readouterr().out)["contenders"]
    assert own["max_abs_error"] <= BAR
    assert len(own["steady_ms"]) == 2
    assert own["first_result_ms"] > own["load_ms"]["totalMs"] > 0
    broken = broken_package(folder)
    assert call("verify", str(broken), "--device", device) == 1
    assert f"first kernel that differs: {BROKEN} " in capsys.readouterr().err
