"""`webinfer doctor`: what webinfer needs on this machine, what is there, and the fix for each fault."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from webinfer.commands.printing import print_result, table
from webinfer.devices import (
    all_devices,
    browser_path,
    host_dir,
    icd_path,
    node_modules,
    package_version,
    problems,
    user_dir,
)
from webinfer.errors import CheckFailed

NODE_MAJOR = 20
DISK_BYTES = 2 * 10**9


@dataclass(frozen=True)
class Finding:
    """One line of the report; `fix` is empty where nothing is wrong."""

    subject: str
    found: str
    fix: str = ""


def doctor(as_json: bool) -> None:
    """Print the findings; raises CheckFailed where something is missing."""
    findings = list(_findings())
    faults = [f for f in findings if f.fix]
    rows = [["FAULT" if f.fix else "ok", f.subject, f"{f.found}; {f.fix}" if f.fix else f.found] for f in findings]
    data = {"ok": not faults, "findings": [asdict(f) for f in findings]}
    print_result(data, table(["", "what", "found"], rows), as_json=as_json)
    if faults:
        raise CheckFailed(f"{len(faults)} of {len(findings)} checks failed: {', '.join(f.subject for f in faults)}")


def _findings() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("python", version, "" if sys.version_info >= (3, 11) else "install Python 3.11 or newer")
    yield from _python_packages()
    yield _node()
    built = (host_dir() / "host-node.mjs").is_file()
    yield Finding(
        "runtime",
        str(host_dir()) if built else f"not built in {host_dir()}",
        "" if built else "cd js_runtime && npm ci --ignore-scripts && npm run build",
    )
    modules = node_modules()
    yield Finding(
        "npm package webgpu",
        str(modules or "not found"),
        "" if modules else f"npm install --ignore-scripts --prefix {user_dir()} webgpu@0.6.2",
    )
    for kind in ("chromium", "firefox"):
        path = browser_path(kind)
        fix = f"apt-get install {'firefox-esr' if kind == 'firefox' else kind}"
        yield Finding(kind, _version(path) if path else "not on PATH", "" if path else fix)
    yield from _drivers()
    for device in all_devices().values():
        missing = problems(device)
        yield Finding(
            f"device {device.id}", missing[0].fault if missing else "can run", missing[0].fix if missing else ""
        )
    free = shutil.disk_usage(Path.cwd()).free
    yield Finding(
        "disk",
        f"{free / 1e9:.1f} GB free in {Path.cwd()}",
        "" if free >= DISK_BYTES else f"free at least {DISK_BYTES / 1e9:.0f} GB",
    )


def _python_packages() -> Iterator[Finding]:
    try:
        requirements = metadata.requires("webinfer") or []
    except metadata.PackageNotFoundError:
        yield Finding("webinfer", "not installed", "pip install -e .")
        return
    for requirement in requirements:
        match = re.fullmatch(r"([A-Za-z0-9_.\-]+)==([^\s;]+)", requirement)
        if match is None:
            continue
        name, wanted = match[1], match[2]
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "not installed"
        yield Finding(f"python package {name}", found, "" if found == wanted else f"pip install {name}=={wanted}")


def _node() -> Finding:
    fix = f"install Node.js {NODE_MAJOR} or newer (apt-get install nodejs)"
    path = shutil.which("node")
    if path is None:
        return Finding("node", "not on PATH", fix)
    version = _version(path)
    major = re.match(r"v?(\d+)", version)
    return Finding("node", version, "" if major and int(major[1]) >= NODE_MAJOR else fix)


def _drivers() -> Iterator[Finding]:
    if shutil.which("dpkg") is not None:
        loader = package_version("libvulkan1")
        yield Finding(
            "apt package libvulkan1", loader or "not installed", "" if loader else "apt-get install libvulkan1"
        )
    for driver in {d.driver for d in all_devices().values() if d.driver is not None}:
        path = icd_path(driver)
        release = package_version(driver.package)
        yield Finding(
            f"driver {driver.icd}",
            f"{path} ({driver.package} {release or 'of unknown version'})" if path else "not found",
            "" if path else f"apt-get install {driver.package}",
        )


def _version(path: str) -> str:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        return f"does not start ({fault})"
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else f"says nothing (exit status {done.returncode})"
