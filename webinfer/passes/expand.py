"""Replaces operators that no kernel takes by the functions that ONNX defines them as, until kernels take all."""

from __future__ import annotations

from typing import Any

import onnx
import onnx_ir as ir
from onnx_ir.passes import common

from webinfer.lowering import LOWERINGS
from webinfer.ops import load_all
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes import opset

_DOMAIN = "ai.webinfer.expanded"


def expand(model: ir.Model) -> int:
    """Expand one level of the main graph; returns how many nodes were replaced."""
    load_all()
    count = 0
    for node in model.graph:
        if node.op_type in ELEMENTWISE or (node.domain, node.op_type) in LOWERINGS:
            continue
        function = _function(node, model)
        if function is None:
            continue
        count += 1
        model.functions[function.identifier()] = function
        node.domain, node.op_type = function.domain, function.name
    if count:
        common.InlinePass(lambda function: function.domain == _DOMAIN)(model)
        model.opset_imports.pop(_DOMAIN, None)
        common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
    return count


def _function(node: ir.Node, model: ir.Model) -> ir.Function | None:
    """The definition of a node as a function of its own, at the model's opset; None where there is none (yet)."""
    version = model.opset_imports.get(node.domain, 0)
    try:
        schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError:
        return None
    body = _plain_body(schema, version) or _typed_body(node, schema, version)
    if body is None:
        return None
    proto = onnx.FunctionProto.FromString(body)
    made = {name for step in proto.node for name in step.output}
    proto.output[:] = [name for name in proto.output if name in made]  # the body leaves out what the node omits
    function = ir.serde.deserialize_function(proto)
    written = function.opset_imports.get("", model.opset_imports[""])
    function.domain, function.name, function.overload = _DOMAIN, f"{node.op_type}{id(node)}", ""
    opset.upgrade(function.graph, written)
    function.opset_imports[""] = model.opset_imports[""]
    for name, given in list(node.attributes.items()):
        if given.type == ir.AttributeType.GRAPH:
            del node.attributes[name]  # a part of the body already
    for name, attribute in schema.attributes.items():
        if name not in node.attributes and attribute.default_value.name:
            node.attributes[name] = ir.serde.deserialize_attribute(attribute.default_value)
    return function


def _plain_body(schema: Any, version: int) -> bytes | None:
    versions = [v for v in schema.function_opset_versions if v <= version]
    body: bytes | None = schema.get_function_with_opset_version(max(versions)) if versions else None
    return body


def _typed_body(node: ir.Node, schema: Any, version: int) -> bytes | None:
    """The definition of an operator whose function depends on attributes and element types."""
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= version]
    if not versions or any(v is not None and v.type is None for v in node.inputs):
        return None
    types = [b"" if v is None else _type(v) for v in node.inputs]
    proto = ir.serde.serialize_node(node).SerializeToString()
    body: bytes = schema.get_context_dependent_function_with_opset_version(max(versions), proto, types)
    return body or None


def _type(value: ir.Value) -> bytes:
    data: bytes = ir.serde.serialize_value(value).type.SerializeToString()
    return data
