"""Einsum bct,bcs->bts, Softmax, Einsum bts,bcs->bct -> the function ai.webinfer::ChannelMajorAttention.

Diffusion UNets keep channels before positions: q, k, v and the result are [B, D, T], and heads live in B.
"""

from __future__ import annotations

import onnx_ir as ir

from webinfer.fused import DOMAIN
from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite, scalar, shape_of, used_outside

NAME = "ChannelMajorAttention"
_VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten"})


def _function() -> ir.Function:
    """softmax((q * scale)^T k) applied to v, from q [B, D, T], k [B, D, S], v [B, D, S] to [B, D, T]."""
    q, k, v, y = (ir.Value(name=n) for n in "qkvy")
    names = ("number", "scale", "scaled", "scores", "weights")
    number, scale, scaled, scores, weights = (ir.Value(name=n) for n in names)
    reference = ir.RefAttr("value_float", "scale", ir.AttributeType.FLOAT)
    first, second = (ir.AttrString("equation", e) for e in ("bct,bcs->bts", "bts,bcs->bct"))
    nodes = [
        ir.Node("", "Constant", [], [reference], outputs=[number]),
        ir.Node("", "CastLike", [number, q], outputs=[scale]),
        ir.Node("", "Mul", [q, scale], outputs=[scaled]),
        ir.Node("", "Einsum", [scaled, k], [first], outputs=[scores]),
        ir.Node("", "Softmax", [scores], [ir.AttrInt64("axis", -1)], outputs=[weights]),
        ir.Node("", "Einsum", [weights, v], [second], outputs=[y]),
    ]
    graph = ir.Graph([q, k, v], [y], nodes=nodes, opset_imports={"": 23}, name=NAME)
    return ir.Function(DOMAIN, NAME, graph=graph, attributes=[ir.Attr("scale", ir.AttributeType.FLOAT, None)])


class _AttentionEinsum(Fusion):
    """Starts at the Softmax. Scales on q and k may sit before or after the views that split off the heads."""

    name, order = "attention from einsum", 60

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Both einsums must contract as above."""
        scores = node.inputs[0].producer() if node.op_type == "Softmax" and node.inputs[0] is not None else None
        if scores is None or scores.op_type != "Einsum":
            return None
        consumers = list(node.outputs[0].consumers())
        if len(consumers) != 1 or consumers[0].op_type != "Einsum":
            return Refusal(node, "the softmax does not feed one Einsum")
        mixed = consumers[0]
        first, second = _equation(scores), _equation(mixed)
        if not _contracts(first, second):
            return Refusal(node, f"einsums {first} and {second} are not bct,bcs->bts and bts,bcs->bct")
        axis = node.attributes["axis"].as_int() if "axis" in node.attributes else -1
        if axis not in (-1, len(shape_of(node.outputs[0])) - 1):
            return Refusal(node, f"the softmax runs over axis {axis}, not the last")
        q, k, v = scores.inputs[0], scores.inputs[1], mixed.inputs[1]
        if q is None or k is None or v is None or mixed.inputs[0] is not node.outputs[0]:
            return Refusal(node, "the softmax is not the first operand of the second einsum")
        old: list[ir.Node] = [scores, node, mixed]
        new: list[ir.Node] = []
        scale, operands = 1.0, []
        for value in (q, k):
            factor, operand, removed, added = _unscaled(value)
            scale *= factor
            operands.append(operand)
            old += removed
            new += added
        leaking = used_outside(old, mixed.outputs)
        if leaking is not None:
            return Refusal(node, f"{leaking.name} is also used outside the attention")
        call = ir.Node(DOMAIN, NAME, [*operands, v], [ir.AttrFloat32("scale", scale)], name=mixed.name)
        inside = set(old)
        return Rewrite(
            tuple(n for n in model.graph if n in inside),
            tuple(mixed.outputs),
            (*new, call),
            (call.outputs[0],),
            functions=(_function(),),
        )


def _equation(node: ir.Node) -> str:
    return node.attributes["equation"].as_string().replace(" ", "")


def _contracts(first: str, second: str) -> bool:
    """Whether the two equations are those of the file's first line, in any letters."""
    return _renamed(first, "bcts") == "bct,bcs->bts" and _renamed(second, "btsc") == "bts,bcs->bct"


def _renamed(equation: str, letters: str) -> str:
    """The equation with its letters replaced by `letters` in order of appearance."""
    order = [c for c in dict.fromkeys(equation) if c.isalpha()]
    return equation.translate({ord(c): letters[n] if n < len(letters) else "?" for n, c in enumerate(order)})


def _unscaled(value: ir.Value) -> tuple[float, ir.Value, list[ir.Node], list[ir.Node]]:
    """Walk through views to a Mul by a constant: (scale, value without it, nodes removed, views made again)."""
    views: list[ir.Node] = []
    factor, current, muls = 1.0, value, []
    while (producer := current.producer()) is not None:
        if producer.op_type in _VIEWS and producer.domain == "":
            views.append(producer)
        elif producer.op_type == "Mul" and (found := _split_mul(producer)) is not None:
            factor *= found[0]
            muls.append(producer)
            current = found[1]
            continue
        else:
            break
        source = producer.inputs[0]
        assert source is not None
        current = source
    if not muls:
        return 1.0, value, [], []
    added: list[ir.Node] = []
    for view in reversed(views):
        copy = ir.Node("", view.op_type, [current, *view.inputs[1:]], list(view.attributes.values()))
        copy.outputs[0].shape, copy.outputs[0].type = view.outputs[0].shape, view.outputs[0].type
        copy.outputs[0].name = f"{view.outputs[0].name}/unscaled"
        added.append(copy)
        current = copy.outputs[0]
    return factor, current, [*muls, *views], added


def _split_mul(node: ir.Node) -> tuple[float, ir.Value] | None:
    a, b = node.inputs
    for constant, other in ((a, b), (b, a)):
        factor = scalar(constant)
        if factor is not None and other is not None:
            return factor, other
    return None


FUSION = _AttentionEinsum()
