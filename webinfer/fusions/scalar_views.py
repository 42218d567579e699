"""Elementwise nodes read a one-element value itself, not its Reshape or Unsqueeze: broadcasting needs no view."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from webinfer.fusions.anchors import is_elementwise
from webinfer.fusions.rewrite import Fusion, Rewrite, elements, shape_of

_VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten"})


class _ScalarViews(Fusion):
    """Views between scalar arithmetic and its use would keep it from joining the kernel that uses it."""

    name, order, stage = "views of scalars", 100, "outline"

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | None:
        """The result must keep its shape without the views."""
        if not is_elementwise(node):
            return None
        views: list[ir.Node] = []
        inputs = [None if v is None else _source(v, views) for v in node.inputs]
        if not views or np.broadcast_shapes(*map(shape_of, filter(None, inputs))) != shape_of(node.outputs[0]):
            return None
        direct = ir.Node(node.domain, node.op_type, inputs, list(node.attributes.values()), name=node.name)
        inside = {*views, node}
        return Rewrite(
            tuple(n for n in model.graph if n in inside),
            tuple(node.outputs),
            (direct,),
            tuple(direct.outputs),
            kept=tuple(views),
        )


FUSION = _ScalarViews()


def _source(value: ir.Value, views: list[ir.Node]) -> ir.Value:
    """What a one-element value is a view of; the views go to `views`."""
    while elements(value) == 1 and (producer := value.producer()) is not None:
        if producer.op_type not in _VIEWS or producer.domain or producer.inputs[0] is None:
            break
        views.append(producer)
        value = producer.inputs[0]
    return value
