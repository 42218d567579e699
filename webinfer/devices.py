"""The devices that a package can run on: data files under device_matrix/devices, and what this machine has of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from webinfer.errors import DeviceError
from webinfer.resources import data_dir

BROWSERS = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "firefox": ("firefox-esr", "firefox")}
DRIVER_MODULE = {"chromium": "playwright", "firefox": "websockets"}
APT_PACKAGE = {"chromium": "chromium", "firefox": "firefox-esr"}
# Where Vulkan loaders look on systems without dpkg.
ICD_FOLDERS = ("/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/lib/chromium")
# Names under which CPU implementations of Vulkan and Direct3D report themselves; some do not set isFallbackAdapter.
SOFTWARE_NAMES = re.compile(r"llvmpipe|lavapipe|swiftshader|softpipe|basic render|\bwarp\b", re.IGNORECASE)


class Driver(BaseModel):
    """The Vulkan driver to select: the apt package that ships it, its ICD file, the oldest version that works."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    package: str
    icd: str
    min_version: str | None


class Features(BaseModel):
    """WebGPU feature names that the adapter must and must not have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    present: list[str]
    absent: list[str]


class Device(BaseModel):
    """One device.

    adapter: a pattern that the adapter's own words (vendor, architecture, device, description) must match, or None
    where the browser hides them. software: whether the adapter is a CPU, None where it depends on the machine.
    compat: ask for a compatibility-mode adapter.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    description: str
    kind: Literal["dawn", "chromium", "firefox"]
    driver: Driver | None
    flags: list[str]
    prefs: dict[str, bool | int | str]
    compat: bool
    adapter: str | None
    software: bool | None
    features: Features


@dataclass(frozen=True)
class Adapter:
    """What a WebGPU adapter says about itself; `is_fallback` is None where the browser does not tell."""

    vendor: str
    architecture: str
    device: str
    description: str
    is_fallback: bool | None

    @property
    def words(self) -> str:
        """Everything that names the adapter, in one line."""
        return " ".join(dict.fromkeys(filter(None, (self.vendor, self.architecture, self.device, self.description))))

    @property
    def is_software(self) -> bool:
        """True where the flag or the names say that a CPU does the work: neither alone is reliable."""
        return bool(self.is_fallback) or SOFTWARE_NAMES.search(self.words) is not None


@dataclass(frozen=True)
class DeviceFacts:
    """What the device offers. limits: WebGPU limit name -> value."""

    adapter: Adapter
    features: frozenset[str]
    limits: dict[str, int]
    user_agent: str

    @classmethod
    def from_greeting(cls, greeting: Mapping[str, Any]) -> DeviceFacts:
        """Read what a host says when it starts."""
        info = greeting["adapter"]
        fallback = info.get("isFallbackAdapter")
        vendor, architecture, device, description = (
            str(info.get(k) or "") for k in ("vendor", "architecture", "device", "description")
        )
        return cls(
            adapter=Adapter(vendor, architecture, device, description, None if fallback is None else bool(fallback)),
            features=frozenset(greeting.get("features", ())),
            limits={k: int(v) for k, v in greeting.get("limits", {}).items()},
            user_agent=str(greeting.get("userAgent", "")),
        )


@dataclass(frozen=True)
class Problem:
    """Something that this machine lacks, and the command that provides it."""

    fault: str
    fix: str


@cache
def all_devices() -> dict[str, Device]:
    """Every device by id, in file-name order. Raises DeviceError when two files have one id."""
    devices: dict[str, Device] = {}
    for file in sorted((data_dir("device_matrix") / "devices").glob("*.json")):
        device = Device.model_validate_json(file.read_text())
        if device.id in devices or device.id != file.stem:
            raise DeviceError(f"{file}: id {device.id!r} must equal the file name and be unique; rename one of them")
        devices[device.id] = device
    return devices


def find_device(device_id: str) -> Device:
    """The device of that id. Raises DeviceError naming those that exist."""
    devices = all_devices()
    if device_id not in devices:
        raise DeviceError(
            f"device {device_id!r}: expected one of {', '.join(devices)}; `webinfer devices` says which run here"
        )
    return devices[device_id]


def default_device() -> Device:
    """The first device that can run here, Dawn before browsers. Raises DeviceError when there is none."""
    order = ("dawn-native", "dawn-lavapipe", "dawn-swiftshader")
    devices = all_devices()
    ranked = [devices[i] for i in order if i in devices] + [d for d in devices.values() if d.id not in order]
    for device in ranked:
        if device.id == "dawn-native" and not has_gpu_driver():
            continue
        if not problems(device):
            return device
    raise DeviceError("no device can run on this machine; `webinfer doctor` lists what is missing and how to get it")


