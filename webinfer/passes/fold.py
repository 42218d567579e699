"""Computes at compile time what does not depend on the inputs, control flow too, and removes what nobody needs."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx
import onnx_ir as ir
from onnx_ir.passes import common
from onnxscript.optimizer._constant_folding import FoldConstantsPass

from webinfer.dims import is_known, symbols_of
from webinfer.errors import UnsupportedError
from webinfer.passes.contract import Changes, Stage, describe, dynamic_value, operands
from webinfer.passes.control_flow import unroll
from webinfer.passes.expand import expand
from webinfer.passes.infer_contrib import infer_contrib
from webinfer.passes.infer_sizes import infer_sizes
from webinfer.passes.shape_nodes import rebuild_shape_tensors
from webinfer.reference import run_reference
from webinfer.shape_data import integers
from webinfer.symbols import Sym

# onnxscript folds with Python kernels; larger sizes go to ONNX Runtime, which is what the source is compared with.
_SMALL_INPUT, _SMALL_OUTPUT = 1024, 8192
_LARGEST_RESULT = 64 << 20  # bytes; a larger constant costs more to download than to compute
RANDOM = frozenset(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"}
)
_VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
_MAX_ROUNDS = 50
# ONNX's own inference knows these only as functions and gives up on them; the result is like the first input.
_SHAPE_OF_INPUT = frozenset({"GroupNormalization"})


@dataclass(frozen=True)
class Fold(Stage):
    """Requires inputs of known sizes; ensures known shapes and element types, and that nodes make all outputs.

    Control flow is unrolled and operators without a kernel are expanded between the rounds of folding, since each makes
    work for the others.
    """

    name: ClassVar[str] = "fold"

    def apply(self, model: ir.Model) -> Changes:
        """Fold, infer and clean until nothing changes. Raises UnsupportedError listing nodes without static results."""
        counts: Counter[str] = Counter()
        outputs = [value.name for value in model.graph.outputs]
        for _ in range(_MAX_ROUNDS):
            before = _fingerprint(model)
            opened = unroll(model)
            expanded = expand(model)
            counts["control flow unrolled"] += opened
            counts["operators expanded"] += expanded
            counts["computed by onnxscript"] += _fold_small(model)
            counts["computed by ONNX Runtime"] += _fold_large(model)
            counts["no-ops removed"] += _remove_noops(model)
            counts["common subexpressions"] += _counted(model, common.CommonSubexpressionEliminationPass())
            counts["dead nodes"] += _counted(model, common.RemoveUnusedNodesPass())
            _infer(model)
            if _fingerprint(model) == before and not opened and not expanded:
                break
        counts["shape tensors rebuilt"] += rebuild_shape_tensors(model)
        if counts["shape tensors rebuilt"]:
            counts["dead nodes"] += _counted(model, common.RemoveUnusedNodesPass())
            _infer(model)
        duplicates = len(model.graph.initializers)
        common.DeduplicateHashedInitializersPass(size_limit=1 << 31)(model)
        counts["duplicate initializers"] += duplicates - len(model.graph.initializers)
        counts["common subexpressions"] += _counted(model, common.CommonSubexpressionEliminationPass())
        common.RemoveUnusedOpsetsPass()(model)
        _make_outputs(model, outputs)
        _refuse_unsized(model)
        return Changes(counts)

    def requires(self, model: ir.Model) -> str | None:
        """Inputs of known sizes."""
        loose = [v.name for v in model.graph.inputs if not is_known(v.shape)]
        return f"input {loose[0]!r} is dynamic" if loose else super().requires(model)

    def ensures(self, model: ir.Model) -> str | None:
        """Every value is static and typed."""
        return dynamic_value(model)


def _infer(model: ir.Model) -> None:
    """Shapes and element types; where sizes are open, also the elements of shape tensors."""
    if symbols_of(model.graph.inputs):
        infer_sizes(model)
        _fix_shape_tensors(model)
        return
    for node in model.graph:
        if node.op_type in _SHAPE_OF_INPUT and not node.domain and node.inputs[0] is not None:
            node.outputs[0].shape, node.outputs[0].type = node.inputs[0].shape, node.inputs[0].type
    common.ShapeInferencePass(check_type=False, strict_mode=False, data_prop=True)(model)
    infer_contrib(model)


def _fix_shape_tensors(model: ir.Model) -> None:
    """Shape tensors that do not depend on the sizes after all become initializers."""
    for node in model.graph:
        (value, *others) = node.outputs
        elements = None if others or value.dtype is None or value.is_graph_output() else integers(value)
        if elements is None or not value.uses() or any(isinstance(v, Sym) for v in elements.flat):
            continue
        assert value.dtype is not None
        name, value.name = value.name, f"{value.name}/sizes"
        tensor = ir.tensor(elements.astype(value.dtype.numpy()), name=name)
        fixed = ir.Value(
            name=name, shape=ir.Shape(elements.shape), type=ir.TensorType(tensor.dtype), const_value=tensor
        )
        model.graph.register_initializer(fixed)
        value.replace_all_uses_with(fixed)


def _make_outputs(model: ir.Model, names: list[str | None]) -> None:
    """Outputs keep their names; a constant, or what is an input or an output under another name, is copied."""
    graph = model.graph
    for position, name in enumerate(names):
        value = graph.outputs[position]
        producer = value.producer()
        constant = value.is_initializer() or (producer is not None and producer.op_type == "Constant")
        if producer is not None and not constant and value not in graph.outputs[:position]:
            value.name = name
        if value.name == name and not constant:
            continue
        source = _initializer(graph, producer) if producer is not None and constant else value
        if source.name == name:
            source.name = f"{name}/constant"
        copy = ir.node("Identity", [source], name=name)
        copied = copy.outputs[0]
        copied.name, copied.shape, copied.type = name, value.shape, value.type
        graph.append(copy)
        graph.outputs[position] = copied


def _initializer(graph: ir.Graph, constant: ir.Node) -> ir.Value:
    """An initializer in place of a Constant node that made an output."""
    (output,) = constant.outputs
    tensor = ir.convenience.get_const_tensor(output)
    assert tensor is not None
    name, output.name = output.name, f"{output.name}/node"
    value = ir.Value(name=name, shape=output.shape, type=output.type, const_value=tensor)
    graph.register_initializer(value)
    output.replace_all_uses_with(value, replace_graph_outputs=True)
    graph.remove(constant, safe=True)
    return value


def _refuse_unsized(model: ir.Model) -> None:
    """Raise UnsupportedError where results have no static shape, listing the nodes that bring it about."""
    unsized = {o for n in model.graph for o in n.outputs if o.name and not is_known(o.shape)}
    causes = [n for n in model.graph if unsized.intersection(n.outputs) and not unsized.intersection(n.inputs)]
    if causes:
        lines = [f"{describe(n)}({operands(n)}): its result has no size before it runs" for n in causes]
        raise UnsupportedError(
            f"{len(causes)} of {len(model.graph)} nodes give results of unknown size; make their shapes constant in "
            "the model, or export it with that part left out:\n  " + "\n  ".join(lines)
        )


def _fingerprint(model: ir.Model) -> tuple[int, int, int]:
    known = sum(is_known(o.shape) for n in model.graph for o in n.outputs)
    return len(model.graph), len(model.graph.initializers), known


def _counted(model: ir.Model, step: ir.passes.PassBase) -> int:
    before = len(model.graph)
    step(model)
    return before - len(model.graph)


def _fold_small(model: ir.Model) -> int:
    before = len(model.graph)
    FoldConstantsPass(shape_inference=True, input_size_limit=_SMALL_INPUT, output_size_limit=_SMALL_OUTPUT)(model)
    common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
    for value in model.graph.initializers.values():
        array = None if value.const_value is None else value.const_value.raw
        if isinstance(array, np.ndarray) and not array.flags.c_contiguous:  # the result of a folded Transpose
            value.const_value = ir.tensor(np.asarray(array, order="C"), dtype=value.dtype, name=value.name)
    return before - len(model.graph)


def _is_constant(value: ir.Value | None) -> bool:
    return value is None or (value.const_value is not None and value.is_initializer())


def _fold_large(model: ir.Model) -> int:
    """Evaluate every node whose inputs are all constant, in one ONNX Runtime session; returns how many it replaced."""
    constant: set[ir.Value] = set()
    nodes: list[ir.Node] = []
    for node in model.graph:
        fixed = all(_is_constant(v) or v in constant for v in node.inputs)
        bounded = all(_bytes(o) <= _LARGEST_RESULT for o in node.outputs)
        if fixed and bounded and not node.domain and node.op_type not in RANDOM:
            nodes.append(node)
            constant.update(node.outputs)
    results = [
        o
        for n in nodes
        for o in n.outputs
        if o.name and (o.is_graph_output() or any(u not in nodes for u in o.consumers()))
    ]
    if not results:
        return 0
    sources = {v.name: v for n in nodes for v in n.inputs if v is not None and v not in constant}
    graph = onnx.helper.make_graph(
        [ir.serde.serialize_node(n) for n in nodes],
        "constants",
        [],
        [onnx.ValueInfoProto(name=o.name or "") for o in results],
        [_named(v) for v in sources.values()],
    )
    opsets = [onnx.helper.make_opsetid(d, v) for d, v in model.opset_imports.items()]
    arrays = run_reference(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10), {}, plain=True)
    for value in results:
        array = np.asarray(arrays[value.name or ""], order="C")  # ascontiguousarray would make scalars 1-D
        producer = value.producer()
        assert producer is not None
        name = value.name or ""
        value.name = f"{name}/computed"
        tensor = ir.tensor(array, name=name)
        folded = ir.Value(name=name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor)
        model.graph.register_initializer(folded)
        value.replace_all_uses_with(folded, replace_graph_outputs=True)
    common.RemoveUnusedNodesPass()(model)
    return len(nodes)


def _named(value: ir.Value) -> onnx.TensorProto:
    assert value.const_value is not None
    proto = ir.serde.serialize_tensor(ir.tensor(value.const_value.numpy(), name=value.name))
    proto.name = value.name or ""
    return proto


def _bytes(value: ir.Value) -> int:
    """Bytes of a result; 0 where its shape is not known yet (then it derives from small integer arithmetic)."""
    if value.shape is None or not value.shape.is_static() or value.dtype is None:
        return 0
    return math.prod(value.shape.numpy()) * max(1, int(value.dtype.itemsize))


def _remove_noops(model: ir.Model) -> int:
    """Identity, inference-time Dropout, Cast to the same type, and shape ops that change nothing."""
    removed = 0
    for node in list(model.graph):
        source = _origin(node)
        if node.domain or source is None or not _is_noop(node, source):
            continue
        (output,) = node.outputs[:1]
        if any(o.uses() or o.is_graph_output() for o in node.outputs[1:]):
            continue
        if output.is_graph_output():
            if source.is_graph_input() or source.is_initializer() or source.is_graph_output():
                continue
            name = output.name
            output.name, source.name = f"{name}/removed", name
        ir.convenience.replace_all_uses_with(output, source, replace_graph_outputs=True)
        model.graph.remove(node, safe=True)
        removed += 1
    return removed


def _origin(node: ir.Node) -> ir.Value | None:
    """The value that the output may equal: the input, what a chain of shape operators began with, or a branch."""
    source = node.inputs[0] if node.inputs else None
    if node.op_type == "Where":
        chosen = None if source is None or source.const_value is None else source.const_value.numpy()
        if chosen is None or not chosen.size or chosen.min() != chosen.max():
            return None
        return node.inputs[1 if chosen.min() else 2]
    while node.op_type in _VIEWS and source is not None:
        maker = source.producer()
        if maker is None or maker.domain or maker.op_type not in _VIEWS:
            break
        source = maker.inputs[0]
    return source


def _is_noop(node: ir.Node, source: ir.Value) -> bool:
    output = node.outputs[0]
    same = is_known(source.shape) and output.shape == source.shape
    match node.op_type:
        case "Identity":
            return True
        case "Dropout":
            return len(node.inputs) < 3 or node.inputs[2] is None  # training_mode omitted means inference
        case "Cast":
            return source.dtype is not None and node.attributes["to"].as_int() == source.dtype
        case "Reshape" | "Expand" | "Flatten" | "Squeeze" | "Unsqueeze" | "Where":
            return bool(same)
        case "Concat":
            return len(node.inputs) == 1
        case "Transpose":
            perm = node.attributes["perm"].as_ints() if "perm" in node.attributes else None
            return perm is not None and list(perm) == sorted(perm)
        case _:
            return False
