"""Trees of elementwise nodes that no operator's kernel took -> one function each."""

from __future__ import annotations

import onnx_ir as ir

from webinfer.fusions.anchors import absorbable, bound, is_pointwise, is_wide, kept
from webinfer.fusions.outline import Part, outline
from webinfer.fusions.rewrite import Fusion, Rewrite

_MAX_OPERANDS = 6


class _Pointwise(Fusion):
    """Starts at the last node of a tree (the graph is visited backwards); operands broadcast to its result."""

    name, order, stage, backwards = "pointwise", 130, "outline", True

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | None:
        """Take elementwise producers that nobody else needs while the operands are few enough."""
        if not is_pointwise(node):
            return None
        wide = is_wide(node)
        nodes = {node}
        leaves = [v for v in node.inputs if v is not None]
        grown = True
        while grown:
            grown = False
            for value in leaves:
                producer = absorbable(value, lambda n: is_pointwise(n) and is_wide(n) == wide)
                if producer is None:
                    continue
                wider = [v for v in dict.fromkeys((*leaves, *producer.inputs)) if v is not None and v is not value]
                if len(bound(wider)) <= _MAX_OPERANDS:
                    nodes.add(producer)
                    leaves, grown = wider, True
                    break
        if len(nodes) == 1:
            return None
        in_order = [n for n in model.graph if n in nodes]
        call, function = outline([Part(n) for n in in_order], node.outputs[0], "Pointwise")
        call.name = node.name
        return Rewrite(
            tuple(in_order),
            (node.outputs[0],),
            (call,),
            (call.outputs[0],),
            functions=(function,),
            kept=kept(in_order, node.outputs[0]),
        )


FUSION = _Pointwise()
