"""An operator with a kernel of its own and the elementwise nodes that follow it -> one function."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx_ir as ir

from webinfer.fusions.anchors import anchor_parts, bound, is_elementwise, kept, operand
from webinfer.fusions.outline import Part, outline
from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite, shape_of, sole_consumer
from webinfer.ops.epilogue import operand_kind

# Kernels bind up to four tensors of their own and one output, of the eight that every device has.
_MAX_OPERANDS = 3


@dataclass
class _Tail:
    """Elementwise nodes taken so far, in order, and the values that they read from outside."""

    nodes: dict[ir.Node, None] = field(default_factory=dict)
    leaves: dict[ir.Value, None] = field(default_factory=dict)


class _Epilogue(Fusion):
    """Starts at the anchor and grows forwards.

    The graph is visited backwards, so that an Add of two convolutions goes to the later one. No cycle can arise: inner
    values have no other consumer, so nothing outside the function lies between its nodes.
    """

    name, order, stage, backwards = "epilogue", 120, "outline", True

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Grow until a value has another consumer, is a graph output, or a step is refused."""
        parts = anchor_parts(node, model)
        if parts is None:
            return None
        anchor, tail = parts[-1].node.op_type, _Tail()
        current, reason = node.outputs[0], None
        shape = shape_of(current)
        while (step := sole_consumer(current)) is not None and is_elementwise(step):
            if shape_of(step.outputs[0]) != shape:
                reason = f"{step.op_type} {step.name} changes the shape to {list(shape_of(step.outputs[0]))}"
                break
            reason = _extend(tail, step, current, shape, anchor, model)
            if reason is not None:
                break
            current = step.outputs[0]
        if not tail.nodes:
            return Refusal(node, reason) if reason else None
        in_order = [n for n in model.graph if n in tail.nodes]
        call, function = outline([*parts, *map(Part, in_order)], current)
        call.name = node.name
        stay = kept((node, *in_order), current)
        return Rewrite((node, *in_order), (current,), (call,), (call.outputs[0],), functions=(function,), kept=stay)


FUSION = _Epilogue()


def _extend(
    tail: _Tail, step: ir.Node, current: ir.Value, shape: tuple[int, ...], anchor: str, model: ir.Model
) -> str | None:
    """Take `step` into the tail, or say why not."""
    nodes, leaves = dict(tail.nodes), dict(tail.leaves)
    for value in step.inputs:
        if value is None or value is current or value.producer() in nodes:
            continue
        found = operand(value, model)
        if any(operand_kind(shape_of(v), shape, anchor) is None for v in found.leaves):
            found = type(found)((), (value,))
        kind = operand_kind(shape_of(value), shape, anchor)
        if not found.nodes and kind is None:
            return f"{step.op_type} operand {value.name} {list(shape_of(value))} does not fit {anchor}'s {list(shape)}"
        nodes |= dict.fromkeys(found.nodes)
        leaves |= dict.fromkeys(found.leaves)
    if len(bound(list(leaves))) > _MAX_OPERANDS:
        return f"{step.op_type} {step.name} would make it {len(bound(list(leaves)))} operands of {_MAX_OPERANDS}"
    nodes[step] = None
    tail.nodes, tail.leaves = nodes, leaves
    return None
