"""Elementwise operators against ONNX Runtime CPU: everything that the operators' table and ONNX's schemas allow.

Where ONNX Runtime has no kernel for a type, ONNX's reference evaluator takes its place.
"""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import BroadcastableShapes, mutually_broadcastable_shapes
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

from tests.property.elementwise_usages import Array, Node, Usage, model, one_of_each, usages
from tests.property.harness import check, run
from webinfer.errors import SourceError
from webinfer.reference import run_reference

# The newest opset, and the newest one that ONNX Runtime knows; they differ in the types that operators take.
OPSET, RUNTIME_OPSET = 28, 23


def _reference(node: Node) -> Array:
    usage, feeds = node.usage, node.feeds
    if usage.op_type == "QuickGelu":
        # ONNX Runtime's is off by 5 % where it is small; this is the same function.
        node = Node(node.name, Usage("Swish", usage.types, {"alpha": 1.702}), node.arrays)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run_reference(model([node], RUNTIME_OPSET), feeds, plain=True)[node.name]
        except SourceError:
            (value,) = ReferenceEvaluator(model([node], OPSET)).run(None, feeds)
            return np.asarray(value)


def _fault(node: Node, found: Array, expected: Array) -> str | None:
    """The first elements that differ, or None. Integers are exact; floats have a few units in the last place."""
    usage = node.usage
    if expected.shape != found.shape:
        return f"{usage}: shape {found.shape}, expected {expected.shape}"
    right = np.asarray(expected == found)
    if usage.result.startswith("float"):
        relative, absolute = (2e-3, 1e-6) if usage.result == "float16" else (3e-6, 5e-7)
        e, f = expected.astype(np.float64), found.astype(np.float64)
        with np.errstate(invalid="ignore"):
            near = np.isfinite(e) & (np.abs(f - e) <= absolute + relative * np.abs(e))
        right = right | near | (np.isnan(e) & np.isnan(f))
    wrong = np.argwhere(~right)[:3]
    if not len(wrong):
        return None
    operands = [np.broadcast_to(a, expected.shape) for a in node.arrays]
    lines = [
        f"{[str(a[tuple(i)]) for a in operands]} -> {found[tuple(i)]}, not {expected[tuple(i)]}" for i in wrong.tolist()
    ]
    return f"{usage}: " + "; ".join(lines)


def test_every_operator() -> None:
    rng = np.random.default_rng(0)
    shapes = ((2, 3, 7), (3, 1))
    nodes = [Node(f"y{k}", u, u.arrays(u.shapes(*shapes), rng)) for k, u in enumerate(one_of_each())]
    found = run(model(nodes, OPSET), {name: array for node in nodes for name, array in node.feeds.items()})
    faults = [_fault(node, found[node.name], _reference(node)) for node in nodes]
    assert not any(faults), "\n".join(filter(None, faults))


def test_bias_split_gelu() -> None:
    """ONNX Runtime has it on GPUs only; its reference is written out."""
    rng = np.random.default_rng(0)
    feeds = {"x": rng.normal(size=(2, 3, 10)).astype(np.float32), "b": rng.normal(size=10).astype(np.float32)}
    form = '<ir_version: 10, opset_import: ["" : 20, "com.microsoft" : 1]> g (float[2, 3, 10] x, float[10] b) => '
    parts = "s = Add(x, b) p, q = Split<axis = -1, num_outputs = 2>(s) e = Gelu(q) y = Mul(p, e)"
    expected = run_reference(parse_model(f"{form} (float[2, 3, 5] y) {{ {parts} }}"), feeds)
    fused = parse_model(f"{form} (float[2, 3, 5] y) {{ y = com.microsoft.BiasSplitGelu(x, b) }}")
    check(fused, feeds, expected=expected)


@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(
    usage=st.sampled_from(list(usages())),
    shapes=mutually_broadcastable_shapes(num_shapes=2, max_dims=8, min_side=0, max_side=5),
    seed=st.integers(0, 100),
)
def test_broadcasting(usage: Usage, shapes: BroadcastableShapes, seed: int) -> None:
    a, b = shapes.input_shapes
    node = Node("y", usage, usage.arrays(usage.shapes(a or (1,), b), np.random.default_rng(seed)))
    check(model([node], OPSET), node.feeds, expected={"y": _reference(node)})
