"""Brings a source graph to one dialect: functions inlined, constants as initializers, opset 23 or newer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common

from webinfer.passes import contrib, opset
from webinfer.passes.contract import Changes, Stage, fix_names

# Initializers need not be inputs from this version of the file format on.
_IR_VERSION = 4


@dataclass(frozen=True)
class Legalize(Stage):
    """Requires a known opset; ensures opset 23 or newer, no source functions and no Constant nodes."""

    name: ClassVar[str] = "legalize"

    def requires(self, model: ir.Model) -> str | None:
        """An opset that the adapters know."""
        version = _version(model)
        if not 1 <= version <= opset.NEWEST:
            return f"the model has opset {version}; re-export it with opset {opset.OLDEST + 1} to {opset.NEWEST}"
        return super().requires(model)

    def apply(self, model: ir.Model) -> Changes:
        """Convert in place."""
        functions, source = len(model.functions), _version(model)
        common.InlinePass()(model)
        common.RemoveUnusedFunctionsPass()(model)
        common.RemoveInitializersFromInputsPass()(model)
        common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
        converted = opset.upgrade(model.graph, source) + contrib.standardise(model.graph)
        common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
        model.opset_imports.pop("ai.onnx", None)
        model.opset_imports[""] = max(source, opset.TARGET)
        model.ir_version = max(model.ir_version, _IR_VERSION)
        for node in ir.traversal.RecursiveGraphIterator(model.graph):
            node.domain = "" if node.domain == "ai.onnx" else node.domain
        scalars = _scalar_axes(model)
        fix_names(model)
        counts = {"functions inlined": functions, "operators converted": converted}
        return Changes({**counts, "opset versions up": max(0, opset.TARGET - source), "scalar axes made 1-D": scalars})

    def ensures(self, model: ir.Model) -> str | None:
        """The dialect holds."""
        if model.functions:
            return f"function {next(iter(model.functions))} is left"
        constants = [n.name for n in model.graph if n.op_type == "Constant" and not n.outputs[0].is_graph_output()]
        return f"Constant node {constants[0]} is left" if constants else None


def _version(model: ir.Model) -> int:
    return model.opset_imports.get("", model.opset_imports.get("ai.onnx", 0))


def _scalar_axes(model: ir.Model) -> int:
    """Some exporters write the axes of Squeeze and Unsqueeze as a scalar; the specification wants a 1-D tensor."""
    count = 0
    for node in model.graph:
        if node.op_type not in ("Squeeze", "Unsqueeze") or node.domain or len(node.inputs) < 2:
            continue
        axes = node.inputs[1]
        if axes is not None and axes.const_value is not None and axes.const_value.numpy().ndim == 0:
            array = np.atleast_1d(axes.const_value.numpy()).astype(np.int64)
            name = f"{axes.name}/1d"
            if name not in model.graph.initializers:
                tensor = ir.tensor(array, name=name)
                model.graph.register_initializer(
                    ir.Value(name=name, shape=ir.Shape([1]), type=ir.TensorType(tensor.dtype), const_value=tensor)
                )
            node.replace_input_with(1, model.graph.initializers[name])
            count += 1
    return count
