"""A Concat of channels that only norms and 1x1 convolutions read moves into them, and is never written to memory."""

from __future__ import annotations

import math

import onnx_ir as ir

from webinfer.fusions.outline import with_prologue
from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite, constant, shape_of


class _FoldConcat(Fusion):
    """Starts at a consumer; each consumer gets its own copy of the Concat in its function."""

    name, order, stage = "concat into consumer", 110, "outline"

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Two inputs along axis 1, batch 1, and every consumer able to read two tensors as one."""
        data = node.inputs[0] if node.inputs and not node.domain else None
        concat = data.producer() if data is not None else None
        if data is None or concat is None or concat.op_type != "Concat" or not _reads_pair(node, data):
            return None
        fault = _fault(concat, data)
        return with_prologue(concat, node) if fault is None else Refusal(node, fault)


FUSION = _FoldConcat()


def _fault(concat: ir.Node, data: ir.Value) -> str | None:
    shape = shape_of(data)
    axis = concat.attributes["axis"].as_int() % len(shape)
    if axis != 1 or shape[0] != 1 or len(concat.inputs) != 2:
        count = len(concat.inputs)
        return f"Concat of {count} tensors along axis {axis} of {list(shape)}; two along axis 1, batch 1, fold"
    if data.is_graph_output():
        return "the concatenated tensor is a graph output"
    others = [c for c in data.consumers() if not _reads_pair(c, data)]
    return f"{others[0].op_type} {others[0].name} needs the concatenated tensor in memory" if others else None


def _reads_pair(node: ir.Node, data: ir.Value) -> bool:
    """GroupNormalization, or a 1x1 convolution with stride 1 and no padding, that reads `data` as its first input.

    The convolution moves four pixels at a time, so that planes are a multiple of four.
    """
    if node.domain or node.inputs[0] is not data or list(node.inputs).count(data) != 1:
        # A function that fold_concat made reads the Concat's inputs, not its output.
        return False
    if node.op_type == "GroupNormalization":
        return all(constant(v) is not None for v in node.inputs[1:])
    if node.op_type != "Conv" or len(shape_of(data)) != 4:
        return False
    ints = {n: list(a.as_ints()) for n, a in node.attributes.items() if a.type == ir.AttributeType.INTS}
    grouped = "group" in node.attributes and node.attributes["group"].as_int() != 1
    return (
        shape_of(node.inputs[1])[2:] == (1, 1)
        and math.prod(shape_of(data)[2:]) % 4 == 0
        and not grouped
        and set(ints.get("strides", [1])) == {1}
        and set(ints.get("pads", [0])) == {0}
    )
