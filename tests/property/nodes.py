"""Single nodes with data: many of them run on a device as one model, each against its reference on the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.property.harness import OPSET, Array, check, reference_outputs, typed


@dataclass(frozen=True)
class Node:
    """One node; `inputs` are arrays or None, those at `constants` become initializers.

    plain: ONNX's evaluator, which computes with numpy, is the reference instead of ONNX Runtime. exact: what is right
    where both sum in too few digits.
    """

    op_type: str
    inputs: tuple[Array | None, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    constants: tuple[int, ...] = ()
    domain: str = ""
    plain: bool = False
    exact: tuple[Array, ...] | None = None

    def expected(self) -> tuple[Array, ...]:
        """Outputs on the CPU; ONNX's evaluator takes what ONNX Runtime has no kernel for."""
        if self.exact is not None:
            return self.exact
        model, feeds = _model([self])
        if not self.plain:
            return tuple(reference_outputs(model, feeds).values())
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return tuple(np.asarray(a) for a in ReferenceEvaluator(model).run(None, feeds))


def assert_right(nodes: Sequence[Node], *, tolerance: float | None = None) -> None:
    """`check` on one model of all `nodes`, side by side."""
    results = [node.expected() for node in nodes]
    model, feeds = _model(nodes)
    expected = {f"y{n}_{k}": array for n, arrays in enumerate(results) for k, array in enumerate(arrays)}
    check(model, feeds, expected=expected, tolerance=tolerance)


def _model(nodes: Sequence[Node]) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """One model of all nodes side by side, and its inputs."""
    made, inputs, initializers, outputs = [], [], [], []
    feeds: dict[str, Array] = {}
    for n, node in enumerate(nodes):
        names = []
        for k, array in enumerate(node.inputs):
            name = "" if array is None else f"x{n}_{k}"
            names.append(name)
            if array is None:
                continue
            if k in node.constants:
                initializers.append(numpy_helper.from_array(array, name))
            else:
                feeds[name] = array
                kind = helper.np_dtype_to_tensor_dtype(array.dtype)
                inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        makes = [f"y{n}_{k}" for k in range(node.outputs)]
        made.append(helper.make_node(node.op_type, names, makes, f"node{n}", domain=node.domain, **node.attributes))
        outputs += [onnx.ValueInfoProto(name=name) for name in makes]
    graph = helper.make_graph(made, "nodes", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return typed(model), feeds
