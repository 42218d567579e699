"""Runs tests in a worker process: each model is compiled once and then run on every device that is asked for."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.conformance.suite import Test
from webinfer import onnx_backend

_TESTS: dict[str, Test] = {}


@dataclass
class Outcome:
    """What a test gave. faults: per device, the first line of what went wrong; None: it passed."""

    name: str
    op: str
    faults: dict[str, str | None] = field(default_factory=dict)
    compile_s: float = 0.0
    device_s: dict[str, float] = field(default_factory=dict)


def share(tests: Sequence[Test]) -> None:
    """Keep the tests in this process; worker processes that are forked from it have them too."""
    _TESTS.update({test.name: test for test in tests})


def run(name: str, devices: Sequence[str]) -> Outcome:
    """Run one test on `devices`."""
    warnings.simplefilter("ignore")
    test = _TESTS[name]
    outcome = Outcome(name, test.op, dict.fromkeys(devices))
    started = time.perf_counter()
    try:
        model, data_sets = test.read()
        source = onnx_backend.SourceModel(model)
        compiled = []
        for inputs, expected in data_sets:
            feeds = source.feeds(inputs)
            compiled.append((source.specialise(feeds), feeds, expected))
    except Exception as fault:  # noqa: BLE001 (whatever goes wrong is a failed test)
        outcome.faults = dict.fromkeys(devices, f"compile: {_line(fault)}")
        return outcome
    finally:
        outcome.compile_s = time.perf_counter() - started
    for device in devices:
        started = time.perf_counter()
        try:
            for specialised, feeds, expected in compiled:
                loaded = specialised.load(onnx_backend.session(device))
                found = specialised.run(loaded, feeds)
                loaded.dispose()
                with np.errstate(all="ignore"):
                    test.compare(expected, found)
        except Exception as fault:  # noqa: BLE001 (see above)
            outcome.faults[device] = _line(fault)
        outcome.device_s[device] = time.perf_counter() - started
    return outcome


def _line(fault: Exception) -> str:
    """The telling part of an error, in one line."""
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
    if isinstance(fault, AssertionError):
        lines = [
            line for line in lines if line.startswith(("Mismatch", "Max abs", "Output", "nan", "x and y", "(shapes"))
        ] or lines
    text = " ".join(lines[:3])
    return f"{type(fault).__name__}: {text}"[:400]
