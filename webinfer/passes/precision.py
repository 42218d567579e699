"""Converts a float32 graph to float16, with float32 inputs and outputs and float32 islands where 16 bits do not do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from webinfer.fused import DOMAIN
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes.contract import Changes, Stage, describe, dynamic_value

_MAX_FLOAT16 = 65504.0
# Inputs that stay float32 whatever the operator computes in (roi and scales of Resize address pixels).
_FLOAT32_INPUTS = {"Resize": (1, 2)}
_VIEWS = frozenset({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Split", "Slice", "Concat", "Transpose", "Expand"})


@dataclass(frozen=True)
class Precision(Stage):
    """Requires static shapes; ensures float32 inputs and outputs and, for fp16, float16 between them.

    A node is an island, computed in float32, where one of its weights is beyond float16's range, or where it is part
    of the arithmetic on the model's inputs before the first operator with a kernel of its own (timesteps and noise
    levels are squared and divided there, and nothing is gained by halving a few numbers).
    """

    precision: Literal["fp32", "fp16"]
    name: ClassVar[str] = "precision"

    def requires(self, model: ir.Model) -> str | None:
        """Static shapes."""
        return dynamic_value(model) or super().requires(model)

    def apply(self, model: ir.Model) -> Changes:
        """Nothing for fp32."""
        return _Conversion(model).run() if self.precision == "fp16" else Changes()

    def ensures(self, model: ir.Model) -> str | None:
        """Interface types, and no operator that mixes the two float types."""
        for value in (*model.graph.inputs, *model.graph.outputs):
            if value.dtype == ir.DataType.FLOAT16 and self.precision == "fp16":
                return f"{value.name} of the interface became float16"
        for node in model.graph:
            kept = _FLOAT32_INPUTS.get(node.op_type, ())
            types = {v.dtype for k, v in enumerate(node.inputs) if v is not None and k not in kept}
            if {ir.DataType.FLOAT, ir.DataType.FLOAT16} <= types:
                return f"node {describe(node)} mixes float32 and float16 inputs"
        return None


@dataclass
class _Conversion:
    model: ir.Model
    casts: dict[tuple[ir.Value, ir.DataType], ir.Value] = field(default_factory=dict)
    halves: dict[ir.Value, ir.Value] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def run(self) -> Changes:
        graph = self.model.graph
        islands = self._islands()
        interface = set(graph.outputs)
        for node in list(graph):
            target = ir.DataType.FLOAT if node in islands else ir.DataType.FLOAT16
            kept = _FLOAT32_INPUTS.get(node.op_type, ())
            for k, value in enumerate(node.inputs):
                if value is not None and value.dtype in (ir.DataType.FLOAT, ir.DataType.FLOAT16):
                    wanted = ir.DataType.FLOAT if k in kept else target
                    node.replace_input_with(k, self._typed(value, wanted, node))
            for output in node.outputs:
                if output.dtype == ir.DataType.FLOAT and target == ir.DataType.FLOAT16:
                    output.type = ir.TensorType(target)
            if target == ir.DataType.FLOAT16 and node.op_type == "Cast" and not node.domain:
                if node.attributes["to"].as_int() == ir.DataType.FLOAT:
                    node.attributes["to"] = ir.AttrInt64("to", int(ir.DataType.FLOAT16))
        for output in interface:
            if output.dtype == ir.DataType.FLOAT16:
                self._restore(output)
        self._drop_unused()
        self.counts["float32 islands"] = len(islands)
        return Changes(self.counts, tuple(self.notes))

    def _islands(self) -> set[ir.Node]:
        islands: set[ir.Node] = set()
        early = set(self.model.graph.inputs)
        for node in self.model.graph:
            wide = next((v for v in node.inputs if self._beyond_range(v)), None)
            light = node.op_type in _VIEWS or (node.op_type in ELEMENTWISE and node.domain in ("", DOMAIN))
            runtime = [v for v in node.inputs if v is not None and not v.is_initializer()]
            if wide is not None:
                self.notes.append(f"{describe(node)} stays float32: {wide.name} is beyond float16's range of +-65504")
                islands.add(node)
            elif light and runtime and all(v in early for v in runtime):
                islands.add(node)
                early.update(node.outputs)
            elif not any(v is not None and v.dtype == ir.DataType.FLOAT for v in node.inputs) and node.op_type != "Cast":
                if any(o.dtype == ir.DataType.FLOAT for o in node.outputs):
                    islands.add(node)  # makes floats from other types by an attribute; a Cast follows
        return islands

    def _beyond_range(self, value: ir.Value | None) -> bool:
        if value is None or not value.is_initializer() or value.const_value is None or value.dtype != ir.DataType.FLOAT:
            return False
        array = value.const_value.numpy()
        finite = array[np.isfinite(array)]
        return bool(finite.size and np.abs(finite).max() > _MAX_FLOAT16)

    def _typed(self, value: ir.Value, wanted: ir.DataType, reader: ir.Node) -> ir.Value:
        """`value` in the wanted type: a converted constant, or one Cast that all readers share."""
        if value.dtype == wanted:
            return value
        if value.is_initializer():
            return self._half(value)
        key = (value, wanted)
        if key not in self.casts:
            cast = ir.Node("", "Cast", [value], [ir.AttrInt64("to", int(wanted))])
            suffix = "f16" if wanted == ir.DataType.FLOAT16 else "f32"
            cast.outputs[0].name = f"{value.name}/{suffix}"
            cast.outputs[0].type, cast.outputs[0].shape = ir.TensorType(wanted), value.shape
            self.model.graph.insert_before(reader, cast)
            self.casts[key] = cast.outputs[0]
            self.counts["casts"] += 1
        return self.casts[key]

    def _half(self, value: ir.Value) -> ir.Value:
        if value not in self.halves:
            assert value.const_value is not None
            array: npt.NDArray[Any] = value.const_value.numpy().astype(np.float16)
            tensor = ir.tensor(np.ascontiguousarray(array), name=f"{value.name}/f16")
            half = ir.Value(
                name=tensor.name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor
            )
            self.model.graph.register_initializer(half)
            self.halves[value] = half
            self.counts["weights converted"] += 1
        return self.halves[value]

    def _restore(self, output: ir.Value) -> None:
        """A graph output keeps its name and type: a Cast makes it from the float16 value."""
        producer, name = output.producer(), output.name
        assert producer is not None
        cast = ir.Node("", "Cast", [output], [ir.AttrInt64("to", int(ir.DataType.FLOAT))])
        output.name = f"{name}/f16"
        made = cast.outputs[0]
        made.name, made.type, made.shape = name, ir.TensorType(ir.DataType.FLOAT), output.shape
        self.model.graph.append(cast)
        outputs = self.model.graph.outputs
        for k, value in enumerate(outputs):
            if value is output:
                outputs[k] = made
        self.counts["casts"] += 1

    def _drop_unused(self) -> None:
        for value in list(self.model.graph.initializers.values()):
            if not value.uses() and not value.is_graph_output():
                del self.model.graph.initializers[value.name or ""]
