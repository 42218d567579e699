"""MatMul, Softmax, MatMul -> Attention (opset 23): 3-D where heads are split and joined around it, else 4-D."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite, scalar, shape_of, sole_consumer, used_outside


class _Refused(Exception):
    """Carries the reason out of the tracing below."""


@dataclass(frozen=True)
class _Heads:
    """One operand traced back to a [B, T, H * D] tensor: `perm` maps [B, T, H, D] to what the MatMul reads."""

    source: ir.Value
    heads: int
    dim: int
    perm: tuple[int, ...]
    scale: float
    nodes: tuple[ir.Node, ...]


class _AttentionMatMul(Fusion):
    """Starts at the Softmax. Constant scales may sit anywhere before it; one additive mask may follow them."""

    name, order = "attention from matmul", 70

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Heads times their size must be the hidden size; q, k and v must come from one tensor each."""
        after = sole_consumer(node.outputs[0]) if node.op_type == "Softmax" else None
        if after is None or after.op_type != "MatMul" or after.inputs[0] is not node.outputs[0]:
            return None
        rank = len(shape_of(node.outputs[0]))
        if rank != 4:
            return Refusal(node, f"scores of rank {rank}; only [batch, heads, q, kv] is taken")
        try:
            scores = _scores(node)
        except _Refused as refused:
            return Refusal(node, str(refused))
        try:
            return self._joined(node, after, scores, model)
        except _Refused as refused:
            reason = str(refused)
        try:
            return self._straight(node, after, scores, model)
        except _Refused:
            return Refusal(node, reason)

    def _joined(self, softmax: ir.Node, mixed: ir.Node, found: _Scores, model: ir.Model) -> Rewrite:
        """3-D: q, k, v are [batch, positions, hidden]."""
        scores = found.product
        q = _split(scores.inputs[0], "q")
        k = _split(scores.inputs[1], "k")
        v = _split(mixed.inputs[1], "v")
        for operand, name, perm in ((q, "q", (0, 2, 1, 3)), (k, "k", (0, 2, 3, 1)), (v, "v", (0, 2, 1, 3))):
            if operand.perm != perm:
                raise _Refused(
                    f"{name} is transposed by {list(operand.perm)} from [batch, positions, heads, size], "
                    f"attention needs {list(perm)}"
                )
        if len({q.heads, k.heads, v.heads}) != 1 or q.dim != k.dim:
            raise _Refused(f"heads differ: q {q.heads}x{q.dim}, k {k.heads}x{k.dim}, v {v.heads}x{v.dim}")
        if v.scale != 1.0:
            raise _Refused("v is scaled")
        joined, joining = _join(mixed, v)
        heads = [ir.AttrInt64("q_num_heads", q.heads), ir.AttrInt64("kv_num_heads", k.heads)]
        return _rewrite(model, found, (q, k, v), [softmax, *joining], joined, heads)

    def _straight(self, softmax: ir.Node, mixed: ir.Node, found: _Scores, model: ir.Model) -> Rewrite:
        """4-D: q, k, v are [batch, heads, positions, size]."""
        q, k = (_whole(found.product.inputs[n], swapped=n == 1) for n in (0, 1))
        v = _whole(mixed.inputs[1], swapped=False)
        if len({shape_of(operand.source)[:2] for operand in (q, k, v)}) != 1 or v.scale != 1.0:
            raise _Refused("batches or heads differ, or v is scaled")
        return _rewrite(model, found, (q, k, v), [softmax, mixed], mixed, [])


FUSION = _AttentionMatMul()


@dataclass(frozen=True)
class _Scores:
    """The product of q and k, and the scale, mask and nodes between it and the softmax."""

    product: ir.Node
    scale: float
    mask: ir.Value | None
    between: list[ir.Node]


def _rewrite(
    model: ir.Model,
    found: _Scores,
    operands: tuple[_Heads, _Heads, _Heads],
    after: list[ir.Node],
    last: ir.Node,
    attributes: list[ir.Attr],
) -> Rewrite:
    """Attention in place of everything between the operands and the outputs of `last`."""
    q, k, v = operands
    old = {*q.nodes, *k.nodes, *v.nodes, *found.between, found.product, *after}
    leaking = used_outside(list(old), last.outputs)
    if leaking is not None:
        raise _Refused(f"{leaking.name} is also used outside the attention")
    scale = ir.AttrFloat32("scale", found.scale * q.scale * k.scale)
    inputs = [q.source, k.source, v.source] + ([found.mask] if found.mask is not None else [])
    attention = ir.Node("", "Attention", inputs, [*attributes, scale], name=after[-1].name)
    return Rewrite(
        tuple(n for n in model.graph if n in old), tuple(last.outputs), (attention,), tuple(attention.outputs)
    )


