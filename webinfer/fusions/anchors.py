"""Which nodes have a kernel that takes an elementwise tail (anchors), and which nodes can be part of such a tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from webinfer.fused import DOMAIN, PROLOGUES
from webinfer.fusions.outline import Part, parts_of
from webinfer.fusions.rewrite import FLOATS, elements, scalar, sole_consumer
from webinfer.kernel import ITEMSIZE
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.shape_data import integers
from webinfer.symbols import largest

ANCHORS = frozenset(
    {
        "Conv",
        "ConvTranspose",
        "Gemm",
        "MatMul",
        "GroupNormalization",
        "LayerNormalization",
        "RMSNormalization",
        "Resize",
        "AveragePool",
        "MaxPool",
    }
)

# Elements up to which a value is computed again by every reader: a dispatch costs more.
_TINY = 64
_WIDE = frozenset({ir.DataType.INT64, ir.DataType.UINT64})
_COMPUTED = FLOATS | {ir.DataType[dtype.upper()] for dtype in ITEMSIZE if not dtype.startswith("float")}


def is_elementwise(node: ir.Node) -> bool:
    """Whether `node` can follow an anchor: evaluated element by element, float in and float out."""
    return is_pointwise(node) and all(v.dtype in FLOATS for v in _values(node))


def is_pointwise(node: ir.Node) -> bool:
    """Whether lowering can evaluate `node` element by element, as part of a chain: a known operator on known types.

    What the sizes alone decide needs no kernel. Integer divisions stay alone: checks of a fusion feed zeros.
    """
    if node.domain not in ("", DOMAIN, "com.microsoft") or len(node.outputs) != 1:
        return False
    entry = ELEMENTWISE.get(node.op_type)
    if entry is None or integers(node.outputs[0]) is not None:
        return False
    if entry.divides and node.outputs[0].dtype not in FLOATS:
        return False
    return all(v.dtype in _COMPUTED for v in _values(node))


def is_wide(node: ir.Node) -> bool:
    """Whether 64-bit integers occur: such chains compute one element at a time."""
    return any(v.dtype in _WIDE for v in _values(node))


def _values(node: ir.Node) -> list[ir.Value]:
    return [*node.outputs, *(v for v in node.inputs if v is not None)]


def anchor_parts(node: ir.Node, model: ir.Model) -> tuple[Part, ...] | None:
    """The parts of an anchor without a tail yet, alone or with a prologue in front; None for any other node."""
    if sum(bool(o.name) for o in node.outputs) != 1 or node.outputs[0].dtype not in FLOATS:
        return None
    parts = parts_of(node, model)
    kinds = [p.node.op_type for p in parts]
    if kinds[0] in PROLOGUES and len(kinds) == 2 and kinds[1] in ANCHORS and node.domain == DOMAIN:
        kinds = kinds[1:]
    return parts if len(kinds) == 1 and kinds[0] in ANCHORS and not parts[-1].node.domain else None


def claimed(value: ir.Value, model: ir.Model) -> bool:
    """Whether the fusion of `value`'s producer wants its only consumer: then nobody else may take it."""
    producer = value.producer()
    if producer is None or sole_consumer(value) is None:
        return False
    return is_elementwise(producer) or anchor_parts(producer, model) is not None


@dataclass(frozen=True)
class Operand:
    """One operand of a tail: the elementwise nodes that compute it there, and the values that these read."""

    nodes: tuple[ir.Node, ...]
    leaves: tuple[ir.Value, ...]


def absorbable(value: ir.Value, accepts: Callable[[ir.Node], bool] = is_elementwise) -> ir.Node | None:
    """The node that makes `value`, where its reader may compute it: nobody else reads it, or it is tiny."""
    producer = value.producer()
    if producer is None or not accepts(producer) or value.is_graph_output():
        return None
    return producer if sole_consumer(value) is not None or largest(elements(value)) <= _TINY else None


def kept(nodes: Sequence[ir.Node], output: ir.Value) -> tuple[ir.Node, ...]:
    """Those of `nodes` (in graph order) that something outside still needs after all of them were copied."""
    inside, stay = set(nodes), set[ir.Node]()
    for node in reversed(nodes):
        readers = [c for v in node.outputs if v is not output for c in v.consumers()]
        if any(c not in inside or c in stay for c in readers):
            stay.add(node)
    return tuple(stay)


def operand(value: ir.Value, model: ir.Model) -> Operand:
    """Pull the computation of `value` into the tail where only the tail uses it.

    A computation that reads what another fusion wants (`claimed`) stays outside.
    """
    producer = absorbable(value)
    if producer is None:
        return Operand((), (value,))
    nodes: dict[ir.Node, None] = {}
    leaves: dict[ir.Value, None] = {}
    for source in producer.inputs:
        if source is None:
            continue
        inner = operand(source, model)
        if not inner.nodes and not _converts(producer) and claimed(source, model):
            return Operand((), (value,))
        nodes |= dict.fromkeys(inner.nodes)
        leaves |= dict.fromkeys(inner.leaves)
    return Operand((*nodes, producer), tuple(leaves))


def _converts(node: ir.Node) -> bool:
    """A change of type, or of scale by a constant: reading through it moves fewer bytes than storing its result."""
    return node.op_type == "Cast" or (node.op_type == "Mul" and any(scalar(v) is not None for v in node.inputs))


def bound(values: Sequence[ir.Value]) -> list[ir.Value]:
    """Those of `values` that take a storage binding: all but one-element constants, which become uniforms."""
    return [v for v in dict.fromkeys(values) if scalar(v) is None]
