"""Every case of every op module on Dawn against ONNX Runtime CPU: all cases of a module in one package per tier.

A tier runs the cases that have a kernel which no tier before it ran on the device: equal names are equal sources.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from webinfer import ops
from webinfer.compile import compile_model
from webinfer.ops.case import Case, compiled_graph, reference_graph
from webinfer.passes.lower import lower
from webinfer.reference import run_reference
from webinfer.session import DeviceSession
from webinfer.tiers import Tier, all_tiers

MODULES = [
    m.name
    for m in pkgutil.iter_modules(ops.__path__)
    if hasattr(importlib.import_module(f"webinfer.ops.{m.name}"), "CASES")
]
DEVICES = {
    # Kernels that stage tiles in workgroup memory take lavapipe's compiler ten times as long as SwiftShader's.
    "dawn-lavapipe": ["fp32-register", "fp16-register", "fp16-workgroup"],
    "dawn-swiftshader": ["fp32-register", "fp32-workgroup", "fp16-storage-register", "fp16-storage-workgroup"],
}
Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]


@pytest.fixture(scope="module", params=list(DEVICES))
def session(request: pytest.FixtureRequest) -> Iterator[DeviceSession]:
    with DeviceSession(request.param) as running:
        yield running


def _cases(module: str, tier: Tier) -> list[Case]:
    cases: list[Case] = importlib.import_module(f"webinfer.ops.{module}").CASES
    return [c for c in cases if tier.precision in c.precisions]


@cache
def _reference(module: str, tier_id: str) -> Arrays:
    tier = all_tiers()[tier_id]
    graph = reference_graph(_cases(module, tier), tier.precision)
    return run_reference(graph.model(), graph.feeds)


def _fault(case: Case, tier: Tier, name: str, found: np.ndarray, expected: np.ndarray) -> str | None:
    """A line about output `name` where it does not hold."""
    if found.shape != expected.shape:
        return f"{name}: shape {found.shape}, expected {expected.shape}"
    if expected.dtype.kind != "f":
        wrong = int(np.count_nonzero(found != expected))
        return f"{name}: {wrong} of {expected.size} differ" if wrong else None
    difference = np.abs(found.astype(np.float64) - expected.astype(np.float64))
    error = float(np.max(difference / (1.0 + np.abs(expected.astype(np.float64))), initial=0.0))
    allowed = case.tolerance(tier.precision)
    # `not <=` also fails on NaN.
    return None if error <= allowed else f"{name}: error {error:.3g}, allowed {allowed:.3g}"


def _kernels(cases: list[Case], tier: Tier) -> dict[str, set[str]]:
    """Names of the kernels of each case."""
    program = lower(ir.serde.deserialize_model(compiled_graph(cases, tier.precision).model()), tier)
    names: dict[str, set[str]] = {case.name: set() for case in cases}
    for dispatch in (*program.prepare, *program.dispatches):
        names[dispatch.node.partition("/")[0]].add(dispatch.kernel.name)
    return names


@pytest.mark.parametrize("module", MODULES)
def test_cases(session: DeviceSession, module: str) -> None:
    faults = []
    ran: set[str] = set()
    for tier_id in DEVICES[session.device.id]:
        tier = all_tiers()[tier_id]
        kernels = _kernels(_cases(module, tier), tier)
        cases = {c.name: c for c in _cases(module, tier) if not ran or kernels[c.name] - ran}
        ran = ran.union(*kernels.values())
        if not cases:
            continue
        graph = compiled_graph(list(cases.values()), tier.precision)
        package = compile_model(ir.serde.deserialize_model(graph.model()), [tier])
        model = session.load(package, tier_id)
        outputs = model.run(graph.feeds).outputs
        model.dispose()
        expected = _reference(module, tier_id)
        for name in outputs:
            fault = _fault(cases[name.partition("/")[0]], tier, name, outputs[name], expected[name])
            if fault:
                faults.append(f"{tier_id}: {fault}")
    assert not faults, "\n".join(faults)


def test_case_names_are_unique() -> None:
    for module in MODULES:
        names = [c.name for c in importlib.import_module(f"webinfer.ops.{module}").CASES]
        assert len(names) == len(set(names)), module
