"""Computes shape tensors from the shapes of the inputs alone: then no other value has a reader for its shape.

A Shape node in the middle of the graph would keep fusions from taking the value that it reads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from webinfer.dims import symbols_of
from webinfer.shape_data import integers
from webinfer.symbols import Size, Sym, Symbol, bounds, operations


def rebuild_shape_tensors(model: ir.Model) -> int:
    """Replace the shape tensors that other nodes read; returns how many. What made them is left without readers."""
    builder = _Builder(model)
    count = 0
    for node in list(model.graph):
        elements = integers(node.outputs[0]) if len(node.outputs) == 1 else None
        if elements is None or not any(isinstance(v, Sym) for v in elements.flat):
            continue
        value = node.outputs[0]
        read = any(len(user.outputs) != 1 or integers(user.outputs[0]) is None for user in value.consumers())
        if read and not value.is_graph_output():
            value.replace_all_uses_with(builder.tensor(value, list(elements.flat)))
            count += 1
    builder.insert()
    return count


class _Builder:
    """Nodes that compute expressions, each once; all come first in the graph, since they read only inputs."""

    def __init__(self, model: ir.Model) -> None:
        self._graph = model.graph
        self._nodes: list[ir.Node] = []
        self._known: dict[str, ir.Value] = {}
        self._symbols = symbols_of(model.graph.inputs)
        names = [v.name or "" for v in (*model.graph.inputs, *model.graph.initializers.values())]
        self._taken = {*names, *(o.name or "" for n in model.graph for o in n.outputs)}

    def tensor(self, like: ir.Value, elements: Sequence[Size]) -> ir.Value:
        """A tensor of the type and shape of `like`."""
        assert like.shape is not None
        assert like.dtype is not None
        pieces = [self._size(v) for v in elements]
        joined = pieces[0] if len(pieces) == 1 else self._node("Concat", pieces, ir.AttrInt64("axis", 0))
        shape = [int(d) for d in like.shape]  # type: ignore[arg-type]
        if shape != [len(elements)]:
            joined = self._node("Reshape", [joined, self._constant(shape)])
        if like.dtype != ir.DataType.INT64:
            joined = self._node("Cast", [joined], ir.AttrInt64("to", int(like.dtype)))
        return joined

    def insert(self) -> None:
        """Put the nodes into the graph."""
        if self._nodes:
            first = next(iter(self._graph))
            self._graph.insert_before(first, self._nodes)

    def _size(self, size: Size) -> ir.Value:
        """A one-element tensor that holds `size`."""
        if not isinstance(size, Sym):
            return self._constant([int(size)])
        key = str(size)
        if key not in self._known:
            self._known[key] = self._computed(size)
        return self._known[key]

    def _computed(self, size: Sym) -> ir.Value:
        what = operations(size)
        if isinstance(what, Symbol):
            for value in self._graph.inputs:
                dims = [str(d) for d in value.shape or ()]
                if what.name in dims:
                    axis = dims.index(what.name)
                    return self._node("Shape", [value], ir.AttrInt64("start", axis), ir.AttrInt64("end", axis + 1))
        assert not isinstance(what, Symbol)
        op, a, b = what
        left, right = self._size(a), self._size(b)
        if op == "//" and bounds(a)[0] < 0:  # Div truncates
            left = self._node("Sub", [left, self._node("Mod", [left, right])])
        return self._node(_OPERATORS[op], [left, right])

    def _constant(self, values: Sequence[int]) -> ir.Value:
        key = str(list(values))
        if key not in self._known:
            tensor = ir.tensor(np.array(values, np.int64), name=self._name())
            value = ir.Value(
                name=tensor.name, shape=ir.Shape([len(values)]), type=ir.TensorType(tensor.dtype), const_value=tensor
            )
            self._graph.register_initializer(value)
            self._known[key] = value
        return self._known[key]

    def _node(self, op_type: str, inputs: Sequence[ir.Value], *attributes: ir.Attr) -> ir.Value:
        node = ir.Node("", op_type, inputs, attributes, name=self._name())
        node.outputs[0].name = node.name
        self._nodes.append(node)
        return node.outputs[0]

    def _name(self) -> str:
        name = next(n for k in range(len(self._taken) + 1) if (n := f"size/{k}") not in self._taken)
        self._taken.add(name)
        return name


_OPERATORS = {"+": "Add", "*": "Mul", "//": "Div", "%": "Mod", "min": "Min", "max": "Max"}
