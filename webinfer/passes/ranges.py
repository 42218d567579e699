"""How large every value of a graph gets on sample inputs, and the power of two by which float16 stores it.

A value whose largest magnitude m passes float16's comfortable range is stored as x * 2^-k, with m * 2^-k near 2^10. A
power of two costs no precision: float16 keeps its 11 bits, and 6 bits of headroom are left for inputs larger than the
samples. (Residual streams of trained diffusion UNets reach 1e10; without this they overflow.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnx_ir as ir

from webinfer.dims import constraints_of, symbols_of
from webinfer.errors import GraphError
from webinfer.fusions.rewrite import shape_of
from webinfer.reference import run_reference
from webinfer.samples import sample_sizes
from webinfer.symbols import evaluate

Feeds = Mapping[str, npt.NDArray[Any]]

# Results that are their inputs moved, pooled or interpolated: they share the exponent of their inputs.
MOVES = frozenset(
    {
        "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Split", "Slice", "Concat", "Transpose", "Expand", "Gather",
        "Tile", "Resize", "AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool", "DepthToSpace",
        "SpaceToDepth",
    }
)  # fmt: skip
# Operators linear in their first input (and their second, for the last two) apart from a constant bias.
LINEAR = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
# Results do not depend on the scale of the first input, apart from epsilon.
NORMS = frozenset({"GroupNormalization", "LayerNormalization", "InstanceNormalization", "RMSNormalization"})
# Linear in v; the scale of the scores makes up for those of q and k.
ATTENTION = frozenset({"Attention", "ChannelMajorAttention"})
_LARGEST_UNSCALED, _TARGET_BITS, _LARGEST_RAW = 2.0**12, 10, 2.0**14
_SMALLEST_WEIGHT = 2.0**-7  # largest magnitude of a weight below which its small elements would lose bits


def sample_inputs(model: ir.Model) -> dict[str, npt.NDArray[Any]]:
    """Inputs to measure with where none are given: noise for images, positive numbers for noise levels and labels."""
    rng = np.random.default_rng(0)
    feeds: dict[str, npt.NDArray[Any]] = {}
    sizes = sample_sizes(symbols_of(model.graph.inputs).values(), (c.zero for c in constraints_of(model)))[0]
    for value in model.graph.inputs:
        assert value.dtype is not None
        shape, dtype = [evaluate(d, sizes) for d in shape_of(value)], value.dtype.numpy()
        if not np.issubdtype(dtype, np.floating):
            feeds[value.name or ""] = rng.integers(0, 2, shape).astype(dtype)
        elif len(shape) > 2:
            feeds[value.name or ""] = rng.normal(size=shape).astype(dtype)
        else:
            feeds[value.name or ""] = rng.uniform(0.05, 1.0, shape).astype(dtype)
    return feeds


def magnitudes(model: ir.Model, samples: Sequence[Feeds]) -> dict[ir.Value, float]:
    """Largest magnitude of every float32 value that a node makes, over all samples, from ONNX Runtime CPU.

    Raises GraphError naming the first value that is not finite: these samples do not suit the model.
    """
    values = [o for n in model.graph for o in n.outputs if o.name and o.dtype == ir.DataType.FLOAT]
    values += [v for v in model.graph.inputs if v.dtype == ir.DataType.FLOAT]
    if not values:
        return {}
    proto = ir.to_proto(model)
    probes = []
    for n, value in enumerate(values):
        proto.graph.node.append(onnx.helper.make_node("Abs", [value.name or ""], [f"abs/{n}"], f"abs/{n}"))
        proto.graph.node.append(onnx.helper.make_node("ReduceMax", [f"abs/{n}"], [f"max/{n}"], f"max/{n}", keepdims=0))
        probes.append(onnx.helper.make_tensor_value_info(f"max/{n}", onnx.TensorProto.FLOAT, []))
    del proto.graph.output[:]
    proto.graph.output.extend(probes)
    largest = dict.fromkeys(values, 0.0)
    for feeds in samples:
        found = run_reference(proto, feeds, plain=True)
        for n, value in enumerate(values):
            size = float(found[f"max/{n}"])
            if not math.isfinite(size):
                raise GraphError(
                    f"value {value.name!r} is not finite on the calibration inputs; give inputs of the kind that the "
                    f"model is made for, or export it as fp32"
                )
            largest[value] = max(largest[value], size)
    return largest


@dataclass
class Exponents:
    """`of(v)` is k: float16 stores v * 2^-k. A Concat read only by norms and convolutions keeps one k per input.

    Weights of linear operators get an exponent too where they are too small or too large for 16 bits.
    """

    model: ir.Model
    largest: Mapping[ir.Value, float]
    _parts: dict[ir.Node, tuple[ir.Value, ...]] = field(default_factory=dict)
    _parent: dict[ir.Value, ir.Value] = field(default_factory=dict)
    _k: dict[ir.Value, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.model.graph:
            parts = _separable(node) if node.op_type == "Concat" and not node.domain else None
            if parts is not None:
                self._parts[node] = parts
            elif node.op_type in MOVES and not node.domain:
                sources = node.inputs if node.op_type == "Concat" else node.inputs[:1]
                floats = [v for v in (*sources, *node.outputs) if v is not None and v.dtype == ir.DataType.FLOAT]
                for other in floats[1:]:
                    self._parent[self._root(other)] = self._root(floats[0])
        for value in self.model.graph.initializers.values():
            uses = list(value.uses())
            if uses and all(u.node.op_type in LINEAR and not u.node.domain and u.idx == 1 for u in uses):
                self._k[value] = _weight_exponent(value)
        for value, size in self.largest.items():
            if size > _LARGEST_UNSCALED:
                self._raise(value, math.ceil(math.log2(size)) - _TARGET_BITS)
        while self._raise_for_results():
            pass

    def of(self, value: ir.Value) -> int:
        """The exponent of `value`; that of a Concat with parts is its largest."""
        parts = self.parts(value)
        return self._k.get(self._root(value), 0) if parts is None else max(map(self.of, parts))

    def parts(self, value: ir.Value) -> tuple[ir.Value, ...] | None:
        """The inputs of the Concat that makes `value`, where they keep exponents of their own, or None."""
        producer = value.producer()
        return None if producer is None else self._parts.get(producer)

    def raw(self, node: ir.Node) -> int:
        """e, where `node` on stored inputs gives its result * 2^-e."""
        inputs = [v for v in node.inputs if v is not None]
        if node.op_type in LINEAR:
            return sum(map(self.of, inputs[:2]))
        if node.op_type in ATTENTION:
            return self.of(inputs[2])
        if node.op_type in MOVES:
            return self.of(node.outputs[0])
        return 0

    def _root(self, value: ir.Value) -> ir.Value:
        while (parent := self._parent.get(value, value)) is not value:
            value = parent
        return value

    def _raise(self, value: ir.Value, k: int) -> bool:
        root = self._root(value)
        if self._k.get(root, 0) >= k:
            return False
        self._k[root] = k
        return True

    def _raise_for_results(self) -> bool:
        """Raise the inputs of linear operators whose result would overflow before it can be scaled."""
        changed = False
        for node in self.model.graph:
            if node.op_type not in LINEAR or node.domain:
                continue
            size = self.largest.get(node.outputs[0], 0.0)
            missing = math.ceil(math.log2(max(size, 1.0) / _LARGEST_RAW)) - self.raw(node)
            source = node.inputs[0]
            if missing > 0 and source is not None and not source.is_initializer():
                largest = max(self.parts(source) or (source,), key=self.of)
                changed |= self._raise(largest, self.of(largest) + missing)
        return changed


def _plain_convolution(node: ir.Node) -> bool:
    """A Conv with constant weights over all channels at once."""
    grouped = "group" in node.attributes and node.attributes["group"].as_int() != 1
    weight = node.inputs[1] if node.op_type == "Conv" else None
    return weight is not None and weight.is_initializer() and not grouped


def _weight_exponent(value: ir.Value) -> int:
    if value.const_value is None or value.dtype != ir.DataType.FLOAT:
        return 0
    size = float(np.abs(value.const_value.numpy()).max(initial=0.0))
    comfortable = size == 0.0 or not math.isfinite(size) or _SMALLEST_WEIGHT <= size <= _LARGEST_RAW
    return 0 if comfortable else math.ceil(math.log2(size))


def _separable(concat: ir.Node) -> tuple[ir.Value, ...] | None:
    """The inputs of a Concat of channels that only group norms (no group over an edge) and convolutions read."""
    if concat.outputs[0].is_graph_output():
        return None
    inputs = tuple(v for v in concat.inputs if v is not None)
    shape = shape_of(concat.outputs[0])
    if any(v.is_initializer() for v in inputs) or len(shape) < 3 or concat.attributes["axis"].as_int() != 1:
        return None
    edges = np.cumsum([shape_of(v)[1] for v in inputs])[:-1]
    for reader in concat.outputs[0].consumers():
        if reader.inputs[0] is not concat.outputs[0] or reader.domain:
            return None
        if reader.op_type == "GroupNormalization":
            if any(edge % (shape[1] // reader.attributes["num_groups"].as_int()) for edge in edges):
                return None
        elif not _plain_convolution(reader):
            return None
    return inputs
