"""Every use of an elementwise operator that its table and its schema allow: types, attributes, and values to feed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, helper

from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.ops.expression import Call, Elementwise
from webinfer.ops.lanes import bits, limits

Array = np.ndarray[Any, np.dtype[Any]]
CONTRIB = "com.microsoft"
OPERANDS = {"Sum": 3, "Mean": 3, "Min": 3, "Max": 3, "BiasGelu": 2, "FastGelu": 2, "QuickGelu": 1}
_TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "bool": TensorProto.BOOL,
    **{f"{s}int{b}": TensorProto.DataType.Value(f"{s}int{b}".upper()) for s in ("", "u") for b in (8, 16, 32, 64)},
}
# Between them they leave the range of exp, tanh, float16 and int32.
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-30, -1e-30, 60.0, -60.0, 200.0, -200.0, 3e38, -3e38)


@dataclass(frozen=True)
class Usage:
    """One node: operator, element types of its operands, attributes."""

    op_type: str
    types: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def entry(self) -> Elementwise:
        """Its table entry."""
        return ELEMENTWISE[self.op_type]

    @property
    def domain(self) -> str:
        """Domain of the operator."""
        return "" if onnx.defs.has(self.op_type) else CONTRIB

    @property
    def result(self) -> str:
        """Element type of the result."""
        attributes = {n: ir.convenience.convert_attribute(n, v) for n, v in self.attributes.items()}
        return self.entry.result_type(Call(self.types, attributes))

    def shapes(self, shape: Sequence[int], other: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Shapes of the operands, from two that broadcast."""
        if self.op_type in ("Clip", "CastLike"):
            return (tuple(shape), *((),) * (len(self.types) - 1))
        if self.op_type == "SwiGLU":
            return (tuple(shape), tuple(shape))
        if self.op_type in ("BiasGelu", "FastGelu"):
            return (tuple(shape), tuple(shape)[-1:])
        if self.op_type == "PRelu":
            fits = np.broadcast_shapes(shape, other) == tuple(shape)
            return (tuple(shape), tuple(other) if fits else (1,))
        return tuple(tuple(shape if k % 2 == 0 else other) for k in range(len(self.types)))

    def arrays(self, shapes: Sequence[Sequence[int]], rng: np.random.Generator) -> list[Array]:
        """Values in the operands' ranges, and special ones where the operator takes them."""
        pairs = enumerate(zip(self.types, shapes, strict=True))
        return [self._values(k, dtype, shape, rng) for k, (dtype, shape) in pairs]

    def _values(self, k: int, dtype: str, shape: Sequence[int], rng: np.random.Generator) -> Array:
        entry = self.entry
        low, high = entry.domain[min(k, len(entry.domain) - 1)]
        element = helper.tensor_dtype_to_np_dtype(_TYPES[dtype])
        chosen = rng.random(shape) < 0.3
        if dtype == "bool":
            return np.asarray(rng.integers(0, 2, shape), element)
        if dtype.startswith("float"):
            values = rng.uniform(low, high, shape)
            with np.errstate(over="ignore"):
                return np.asarray(np.where(chosen & entry.special, rng.choice(_SPECIAL, shape), values), element)
        least, most = limits(dtype)
        inside = rng.integers(max(int(np.ceil(low)), least), min(int(high), most), shape, endpoint=True)
        anywhere = rng.integers(least, most, shape, dtype=element, endpoint=True)
        anywhere = np.where(rng.random(shape) < 0.5, anywhere, rng.choice(np.array([least, most], element), shape))
        numbers = np.where(chosen & entry.special, anywhere, inside.astype(element))
        if entry.divides and k == len(self.types) - 1:
            numbers = np.where(numbers == 0, np.array(3, element), numbers)
        return np.asarray(numbers, element)


@dataclass(frozen=True)
class Node:
    """A usage with its values; `name` is that of its result."""

    name: str
    usage: Usage
    arrays: Sequence[Array]

    @property
    def feeds(self) -> dict[str, Array]:
        """Arrays by input name."""
        return {f"{self.name}/x{k}": array for k, array in enumerate(self.arrays)}


def model(nodes: Sequence[Node], opset: int) -> onnx.ModelProto:
    """A model of `nodes` side by side."""
    inputs, outputs, protos = [], [], []
    for node in nodes:
        usage, feeds = node.usage, node.feeds
        for (name, array), dtype in zip(feeds.items(), usage.types, strict=True):
            inputs.append(helper.make_tensor_value_info(name, _TYPES[dtype], array.shape))
        protos.append(
            helper.make_node(usage.op_type, list(feeds), [node.name], domain=usage.domain, **dict(usage.attributes))
        )
        shape = np.broadcast_shapes(*(a.shape for a in node.arrays))
        outputs.append(helper.make_tensor_value_info(node.name, _TYPES[usage.result], shape))
    graph = helper.make_graph(protos, "usages", inputs, outputs)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=11)


def usages() -> Iterator[Usage]:
    """All of them, operator by operator; per-axis operators have tests of their own."""
    for op_type, entry in ELEMENTWISE.items():
        if entry.per_axis or not entry.variants or op_type == "Silu":
            continue
        for types in _types(op_type, entry):
            for attributes in entry.variants:
                usage = Usage(op_type, types, attributes)
                if usage.result in _TYPES and (op_type != "BitCast" or _same_size(usage)):
                    yield usage


def one_of_each() -> list[Usage]:
    """Every operator with every set of attributes, once on float32 where it takes that, and once on another type."""
    chosen: dict[tuple[str, str, bool], list[Usage]] = {}
    for usage in usages():
        key = (usage.op_type, str(usage.attributes), usage.types[usage.entry.by] == "float32")
        chosen.setdefault(key, []).append(usage)
    return [group[zlib.crc32(repr(key).encode()) % len(group)] for key, group in chosen.items()]


def _types(op_type: str, entry: Elementwise) -> Iterator[tuple[str, ...]]:
    if not onnx.defs.has(op_type):
        yield ("float32",) * OPERANDS[op_type]
        return
    schema = onnx.defs.get_schema(op_type)
    names = [i.type_str for i in schema.inputs]
    names = names[:1] * OPERANDS[op_type] if op_type in OPERANDS else names
    allowed = {c.type_param_str: [_spelled(t) for t in c.allowed_type_strs] for c in schema.type_constraints}
    main = names[entry.by]
    others = next((allowed[n] for n in names if n != main), [""])
    for dtype in allowed[main]:
        for other in others:
            if dtype in _TYPES and (other in _TYPES or not other):
                yield tuple(dtype if n == main else other for n in names)


def _spelled(text: str) -> str:
    name = text.removeprefix("tensor(").removesuffix(")")
    return "float32" if name == "float" else name


def _same_size(usage: Usage) -> bool:
    source, target = (
        8 if t == "bool" else bits(t) if "int" in t else int(t[5:]) for t in (usage.types[0], usage.result)
    )
    return source == target and usage.result != "bool"  # other bytes than 0 and 1 are no truth values
