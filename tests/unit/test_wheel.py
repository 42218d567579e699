"""The wheel carries templates, device data, exporters and the built runtime, and works as an editable install does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import onnx
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*build, "--no-build-isolation", "-w", str(folder), str(ROOT)], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the wheel alone; its dependencies come from the running one."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, with_pip=False, symlinks=True)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    # .pth files are read in the environment's own folder only, so the editable install of webinfer stays out of sight.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin"


def _run(*command: str | Path, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_carries_the_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, pattern in [("wgsl", "**/*.j2"), ("device_matrix", "*/*.json"), ("js_runtime/dist", "**/*")]:
        files = [p for p in (ROOT / folder).glob(pattern) if p.is_file()]
        assert files, f"{folder}: nothing matches {pattern}"
        missing = [p for p in files if f"webinfer/_data/{p.relative_to(ROOT).as_posix()}" not in names]
        assert not missing, f"not in the wheel: {missing}"
    assert "exporters/__init__.py" in names
    top = {name.split("/")[0] for name in names}
    assert {t for t in top if not t.endswith(".dist-info")} == {"webinfer", "exporters"}


def test_wheel_stands_alone(installed: Path, tmp_path: Path) -> None:
    where = "import exporters, webinfer; print(webinfer.__file__); print(exporters.__file__)"
    for file in _run(installed / "python", "-c", where, cwd=tmp_path).splitlines():
        assert Path(file).is_relative_to(installed.parent)


def test_wheel_exports_what_the_checkout_exports(installed: Path, tmp_path: Path) -> None:
    rows = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4, 8])
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4, 8])
    nodes = [onnx.helper.make_node("Relu", ["x"], ["r"]), onnx.helper.make_node("Add", ["r", "x"], ["y"])]
    graph = onnx.helper.make_graph(nodes, "double", [rows], [result])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)]), tmp_path / "double.onnx")
    export = ["export", "double.onnx", "--target", "webgpu-all", "-o"]
    _run(sys.executable, "-m", "webinfer", *export, "ours.webinfer", cwd=tmp_path)
    _run(installed / "webinfer", *export, "theirs.webinfer", cwd=tmp_path)
    ours, theirs = _files(tmp_path / "ours.webinfer"), _files(tmp_path / "theirs.webinfer")
    assert any(path.startswith("kernels/") for path in ours)
    assert theirs == ours


def test_wheel_knows_the_devices(installed: Path, tmp_path: Path) -> None:
    ours = json.loads(_run(sys.executable, "-m", "webinfer", "devices", "--json", cwd=tmp_path))
    theirs = json.loads(_run(installed / "webinfer", "devices", "--json", cwd=tmp_path))
    ids = {device["id"] for device in theirs["devices"]}
    assert {file.stem for file in (ROOT / "device_matrix" / "devices").glob("*.json")} == ids
    assert ids == {device["id"] for device in ours["devices"]}


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
