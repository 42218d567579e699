"""Reads float64 and bfloat16 as float32, since WGSL has neither: values, initializers, attributes that name a type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx_ir as ir

from webinfer.errors import UnsupportedError
from webinfer.passes.contract import Changes, Stage, describe

_NAMES = {ir.DataType.DOUBLE: "float64", ir.DataType.BFLOAT16: "bfloat16"}
_READ_AS_FLOAT = frozenset(_NAMES)
_TYPE_ATTRIBUTES = ("to", "dtype", "stash_type", "output_dtype", "softmax_precision")


@dataclass(frozen=True)
class FloatTypes(Stage):
    """Requires known element types; ensures that float32 and float16 are the only float types above 8 bits."""

    name: ClassVar[str] = "float types"

    def apply(self, model: ir.Model) -> Changes:
        """Convert in place; warns once per type. Raises UnsupportedError for BitCast, which sees the bytes."""
        counts: Counter[str] = Counter()
        for node in model.graph.all_nodes():
            if node.op_type == "BitCast" and any(v is not None and v.dtype in _READ_AS_FLOAT for v in _own(node)):
                raise UnsupportedError(f"{describe(node)}: WGSL has no float64 and no bfloat16, whose bytes this reads")
        for graph in model.graphs():
            for value in _values(graph):
                if value.dtype in _READ_AS_FLOAT:
                    counts[_NAMES[value.dtype]] += 1
                    value.dtype = ir.DataType.FLOAT
                constant = value.const_value
                if constant is not None and constant.dtype in _READ_AS_FLOAT:
                    value.const_value = _as_float(constant)
        for node in model.graph.all_nodes():
            for attribute in list(node.attributes.values()):
                if attribute.name in _TYPE_ATTRIBUTES and attribute.type == ir.AttributeType.INT:
                    if attribute.as_int() in _READ_AS_FLOAT:
                        node.attributes[attribute.name] = ir.AttrInt64(attribute.name, int(ir.DataType.FLOAT))
                elif attribute.type == ir.AttributeType.TENSOR and attribute.as_tensor().dtype in _READ_AS_FLOAT:
                    node.attributes[attribute.name] = ir.AttrTensor(attribute.name, _as_float(attribute.as_tensor()))
        warnings = (f"{count} {kind} tensors are computed in float32" for kind, count in counts.items())
        return Changes({f"{kind} values read as float32": n for kind, n in counts.items()}, warnings=tuple(warnings))

    def ensures(self, model: ir.Model) -> str | None:
        """No value is left in the other types."""
        left = [v.name for v in _values(model.graph) if v.dtype in _READ_AS_FLOAT]
        return f"value {left[0]!r} still has no type of WGSL" if left else None


def _own(node: ir.Node) -> tuple[ir.Value | None, ...]:
    return (*node.inputs, *node.outputs)


def _as_float(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    return ir.tensor(tensor.numpy().astype(np.float32), name=tensor.name)


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    yield from graph.inputs
    yield from graph.initializers.values()
    for node in graph:
        yield from node.outputs
