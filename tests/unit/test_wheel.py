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

import pytest

ROOT = Path(__file__).parents[2]

# Compiles x -> Relu(x) + x for every tier and prints where webinfer lies and the digest of each file of the package.
COMPILE = """
import hashlib, json, onnx_ir as ir, webinfer, exporters
from onnxscript import FLOAT, opset23 as op, script
from webinfer.compile import compile_model
from webinfer.tiers import all_tiers
@script()
def double(x: FLOAT[4, 8]) -> FLOAT[4, 8]:
    return op.Add(op.Relu(x), x)
model = ir.serde.deserialize_model(double.to_model_proto())
files = compile_model(model, [t for t in all_tiers().values() if t.precision == "fp32"])
digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
print(json.dumps({"at": webinfer.__file__, "exporters": exporters.__file__, "files": digests}))
"""


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
    for folder, pattern in [("wgsl", "**/*.j2"), ("device_matrix/tiers", "*.json"), ("js_runtime/dist", "**/*")]:
        files = [p for p in (ROOT / folder).glob(pattern) if p.is_file()]
        assert files, f"{folder}: nothing matches {pattern}"
        missing = [p for p in files if f"webinfer/_data/{p.relative_to(ROOT).as_posix()}" not in names]
        assert not missing, f"not in the wheel: {missing}"
    assert "exporters/__init__.py" in names
    top = {name.split("/")[0] for name in names}
    assert {t for t in top if not t.endswith(".dist-info")} == {"webinfer", "exporters"}


def test_wheel_compiles_as_the_checkout_does(installed: Path, tmp_path: Path) -> None:
    script = tmp_path / "compile_double.py"
    script.write_text(COMPILE)
    ours = json.loads(_run(sys.executable, script, cwd=tmp_path))
    theirs = json.loads(_run(installed / "python", script, cwd=tmp_path))
    assert Path(ours["at"]).is_relative_to(ROOT)
    assert Path(theirs["at"]).is_relative_to(installed.parent)
    assert Path(theirs["exporters"]).is_relative_to(installed.parent)
    assert any(path.endswith(".wgsl") for path in theirs["files"])
    assert theirs["files"] == ours["files"]


def test_wheel_has_the_command(installed: Path, tmp_path: Path) -> None:
    ours = json.loads(_run(sys.executable, "-m", "webinfer.cli", "devices", "--json", cwd=tmp_path))
    theirs = json.loads(_run(installed / "webinfer", "devices", "--json", cwd=tmp_path))
    assert theirs == ours