def has_gpu_driver() -> bool:
    """True where the machine exposes a GPU: without one, the first adapter that Vulkan offers is a CPU."""
    return (
        os.name == "nt"
        or Path("/System/Library/Frameworks/Metal.framework").exists()
        or any(path.exists() for path in (Path("/dev/dri"), Path("/dev/nvidiactl"), Path("/dev/dxg")))
    )


def problems(device: Device) -> list[Problem]:
    """What this machine lacks for a device; empty when it can run."""
    found = list(_host_problems(device.kind))
    if device.driver is not None:
        found.extend(_driver_problems(device.driver))
    return found


def browser_path(kind: Literal["chromium", "firefox"]) -> str | None:
    """Executable of the browser, or None."""
    return next((path for name in BROWSERS[kind] if (path := shutil.which(name))), None)


def icd_path(driver: Driver) -> Path | None:
    """The driver's ICD file: as dpkg lists it, else in the standard folders."""
    listed = [Path(line) for line in _dpkg("-L", driver.package) if line.endswith("/" + driver.icd)]
    return next((p for p in [*listed, *(Path(f) / driver.icd for f in ICD_FOLDERS)] if p.is_file()), None)


def package_version(package: str) -> str | None:
    """Version of an installed apt package, or None."""
    lines = [line for line in _dpkg("-s", package) if line.startswith("Version: ")]
    return lines[0].removeprefix("Version: ") if lines else None


def host_dir() -> Path:
    """Folder of the built runtime (js_runtime/dist)."""
    return data_dir("js_runtime") / "dist"


def user_dir() -> Path:
    """Folder for what webinfer installs on demand: $WEBINFER_CACHE, else ~/.cache/webinfer."""
    return Path(os.environ.get("WEBINFER_CACHE") or Path.home() / ".cache" / "webinfer")


def node_modules(package: str = "webgpu") -> Path | None:
    """A node_modules folder that has `package`: $WEBINFER_NODE_MODULES, the checkout's, or the user's folder."""
    chosen = os.environ.get("WEBINFER_NODE_MODULES")
    folders = [Path(chosen)] if chosen else []
    folders += [data_dir("js_runtime") / "node_modules", user_dir() / "node_modules"]
    return next((f.resolve() for f in folders if (f / package / "package.json").is_file()), None)


def _host_problems(kind: Literal["dawn", "chromium", "firefox"]) -> Iterable[Problem]:
    if not (host_dir() / ("host-node.mjs" if kind == "dawn" else "host/index.html")).is_file():
        yield Problem(
            f"the runtime is not built ({host_dir()})", "cd js_runtime && npm ci --ignore-scripts && npm run build"
        )
    if kind == "dawn":
        if shutil.which("node") is None:
            yield Problem("node is not on PATH", "install Node.js 20 or newer (apt-get install nodejs)")
        if node_modules() is None:
            yield Problem(
                "the npm package webgpu (Dawn) is not installed",
                f"npm install --ignore-scripts --prefix {user_dir()} webgpu@0.6.2",
            )
    else:
        if browser_path(kind) is None:
            yield Problem(f"{kind} is not on PATH", f"apt-get install {APT_PACKAGE[kind]}")
        if find_spec(DRIVER_MODULE[kind]) is None:
            yield Problem(f"the Python package {DRIVER_MODULE[kind]} is missing", "pip install 'webinfer[browsers]'")


def _driver_problems(driver: Driver) -> Iterable[Problem]:
    if icd_path(driver) is None:
        yield Problem(f"the Vulkan driver file {driver.icd} is not installed", f"apt-get install {driver.package}")
    version = package_version(driver.package)
    if driver.min_version and version and _numbers(version) < _numbers(driver.min_version):
        yield Problem(
            f"{driver.package} is {version}, WebGPU needs {driver.min_version} or newer",
            f"apt-get install -t bookworm-backports {driver.package}",
        )


def _numbers(version: str) -> tuple[int, ...]:
    upstream = version.rpartition(":")[2].partition("-")[0]
    return tuple(int(n) for n in re.findall(r"\d+", upstream))


@cache
def _dpkg(*args: str) -> tuple[str, ...]:
    if shutil.which("dpkg") is None:
        return ()
    done = subprocess.run(["dpkg", *args], capture_output=True, text=True, check=False)
    return tuple(done.stdout.splitlines()) if done.returncode == 0 else ()
