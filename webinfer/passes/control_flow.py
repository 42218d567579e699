"""Unrolls If, Loop and Scan whose conditions and trip counts are known at compile time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
import onnx_ir as ir
from onnx_ir.passes import common

from webinfer.errors import UnsupportedError
from webinfer.passes.contract import describe, fix_names
from webinfer.reference import run_reference

MAX_NODES = 4096
# A condition is computed at compile time where at most this many nodes lead to it.
_CONDITION_NODES = 64
_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
_FOREVER = np.iinfo(np.int64).max


def unroll(model: ir.Model) -> int:
    """Replace every control flow node of the main graph that can be by now; returns how many.

    Raises UnsupportedError where that would give more than MAX_NODES nodes.
    """
    count = 0
    for node in list(model.graph):
        if node.domain or node.op_type not in _UNROLL:
            continue
        site = _Site(model, node)
        results = _UNROLL[node.op_type](site)
        if results is None:
            continue
        count += 1
        site.close(results)
    if count:
        common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
        fix_names(model)
    return count


class _Site:
    """A control flow node; everything is inserted in front of it."""

    def __init__(self, model: ir.Model, node: ir.Node) -> None:
        self.node = node
        self._graph = model.graph
        self._made = 0

    def body(self, attribute: str) -> ir.Graph:
        """A subgraph."""
        return self.node.attributes[attribute].as_graph()

    def number(self, attribute: str) -> int:
        """An integer attribute; 0 where it is omitted."""
        return self.node.attributes[attribute].as_int() if attribute in self.node.attributes else 0

    def numbers(self, attribute: str, count: int) -> Sequence[int]:
        """A list of integers, zeros where it is omitted."""
        return self.node.attributes[attribute].as_ints() if attribute in self.node.attributes else [0] * count

    def add(self, op_type: str, inputs: Sequence[ir.Value | None], **attributes: int) -> ir.Value:
        """Insert a node with one output."""
        made = ir.node(op_type, inputs, attributes, name=f"{self.node.name}/{op_type}")
        self._insert([made])
        return made.outputs[0]

    def constant(self, array: np.ndarray) -> ir.Value:
        """Insert a constant."""
        made = ir.node("Constant", [], {"value": ir.tensor(array)}, name=f"{self.node.name}/Constant")
        self._graph.insert_before(self.node, made)
        return made.outputs[0]

    def inline(self, body: ir.Graph, inputs: Sequence[ir.Value | None]) -> list[ir.Value]:
        """Insert the nodes of a copy of `body` applied to `inputs`; returns its outputs."""
        copy = body.clone(allow_outer_scope_values=True)
        actual: dict[ir.Value, ir.Value] = {}
        for formal, value in zip(copy.inputs, inputs, strict=True):
            assert value is not None
            actual[formal] = value
        for initializer in copy.initializers.values():
            assert initializer.const_value is not None
            actual[initializer] = self.constant(initializer.const_value.numpy())
        outputs = [actual.get(o, o) for o in copy.outputs]
        copy.outputs.clear()
        for formal, value in actual.items():
            formal.replace_all_uses_with(value)
        nodes = list(copy)
        copy.remove(nodes)
        self._insert(nodes)
        return outputs

    def close(self, results: Sequence[ir.Value]) -> None:
        """Let `results` take the place of the node's outputs, and remove it."""
        for old, new in zip(self.node.outputs, results, strict=True):
            ir.convenience.replace_all_uses_with(old, new, replace_graph_outputs=True)
        for attribute in self.node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                # What the bodies capture would count as used by them.
                for inner in ir.traversal.RecursiveGraphIterator(attribute.as_graph()):
                    for position in range(len(inner.inputs)):
                        inner.replace_input_with(position, None)
        self._graph.remove(self.node, safe=True)

    def _insert(self, nodes: Sequence[ir.Node]) -> None:
        self._made += len(nodes)
        if self._made > MAX_NODES:
            raise UnsupportedError(
                f"{describe(self.node)}: unrolled it has more than {MAX_NODES} nodes; "
                "make fewer iterations in the model"
            )
        self._graph.insert_before(self.node, nodes)


def _if(site: _Site) -> list[ir.Value] | None:
    condition = _known(site.node.inputs[0])
    if condition is None:
        return None
    return site.inline(site.body("then_branch" if condition.any() else "else_branch"), [])


def _loop(site: _Site) -> list[ir.Value] | None:
    """Iterate as long as the condition, which must be known, holds."""
    limit, condition, *carried = site.node.inputs
    trips = _FOREVER if limit is None else None if (known := _known(limit)) is None else int(known.item())
    goes_on = _truth(condition)
    if trips is None or goes_on is None:
        return None
    body = site.body("body")
    state: Sequence[ir.Value | None] = carried
    stacks: list[list[ir.Value]] = [[] for _ in range(len(body.outputs) - 1 - len(carried))]
    iteration = 0
    while iteration < trips and goes_on:
        results = site.inline(
            body, [site.constant(np.array(iteration, np.int64)), site.constant(np.array(True)), *state]
        )
        condition, state = results[0], results[1 : 1 + len(carried)]
        for stack, value in zip(stacks, results[1 + len(carried) :], strict=True):
            stack.append(value)
        iteration += 1
        goes_on = _truth(condition)
        if goes_on is None:
            raise UnsupportedError(
                f"{describe(site.node)}: whether it goes on after iteration {iteration} is not known before it runs; "
                "give it a constant trip count and condition"
            )
    outputs = [v for v in state if v is not None]
    return [*outputs, *(_stack(site, s, 0, o) for s, o in zip(stacks, body.outputs[1 + len(carried) :], strict=True))]


