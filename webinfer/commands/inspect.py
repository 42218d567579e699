"""`webinfer inspect`: tiers, memory plan, kernels and cost of a package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from webinfer.commands.printing import print_result, table
from webinfer.manifest import Component, Manifest, Program, SymbolBounds
from webinfer.package import MANIFEST, read_package


def inspect(folder: Path, top: int, as_json: bool) -> None:
    """Print per component and tier: dispatches, memory, kernels; `top` kernels by FLOPs in the text form."""
    package = read_package(folder)
    package_bytes = sum(f.size_bytes for f in package.files) + (folder / MANIFEST).stat().st_size
    components = [
        {
            "name": c.name,
            "symbols": {name: s.model_dump() for name, s in c.symbols.items()},
            "constraints": [k.text for k in c.constraints],
            "inputs": [i.model_dump() for i in c.inputs],
            "outputs": [o.model_dump() for o in c.outputs],
            "golden": None if c.golden is None else {"values": len(c.golden.values), "file": c.golden.file},
            "tiers": [_program(p, package_bytes) for p in c.programs],
        }
        for c in package.components
    ]
    data: dict[str, Any] = {
        "name": package.name,
        "target": package.target,
        "format_version": package.format_version,
        "package_bytes": package_bytes,
        "components": components,
        "skus": {s.id: s.model_dump() for s in package.skus},
        "quality": {k: q.model_dump() for k, q in package.quality.items()},
        "provenance": package.provenance.model_dump(),
    }
    print_result(data, _text(package, package_bytes, components, top), as_json=as_json)


def _program(program: Program, package_bytes: int) -> dict[str, Any]:
    kernels: dict[str, dict[str, Any]] = {
        name: {"name": name, "dispatches": 0, "flops": 0, "bytes": 0} for name in program.kernels
    }
    for dispatch in program.dispatches:
        entry = kernels.setdefault(dispatch.kernel, {"name": dispatch.kernel, "dispatches": 0, "flops": 0, "bytes": 0})
        entry["dispatches"] += 1
        entry["flops"] += dispatch.flops
        entry["bytes"] += dispatch.bytes
    plan = program.plan
    return {
        "tier": program.tier,
        "description": program.description,
        "rank": program.rank,
        "requires": program.requires.model_dump(),
        "predicted_ms": program.predicted_ms,
        "precision": program.precision,
        "dispatches": len(program.dispatches),
        "prepare_dispatches": len(program.prepare),
        "activation_peak_bytes": plan.activation_peak_bytes,
        "activation_lower_bound_bytes": plan.activation_lower_bound_bytes,
        "peak_to_bound": plan.activation_peak_bytes / max(plan.activation_lower_bound_bytes, 1),
        "weight_bytes": plan.weight_bytes,
        "gpu_bytes": plan.gpu_bytes,
        "package_bytes": package_bytes,
        "flops": sum(d.flops for d in program.dispatches),
        "traffic_bytes": sum(d.bytes for d in program.dispatches),
        "kernels": sorted(kernels.values(), key=lambda k: (-k["flops"], -k["bytes"], k["name"])),
    }


def _text(package: Manifest, package_bytes: int, components: list[dict[str, Any]], top: int) -> str:
    lines = [
        f"{package.name}  target {package.target}  package {package_bytes:,} bytes  from {package.provenance.source}"
    ]
    for name, quality in package.quality.items():
        lines.append(f"quality {name}: {quality.metric} {quality.value:.3g} against the source ({quality.runs} runs)")
    for component, declared in zip(components, package.components, strict=True):
        lines += ["", f"component {component['name']}", *_signature(declared), ""]
        lines.append(
            table(
                [
                    "tier",
                    "dispatches",
                    "peak bytes",
                    "lower bound",
                    "ratio",
                    "weight bytes",
                    "gpu bytes",
                    "pipelines",
                    "GFLOP",
                ],
                [
                    [
                        t["tier"],
                        t["dispatches"],
                        t["activation_peak_bytes"],
                        t["activation_lower_bound_bytes"],
                        t["peak_to_bound"],
                        t["weight_bytes"],
                        t["gpu_bytes"],
                        len(t["kernels"]),
                        t["flops"] / 1e9,
                    ]
                    for t in component["tiers"]
                ],
            )
        )
        ladder = sorted(component["tiers"], key=lambda t: t["rank"])
        lines += [
            "tiers, those first that ask least of an adapter",
            *(f"  {t['tier']}: {t['description']}{_features(t['requires'])}" for t in ladder),
            "",
            "predicted ms of a run (roofline, not a measurement)",
            table(
                ["SKU", *(t["tier"] for t in component["tiers"])],
                [[s.name, *(t["predicted_ms"].get(s.id, "") for t in component["tiers"])] for s in package.skus],
            ),
        ]
        for t in component["tiers"]:
            lines.append(f"{t['tier']}: the {min(top, len(t['kernels']))} kernels with the most FLOPs")
            lines.append(
                table(
                    ["kernel", "dispatches", "GFLOP", "share", "bytes moved"],
                    [
                        [k["name"], k["dispatches"], k["flops"] / 1e9, k["flops"] / max(t["flops"], 1), k["bytes"]]
                        for k in t["kernels"][:top]
                    ],
                )
            )
    return "\n".join(lines)


def _features(requires: dict[str, Any]) -> str:
    return f" (needs {', '.join(requires['features'])})" if requires["features"] else ""


def _signature(component: Component) -> list[str]:
    return [
        *(f"  size {name}  {_bounds(s)}" for name, s in component.symbols.items()),
        *(f"  rule {constraint.text}" for constraint in component.constraints),
        *(f"  in   {i.name}  {i.dtype} [{', '.join(map(str, i.shape))}]" for i in component.inputs),
        *(f"  out  {o.name}  {o.dtype} [{', '.join(map(str, o.shape))}]" for o in component.outputs),
    ]


def _bounds(symbol: SymbolBounds) -> str:
    steps = f", multiples of {symbol.multiple}" if symbol.multiple > 1 else ""
    return f"{symbol.minimum} to {symbol.maximum}{steps} (memory, FLOPs and bytes are those of {symbol.maximum})"
