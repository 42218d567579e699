"""`webinfer run`: one inference on a real WebGPU device."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from webinfer.commands.printing import print_result
from webinfer.devices import DeviceFacts, default_device, find_device
from webinfer.errors import InputError, PackageError
from webinfer.feeds import check_feeds, read_inputs, sizes_given
from webinfer.manifest import Component, Manifest
from webinfer.package import read_package, verify_hashes
from webinfer.session import DeviceSession, LoadedModel


def only_component(package: Manifest, folder: Path) -> Component:
    """The package's single component. Raises PackageError where there are several."""
    if len(package.components) != 1:
        names = ", ".join(c.name for c in package.components)
        raise PackageError(f"{folder}: components {names}; expected one; export the component that you want to run")
    return package.components[0]


def describe(facts: DeviceFacts, model: LoadedModel) -> dict[str, Any]:
    """What ran where, for every record that carries a result."""
    adapter = facts.adapter
    return {
        "device": model.session.device.id,
        "adapter": adapter.words or "hidden by the browser",
        "software": adapter.is_software,
        "tier": model.tier,
    }


def _write(output: Path, arrays: Mapping[str, np.ndarray[Any, np.dtype[Any]]]) -> None:
    """Write an .npz file beside its destination and rename it into place."""
    partial = output.with_name(f".{output.name}")
    try:
        with partial.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        partial.replace(output)
    except OSError as fault:
        raise InputError(
            f"-o {output}: could not be written ({fault.strerror}); free some space or choose another file"
        ) from fault
    finally:
        partial.unlink(missing_ok=True)


def run(folder: Path, inputs: list[str], output: Path, device_id: str | None, tier: str | None, as_json: bool) -> None:
    """Run once and write the outputs under their names into an .npz file."""
    package = read_package(folder)
    component = only_component(package, folder)
    feeds = read_inputs(inputs)
    check_feeds(component.inputs, feeds, sizes_given(component, feeds))
    if output.suffix != ".npz" or not output.parent.is_dir():
        raise InputError(f"-o {output}: expected a path ending in .npz inside an existing folder")
    verify_hashes(folder, package)
    device = find_device(device_id) if device_id else default_device()
    with DeviceSession(device) as session:
        model = session.load(folder, tier)
        result = model.run(feeds)
        record = describe(session.facts, model)
    _write(output, result.outputs)
    record |= {
        "run_ms": list(result.wall_ms),
        "load_ms": model.timings_ms,
        "outputs": {n: {"dtype": a.dtype.name, "shape": list(a.shape)} for n, a in result.outputs.items()},
        "file": str(output),
    }
    lines = [
        f"{n}  {a.dtype.name} {list(a.shape)}  min {a.min():.4g}  max {a.max():.4g}" if a.size else f"{n}  empty"
        for n, a in result.outputs.items()
    ]
    kind = "software" if record["software"] else "GPU"
    head = (
        f"ran on {record['device']} ({record['adapter']}, {kind}), tier {record['tier']}, {result.wall_ms[-1]:.1f} ms"
    )
    print_result(record, "\n".join([head, *lines, f"wrote {output}"]), as_json=as_json)
