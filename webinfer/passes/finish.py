"""The last check before lowering: the fused graph is a valid ONNX model, static, typed and ordered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import onnx
import onnx_ir as ir
from onnx_ir.passes import common

from webinfer.passes.contract import Changes, Stage, dynamic_value, fix_names


@dataclass(frozen=True)
class Finish(Stage):
    """Requires nothing more than an order; ensures what lowering and packaging rely on. Names every node."""

    name: ClassVar[str] = "check"

    def apply(self, model: ir.Model) -> Changes:
        """Drop what is unused and give names to nodes and values that have none."""
        before = len(model.graph)
        common.RemoveUnusedNodesPass()(model)
        common.RemoveUnusedFunctionsPass()(model)
        common.RemoveUnusedOpsetsPass()(model)
        fix_names(model)
        # Exporters leave stack traces with the paths of the machine that they ran on.
        common.ClearMetadataAndDocStringPass()(model)
        return Changes({"dead nodes": before - len(model.graph)})

    def ensures(self, model: ir.Model) -> str | None:
        """Static and typed, and accepted by ONNX's checker (without the weights, which it would copy)."""
        fault = dynamic_value(model)
        if fault is not None:
            return fault
        try:
            onnx.checker.check_model(_skeleton(model))
        except onnx.checker.ValidationError as error:
            return str(error).strip().splitlines()[0]
        return None


def _skeleton(model: ir.Model) -> onnx.ModelProto:
    """The model with its large weights turned into inputs."""
    large = {n: v for n, v in model.graph.initializers.items() if v.const_value is not None and v.const_value.size > 64}
    proto = onnx.ModelProto(ir_version=model.ir_version)
    proto.opset_import.extend(onnx.helper.make_opsetid(d, v) for d, v in model.opset_imports.items())
    proto.functions.extend(ir.serde.serialize_function(f) for f in model.functions.values())
    graph = proto.graph
    graph.name = model.graph.name or "graph"
    graph.node.extend(ir.serde.serialize_node(n) for n in model.graph)
    graph.input.extend(ir.serde.serialize_value(v) for v in (*model.graph.inputs, *large.values()))
    graph.output.extend(ir.serde.serialize_value(v) for v in model.graph.outputs)
    for name, value in model.graph.initializers.items():
        if name not in large and value.const_value is not None:
            tensor = ir.serde.serialize_tensor(value.const_value)
            tensor.name = name
            graph.initializer.append(tensor)
    return proto
