"""Converts a float32 graph to float16: 16-bit storage everywhere, float32 where 16 bits do not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from webinfer.fused import DOMAIN
from webinfer.fusions.rewrite import elements, initializer, shape_of, sole_consumer
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes.contract import Changes, Stage, describe, dynamic_value
from webinfer.passes.ranges import ATTENTION, LINEAR, MOVES, NORMS, Exponents, Feeds, magnitudes, sample_inputs

_HALF, _FULL = ir.DataType.FLOAT16, ir.DataType.FLOAT
_MAX_FLOAT16 = 65504.0
_SMALL_WEIGHT = 1 << 16  # elements
# Inputs that stay float32 whatever the operator computes in (roi and scales of Resize address pixels).
_FLOAT32_INPUTS = {"QLinearConv": (1, 4, 6), "QLinearMatMul": (1, 4, 6), "Resize": (1, 2)}


@dataclass(frozen=True)
class Precision(Stage):
    """Requires static shapes; ensures float32 inputs and outputs and, for fp16, float16 storage between them.

    Values that get large on `samples` (made up where empty) are stored times a power of two, see ranges.py. Nodes are
    computed in float32 (islands) where they are elementwise on such values, where a weight is beyond float16's range,
    and where they are arithmetic on the model's inputs before the first large operator, or elementwise with a result
    of that: timesteps and noise levels are squared, divided and embedded there, and nothing is gained by halving a few
    numbers.
    """

    precision: Literal["fp32", "fp16"]
    samples: Sequence[Feeds] = ()
    name: ClassVar[str] = "precision"

    def requires(self, model: ir.Model) -> str | None:
        """Static shapes."""
        return dynamic_value(model) or super().requires(model)

    def apply(self, model: ir.Model) -> Changes:
        """Nothing for fp32. Raises GraphError where the model gives non-finite values on the samples."""
        if self.precision == "fp32":
            return Changes()
        exponents = Exponents(model, magnitudes(model, self.samples or [sample_inputs(model)]))
        return _Conversion(model, exponents).run()

    def ensures(self, model: ir.Model) -> str | None:
        """For fp16, interface types, and no operator that mixes the two float types."""
        if self.precision == "fp32":
            return None
        changed = [v.name for v in (*model.graph.inputs, *model.graph.outputs) if v.dtype == _HALF]
        if changed:
            return f"{changed[0]!r} of the interface became float16"
        for node in model.graph:
            kept = _FLOAT32_INPUTS.get(node.op_type, ())
            types = {v.dtype for k, v in enumerate(node.inputs) if v is not None and k not in kept}
            if {_FULL, _HALF} <= types:
                return f"node {describe(node)} mixes float32 and float16 inputs"
        return None


@dataclass
class _Conversion:
    """`_true` holds float32 values as they are, `_stored` float16 values times 2^-k; keys are the values of before."""

    model: ir.Model
    exponents: Exponents
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    _true: dict[ir.Value, ir.Value] = field(default_factory=dict)
    _stored: dict[ir.Value, ir.Value] = field(default_factory=dict)
    _constants: dict[tuple[Any, ...], ir.Value] = field(default_factory=dict)
    _floats: set[ir.Value] = field(default_factory=set)  # what was float32 before; types change on the way
    _wide: set[ir.Node] = field(default_factory=set)
    _early: set[ir.Node] = field(default_factory=set)

    def run(self) -> Changes:
        """Convert node by node."""
        graph = self.model.graph
        self._floats = {v for n in graph for v in (*n.inputs, *n.outputs) if v is not None and v.dtype == _FULL}
        self._wide = self._islands()
        self._true |= {v: v for v in graph.inputs}
        outputs = list(graph.outputs)
        for node in list(graph):
            if any(v in self._floats for v in (*node.inputs, *node.outputs)):
                (self._full if node in self._wide else self._half)(node)
        for k, output in enumerate(outputs):
            if output in self._stored and output not in self._true:
                self._restore(k, output)
        for value in list(graph.initializers.values()):
            if not value.uses() and not value.is_graph_output():
                del graph.initializers[value.name or ""]
        scaled = {n for n in self._stored if self.exponents.of(n)}
        self.counts |= {"float32 islands": len(self._wide), "values scaled": len(scaled)}
        return Changes(self.counts, tuple(self.notes))

    # -- which nodes compute in float32 --------------------------------------------------------------------------------

    def _islands(self) -> set[ir.Node]:
        wide: set[ir.Node] = set()
        early = set(self.model.graph.inputs)
        for node in self.model.graph:
            inputs = [v for v in node.inputs if v is not None]
            floats = [v for v in inputs if v.dtype == _FULL]
            large = next((v for v in floats if self._overflows(v, node)), None)
            pointwise = node.op_type in ELEMENTWISE and node.domain in ("", DOMAIN)
            runtime = [v for v in inputs if not v.is_initializer()]
            scaled = any(self.exponents.of(v) for v in (*floats, *node.outputs) if v.dtype == _FULL)
            if large is not None:
                self.notes.append(f"{describe(node)} stays float32: {large.name} is beyond float16's range of +-65504")
                wide.add(node)
            elif (
                (pointwise or node.op_type in MOVES or _is_vector_product(node))
                and early.issuperset(runtime)
                and runtime
            ):
                wide.add(node)
                self._early.add(node)
                early.update(node.outputs)
            elif (pointwise and not early.isdisjoint(runtime)) or (
                scaled and (pointwise or not self._takes_exponents(node))
            ):
                wide.add(node)
            elif pointwise and ELEMENTWISE[node.op_type].per_axis:
                wide.add(node)  # scales keep their digits
            elif not floats and node.op_type != "Cast" and any(o.dtype == _FULL for o in node.outputs):
                wide.add(node)  # makes floats from other types; a Cast follows
        return wide

    def _overflows(self, value: ir.Value, reader: ir.Node) -> bool:
        """Whether a constant is beyond float16's range as `reader` reads it: biases are scaled with its result."""
        bias = reader.op_type in LINEAR and len(reader.inputs) > 2 and value is reader.inputs[2]
        exponent = self.exponents.raw(reader) if bias else self.exponents.of(value)
        return _largest(value) * 2.0**-exponent > _MAX_FLOAT16

    def _takes_exponents(self, node: ir.Node) -> bool:
        if node.op_type in ATTENTION and len(node.inputs) > 3:
            return all(v is None or not self.exponents.of(v) for v in node.inputs[3:])
        return node.op_type in LINEAR | NORMS | MOVES | ATTENTION

    # -- conversion of one node ----------------------------------------------------------------------------------------

    def _full(self, node: ir.Node) -> None:
        """Compute in float32; store the results in float16 unless one float32 node or the caller reads them."""
        for k, value in enumerate(node.inputs):
            if value is not None and value in self._floats:
                node.replace_input_with(k, self._read_true(value, node))
        for output in node.outputs:
            self._true[output] = output
            reader = sole_consumer(output)
            stays = node in self._early or output.is_graph_output() or reader in self._wide
            if not stays and output in self._floats and output.uses():
                self._stored[output] = self._scaled(output, -self.exponents.of(output), _HALF, after=node)
                del self._true[output]

    def _half(self, node: ir.Node) -> None:
        """Compute on stored inputs; scale the result where its exponent differs from what the operator gives."""
        raw = self.exponents.raw(node)
        kept = _FLOAT32_INPUTS.get(node.op_type, ())
        self._adjust(node, raw)
        for k, value in enumerate(node.inputs):
            if value is not None and value in self._floats and k not in kept:
                node.replace_input_with(k, self._read_stored(value, node))
        for output in node.outputs:
            if output not in self._floats:
                continue
            k = self.exponents.of(output)
            output.type = ir.TensorType(_HALF)
            if raw == k:
                self._stored[output] = output
            elif sole_consumer(output) in self._wide:
                self._true[output] = self._scaled(output, raw, _FULL, after=node)
            else:
                self._stored[output] = self._scaled(output, raw - k, _HALF, after=node)

    def _adjust(self, node: ir.Node, raw: int) -> None:
        """Make attributes and constants fit scaled inputs."""
        if node.op_type == "Cast" and node.attributes["to"].as_int() == _FULL:
            node.attributes["to"] = ir.AttrInt64("to", int(_HALF))
        source = node.inputs[0]
        if source is None:
            return
        parts = self.exponents.parts(source)
        if node.op_type in LINEAR:
            if parts is not None:
                # The common exponent of the parts is their largest; raw counts the weight's own as well.
                factors = [np.full(shape_of(v)[1], 2.0 ** (self.exponents.of(v) - raw)) for v in parts]
                factor = np.concatenate(factors).reshape(1, -1, *(1,) * (len(shape_of(node.inputs[1])) - 2))
                self._replace(node, 1, factor, ("parts", *map(self.exponents.of, parts)))
            if len(node.inputs) > 2:
                self._replace(node, 2, np.array(2.0**-raw), ("raw", raw))
        elif node.op_type in NORMS:
            k = min(map(self.exponents.of, parts)) if parts is not None else self.exponents.of(source)
            epsilon = node.attributes["epsilon"].as_float() if "epsilon" in node.attributes else 1e-5
            node.attributes["epsilon"] = ir.AttrFloat32("epsilon", epsilon * 4.0**-k)
        elif node.op_type in ATTENTION:
            q, k = (self.exponents.of(v) for v in node.inputs[:2] if v is not None)
            if q + k:
                node.attributes["scale"] = ir.AttrFloat32("scale", node.attributes["scale"].as_float() * 2.0 ** (q + k))

    # -- values --------------------------------------------------------------------------------------------------------

    def _read_true(self, value: ir.Value, reader: ir.Node) -> ir.Value:
        """The float32 form. Each reader gets its own conversion, so that it can become part of the reader's kernel."""
        if value.is_initializer():
            return value
        if value in self._true:
            return self._true[value]
        return self._scaled(self._stored[value], self.exponents.of(value), _FULL, before=reader)

    def _read_stored(self, value: ir.Value, reader: ir.Node) -> ir.Value:
        """The float16 form, times 2^-k; made once."""
        k = self.exponents.of(value)
        if value.is_initializer():
            return self._constant(value, np.array(2.0**-k), ("stored", k))
        if value not in self._stored:
            self._stored[value] = self._scaled(self._true[value], -k, _HALF, before=reader)
        return self._stored[value]

    def _scaled(
        self,
        value: ir.Value,
        exponent: int,
        target: ir.DataType,
        *,
        before: ir.Node | None = None,
        after: ir.Node | None = None,
    ) -> ir.Value:
        """The product with 2^exponent in the target type, multiplied in float32."""
        nodes: list[ir.Node] = []

        def add(op_type: str, inputs: Sequence[ir.Value], attrs: Sequence[ir.Attr], dtype: ir.DataType) -> ir.Value:
            node = ir.Node("", op_type, inputs, attrs)
            self.counts["conversions"] += 1
            made = node.outputs[0]
            made.name = f"{value.name}/{self.counts['conversions']}"
            made.type, made.shape = ir.TensorType(dtype), value.shape
            nodes.append(node)
            return made

        current = value
        if current.dtype == _HALF and (exponent or target == _FULL):
            current = add("Cast", [current], [ir.AttrInt64("to", int(_FULL))], _FULL)
        if exponent:
            current = add("Mul", [current, self._factor(exponent)], [], _FULL)
        if current.dtype != target:
            current = add("Cast", [current], [ir.AttrInt64("to", int(target))], target)
        if before is not None:
            self.model.graph.insert_before(before, nodes)
        elif after is not None:
            self.model.graph.insert_after(after, nodes)
        return current

    def _factor(self, exponent: int) -> ir.Value:
        key = ("factor", exponent)
        if key not in self._constants:
            self._constants[key] = initializer(f"two_to_{exponent}", np.array(2.0**exponent, np.float32))
            self.model.graph.register_initializer(self._constants[key])
        return self._constants[key]

    def _replace(self, node: ir.Node, k: int, factor: npt.NDArray[Any], key: tuple[Any, ...]) -> None:
        value = node.inputs[k]
        if value is not None:
            node.replace_input_with(k, self._constant(value, factor, key))

    def _constant(self, value: ir.Value, factor: npt.NDArray[Any], key: tuple[Any, ...]) -> ir.Value:
        """A float16 constant times `factor`; equal requests share it."""
        if (value, *key) not in self._constants:
            assert value.const_value is not None
            array = (value.const_value.numpy() * factor).astype(np.float16)
            made = initializer(f"{value.name}/f16/{len(self._constants)}", array)
            self.model.graph.register_initializer(made)
            self.counts["weights converted"] += 1
            self._constants[(value, *key)] = made
        return self._constants[(value, *key)]

    def _restore(self, k: int, output: ir.Value) -> None:
        """A graph output keeps its name and type: it is made from the float16 value."""
        producer, name = output.producer(), output.name
        assert producer is not None
        output.name = f"{name}/f16"
        made = self._scaled(self._stored[output], self.exponents.of(output), _FULL, after=list(self.model.graph)[-1])
        made.name = name
        self.model.graph.outputs[k] = made


def _is_vector_product(node: ir.Node) -> bool:
    """A small matrix times one row: the layers that embed timesteps and labels."""
    if node.domain or node.op_type not in ("Gemm", "MatMul") or node.inputs[1] is None:
        return False
    one_row = elements(node.outputs[0]) == (shape_of(node.outputs[0]) or (1,))[-1]
    return one_row and node.inputs[1].is_initializer() and elements(node.inputs[1]) <= _SMALL_WEIGHT


def _largest(value: ir.Value) -> float:
    """Largest finite magnitude of a constant, 0 for other values."""
    if not value.is_initializer() or value.const_value is None or value.dtype != _FULL:
        return 0.0
    array = value.const_value.numpy()
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
