"""Trees of elementwise nodes that no operator's kernel took -> one function each."""

from __future__ import annotations

import onnx_ir as ir

from webinfer.fusions.anchors import bound, is_elementwise, operand
from webinfer.fusions.outline import Part, outline
from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite

_MAX_OPERANDS = 6


class _Pointwise(Fusion):
    """Starts at the last node of a tree (the graph is visited backwards); operands broadcast to its result."""

    name, order, stage, backwards = "pointwise", 130, "outline", True

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Take every elementwise producer that nobody else needs, input by input while the operands are few enough."""
        if not is_elementwise(node):
            return None
        nodes: dict[ir.Node, None] = {}
        leaves: dict[ir.Value, None] = {}
        for k, value in enumerate(node.inputs):
            if value is None:
                continue
            found = operand(value, model, greedy=True)
            waiting = [v for v in node.inputs[k + 1 :] if v is not None]
            if len(bound([*leaves, *found.leaves, *waiting])) > _MAX_OPERANDS:
                found = type(found)((), (value,))
            nodes |= dict.fromkeys(found.nodes)
            leaves |= dict.fromkeys(found.leaves)
        if len(bound(list(leaves))) > _MAX_OPERANDS:
            return Refusal(node, f"{len(bound(list(leaves)))} operands, one kernel takes {_MAX_OPERANDS}")
        if not nodes:
            return None
        in_order = [n for n in model.graph if n in nodes or n is node]
        call, function = outline([Part(n) for n in in_order], node.outputs[0], "Pointwise")
        call.name = node.name
        return Rewrite(tuple(in_order), (node.outputs[0],), (call,), (call.outputs[0],), functions=(function,))


FUSION = _Pointwise()
