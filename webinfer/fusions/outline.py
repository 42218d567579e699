"""Moves nodes into a model-local function of the domain ai.webinfer, whose body is those nodes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from webinfer.fused import DOMAIN
from webinfer.fusions.rewrite import Rewrite

# Operator names as they appear in function names; the rest keep their own.
_SHORT = {
    "GroupNormalization": "GroupNorm",
    "LayerNormalization": "LayerNorm",
    "RMSNormalization": "RMSNorm",
    "InstanceNormalization": "InstanceNorm",
}
_LONGEST_LABEL = 6  # operators; kernels and logs show these names


@dataclass(frozen=True)
class Part:
    """A node that goes into a body; `binding` maps the values of the function that it comes from to outer values."""

    node: ir.Node
    binding: Mapping[ir.Value, ir.Value | None] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[ir.Value | None, ...]:
        """Input values as the main graph knows them."""
        return tuple(None if v is None else self.binding.get(v, v) for v in self.node.inputs)

    @property
    def outputs(self) -> tuple[ir.Value, ...]:
        """Output values as the main graph knows them (values inside a function stay that function's)."""
        return tuple(self.binding.get(v, v) or v for v in self.node.outputs)


def parts_of(node: ir.Node, model: ir.Model) -> tuple[Part, ...]:
    """`node` itself, or the nodes of the function that it calls, bound to its inputs and outputs."""
    function = model.functions.get(node.op_identifier()) if "__" in node.op_type else None
    if function is None:
        return (Part(node),)
    pairs = [*zip(function.inputs, node.inputs, strict=True), *zip(function.outputs, node.outputs, strict=True)]
    return tuple(Part(n, dict(pairs)) for n in function)


def outline(parts: Sequence[Part], output: ir.Value, label: str | None = None) -> tuple[ir.Node, ir.Function]:
    """A call node (output not yet connected) and its function `<label>__<hash>`; equal bodies give equal names.

    Inputs are every outer value in order of first use, constants included, so that bodies hold structure only.
    """
    inputs: dict[ir.Value, ir.Value] = {}
    inner: dict[ir.Value, ir.Value] = {}
    nodes: list[ir.Node] = []
    signature: list[str] = []
    for n, part in enumerate(parts):
        arguments: list[ir.Value | None] = []
        for value in part.inputs:
            if value is None:
                arguments.append(None)
            elif value in inner:
                arguments.append(inner[value])
            else:
                arguments.append(inputs.setdefault(value, ir.Value(name=f"x{len(inputs)}")))
        results = [ir.Value(name=f"t{n}" if k == 0 else f"t{n}_{k}") for k in range(len(part.outputs))]
        source = part.node
        nodes.append(
            ir.Node(source.domain, source.op_type, arguments, list(source.attributes.values()), outputs=results)
        )
        inner.update(zip(part.outputs, results, strict=True))
        wires = ",".join(a.name or "" if a else "-" for a in arguments)
        attributes = [
            ir.serde.serialize_attribute(a).SerializeToString(deterministic=True).hex()
            for _, a in sorted(source.attributes.items())
        ]
        signature.append(f"{source.domain}::{source.op_type}({wires}){len(results)}{attributes}")
    shown = [p.node.op_type for p in parts if p.node.op_type != "Cast"][:_LONGEST_LABEL]
    name = label or "".join(_SHORT.get(op_type, op_type) for op_type in shown)
    name = f"{name}__{hashlib.sha256(';'.join(signature).encode()).hexdigest()[:8]}"
    opsets = {"": 23} | ({DOMAIN: 1} if any(n.domain == DOMAIN for n in nodes) else {})
    graph = ir.Graph(list(inputs.values()), [inner[output]], nodes=nodes, opset_imports=opsets, name=name)
    function = ir.Function(DOMAIN, name, graph=graph, attributes=[])
    call = ir.Node(DOMAIN, name, list(inputs), name=parts[-1].node.name if parts[-1].node.graph else None)
    return call, function


def with_prologue(prologue: ir.Node, node: ir.Node) -> Rewrite:
    """`node` and a copy of `prologue`, which makes its first input, as one function; other readers keep theirs."""
    call, function = outline([Part(prologue), Part(node)], node.outputs[0])
    call.name = node.name
    return Rewrite(
        (prologue, node), (node.outputs[0],), (call,), (call.outputs[0],), functions=(function,), kept=(prologue,)
    )
