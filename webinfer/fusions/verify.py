"""Checks a rewrite numerically: the old nodes and the new ones, as two small models in ONNX Runtime CPU."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir

from webinfer.dims import constraints_of, symbols_of
from webinfer.errors import SourceError
from webinfer.expressions import extent
from webinfer.fusions.rewrite import Rewrite, shape_of
from webinfer.reference import run_reference
from webinfer.samples import sample_sizes
from webinfer.shape_data import integers
from webinfer.symbols import evaluate

# Largest difference allowed, relative to the largest magnitude of the result: rounding of reordered sums. float16
# results differ by a few units in the last place (2^-11 each).
TOLERANCE = {ir.DataType.FLOAT: 2e-5, ir.DataType.FLOAT16: 4e-3}
# Constants up to this size are part of the structure (axes, shapes, epsilons); larger ones are weights.
_STRUCTURAL_ELEMENTS = 64
# Inputs are drawn around 0 first; where that leaves a function's domain (log, sqrt), around 1.
_DRAWS = ((0.0, 1.0), (1.0, 0.1))


@dataclass
class Verifier:
    """Verifies rewrites and remembers the structures that it has seen: equal ones are computed once."""

    seen: dict[str, str | None] = field(default_factory=dict)

    def fault(self, rewrite: Rewrite, model: ir.Model) -> str | None:
        """Why `rewrite` does not hold, or None.

        Structure means operators, wiring, attributes, types, shapes and small constants. Where the new nodes call
        functions whose bodies are the old nodes, sizes (but not what broadcasts) and float constants do not count.
        """
        pair = _Pair(rewrite, model)
        outlined = any("__" in f.name for f in rewrite.functions)
        key = pair.key(sized=not outlined)
        if key not in self.seen:
            # Two of the smaller sizes where sizes are open: a rewrite must not freeze one.
            choices = sample_sizes(symbols_of(model.graph.inputs).values(), (c.zero for c in constraints_of(model)))
            choices = sorted(choices, key=lambda sizes: math.prod(sizes.values()))[:2]
            self.seen[key] = next((fault for sizes in choices if (fault := pair.compare(sizes))), None)
        return self.seen[key]


class _Pair:
    """The two models. Values get positional names, so that equal structures give equal bytes."""

    def __init__(self, rewrite: Rewrite, model: ir.Model) -> None:
        self._rewrite = rewrite
        self._names: dict[ir.Value, str] = {}
        self._feeds: dict[str, ir.Value] = {}
        self._constants: dict[str, onnx.TensorProto] = {}
        opsets = {**model.opset_imports, "ai.webinfer": 1}
        functions = {**model.functions, **{f.identifier(): f for f in rewrite.functions}}
        self._outputs = [f"out{i}" for i in range(len(rewrite.old_outputs))]
        self._old = self._model(rewrite.old_nodes, rewrite.old_outputs, functions, opsets)
        self._new = self._model(rewrite.new_nodes, rewrite.new_outputs, functions, opsets)

    def key(self, *, sized: bool) -> str:
        """Digest of the structure."""
        digest = hashlib.sha256()
        for proto in (self._old, self._new):
            outline = onnx.ModelProto()
            outline.CopyFrom(proto)
            if not sized:
                for value in (*outline.graph.input, *outline.graph.output):
                    for dim in value.type.tensor_type.shape.dim:
                        dim.dim_value = min(dim.dim_value, 2)
                for tensor in outline.graph.initializer:
                    if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16):
                        tensor.ClearField("raw_data")
            digest.update(outline.SerializeToString(deterministic=True))
        return digest.hexdigest()

    def compare(self, sizes: Mapping[str, int]) -> str | None:
        """Run both at the given sizes; the reason why they differ, or None."""
        expected: dict[str, Any] = {}
        feeds: dict[str, npt.NDArray[Any]] = {}
        for mean, spread in _DRAWS:
            rng = np.random.default_rng(0)
            feeds = {name: _feed(value, rng, mean, spread, sizes) for name, value in self._feeds.items()}
            try:
                expected = run_reference(self._old, _only(feeds, self._old), plain=True)
            except SourceError as error:
                return f"ONNX Runtime refuses the nodes that it replaces: {error}"
            if all(np.isfinite(e).all() for e in expected.values()):
                break
        else:
            return "the nodes that it replaces give non-finite values on random inputs"
        try:
            found = run_reference(self._new, _only(feeds, self._new), plain=True)
        except SourceError as error:
            return f"ONNX Runtime refuses the replacement: {error}"
        for name, value in zip(self._outputs, self._rewrite.old_outputs, strict=True):
            want, got = expected[name].astype(np.float32), found[name].astype(np.float32)
            if want.shape != got.shape:
                return f"output {value.name} is {list(got.shape)}, the nodes that it replaces give {list(want.shape)}"
            limit = TOLERANCE.get(value.dtype or ir.DataType.FLOAT, 0.0) * max(float(np.abs(want).max(initial=0)), 1e-3)
            worst = float(np.abs(want - got).max(initial=0))
            if not worst <= limit:  # also true for NaN
                return f"output {value.name} differs by {worst:.3g} from the nodes that it replaces, over {limit:.3g}"
        return None

    def _model(
        self,
        nodes: Sequence[ir.Node],
        outputs: Sequence[ir.Value],
        functions: dict[Any, ir.Function],
        opsets: dict[str, int],
    ) -> onnx.ModelProto:
        names = dict(zip(outputs, self._outputs, strict=True))
        produced: set[ir.Value] = set()
        used: dict[str, ir.Value] = {}
        protos = []
        for n, node in enumerate(nodes):
            inputs = []
            for value in node.inputs:
                if value is None:
                    inputs.append("")
                elif value in produced:
                    inputs.append(names[value])
                else:
                    inputs.append(self._outer(value))
                    used[inputs[-1]] = value
            for k, value in enumerate(node.outputs):
                names.setdefault(value, f"n{n}_{k}" if value.name or value.uses() else "")
                produced.add(value)
            proto = onnx.NodeProto(op_type=node.op_type, domain=node.domain, overload=node.overload)
            proto.input.extend(inputs)
            proto.output.extend(names[v] for v in node.outputs)
            proto.attribute.extend(ir.serde.serialize_attribute(a) for _, a in sorted(node.attributes.items()))
            protos.append(proto)
        graph = onnx.helper.make_graph(
            protos,
            "rewrite",
            [_info(name, v) for name, v in sorted(used.items()) if name in self._feeds],
            [_info(name, v) for name, v in zip(self._outputs, self._rewrite.old_outputs, strict=True)],
            [self._constants[name] for name in sorted(used) if name in self._constants],
        )
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid(d, v) for d, v in sorted(opsets.items())], ir_version=10
        )
        model.functions.extend(ir.serde.serialize_function(f) for f in _called(nodes, functions))
        return model

    def _outer(self, value: ir.Value) -> str:
        """Name of a value from outside, the same in both models."""
        if value not in self._names:
            name = f"in{len(self._names)}"
            self._names[value] = name
            tensor = value.const_value if value.const_value is not None and not value.producer() else None
            if tensor is not None and tensor.size <= _STRUCTURAL_ELEMENTS:
                self._constants[name] = ir.serde.serialize_tensor(ir.tensor(tensor.numpy(), name=name))
            else:
                self._feeds[name] = value
        return self._names[value]


def _called(nodes: Iterable[ir.Node], functions: dict[Any, ir.Function]) -> list[ir.Function]:
    """Functions that `nodes` call, directly or inside others, each once."""
    found: dict[Any, ir.Function] = {}
    pending = list(nodes)
    while pending:
        key = pending.pop().op_identifier()
        if key in functions and key not in found:
            found[key] = functions[key]
            pending.extend(functions[key])
    return [found[k] for k in sorted(found)]


def _info(name: str, value: ir.Value) -> onnx.ValueInfoProto:
    dtype = value.dtype if value.dtype is not None else ir.DataType.FLOAT
    return onnx.helper.make_tensor_value_info(name, int(dtype), [extent(d) for d in shape_of(value)])


def _feed(
    value: ir.Value, rng: np.random.Generator, mean: float, spread: float, sizes: Mapping[str, int]
) -> npt.NDArray[Any]:
    """The weight or the shape tensor itself where the value is one, else random numbers of its type."""
    if value.const_value is not None and not value.producer():
        return value.const_value.numpy()
    assert value.dtype is not None
    assert value.shape is not None
    shape, dtype = [evaluate(d, sizes) for d in shape_of(value)], value.dtype.numpy()
    elements = integers(value)
    if elements is not None:
        return np.array([evaluate(v, sizes) for v in elements.flat]).reshape(shape).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        return rng.normal(mean, spread, shape).astype(dtype)
    return rng.integers(0, 2, shape).astype(dtype)


def _only(feeds: dict[str, npt.NDArray[Any]], model: onnx.ModelProto) -> dict[str, npt.NDArray[Any]]:
    return {i.name: feeds[i.name] for i in model.graph.input}
