"""Other runtimes that `bench` compares with, installed on demand and driven through the same protocol."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import onnx

from webinfer.devices import Device, user_dir
from webinfer.errors import DeviceError, InputError
from webinfer.feeds import samples_of, shape_at
from webinfer.manifest import Component
from webinfer.resources import data_dir
from webinfer.session import DeviceSession, LoadedModel

PEERS = {
    "ort-web": "onnxruntime-web's WebGPU execution provider in the same browser",
    "ort-webgpu-native": "PyPI onnxruntime-webgpu on the same Vulkan driver",
}
INSTALL_TIMEOUT_S = 600.0


def check_peer(name: str, device: Device) -> None:
    """Raise InputError where there is no such peer, or it does not run on this kind of device."""
    if name not in PEERS:
        raise InputError(f"--against {name}: expected one of {', '.join(PEERS)}")
    if (name == "ort-web") == (device.kind == "dawn"):
        kinds = "chromium-* or firefox-*" if name == "ort-web" else "dawn-*"
        raise InputError(f"--against {name}: runs on {kinds}, not on {device.id}; choose another --device")


def open_peer(
    stack: ExitStack, name: str, device: Device, original: Path, component: Component
) -> tuple[DeviceSession, LoadedModel]:
    """Start a peer on `device` and load the original file, its symbolic dimensions fixed to the package's sizes.

    Raises DeviceError where the peer cannot be installed.
    """
    folder = data_dir("device_matrix") / "peers"
    if name == "ort-web":
        modules = web_modules()
        session = DeviceSession(device, runtime=folder, mounts={"ort": modules / "onnxruntime-web" / "dist"})
    else:
        # ONNX Runtime does not name its adapter; the driver that the environment selects decides it.
        command = [str(_install_native(folder)), str(folder / "ort_native.py")]
        session = DeviceSession(device, command=command, any_adapter=True)
    stack.enter_context(session)
    dims = fixed_dims(original, component)
    return session, session.load_with(original.parent, file=original.name, dims=dims)


def fixed_dims(original: Path, component: Component) -> dict[str, int]:
    """Sizes of the original's symbolic input dimensions, by symbol."""
    graph = onnx.load(str(original), load_external_data=False).graph
    sizes = samples_of(component)[0]
    shapes = {spec.name: shape_at(spec.shape, sizes) for spec in component.inputs}
    dims: dict[str, int] = {}
    for value in graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, []), strict=False):
            if dim.dim_param:
                dims[dim.dim_param] = size
    return dims


def web_modules() -> Path:
    """node_modules with onnxruntime-web and three, as locked. Raises DeviceError where npm cannot install them."""
    folder = data_dir("device_matrix") / "peers"
    target = user_dir() / "peers"
    modules = target / "node_modules"
    lock = "package-lock.json"
    if (modules / "onnxruntime-web").is_dir() and (target / lock).read_bytes() == (folder / lock).read_bytes():
        return modules
    target.mkdir(parents=True, exist_ok=True)
    _call(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(target)],
        [(folder / "package.json", target / "package.json"), (folder / lock, target / lock)],
    )
    return modules


def _install_native(folder: Path) -> Path:
    """Python of the environment that holds onnxruntime-webgpu."""
    target = user_dir() / "onnxruntime-webgpu"
    python = target / "bin" / "python"
    stamp = target / "requirements.txt"
    wanted = folder / "requirements.txt"
    if python.exists() and stamp.is_file() and stamp.read_bytes() == wanted.read_bytes():
        return python
    _call([sys.executable, "-m", "venv", "--clear", str(target)])
    _call([str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)])
    shutil.copyfile(wanted, stamp)
    return python


def _call(command: list[str], copies: list[tuple[Path, Path]] | None = None) -> None:
    for origin, copy in copies or []:
        shutil.copyfile(origin, copy)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise DeviceError(f"{command[0]}: {fault}; install it, then repeat the command") from fault
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
        raise DeviceError(f"`{' '.join(command)}` failed ({last[0]}); run it by hand, then repeat the command")
