"""Random small graphs of several operators: with fusions, without them and in ONNX Runtime they give the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tests.property.harness import OPSET, Array, check, typed

UNARY = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Gelu", "Erf", "Softplus", "HardSwish")
BINARY = ("Add", "Sub", "Mul", "Max")
REDUCTIONS = ("ReduceMean", "ReduceMax", "ReduceSum")


@dataclass
class Graph:
    """A graph under construction: float32 values with their shapes, by name."""

    draw: st.DrawFn
    random: np.random.Generator
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def constant(self, array: Array) -> str:
        """An initializer."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape: int) -> str:
        """Random weights that keep results at the size of their inputs."""
        fan_in = max(int(np.prod(shape[1:])), 1)
        return self.constant((self.random.standard_normal(shape) / np.sqrt(fan_in)).astype(np.float32))

    def ints(self, *values: int) -> str:
        """An int64 list."""
        return self.constant(np.array(values, np.int64))

    def add(self, op_type: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> None:
        """Append a node with one output of `shape`."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        self.shapes[name] = shape

    def pick(self) -> tuple[str, tuple[int, ...]]:
        """A value, the last one most often."""
        names = list(self.shapes)
        name = self.draw(st.sampled_from([*names, *names[-1:] * len(names)]))
        return name, self.shapes[name]

    def axis(self, shape: tuple[int, ...]) -> int:
        """An axis of a value that is no scalar."""
        return self.draw(st.integers(-len(shape), len(shape) - 1))


def _unary(g: Graph) -> None:
    value, shape = g.pick()
    g.add(g.draw(st.sampled_from(UNARY)), [value], shape)


def _binary(g: Graph) -> None:
    value, shape = g.pick()
    same = [n for n, s in g.shapes.items() if s == shape]
    kept = [n if g.draw(st.booleans()) else 1 for n in shape[g.draw(st.integers(0, len(shape))) :]]
    other = g.draw(st.sampled_from(same)) if g.draw(st.booleans()) else g.weights(*kept)
    operands = [value, other] if g.draw(st.booleans()) else [other, value]
    g.add(g.draw(st.sampled_from(BINARY)), operands, shape)


def _reduction(g: Graph) -> None:
    value, shape = g.pick()
    axis = g.axis(shape) % len(shape)
    g.add(
        g.draw(st.sampled_from(REDUCTIONS)), [value, g.ints(axis)], (*shape[:axis], 1, *shape[axis + 1 :]), keepdims=1
    )


def _matmul(g: Graph) -> None:
    value, shape = g.pick()
    columns = g.draw(st.integers(1, 9))
    weights = (g.random.standard_normal((shape[-1], columns)) / np.sqrt(shape[-1])).astype(np.float32)
    g.add("MatMul", [value, g.constant(weights)], (*shape[:-1], columns))


def _product(g: Graph) -> None:
    value, shape = g.pick()
    g.add(
        "Transpose",
        [value],
        (*shape[:-2], shape[-1], shape[-2]),
        perm=[*range(len(shape) - 2), -1 % len(shape), -2 % len(shape)],
    )
    g.add("MatMul", [value, f"v{len(g.nodes) - 1}"], (*shape[:-1], shape[-2]))
    g.add("Softmax", [f"v{len(g.nodes) - 1}"], (*shape[:-1], shape[-2]), axis=-1)


def _conv(g: Graph) -> None:
    value, shape = g.pick()
    if len(shape) != 4:
        return _unary(g)
    channels, size = g.draw(st.integers(1, 8)), g.draw(st.sampled_from([1, 3]))
    inputs = [value, g.weights(channels, shape[1], size, size)]
    if g.draw(st.booleans()):
        inputs.append(g.weights(channels))
    g.add("Conv", inputs, (shape[0], channels, *shape[2:]), pads=[size // 2] * 4)
    return None


def _norm(g: Graph) -> None:
    value, shape = g.pick()
    axis = g.axis(shape) % len(shape)
    g.add("LayerNormalization", [value, g.weights(*shape[axis:]), g.weights(*shape[axis:])], shape, axis=axis)


def _softmax(g: Graph) -> None:
    value, shape = g.pick()
    g.add(g.draw(st.sampled_from(["Softmax", "LogSoftmax"])), [value], shape, axis=g.axis(shape))


def _transpose(g: Graph) -> None:
    value, shape = g.pick()
    perm = g.draw(st.permutations(range(len(shape))))
    g.add("Transpose", [value], tuple(shape[p] for p in perm), perm=perm)


def _reshape(g: Graph) -> None:
    value, shape = g.pick()
    cut = g.draw(st.integers(1, len(shape) - 1)) if len(shape) > 1 else 0
    merged = (*shape[:cut], int(np.prod(shape[cut:]))) if cut else (1, *shape)
    g.add("Reshape", [value, g.ints(*merged)], merged)


def _concat(g: Graph) -> None:
    value, shape = g.pick()
    axis = g.axis(shape) % len(shape)
    fits = [
        n
        for n, s in g.shapes.items()
        if len(s) == len(shape) and s[:axis] + s[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
    ]
    other = g.draw(st.sampled_from(fits))
    total = shape[axis] + g.shapes[other][axis]
    g.add("Concat", [value, other], (*shape[:axis], total, *shape[axis + 1 :]), axis=axis)


def _slice(g: Graph) -> None:
    value, shape = g.pick()
    axis = g.axis(shape) % len(shape)
    start = g.draw(st.integers(0, shape[axis] - 1))
    step = g.draw(st.integers(1, 2))
    left = -(-(shape[axis] - start) // step)
    inputs = [value, g.ints(start), g.ints(shape[axis]), g.ints(axis), g.ints(step)]
    g.add("Slice", inputs, (*shape[:axis], left, *shape[axis + 1 :]))


def _pad(g: Graph) -> None:
    value, shape = g.pick()
    pads = [g.draw(st.integers(0, 2)) for _ in range(2 * len(shape))]
    grown = tuple(n + a + b for n, a, b in zip(shape, pads, pads[len(shape) :], strict=False))
    g.add("Pad", [value, g.ints(*pads)], grown)


STEPS: list[Callable[[Graph], None]] = [
    _unary, _unary, _binary, _binary, _reduction, _matmul, _product, _conv, _norm, _softmax, _transpose, _reshape,
    _concat, _slice, _pad,
]  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model and its feeds: one or two inputs, up to ten nodes; what nothing reads is an output."""
    g = Graph(draw, np.random.default_rng(draw(st.integers(0, 1000))))
    rank = draw(st.integers(2, 4))
    for name in ("a", "b")[: draw(st.integers(1, 2))]:
        g.shapes[name] = tuple(draw(st.integers(1, 6)) for _ in range(rank))
    feeds = {n: g.random.standard_normal(s).astype(np.float32) for n, s in g.shapes.items()}
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=10)):
        if max(map(np.prod, g.shapes.values())) < 4096:
            step(g)
    read = {name for node in g.nodes for name in node.input}
    made = [name for node in g.nodes for name in node.output]
    outputs = [name for name in made if name not in read or draw(st.integers(0, 9)) == 0]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in feeds.items()]
    results = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs]
    graph = helper.make_graph(g.nodes, "random", values, results, g.constants)
    return typed(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)), feeds


@settings(max_examples=30, derandomize=True, deadline=None, database=None)
@given(graphs())
def test_fusions_change_nothing(case: tuple[onnx.ModelProto, dict[str, Array]]) -> None:
    model, feeds = case
    for fusions in (True, False):
        check(model, feeds, fusions=fusions)
