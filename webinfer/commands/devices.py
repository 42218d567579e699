"""`webinfer devices`: what this machine can run on."""

from __future__ import annotations

from typing import Any

from webinfer.commands.printing import print_result
from webinfer.devices import Device, all_devices, problems
from webinfer.errors import DeviceError
from webinfer.session import DeviceSession

# The features that decide which tiers a device can take and whether it can time kernels.
TELLING_FEATURES = ("core-features-and-limits", "shader-f16", "subgroups", "timestamp-query")


def devices(start: bool, as_json: bool) -> None:
    """List the devices; with `start`, start each one that can run and say which adapter answers."""
    entries = [_entry(device, start) for device in all_devices().values()]
    lines = []
    for entry in entries:
        lines.append(f"{entry['id']:<22}{'ready' if entry['ready'] else 'not here'}  {entry['description']}")
        if "adapter" in entry:
            kind = "software" if entry["software"] else "GPU"
            telling = ", ".join(f for f in TELLING_FEATURES if f in entry["features"]) or "no telling features"
            lines.append(f"{'':<22}{entry['adapter']} ({kind}); {telling}")
        lines += [f"{'':<22}{p['fault']}; {p['fix']}" for p in entry["problems"]]
    print_result({"devices": entries}, "\n".join(lines), as_json=as_json)


def _entry(device: Device, start: bool) -> dict[str, Any]:
    found = [{"fault": p.fault, "fix": p.fix} for p in problems(device)]
    entry: dict[str, Any] = {"id": device.id, "kind": device.kind, "description": device.description, "problems": found}
    if start and not found:
        try:
            with DeviceSession(device) as session:
                facts = session.facts
                entry |= {
                    "adapter": facts.adapter.words or "name hidden by the browser",
                    "software": facts.adapter.is_software,
                    "features": sorted(facts.features),
                    "limits": facts.limits,
                }
        except DeviceError as fault:
            found.append({"fault": str(fault), "fix": "webinfer doctor"})
    entry["ready"] = not found
    return entry
