"""`webinfer verify`: hashes of every file, then numbers against ONNX Runtime CPU on every device asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from webinfer.commands.printing import print_result, table
from webinfer.commands.run import describe, only_component
from webinfer.devices import default_device, find_device
from webinfer.errors import CheckFailed
from webinfer.feeds import check_feeds, read_inputs, samples_of, seeded_feeds, sizes_given
from webinfer.manifest import Program
from webinfer.package import read_package, verify_hashes
from webinfer.quality import BARS, Difference, compare, compare_all
from webinfer.reference import Reference, intermediates
from webinfer.session import DeviceSession, LoadedModel

# Captured values stay on the device until they are read: ask for this many bytes at a time.
CAPTURE_BYTES = 128 * 2**20

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Culprit:
    """The first dispatch whose output differs from ONNX Runtime's."""

    kernel: str
    node: str
    dispatch: int
    value: str
    difference: Difference

    def __str__(self) -> str:
        d = self.difference
        return (
            f"first kernel that differs: {self.kernel} (node {self.node}, dispatch {self.dispatch}), "
            f"value {self.value}: max abs error {d.max_abs:.3g} at a largest magnitude of {d.largest:.3g}, "
            f"{d.mismatched} non-finite"
        )


def verify(
    folder: Path,
    device_ids: Sequence[str],
    *,
    source: Path | None,
    inputs: Sequence[str],
    tier: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Check a package; raises CheckFailed (after printing what was found) where something differs."""
    package = read_package(folder)
    verify_hashes(folder, package)
    component = only_component(package, folder)
    if inputs:
        given = read_inputs(inputs)
        runs = [(sizes_given(component, given), given)]
    else:
        runs = [(sizes, seeded_feeds(component.inputs, seed, sizes)) for sizes in samples_of(component)]
    for sizes, feeds in runs:
        check_feeds(component.inputs, feeds, sizes)
    devices = [find_device(i) for i in device_ids] or [default_device()]
    references = {"model": Reference(folder / component.model)}
    if source is not None:
        references["source"] = Reference(source)
    checks: list[dict[str, Any]] = []
    failures: list[str] = []
    for device in devices:
        with DeviceSession(device) as session:
            model = session.load(folder, tier)
            program = next(p for p in component.programs if p.tier == model.tier)
            bar = BARS[program.precision]
            for (sizes, feeds), (against, reference) in itertools.product(runs, references.items()):
                at = " ".join(f"{name}={size}" for name, size in sizes.items())
                differences = compare_all(reference.run(feeds), model.run(feeds).outputs)
                checks.extend(
                    describe(session.facts, model)
                    | {
                        "sizes": at,
                        "against": against,
                        "output": d.name,
                        "max_abs_error": d.max_abs,
                        "bar": bar,
                        "non_finite_mismatches": d.mismatched,
                        "holds": d.holds(bar),
                    }
                    for d in differences
                )
                if against == "model" and not all(d.holds(bar) for d in differences):
                    culprit = first_difference(model, program, folder / component.model, feeds, bar)
                    where = f"{device.id}{at and f' at {at}'}"
                    failures.append(f"{where}: {culprit or 'outputs differ, every intermediate is within the bar'}")
                elif not all(d.holds(bar) for d in differences):
                    worst = max(differences, key=lambda d: (d.mismatched, d.max_abs))
                    failures.append(f"{device.id}: {worst.name}: max abs error {worst.max_abs:.3g} against {source}")
    files = len(package.files)
    columns = ["device", "adapter", "tier", "sizes", "against", "output", "max_abs_error", "bar", "holds"]
    if not component.symbols:
        columns.remove("sizes")
    print_result(
        {"files": files, "hashes": "ok", "checks": checks, "failures": failures, "holds": not failures},
        f"{files} files: sizes and SHA-256 as listed\n" + table(columns, [[c[k] for k in columns] for c in checks]),
        as_json=as_json,
    )
    if failures:
        raise CheckFailed(f"{folder}: {'; '.join(failures)}")


def first_difference(
    model: LoadedModel, program: Program, onnx_file: Path, feeds: Mapping[str, Array], bar: float
) -> Culprit | None:
    """The earliest dispatch whose value leaves the bar, which is relative for values larger than one.

    Only values that the ONNX graph also has can be compared: a fused node's inner values never exist on the device.
    """
    for names in _chunks(program):
        reference = intermediates(onnx_file, feeds, names)
        captured = model.run(feeds, capture=list(reference), outputs=[]).captured if reference else {}
        for name in names:
            if name not in reference:
                continue
            difference = compare(name, reference[name], captured[name].reshape(reference[name].shape))
            if not difference.holds(bar * max(1.0, difference.largest)):
                index = program.tensors[name].producer
                dispatch = program.dispatches[index]
                return Culprit(dispatch.kernel, dispatch.node, index, name, difference)
    return None


def _chunks(program: Program) -> Iterator[list[str]]:
    """Names of produced values in dispatch order, in groups of about CAPTURE_BYTES."""
    produced = sorted(
        ((t.producer, name) for name, t in program.tensors.items() if t.producer >= 0), key=lambda item: item[0]
    )
    group: list[str] = []
    room = CAPTURE_BYTES
    for _, name in produced:
        size = program.tensors[name].span.size_bytes
        if group and size > room:
            yield group
            group, room = [], CAPTURE_BYTES
        group.append(name)
        room -= size
    if group:
        yield group