def _whole(value: ir.Value | None, *, swapped: bool) -> _Heads:
    """A 4-D operand behind its scales; `swapped`: behind the Transpose of its last two axes too."""
    scale, nodes = 1.0, list[ir.Node]()
    while value is not None and (node := value.producer()) is not None:
        factor = _factor(node)
        if factor is not None:
            scale, value = scale * factor[0], factor[1]
        elif swapped and node.op_type == "Transpose" and list(node.attributes["perm"].as_ints()) == [0, 1, 3, 2]:
            swapped, value = False, node.inputs[0]
        else:
            break
        nodes.append(node)
    if swapped or value is None or len(shape_of(value)) != 4:
        raise _Refused("no [batch, heads, positions, size]")
    return _Heads(value, shape_of(value)[1], shape_of(value)[3], (0, 1, 2, 3), scale, tuple(nodes))


def _scores(softmax: ir.Node) -> _Scores:
    """From the softmax back to the MatMul of q and k."""
    axis = softmax.attributes["axis"].as_int() if "axis" in softmax.attributes else -1
    if axis not in (-1, 3):
        raise _Refused(f"the softmax runs over axis {axis}, not the last")
    scale, mask, between = 1.0, None, list[ir.Node]()
    current = softmax.inputs[0]
    while True:
        node = current.producer() if current is not None else None
        if node is None:
            raise _Refused("the softmax does not come from a MatMul")
        if node.op_type == "MatMul":
            return _Scores(node, scale, mask, between)
        factor = _factor(node)
        if factor is not None:
            scale, current = scale * factor[0], factor[1]
        elif node.op_type == "Add" and mask is None:
            if scale != 1.0:
                raise _Refused("the mask is added before the scores are scaled")
            current, mask = _masked(node)
        else:
            raise _Refused(f"{node.op_type} {node.name} between the scores and the softmax")
        between.append(node)


def _masked(node: ir.Node) -> tuple[ir.Value, ir.Value]:
    """The operands of the Add as (scores, mask): the scores are the ones that a MatMul or a scale makes."""
    for scores, mask in (node.inputs, tuple(reversed(node.inputs))):
        producer = scores.producer() if scores is not None else None
        if scores is None or mask is None or producer is None:
            continue
        if producer.op_type == "MatMul" or _factor(producer) is not None:
            if not 2 <= len(shape_of(mask)) <= 4:
                raise _Refused(f"mask {mask.name} of rank {len(shape_of(mask))}")
            return scores, mask
    raise _Refused("neither operand of the Add before the softmax comes from a MatMul")


def _factor(node: ir.Node) -> tuple[float, ir.Value] | None:
    """(constant, other operand) of a Mul or Div by a constant scalar."""
    if node.domain or node.op_type not in ("Mul", "Div"):
        return None
    a, b = node.inputs
    right = scalar(b)
    if right is not None and a is not None:
        return (1.0 / right if node.op_type == "Div" else right), a
    left = scalar(a)
    return (left, b) if node.op_type == "Mul" and left is not None and b is not None else None


def _split(value: ir.Value | None, name: str) -> _Heads:
    """Trace an operand back through scales and transposes to the Reshape that splits off the heads."""
    perm: tuple[int, ...] = (0, 1, 2, 3)
    scale, nodes = 1.0, list[ir.Node]()
    while value is not None and (node := value.producer()) is not None:
        nodes.append(node)
        factor = _factor(node)
        if factor is not None:
            scale, value = scale * factor[0], factor[1]
        elif node.op_type == "Transpose":
            own = node.attributes["perm"].as_ints()
            perm, value = tuple(own[p] for p in perm), node.inputs[0]
        elif node.op_type == "Reshape":
            source = node.inputs[0]
            before, after = shape_of(source), shape_of(value)
            if source is None or len(before) != 3 or len(after) != 4 or before[:2] != after[:2]:
                raise _Refused(f"{name}: {list(before)} reshaped to {list(after)} splits no heads off the last axis")
            if after[2] * after[3] != before[2]:
                raise _Refused(f"{name}: {after[2]} heads of {after[3]} are not the hidden size {before[2]}")
            return _Heads(source, after[2], after[3], perm, scale, tuple(nodes))
        else:
            raise _Refused(f"{name} comes from {node.op_type} {node.name}, not from heads split off by a Reshape")
    raise _Refused(f"{name} comes straight from an input or a constant")


def _join(mixed: ir.Node, v: _Heads) -> tuple[ir.Node, list[ir.Node]]:
    """The Transpose and Reshape that bring [B, H, T, D] back to [B, T, H * D]: (last node, all nodes)."""
    transpose = sole_consumer(mixed.outputs[0])
    if transpose is None or transpose.op_type != "Transpose":
        raise _Refused("the result is not transposed back to [batch, positions, heads, size]")
    if list(transpose.attributes["perm"].as_ints()) != [0, 2, 1, 3]:
        raise _Refused(f"the result is transposed by {list(transpose.attributes['perm'].as_ints())}")
    reshape = sole_consumer(transpose.outputs[0])
    batch, positions = shape_of(transpose.outputs[0])[:2]
    if reshape is None or reshape.op_type != "Reshape":
        raise _Refused("the heads of the result are not joined by a Reshape")
    if shape_of(reshape.outputs[0]) != (batch, positions, v.heads * v.dim):
        raise _Refused(f"the heads of the result are joined to {list(shape_of(reshape.outputs[0]))}")
    return reshape, [mixed, transpose, reshape]
