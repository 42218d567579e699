"""Case: a small ONNX graph with seeded inputs; its reference is ONNX Runtime CPU on the same graph in 32 bits.

Every op module lists its cases as CASES. A case is built three ways: as a 32-bit model, as a 16-bit model (inputs,
constants and intermediate values are f16), and as the 32-bit reference of the latter, whose inputs and constants were
rounded to f16 values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from webinfer.fused import DOMAIN

Precision = Literal["fp32", "fp16", "fp16-reference"]
Array = np.ndarray[Any, np.dtype[Any]]
OPSET = 23


class Graph:
    """Builds a model of one or more cases. Values are names, local to a case; random data is seeded."""

    def __init__(self, precision: Precision, opset: int = OPSET) -> None:
        self.feeds: dict[str, Array] = {}
        self._precision = precision
        self._opset = opset
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._constants: list[TensorProto] = []
        self._nodes: list[onnx.NodeProto] = []
        self._functions: list[onnx.FunctionProto] = []
        self.begin("")

    def begin(self, scope: str) -> None:
        """Start another case: its names get `scope` in front, its random data starts anew."""
        self._scope = scope
        self._random = np.random.default_rng(0)

    @property
    def float_type(self) -> int:
        """ONNX element type of the case's floats."""
        return TensorProto.FLOAT16 if self._precision == "fp16" else TensorProto.FLOAT

    @property
    def position(self) -> int:
        """Number of nodes so far."""
        return len(self._nodes)

    @property
    def output_names(self) -> list[str]:
        """Names of the model's outputs, scope included."""
        return [v.name for v in self._outputs]

    def floats(self, shape: Sequence[int], *, scale: float = 1.0, offset: float = 0.0) -> Array:
        """Normal random values times `scale` plus `offset`."""
        return self._rounded(np.asarray(self._random.standard_normal(shape) * scale + offset))

    def input(self, name: str, data: Sequence[int] | Array, *, scale: float = 1.0, offset: float = 0.0) -> str:
        """A model input: random floats of the given shape, or the given array."""
        array = self._rounded(data) if isinstance(data, np.ndarray) else self.floats(data, scale=scale, offset=offset)
        self.feeds[self._scoped(name)] = array
        self._inputs.append(
            helper.make_tensor_value_info(self._scoped(name), helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        )
        return name

    def constant(self, name: str, data: Sequence[int] | Array, *, scale: float = 1.0, offset: float = 0.0) -> str:
        """An initializer: random floats of the given shape, or the given array."""
        array = self._rounded(data) if isinstance(data, np.ndarray) else self.floats(data, scale=scale, offset=offset)
        self._constants.append(numpy_helper.from_array(array, self._scoped(name)))
        return name

    def ints(self, name: str, values: Sequence[int]) -> str:
        """An int64 initializer."""
        return self.constant(name, np.array(values, np.int64))

    def single(self, name: str, values: Sequence[float]) -> str:
        """An initializer that is float32 in every precision (Resize scales)."""
        self._constants.append(numpy_helper.from_array(np.array(values, np.float32), self._scoped(name)))
        return name

    def node(
        self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "", **attributes: Any
    ) -> str:
        """Append a node and return its first output."""
        self._nodes.append(
            helper.make_node(
                op_type,
                [self._scoped(i) for i in inputs],
                [self._scoped(o) for o in outputs],
                name=self._scoped(f"n_{outputs[0]}"),
                domain=domain,
                **attributes,
            )
        )
        return outputs[0]

    def fused(self, name: str, inputs: Sequence[str], outputs: Sequence[str], first: int, **attributes: Any) -> str:
        """Outline the nodes from position `first` on into a function ai.webinfer::`name`__`scope` and call it."""
        body, self._nodes = self._nodes[first:], self._nodes[:first]
        imports = [helper.make_opsetid("", self._opset), helper.make_opsetid(DOMAIN, 1)]
        label = f"{name}__{self._scope.strip('/')}" if self._scope else name
        self._functions.append(
            helper.make_function(
                DOMAIN,
                label,
                [self._scoped(i) for i in inputs],
                [self._scoped(o) for o in outputs],
                body,
                imports,
                attributes=list(attributes),
            )
        )
        return self.node(label, inputs, outputs, domain=DOMAIN, **attributes)

    def output(self, *names: str, shape: Sequence[int] | None = None, dtype: int | None = None) -> None:
        """Declare model outputs; shapes are inferred where onnx can (it cannot for GroupNormalization).

        dtype: ONNX element type of outputs that are not the case's floats.
        """
        kind = self.float_type if dtype is None else dtype
        self._outputs += [helper.make_tensor_value_info(self._scoped(n), kind, shape) for n in names]

    def model(self) -> onnx.ModelProto:
        """The model with inferred shapes."""
        graph = helper.make_graph(self._nodes, "case", self._inputs, self._outputs, self._constants)
        imports = [
            helper.make_opsetid("", self._opset),
            helper.make_opsetid(DOMAIN, 1),
            helper.make_opsetid("com.microsoft", 1),
        ]
        model = helper.make_model(graph, functions=self._functions, opset_imports=imports, ir_version=10)
        return onnx.shape_inference.infer_shapes(model, data_prop=True)

    def _scoped(self, name: str) -> str:
        return self._scope + name if name else ""

    def _rounded(self, array: Array) -> Array:
        if not np.issubdtype(array.dtype, np.floating):
            return array
        if self._precision == "fp32":
            return array.astype(np.float32)
        half = np.asarray(array, np.float16)
        return half if self._precision == "fp16" else half.astype(np.float32)


@dataclass(frozen=True)
class Case:
    """`build` adds inputs, nodes and outputs to a Graph. An output may differ by tolerance * (1 + |reference|).

    The defaults: f32 sums of a few thousand terms in another order than the reference's, and one rounding of the
    result to 11 bits. A case that needs more says why in `reason`. precisions: where the case makes sense.
    """

    name: str
    build: Callable[[Graph], None]
    fp32: float = 2e-5
    fp16: float = 1e-3
    reason: str = ""
    precisions: tuple[Literal["fp32", "fp16"], ...] = ("fp32", "fp16")
    reference: Callable[[Graph], None] | None = None  # the same function in double, where ONNX Runtime's op is inexact

    def tolerance(self, precision: Literal["fp32", "fp16"]) -> float:
        """Allowed |difference| / (1 + |reference|)."""
        return self.fp32 if precision == "fp32" else self.fp16


def compiled_graph(cases: Sequence[Case], precision: Literal["fp32", "fp16"]) -> Graph:
    """One model with all `cases` side by side; names carry the case's name and a slash in front."""
    graph = Graph(precision)
    for case in cases:
        graph.begin(f"{case.name}/")
        case.build(graph)
    return graph


def reference_graph(cases: Sequence[Case], precision: Literal["fp32", "fp16"]) -> Graph:
    """What ONNX Runtime CPU runs for comparison, on the same (rounded) data."""
    graph = Graph("fp32" if precision == "fp32" else "fp16-reference")
    for case in cases:
        graph.begin(f"{case.name}/")
        (case.reference or case.build)(graph)
    return graph
