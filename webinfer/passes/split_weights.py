"""Splits weights that are larger than what a kernel can bind: the product with each part, side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx_ir as ir

from webinfer.passes.contract import Changes, Stage, dynamic_value


@dataclass(frozen=True)
class SplitWeights(Stage):
    """Requires static shapes; ensures nothing more: what cannot be split is refused by the memory plan, by name.

    Gemm and MatMul with a matrix of weights split along its columns. `limit` is the largest binding in bytes.
    """

    limit: int
    name: ClassVar[str] = "split weights"

    def requires(self, model: ir.Model) -> str | None:
        """Static shapes."""
        return dynamic_value(model) or super().requires(model)

    def apply(self, model: ir.Model) -> Changes:
        """Split in place."""
        split = 0
        for node in list(model.graph):
            if node.op_type not in ("Gemm", "MatMul") or node.domain:
                continue
            weight = node.inputs[1]
            if weight is not None and len(weight.shape or ()) == 2 and _bytes(weight) > self.limit:
                split += self._split(node, weight, model.graph)
        return Changes({"products split": split})

    def ensures(self, model: ir.Model) -> str | None:
        """Still static."""
        return dynamic_value(model)

    def _split(self, node: ir.Node, weight: ir.Value, graph: ir.Graph) -> bool:
        assert weight.shape is not None
        transposed = "transB" in node.attributes and node.attributes["transB"].as_int() != 0
        axis = 0 if transposed else 1
        columns = int(weight.shape[axis])  # type: ignore[arg-type]
        width = self.limit * columns // _bytes(weight) // 4 * 4
        output = node.outputs[0]
        if width == 0 or output.shape is None:
            return False
        bias = node.inputs[2] if len(node.inputs) > 2 else None
        if bias is not None and "beta" in node.attributes and node.attributes["beta"].as_float() != 1.0:
            return False
        products = []
        for start in range(0, columns, width):
            stop = min(start + width, columns)
            part = _part(graph, node, weight, axis, start, stop)
            if part is None:
                return False
            product = _like(output, ir.node(node.op_type, [node.inputs[0], part], dict(node.attributes)), start, stop)
            graph.insert_before(node, product)
            products.append(product.outputs[0])
        last = _like(output, ir.node("Concat", products, {"axis": len(output.shape) - 1}), 0, columns)
        added = [last]
        if bias is not None:
            last = _like(output, ir.node("Add", [last.outputs[0], bias]), 0, columns)
            added.append(last)
        ir.convenience.replace_nodes_and_values(graph, node, [node], added, [output], last.outputs)
        return True


def _like(output: ir.Value, node: ir.Node, start: int, stop: int) -> ir.Node:
    """`node`, which makes columns of `output`, with its name, type and shape."""
    assert output.shape is not None
    value = node.outputs[0]
    node.name = value.name = f"{output.name}/{node.op_type}_{start}"
    value.type, value.shape = output.type, ir.Shape([*output.shape[:-1], stop - start])
    return node


def _part(graph: ir.Graph, node: ir.Node, weight: ir.Value, axis: int, start: int, stop: int) -> ir.Value | None:
    """Columns of a constant, or of what a ConstantOfShape makes; None for other values."""
    name = f"{weight.name}/{start}"
    if name in graph.initializers:
        return graph.initializers[name]
    if weight.const_value is not None:
        array = weight.const_value.numpy()
        return _constant(graph, name, array[start:stop] if axis == 0 else array[:, start:stop])
    maker = weight.producer()
    if maker is None or maker.op_type != "ConstantOfShape" or weight.shape is None:
        return None
    sizes = [int(d) for d in weight.shape]  # type: ignore[arg-type]
    sizes[axis] = stop - start
    shape = _constant(graph, f"{name}/shape", np.array(sizes, np.int64))
    part = ir.node("ConstantOfShape", [shape], dict(maker.attributes), name=f"{maker.name}/{start}")
    graph.insert_before(node, part)
    value = part.outputs[0]
    value.name, value.shape, value.type = name, ir.Shape(sizes), weight.type
    return value


def _constant(graph: ir.Graph, name: str, array: np.ndarray) -> ir.Value:
    tensor = ir.tensor(np.ascontiguousarray(array), name=name)
    value = ir.Value(name=name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor)
    graph.register_initializer(value)
    return value


def _bytes(value: ir.Value) -> int:
    if value.shape is None or value.dtype is None:
        return 0
    return math.prod(value.shape.numpy()) * max(1, int(value.dtype.itemsize))