def _scan(site: _Site) -> list[ir.Value] | None:
    """One iteration for each element of the scanned axes."""
    count = site.number("num_scan_inputs")
    split = len(site.node.inputs) - count
    state, scanned = list(site.node.inputs[:split]), list(site.node.inputs[split:])
    if any(v is None or v.shape is None or not v.shape.is_static() for v in scanned):
        return None
    if site.number("batched"):
        return _batched_scan(site, state, scanned)
    return _scan_rows(site, state, scanned)


def _scan_rows(site: _Site, state: Sequence[ir.Value | None], scanned: Sequence[ir.Value | None]) -> list[ir.Value]:
    body = site.body("body")
    stacked = len(body.outputs) - len(state)
    axes = site.numbers("scan_input_axes", len(scanned))
    reverse = site.numbers("scan_input_directions", len(scanned))
    lengths = {v.shape[axis] for v, axis in zip(scanned, axes, strict=True)}  # type: ignore[union-attr, index]
    (length,) = (int(n) for n in lengths)  # type: ignore[arg-type]
    stacks: list[list[ir.Value]] = [[] for _ in range(stacked)]
    for step in range(length):
        rows = [
            site.add("Gather", [v, site.constant(np.array(length - 1 - step if back else step, np.int64))], axis=axis)
            for v, axis, back in zip(scanned, axes, reverse, strict=True)
        ]
        results = site.inline(body, [*state, *rows])
        state = results[: len(state)]
        for stack, value in zip(stacks, results[len(state) :], strict=True):
            stack.append(value)
    out_axes = site.numbers("scan_output_axes", stacked)
    out_reverse = site.numbers("scan_output_directions", stacked)
    outputs = [
        _stack(site, stack[::-1] if back else stack, axis, declared)
        for stack, axis, back, declared in zip(stacks, out_axes, out_reverse, body.outputs[len(state) :], strict=True)
    ]
    return [*(v for v in state if v is not None), *outputs]


def _batched_scan(site: _Site, state: Sequence[ir.Value | None], scanned: Sequence[ir.Value | None]) -> list[ir.Value]:
    """Opset 8: every row of the batch by itself."""
    (batch,) = {int(v.shape[0]) for v in scanned}  # type: ignore[union-attr, index, arg-type]
    rows = []
    for index in range(batch):
        row = site.constant(np.array(index, np.int64))
        one = [_row(site, v, row) for v in (*state, *scanned)]
        rows.append(_scan_rows(site, one[: len(state)], one[len(state) :]))
    return [_stack(site, list(values), 0, values[0]) for values in zip(*rows, strict=True)]


def _row(site: _Site, value: ir.Value | None, index: ir.Value) -> ir.Value:
    row = site.add("Gather", [value, index], axis=0)
    if value is not None and value.shape is not None:
        row.shape, row.type = ir.Shape(value.shape[1:]), value.type
    return row


def _stack(site: _Site, values: Sequence[ir.Value], axis: int, declared: ir.Value) -> ir.Value:
    """Values as one tensor along a new axis; without any, an empty tensor as the body declares it."""
    if not values:
        assert declared.dtype is not None
        inner = [] if declared.shape is None else [d if isinstance(d, int) else 0 for d in declared.shape]
        return site.constant(np.zeros([0, *inner], declared.dtype.numpy()))
    index = site.constant(np.array([axis], np.int64))
    return site.add("Concat", [site.add("Unsqueeze", [v, index]) for v in values], axis=axis)


def _truth(condition: ir.Value | None) -> bool | None:
    """A loop's condition; an omitted one always holds."""
    if condition is None:
        return True
    known = _known(condition)
    return None if known is None else bool(known.any())


def _known(value: ir.Value | None) -> np.ndarray | None:
    """The value of what is computed from constants alone, or None."""
    nodes: dict[ir.Node, None] = {}
    if value is None or not _collect(value, nodes):
        return None
    names: dict[ir.Value, str] = {}
    protos = []
    tensors = []
    for node in nodes:
        for source in node.inputs:
            if source is not None and source not in names:
                tensor = ir.convenience.get_const_tensor(source)
                assert tensor is not None
                names[source] = f"v{len(names)}"
                tensors.append(onnx.numpy_helper.from_array(tensor.numpy(), names[source]))
        proto = ir.serde.serialize_node(node)
        names |= {o: f"v{len(names) + k}" for k, o in enumerate(node.outputs)}
        proto.input[:] = ["" if v is None else names[v] for v in node.inputs]
        proto.output[:] = [names[o] for o in node.outputs]
        protos.append(proto)
    if not nodes:
        tensor = ir.convenience.get_const_tensor(value)
        return None if tensor is None else tensor.numpy()
    result = onnx.ValueInfoProto(name=names[value])
    graph = onnx.helper.make_graph(protos, "condition", [], [result], tensors)
    opset = value.graph.opset_imports if value.graph is not None else {}
    imports = [onnx.helper.make_opsetid(domain, version) for domain, version in opset.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)
    return run_reference(model, {}, plain=True)[names[value]]


def _collect(value: ir.Value, nodes: dict[ir.Node, None]) -> bool:
    """Add the nodes behind `value` in order; False where one depends on an input or there are too many."""
    if ir.convenience.get_const_tensor(value) is not None:
        return True
    node = value.producer()
    if node is None or len(nodes) >= _CONDITION_NODES or any(a.type in _GRAPHS for a in node.attributes.values()):
        return False
    if node not in nodes:
        if not all(v is None or _collect(v, nodes) for v in node.inputs):
            return False
        nodes[node] = None
    return True


_UNROLL: Mapping[str, Callable[[_Site], list[ir.Value] | None]] = {"If": _if, "Loop": _loop, "Scan": _scan}
