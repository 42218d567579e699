"""`webinfer bench --frames`: what inference does to the frames of a page that renders all the time."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from webinfer.commands.printing import print_result, table
from webinfer.devices import Device, host_dir
from webinfer.errors import CheckFailed, InputError
from webinfer.manifest import Component, Manifest
from webinfer.peers import fixed_dims, web_modules
from webinfer.resources import data_dir
from webinfer.session import DeviceSession

Array = np.ndarray[Any, np.dtype[Any]]

# Of a frame without inference; a GPU is given milliseconds, because its frames are mostly idle.
SOFTWARE_SHARE = 0.15
GPU_BUDGET_MS = 4.0
# A small picture, and always the same flight.
SCENE_QUERY = "seed=bench&quality=low&size=480x270&sound=false"
# Largest p99 with inference, as a multiple of that without.
SOFTWARE_BAR, GPU_BAR = 1.25, 1.10


@dataclass(frozen=True)
class Stretch:
    """Frames of a stretch of time: `begins` in milliseconds on the page's clock; `events` are the runtime's own."""

    contender: str
    begins: Sequence[float]
    events: Sequence[Mapping[str, Any]]
    runs: int
    load_average: float

    @property
    def intervals(self) -> list[float]:
        """Milliseconds between frames."""
        return [b - a for a, b in pairwise(self.begins)]


def bench_frames(
    folder: Path,
    package: Manifest,
    component: Component,
    device: Device,
    original: Path,
    feeds: Mapping[str, Array],
    *,
    peer: bool,
    tier: str | None,
    seconds: float,
    scene: Path | None,
    as_json: bool,
) -> None:
    """Render without and with inference in turns, on one adapter in one page, and compare the times between frames.

    scene: a built page in place of the bench's own scene. It finds the package at terrain.webinfer/ beside it, takes
    `inference=off`, `budget`, `backend`, `size` and `seed` from its address, and gives `window.game` with `ready`,
    `autopilot`, `state`, `made`, `waiting`, `backend` and `faults`.

    Raises CheckFailed where frames with inference are late beyond the bar.
    """
    if device.kind != "chromium":
        raise InputError(
            f"--frames: needs a browser that renders, not {device.id}; choose --device chromium-swiftshader"
        )
    modules = web_modules()
    mounts = {
        "peers": data_dir("device_matrix") / "peers",
        "runtime": host_dir(),
        "three": modules / "three" / "build",
        "ort": modules / "onnxruntime-web" / "dist",
        "package": folder,
        "original": original.parent,
    }
    if scene is not None:
        mounts |= {"scene": scene, "scene/terrain.webinfer": folder}
    with DeviceSession(device, runtime=data_dir("device_matrix") / "frames", mounts=mounts) as session:
        software = session.facts.adapter.is_software
        sent = [
            {"name": n, "data": session.upload(a), "dtype": a.dtype.name, "shape": list(a.shape)}
            for n, a in feeds.items()
        ]
        loads: dict[str, Any] = {}

        def measure(contender: str, budget_ms: float = 0.0) -> Stretch:
            if scene is None:
                return _stretch(session, "measure", contender, seconds=seconds)
            query = f"budget={budget_ms:.2f}&backend=webgpu" if contender == "webinfer" else "inference=off"
            return _stretch(session, "play", contender, seconds=seconds, query=f"{SCENE_QUERY}&{query}")

        if scene is None:
            session.call("render", package="/package/")
        stretches = [measure("none")]
        baseline = float(np.median(stretches[0].intervals))
        budget_ms = baseline * SOFTWARE_SHARE if software else GPU_BUDGET_MS
        if scene is None:
            arguments = {"package": "/package/", "feeds": sent, "tier": tier, "budgetMs": budget_ms}
            loads["webinfer"] = session.call("load", contender="webinfer", **arguments)
        stretches += [measure(contender, budget_ms) for contender in ("webinfer", "none", "webinfer")]
        if peer:
            dims = fixed_dims(original, component)
            file = f"/original/{original.name}"
            loads["ort-web"] = session.call("load", contender="ort-web", model=file, feeds=sent, dims=dims)
            stretches.append(measure("ort-web"))
        record = {
            "device": device.id,
            "adapter": session.facts.adapter.words or "name hidden by the browser",
            "software": software,
            "package": package.name,
            "scene": "the bench's own" if scene is None else str(scene),
            "seconds": seconds,
            "budget_ms": budget_ms,
            "stretches": [_summary(s) for s in stretches],
            "loads": {name: _load_summary(value) for name, value in loads.items()},
            "slices": _slices(stretches) if scene is None else None,
        }
    without = _pooled(stretches, "none")
    ratio = _percentile(_pooled(stretches, "webinfer"), 99) / _percentile(without, 99)
    bar = SOFTWARE_BAR if software else GPU_BAR
    record |= {"p99_ratio": ratio, "bar": bar}
    print_result(record, _text(record), as_json=as_json)
    if not ratio <= bar:
        raise CheckFailed(f"{folder}: p99 frame time with inference is {ratio:.2f} times that without; expected {bar}")


def _stretch(session: DeviceSession, op: str, contender: str, **arguments: Any) -> Stretch:
    before = os.getloadavg()[0]
    value = session.call(op, contender=contender, **arguments)
    return Stretch(contender, value["frames"], value["events"], value["runs"], max(before, os.getloadavg()[0]))


def _load_summary(value: Mapping[str, Any]) -> dict[str, Any]:
    intervals = [b - a for a, b in pairwise(value["frames"])]
    return {
        "version": value["version"],
        "runs_on": value["tier"],
        "seconds": sum(intervals) / 1e3,
        "longest_freeze_ms": max(intervals, default=0.0),
    }


def _summary(stretch: Stretch) -> dict[str, Any]:
    intervals = stretch.intervals
    return {
        "contender": stretch.contender,
        "frames": len(intervals),
        "p50_ms": _percentile(intervals, 50),
        "p95_ms": _percentile(intervals, 95),
        "p99_ms": _percentile(intervals, 99),
        "longest_ms": max(intervals, default=float("inf")),
        "runs": stretch.runs,
        "load_average": stretch.load_average,
    }


def _slices(stretches: Sequence[Stretch]) -> dict[str, Any]:
    """How the measured slices keep to their budgets; `excess`: beyond budget and longest undivided piece."""
    # Measurements come late: those of the load's own runs are left out.
    slices = [e for s in stretches for e in s.events if e["type"] == "slice" and e["at"] >= s.begins[0]]
    frames = [e for s in stretches for e in s.events if e["type"] == "frame"]
    return {
        "measured": len(slices),
        "clock": sorted({e["clock"] for e in slices}),
        "p50_ms": _percentile([e["ms"] for e in slices], 50),
        "p99_ms": _percentile([e["ms"] for e in slices], 99),
        "overshoot_max_ms": max((e["ms"] - e["budgetMs"] for e in slices), default=0.0),
        "longest_piece_ms": max((e["longestMs"] for e in slices), default=0.0),
        "excess_max_ms": max((e["ms"] - e["budgetMs"] - e["longestMs"] for e in slices), default=0.0),
        "predicted_excess_max_ms": max(
            (e["predictedMs"] - e["budgetMs"] - e["longestMs"] for e in slices), default=0.0
        ),
        "encode_p50_ms": _percentile([e["encodeMs"] for e in frames], 50),
        "encode_p99_ms": _percentile([e["encodeMs"] for e in frames], 99),
        "saturated_frames": sum(e["saturated"] for e in frames),
        "budget_p50_ms": _percentile([e["budgetMs"] for e in frames], 50),
    }


def _pooled(stretches: Sequence[Stretch], contender: str) -> list[float]:
    return [ms for s in stretches if s.contender == contender for ms in s.intervals]


def _percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(values, percent)) if values else float("nan")


def _text(record: Mapping[str, Any]) -> str:
    columns = ["contender", "frames", "p50_ms", "p95_ms", "p99_ms", "longest_ms", "runs", "load_average"]
    kind = "software" if record["software"] else "GPU"
    lines = [
        f"{record['device']}: {record['adapter']} ({kind}); {record['seconds']:g} s a turn",
        f"budget {record['budget_ms']:.2f} ms",
        table(columns, [[s[c] for c in columns] for s in record["stretches"]]),
    ]
    for name, load in record["loads"].items():
        lines.append(
            f"{name} ({load['version']}, {load['runs_on']}): loaded and first run in {load['seconds']:.1f} s, longest "
            f"freeze meanwhile {load['longest_freeze_ms']:.0f} ms"
        )
    if record["slices"] is not None:
        facts = [f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in record["slices"].items()]
        lines.append(f"slices: {', '.join(facts)}")
    lines.append(f"p99 with webinfer is {record['p99_ratio']:.2f} times that without (bar {record['bar']})")
    return "\n".join(lines)
