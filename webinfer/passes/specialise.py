"""Turns inputs whose values decide shapes or geometry into constants, for one set of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import onnx_ir as ir

from webinfer.passes.contract import Changes, Stage

_REDUCTIONS = ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
# Inputs, by position, that an operator's kernels need as constants: they decide shapes, addresses or control flow.
DECIDING: Mapping[str, tuple[int, ...]] = {
    **{f"Reduce{kind}": (1,) for kind in _REDUCTIONS},
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "ConstantOfShape": (0,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "Expand": (1,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "If": (0,),
    "Loop": (0, 1),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "NonMaxSuppression": (2,),
    "OneHot": (1,),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "Squeeze": (1,),
    "Tile": (1, 2),
    "TopK": (1,),
    "Trilu": (1,),
    "Unsqueeze": (1,),
    "Upsample": (1,),
}
# Results that depend on the shape of the input, not on its values.
_SHAPE_ONLY = frozenset({"Shape", "Size"})


def deciding_inputs(model: ir.Model) -> set[str]:
    """Names of the graph inputs from which shapes, geometry or control flow are computed."""
    found: set[str] = set()
    seen: set[ir.Value] = set()
    todo = [
        value
        for node in _nodes(model.graph)
        if not node.domain
        for position, value in enumerate(node.inputs)
        if value is not None and position in DECIDING.get(node.op_type, ())
    ]
    inputs = {v.name for v in model.graph.inputs}
    owners = {id(graph): node for node in _nodes(model.graph) for graph in _subgraphs(node)}
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        producer = value.producer()
        if producer is not None:
            if producer.op_type not in _SHAPE_ONLY:
                todo.extend(_reads(producer))
        elif value.graph is not model.graph and value.graph is not None and id(value.graph) in owners:
            todo.extend(_reads(owners[id(value.graph)]))  # an input of a loop's body
        elif value.name in inputs:
            found.add(value.name or "")
    return found


@dataclass(frozen=True)
class Specialise(Stage):
    """Requires inputs of these names; ensures that they are initializers. Shapes derived without them are forgotten."""

    values: Mapping[str, np.ndarray[Any, np.dtype[Any]]]
    name: ClassVar[str] = "specialise"

    def apply(self, model: ir.Model) -> Changes:
        """Replace the inputs by constants of their type."""
        for value in [v for v in model.graph.inputs if v.name in self.values]:
            assert value.name is not None
            tensor = ir.tensor(self.values[value.name], dtype=value.dtype, name=value.name)
            model.graph.inputs.remove(value)
            value.shape, value.const_value = ir.Shape(tensor.shape.numpy()), tensor
            model.graph.register_initializer(value)
        return Changes({"inputs made constant": len(self.values)})

    def ensures(self, model: ir.Model) -> str | None:
        """None of the names is an input any more."""
        left = [v.name for v in model.graph.inputs if v.name in self.values]
        return f"input {left[0]!r} is still an input" if left else None


def _nodes(graph: ir.Graph) -> Iterator[ir.Node]:
    return ir.traversal.RecursiveGraphIterator(graph)


def _subgraphs(node: ir.Node) -> Iterator[ir.Graph]:
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def _reads(node: ir.Node) -> Iterator[ir.Value]:
    """Everything that a node's results depend on, captured values of its subgraphs included."""
    yield from (v for v in node.inputs if v is not None)
    for graph in _subgraphs(node):
        yield from (v for n in _nodes(graph) for v in n.inputs if v is not None)
        yield from graph.outputs
