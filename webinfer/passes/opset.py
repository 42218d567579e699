"""Brings operators of older opsets to the form that they have at a newer one; each entry is one change of an operator.

Facts come from the operators' changelog (onnx/docs/Changelog.md). Operators that only gained attributes with a neutral
default, inputs or types need no entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir

from webinfer.errors import UnsupportedError
from webinfer.passes.contract import describe

# Older models are read as well, where none of their operators changed up to this opset.
OLDEST = 6
# What the models become whose opset is older: what peers that read the portable model know.
TARGET = 23
NEWEST = onnx.defs.onnx_opset_version()


@dataclass(frozen=True)
class Site:
    """A node under conversion. New nodes go in front of it; constants become Constant nodes."""

    node: ir.Node
    version: int

    def constant(self, values: Sequence[int] | Sequence[float] | float, dtype: ir.DataType) -> ir.Value:
        """A constant: a list is 1-D, a number a scalar."""
        tensor = ir.tensor(np.array(values, dtype.numpy()))
        return self.add("Constant", [], value=tensor)

    def like(self, value: float, source: ir.Value | None) -> ir.Value:
        """A scalar of the element type of `source`."""
        if source is not None and source.dtype is not None:
            return self.constant(value, source.dtype)
        return self.add("CastLike", [self.constant(value, ir.DataType.FLOAT), source])

    def ints(self, values: Sequence[int]) -> ir.Value:
        """A 1-D int64 constant."""
        return self.constant(list(values), ir.DataType.INT64)

    def add(self, op_type: str, inputs: Sequence[ir.Value | None], **attributes: object) -> ir.Value:
        """Insert a node with one output."""
        made = ir.node(op_type, inputs, attributes, name=f"{self.node.name or self.node.op_type}/{op_type}")  # type: ignore[arg-type]
        self.graph.insert_before(self.node, made)
        return made.outputs[0]

    def take(self, name: str) -> ir.Attr | None:
        """Remove an attribute and return it."""
        return self.node.attributes.pop(name, None)

    def inputs(self, values: Sequence[ir.Value | None]) -> None:
        """Replace all inputs."""
        self.node.resize_inputs(len(values))
        for position, value in enumerate(values):
            self.node.replace_input_with(position, value)

    def unused_outputs(self, first: int, why: str) -> None:
        """Drop the outputs from `first` on. Raises UnsupportedError where one is used."""
        if any(o.uses() or o.is_graph_output() for o in self.node.outputs[first:]):
            raise UnsupportedError(f"{describe(self.node)}: {why}")
        if len(self.node.outputs) > first:
            self.node.resize_outputs(first)

    @property
    def rank(self) -> int | None:
        """Rank of the first input."""
        shape = self.node.inputs[0].shape if self.node.inputs and self.node.inputs[0] is not None else None
        return None if shape is None else len(shape)

    @property
    def graph(self) -> ir.Graph | ir.Function:
        """Where the node is."""
        assert self.node.graph is not None
        return self.node.graph


Adapter = Callable[[Site], None]


def upgrade(nodes: ir.Graph | ir.Function, source: int) -> int:
    """Convert all nodes, those of subgraphs too, from opset `source` in place. Returns how many changed."""
    changed = 0
    for node in list(ir.traversal.RecursiveGraphIterator(nodes)):
        if node.domain not in ("", "ai.onnx"):
            continue
        if source < OLDEST and _since(node, source) != _since(node, OLDEST):
            raise UnsupportedError(f"{describe(node)} of opset {source}: re-export the model with opset 7 or newer")
        for until, op_types, adapter in ADAPTERS:
            if source < until and node.op_type in op_types.split():
                adapter(Site(node, source))
                changed += 1
    return changed


def _since(node: ir.Node, version: int) -> int:
    """The opset at which an operator got the form that it has at `version`; 0 where there is none."""
    try:
        return int(onnx.defs.get_schema(node.op_type, version).since_version)
    except onnx.defs.SchemaError:
        return 0


def _to_input(attribute: str, position: int) -> Adapter:
    """An attribute with a list of ints became the input at `position`; omitted stays omitted."""

    def adapt(site: Site) -> None:
        value = site.take(attribute)
        if value is None:
            return
        inputs = [*site.node.inputs[:position], *[None] * (position - len(site.node.inputs))]
        site.inputs([*inputs, site.ints(value.as_ints())])

    return adapt


def _dropout(site: Site) -> None:
    """The ratio matters in training only, which older versions never do."""
    site.take("ratio")


def _clip(site: Site) -> None:
    low, high = site.take("min"), site.take("max")
    source = site.node.inputs[0]
    site.inputs([source, *(None if b is None else site.like(b.as_float(), source) for b in (low, high))])


def _pad(site: Site) -> None:
    pads, value = site.take("pads"), site.take("value")
    source = site.node.inputs[0]
    assert pads is not None
    site.inputs([source, site.ints(pads.as_ints()), site.like(0.0 if value is None else value.as_float(), source)])


def _slice(site: Site) -> None:
    starts, ends, axes = site.take("starts"), site.take("ends"), site.take("axes")
    assert starts is not None
    assert ends is not None
    extra = [] if axes is None else [site.ints(axes.as_ints())]
    site.inputs([site.node.inputs[0], site.ints(starts.as_ints()), site.ints(ends.as_ints()), *extra])


def _topk(site: Site) -> None:
    k = site.take("k")
    assert k is not None
    site.inputs([site.node.inputs[0], site.ints([k.as_int()])])


def _upsample(site: Site) -> None:
    scales = site.take("scales")
    if scales is not None:
        site.inputs([site.node.inputs[0], site.constant(list(scales.as_floats()), ir.DataType.FLOAT)])
    site.node.op_type = "Resize"


def _resize(site: Site) -> None:
    """Version 10 has neither roi nor sizes, and addresses pixels by index / scale; nearest rounds towards 0.

    ONNX Runtime, which wrote the text's only implementation, rounds up where it shrinks; both agree on whole factors.
    """
    data, scales = site.node.inputs
    site.inputs([data, None, scales])
    mode = site.node.attributes.get("mode")
    site.node.attributes["coordinate_transformation_mode"] = ir.AttrString(
        "coordinate_transformation_mode", "asymmetric"
    )
    if mode is None or mode.as_string() == "nearest":
        known = (
            None if scales is None or (tensor := ir.convenience.get_const_tensor(scales)) is None else tensor.numpy()
        )
        shrinks = known is not None and bool((known < 1).any())
        if shrinks and known is not None and bool((known > 1).any()):
            raise UnsupportedError(
                f"{describe(site.node)}: shrinks one axis and enlarges another: use opset 11 or newer"
            )
        site.node.attributes["nearest_mode"] = ir.AttrString("nearest_mode", "ceil" if shrinks else "floor")


def _flattening(site: Site) -> None:
    """Up to 12 the input is a matrix, its rows ending before `axis`; from 13 on the operator works along one axis."""
    axis = site.node.attributes["axis"].as_int() if "axis" in site.node.attributes else 1
    rank = site.rank
    site.node.attributes["axis"] = ir.AttrInt64("axis", -1)
    if rank is not None and axis in (rank - 1, -1):
        return
    source = site.node.inputs[0]
    shape = site.add("Shape", [source])
    site.inputs([site.add("Flatten", [source], axis=axis)])
    output = site.node.outputs[0]
    restored = ir.node("Reshape", [output, shape], name=f"{site.node.name or site.node.op_type}/Reshape")
    site.graph.insert_after(site.node, restored)
    ir.convenience.replace_all_uses_with(output, restored.outputs[0], replace_graph_outputs=True)
    restored.replace_input_with(0, output)
    output.name, restored.outputs[0].name = f"{output.name}/rows", output.name
    restored.outputs[0].type, restored.outputs[0].shape, output.shape = output.type, output.shape, None


def _split(site: Site) -> None:
    """Without sizes, the number of parts is that of the outputs; it was not written down."""
    if len(site.node.inputs) < 2 or site.node.inputs[1] is None:
        site.node.attributes["num_outputs"] = ir.AttrInt64("num_outputs", len(site.node.outputs))


def _batch_norm(site: Site) -> None:
    spatial = site.take("spatial")
    if spatial is not None and spatial.as_int() == 0:
        raise UnsupportedError(f"{describe(site.node)}: spatial=0 was dropped in opset 9; export the model again")
    site.unused_outputs(1, "statistics are computed in training only; export the model for inference")


def _roi_align(site: Site) -> None:
    name = "coordinate_transformation_mode"
    site.node.attributes.setdefault(name, ir.AttrString(name, "output_half_pixel"))


def _grid_sample(site: Site) -> None:
    mode = site.node.attributes.get("mode")
    renamed = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}
    site.node.attributes["mode"] = ir.AttrString("mode", renamed["bilinear" if mode is None else mode.as_string()])


def _dft(site: Site) -> None:
    axis = site.take("axis")
    length = site.node.inputs[1] if len(site.node.inputs) > 1 else None
    index = site.constant(1 if axis is None else axis.as_int(), ir.DataType.INT64)
    site.inputs([site.node.inputs[0], length, index])


def _group_norm(site: Site) -> None:
    """Scale and bias of a group became those of each of its channels."""
    source, *factors = site.node.inputs
    groups = site.node.attributes["num_groups"].as_int()
    channels = site.add("Shape", [source], start=1, end=2)
    each = site.add("Div", [channels, site.ints([groups])])
    sizes = site.add("Concat", [site.ints([groups]), each], axis=0)
    column = site.ints([groups, 1])
    rows = [site.add("Expand", [site.add("Reshape", [f, column]), sizes]) for f in factors]
    site.inputs([source, *(site.add("Reshape", [row, site.ints([-1])]) for row in rows)])


def _scatter(site: Site) -> None:
    site.node.op_type = "ScatterElements"


def _broadcast(site: Site) -> None:
    """The second operand aligned with `axis` of the first; from 7 on they align at the end."""
    site.take("broadcast")
    axis = site.take("axis")
    first, second = site.node.inputs
    if axis is None or axis.as_int() == -1:
        return
    if first is None or first.shape is None or second is None or second.shape is None:
        raise UnsupportedError(f"{describe(site.node)}: broadcasts along an axis of a value without a shape")
    place = axis.as_int() % len(first.shape)
    missing = len(first.shape) - place - len(second.shape)
    if missing > 0:
        rank = len(second.shape)
        site.inputs([first, site.add("Unsqueeze", [second, site.ints(range(rank, rank + missing))])])


def _slopes(site: Site) -> None:
    """One slope for each channel."""
    source, slope = site.node.inputs
    if source is None or source.shape is None or slope is None or slope.shape is None:
        raise UnsupportedError(f"{describe(site.node)}: slopes of channels of a value without a shape")
    if len(slope.shape) == 1 and slope.shape[0] != 1 and len(source.shape) > 2:
        site.inputs([source, site.add("Unsqueeze", [slope, site.ints(range(1, len(source.shape) - 1))])])


def _inference(site: Site) -> None:
    """Versions below 7 asked for inference by an attribute."""
    site.take("is_test")


def _gemm(site: Site) -> None:
    site.take("broadcast")


def _batched_scan(site: Site) -> None:
    """Version 8 scans the second axis of every row of a batch; sequence lengths come first."""
    if site.node.inputs[0] is not None:
        raise UnsupportedError(f"{describe(site.node)}: sequence_lens was dropped in opset 9; export the model again")
    site.inputs(site.node.inputs[1:])
    directions = site.take("directions")
    if directions is not None:
        site.node.attributes["scan_input_directions"] = ir.AttrInt64s("scan_input_directions", directions.as_ints())
    site.node.attributes["batched"] = ir.AttrInt64("batched", 1)


_REDUCTIONS = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare"
# (opset that changed them, operators, how a node of an older opset becomes one of that opset), oldest first.
ADAPTERS: Sequence[tuple[int, str, Adapter]] = (
    (7, "Add Sub Mul Div Pow And Or Xor Equal Less Greater", _broadcast),
    (7, "Gemm", _gemm),
    (7, "PRelu", _slopes),
    (7, "Dropout BatchNormalization", _inference),
    (9, "Scan", _batched_scan),
    (10, "Upsample", _upsample),
    (10, "Slice", _slice),
    (10, "TopK", _topk),
    (11, "Clip", _clip),
    (11, "Pad", _pad),
    (11, "Resize", _resize),
    (11, "Scatter", _scatter),
    (12, "Dropout", _dropout),
    (13, "Softmax LogSoftmax Hardmax", _flattening),
    (13, "Squeeze Unsqueeze ReduceSum", _to_input("axes", 1)),
    (13, "Split", _to_input("split", 1)),
    (14, "BatchNormalization", _batch_norm),
    (16, "RoiAlign", _roi_align),
    (18, _REDUCTIONS, _to_input("axes", 1)),
    (18, "Split", _split),
    (20, "GridSample", _grid_sample),
    (20, "DFT", _dft),
    (21, "GroupNormalization", _group_norm),
)
