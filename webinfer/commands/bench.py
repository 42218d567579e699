"""`webinfer bench`: time a package, and other runtimes on the same adapter in alternating runs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from webinfer.commands.bench_frames import bench_frames
from webinfer.commands.printing import print_result, table
from webinfer.commands.run import only_component
from webinfer.devices import Device, default_device, find_device
from webinfer.errors import CheckFailed, InputError
from webinfer.feeds import samples_of, seeded_feeds
from webinfer.manifest import Component, Manifest
from webinfer.package import read_package, sha256, verify_hashes
from webinfer.peers import check_peer, open_peer
from webinfer.quality import BARS, compare_all
from webinfer.reference import Reference
from webinfer.session import DeviceSession, LoadedModel, RunResult

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Contender:
    """A loaded runtime and its times in milliseconds."""

    name: str
    model: LoadedModel
    feeds: Mapping[str, Array]
    arguments: Mapping[str, Any]
    first_result_ms: float
    max_abs_error: float
    steady_ms: list[float] = field(default_factory=list)
    read_ms: float | None = None

    @property
    def median_ms(self) -> float:
        """Median of the steady runs."""
        return statistics.median(self.steady_ms)

    def step(self, repeat: int) -> None:
        """One turn: `repeat` runs that leave their outputs on the device."""
        result = self.model.run(self.feeds, repeat=repeat, read=False, **self.arguments)
        self.steady_ms += result.wall_ms


def bench(
    folder: Path,
    device_id: str | None,
    *,
    against: Sequence[str],
    source: Path | None,
    tier: str | None,
    rounds: int,
    repeat: int,
    seed: int,
    frames_s: float | None,
    scene: Path | None,
    as_json: bool,
) -> None:
    """Measure and print. Raises CheckFailed where the package's own numbers are wrong: that is no result.

    frames_s: measure the frames of a page that renders, for so many seconds a turn, in place of whole runs;
    scene: a built page to render instead of the bench's own.
    """
    package = read_package(folder)
    verify_hashes(folder, package)
    component = only_component(package, folder)
    device = find_device(device_id) if device_id else default_device()
    for name in against:
        check_peer(name, device)
    original = _original(folder, package, source) if against or source else folder / component.model
    feeds = seeded_feeds(component.inputs, seed, samples_of(component)[0])
    if frames_s is not None:
        bench_frames(
            folder,
            package,
            component,
            device,
            original,
            feeds,
            peer="ort-web" in against,
            tier=tier,
            seconds=frames_s,
            scene=scene,
            as_json=as_json,
        )
        return
    reference = Reference(original)
    expected = reference.run(feeds)
    with ExitStack() as stack:
        contenders = [_own(stack, device, folder, tier, feeds, expected)]
        contenders += [
            _peer(stack, name, device, original, component, reference.cast(feeds), expected) for name in against
        ]
        for _ in range(rounds):
            for contender in contenders:
                contender.step(repeat)
        for contender in contenders:
            result = contender.model.run(contender.feeds, **contender.arguments)
            contender.read_ms = result.read_ms
        record = _record(device, component, contenders)
    print_result(record, _text(record), as_json=as_json)
    own = record["contenders"][0]
    if not own["max_abs_error"] <= own["bar"]:
        raise CheckFailed(
            f"{folder}: max abs error {own['max_abs_error']:.3g} exceeds {own['bar']:.3g}; run "
            f"`webinfer verify {folder} --device {device.id}`"
        )


def _original(folder: Path, package: Manifest, source: Path | None) -> Path:
    """The file that peers get: the one that the package was made from."""
    path = source or Path(package.provenance.source)
    if not path.is_file():
        raise InputError(
            f"{path}: the original model is not here; pass --source FILE.onnx (the file that {folder} was "
            "exported from)"
        )
    if sha256(path.read_bytes()) != package.provenance.source_sha256:
        raise InputError(
            f"{path}: not the file that {folder} was exported from ({package.provenance.source}); pass "
            "that one with --source"
        )
    return path


def _own(
    stack: ExitStack,
    device: Device,
    folder: Path,
    tier: str | None,
    feeds: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> Contender:
    session = stack.enter_context(DeviceSession(device))
    model = session.load(folder, tier)
    result = model.run(feeds)
    return Contender("webinfer", model, feeds, {}, _since(session), _error(expected, result))


def _peer(
    stack: ExitStack,
    name: str,
    device: Device,
    original: Path,
    component: Component,
    feeds: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> Contender:
    session, model = open_peer(stack, name, device, original, component)
    arguments: dict[str, Any] = {
        "dtypes": {n: a.dtype.name for n, a in feeds.items()},
        "shapes": {n: list(a.shape) for n, a in feeds.items()},
    }
    result = model.run(feeds, **arguments)
    return Contender(name, model, feeds, arguments, _since(session), _error(expected, result))


def _since(session: DeviceSession) -> float:
    """Milliseconds since the navigation (a browser) or the start of the process (Node, Python)."""
    return (time.monotonic() - session.began_s) * 1e3


def _error(expected: Mapping[str, Array], result: RunResult) -> float:
    differences = compare_all(expected, result.outputs)
    return float("inf") if any(d.mismatched for d in differences) else max(d.max_abs for d in differences)


def _record(device: Device, component: Component, contenders: Sequence[Contender]) -> dict[str, Any]:
    own = contenders[0]
    adapter = own.model.session.facts.adapter
    precision = next(p.precision for p in component.programs if p.tier == own.model.tier)
    return {
        "device": device.id,
        "adapter": adapter.words or "name hidden by the browser",
        "software": adapter.is_software,
        "contenders": [
            {
                "name": c.name,
                "version": c.model.tier,
                "adapter": c.model.session.facts.adapter.words or "the device's driver; the runtime does not name it",
                "load_ms": c.model.timings_ms,
                "first_result_ms": c.first_result_ms,
                "steady_ms": c.steady_ms,
                "steady_median_ms": c.median_ms,
                "read_ms": c.read_ms,
                "read_in_steady": c.read_ms is None,
                "max_abs_error": c.max_abs_error,
                "bar": BARS[precision],
                "steady_ratio": c.median_ms / own.median_ms,
                "first_result_ratio": c.first_result_ms / own.first_result_ms,
            }
            for c in contenders
        ],
    }


def _text(record: Mapping[str, Any]) -> str:
    kind = "software" if record["software"] else "GPU"
    columns = [
        "name",
        "version",
        "first_result_ms",
        "steady_median_ms",
        "read_ms",
        "max_abs_error",
        "first_result_ratio",
        "steady_ratio",
    ]
    rows = [[c[k] for k in columns] for c in record["contenders"]]
    notes = [f"{c['name']}: steady runs include read-back" for c in record["contenders"] if c["read_in_steady"]]
    return "\n".join([f"{record['device']}: {record['adapter']} ({kind})", table(columns, rows), *notes])
