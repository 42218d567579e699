"""Several matrix products of one row vector -> one product with their weights side by side, and a Split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite, constant, elements, initializer, shape_of, sole_consumer


@dataclass(frozen=True)
class _Member:
    """One product: weight is [K, N], bias is [N] or absent; `nodes` are the product and its bias Add."""

    nodes: tuple[ir.Node, ...]
    output: ir.Value
    weight: npt.NDArray[Any]
    bias: npt.NDArray[Any] | None


class _HorizontalGemm(Fusion):
    """Starts at the first product of a value. Only for one-row results: there a Split is a view of contiguous bytes."""

    name, order = "horizontal gemm", 80

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Members share the input, the operator and whether they have a bias."""
        source = node.inputs[0] if node.op_type in ("Gemm", "MatMul") and not node.domain else None
        if source is None or _first_member(node, source) is not node:
            return None
        siblings = [c for c in dict.fromkeys(source.consumers()) if c.op_type == node.op_type and c.inputs[0] is source]
        if len(siblings) < 2:
            return None
        if elements(node.outputs[0]) != shape_of(node.outputs[0])[-1]:
            return Refusal(node, f"a result of {list(shape_of(node.outputs[0]))} has several rows, splitting it copies")
        members = [m for m in (_member(s) for s in siblings) if m is not None]
        kind = [m for m in members if (m.bias is None) == (members[0].bias is None)]
        if len(kind) < 2:
            return Refusal(node, "fewer than two of the products have constant weights and no transposed input")
        return _merge(node, source, kind, model)


FUSION = _HorizontalGemm()


def _first_member(node: ir.Node, source: ir.Value) -> ir.Node:
    return next(c for c in source.consumers() if c.op_type == node.op_type and c.inputs[0] is source)


def _member(node: ir.Node) -> _Member | None:
    weight = constant(node.inputs[1])
    if weight is None or weight.ndim != 2:
        return None
    if node.op_type == "MatMul":
        add = sole_consumer(node.outputs[0])
        if add is not None and add.op_type == "Add":
            bias = next((b for b in map(constant, add.inputs) if b is not None and b.shape == weight.shape[1:]), None)
            if bias is not None:
                return _Member((node, add), add.outputs[0], weight, bias)
        return _Member((node,), node.outputs[0], weight, None)
    if any(a.as_float() != 1.0 for n, a in node.attributes.items() if n in ("alpha", "beta")):
        return None
    if "transA" in node.attributes and node.attributes["transA"].as_int():
        return None
    if "transB" in node.attributes and node.attributes["transB"].as_int():
        weight = weight.T
    bias = None
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        bias = constant(node.inputs[2])
        if bias is None or bias.size != weight.shape[1]:
            return None
        bias = bias.reshape(-1)
    return _Member((node,), node.outputs[0], weight, bias)


def _merge(first: ir.Node, source: ir.Value, members: Sequence[_Member], model: ir.Model) -> Rewrite:
    stem = f"{source.name}/merged"
    gemm = first.op_type == "Gemm"
    joined = np.concatenate([m.weight for m in members], axis=1)
    # Gemm keeps [N, K]: rows of one output are contiguous there, as PyTorch's linear layers store them.
    weight = initializer(f"{stem}_weight", joined.T if gemm else joined)
    constants = [weight]
    inputs = [source, weight]
    if members[0].bias is not None:
        constants.append(initializer(f"{stem}_bias", np.concatenate([m.bias for m in members if m.bias is not None])))
    if gemm:
        inputs += constants[1:]
    product = ir.Node("", first.op_type, inputs, [ir.AttrInt64("transB", 1)] if gemm else [], name=first.name)
    new, result = [product], product.outputs[0]
    width = joined.shape[1]
    _describe_output(result, stem, members[0].output, width)
    if not gemm and len(constants) > 1:
        add = ir.Node("", "Add", [result, constants[1]])
        new.append(add)
        result = add.outputs[0]
        _describe_output(result, f"{stem}_biased", members[0].output, width)
    sizes = initializer(f"{stem}_sizes", np.array([m.weight.shape[1] for m in members], dtype=np.int64))
    axis = ir.AttrInt64("axis", len(shape_of(members[0].output)) - 1)
    split = ir.Node("", "Split", [result, sizes], [axis], num_outputs=len(members))
    inside = {n for m in members for n in m.nodes}
    old = tuple(n for n in model.graph if n in inside)
    return Rewrite(
        old,
        tuple(m.output for m in members),
        (*new, split),
        tuple(split.outputs),
        initializers=(*constants, sizes),
        after=old[0],
    )


def _describe_output(value: ir.Value, name: str, like: ir.Value, width: int) -> None:
    value.name, value.type, value.shape = name, like.type, ir.Shape((*shape_of(like)[:-1], width))
