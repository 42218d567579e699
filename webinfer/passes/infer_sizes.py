"""Shapes of all values as expressions over the symbols of the inputs, and what the sizes must meet for them to hold.

The rules of onnx-shape-inference compute on BoundedDims. Where a rule depends on elements of shape tensors, or on sizes
being equal, the rules here replace it: they hold at every size, or state a constraint that the runtime checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import onnx_ir as ir
from onnx_shape_inference import OpUsageError, ShapeInferenceContext, ShapeInferenceError, registry

from webinfer.dims import CONSTRAINTS, Constraint, as_dim, as_shape, is_known, sizes_of
from webinfer.passes.contract import describe
from webinfer.shape_data import evaluate, integers
from webinfer.symbols import Size, Sym, Undecided, bounds, broadcast_size, maximum, minimum, quotient


class Mismatch(Exception):
    """Operands that fit at no size."""


Constraints = dict[str, Constraint]
Rule = Callable[[ir.Node, Constraints], Sequence[Size] | None]


def infer_sizes(model: ir.Model) -> None:
    """Give every value the shape that its node implies, and note the elements of shape tensors (shape_data).

    What the node's operands leave unknown stays None or keeps a dimension without bounds.
    """
    registry.collect()
    context = ShapeInferenceContext(model.opset_imports, policy="override")
    constraints: Constraints = {}
    for node in model.graph:
        before = [(o.shape, o.type) for o in node.outputs]
        infer = registry.get(node.domain, node.op_type, version=model.opset_imports.get(node.domain, 1))
        if infer is not None:
            try:
                infer(context, node)
            except (OpUsageError, ShapeInferenceError, TypeError, ValueError, Undecided):
                for output, (shape, type_) in zip(node.outputs, before, strict=True):
                    output.shape, output.type = shape, type_
        rule = None if node.domain else _RULES.get(node.op_type)
        if rule is not None:
            sizes = _apply(rule, node, constraints)
            for output in node.outputs:
                output.shape = None if sizes is None else as_shape(sizes)
        evaluate(node)
        elements = integers(node.outputs[0]) if len(node.outputs) == 1 else None
        if elements is not None and elements.ndim <= 1:
            context.set_symbolic_value(node.outputs[0], [as_dim(v) for v in elements.reshape(-1)])
            node.outputs[0].metadata_props.clear()
            node.outputs[0].const_value = None
    model.graph.meta[CONSTRAINTS] = tuple(constraints.values())


def _apply(rule: Rule, node: ir.Node, constraints: Constraints) -> Sequence[Size] | None:
    try:
        return rule(node, constraints)
    except (Mismatch, Undecided):
        return None


def _sizes(value: ir.Value | None) -> tuple[Size, ...]:
    if value is None or value.shape is None or not is_known(value.shape):
        raise Mismatch
    return sizes_of(value.shape)


def _elements(node: ir.Node, index: int) -> list[Size] | None:
    """A flat shape operand; None where it is omitted. Raises Mismatch where its elements are not known."""
    if index >= len(node.inputs) or node.inputs[index] is None:
        return None
    array = integers(node.inputs[index])
    if array is None:
        raise Mismatch
    return list(array.reshape(-1))


def _require(zero: Size, text: str, constraints: Constraints) -> None:
    if isinstance(zero, Sym):
        constraints.setdefault(str(zero), Constraint(zero, text))
    elif zero != 0:
        raise Mismatch(text)


def _same(a: Size, b: Size, node: ir.Node, constraints: Constraints) -> Size:
    """Two sizes that must be equal."""
    if a == b:
        return a
    _require(a - b, f"{describe(node)} needs {a} = {b}", constraints)
    return min(a, b, key=lambda s: (isinstance(s, Sym), len(str(s))))


def _together(a: Size, b: Size, node: ir.Node, constraints: Constraints) -> Size:
    """Two sizes that are broadcast: equal, or one of them 1."""
    if a == b or (isinstance(b, int) and b == 1):
        return a
    if isinstance(a, int) and a == 1:
        return b
    low_a, low_b = bounds(a)[0], bounds(b)[0]
    if low_a > 1 and low_b > 1:
        return _same(a, b, node, constraints)
    zero = a - b
    for size, low in ((a, low_a), (b, low_b)):
        zero = zero * (size - 1) if low <= 1 else zero
    _require(zero, f"{describe(node)} broadcasts {a} with {b}: equal, or one of them 1", constraints)
    return broadcast_size(a, b)


def broadcast(shapes: Sequence[Sequence[Size]], node: ir.Node, constraints: Constraints) -> list[Size]:
    """The shape that `shapes` give together (numpy's rules)."""
    rank = max(map(len, shapes), default=0)
    result: list[Size] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            result[axis] = _together(result[axis], size, node, constraints)
    return result


def _broadcast(node: ir.Node, constraints: Constraints) -> list[Size]:
    return broadcast([_sizes(v) for v in node.inputs if v is not None], node, constraints)


def _expand(node: ir.Node, constraints: Constraints) -> list[Size]:
    return broadcast([_sizes(node.inputs[0]), _elements(node, 1) or []], node, constraints)


def _matmul(node: ir.Node, constraints: Constraints) -> list[Size]:
    a, b = _sizes(node.inputs[0]), _sizes(node.inputs[1])
    _same(a[-1], b[-2] if len(b) > 1 else b[0], node, constraints)
    batch = broadcast([a[:-2], b[:-2]], node, constraints)
    return [*batch, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ())]


def _concat(node: ir.Node, constraints: Constraints) -> list[Size]:
    shapes = [_sizes(v) for v in node.inputs]
    axis = node.attributes["axis"].as_int() % len(shapes[0])
    result = list(shapes[0])
    for shape in shapes[1:]:
        for d, size in enumerate(shape):
            result[d] = result[d] + size if d == axis else _same(result[d], size, node, constraints)
    return result


def _einsum(node: ir.Node, constraints: Constraints) -> list[Size]:
    terms, arrow, output = node.attributes["equation"].as_string().replace(" ", "").partition("->")
    if not arrow or "." in terms:
        return list(_sizes(node.outputs[0]))
    sizes: dict[str, Size] = {}
    for term, value in zip(terms.split(","), node.inputs, strict=True):
        for label, size in zip(term, _sizes(value), strict=True):
            sizes[label] = _together(sizes.get(label, 1), size, node, constraints)
    return [sizes[label] for label in output]


def _constant_of_shape(node: ir.Node, _: Constraints) -> list[Size] | None:
    return _elements(node, 0)


def _range(node: ir.Node, _: Constraints) -> list[Size]:
    (start,), (limit,), (delta,) = ([*(_elements(node, k) or [])] for k in range(3))
    return [maximum(-quotient(start - limit, delta), 0)]


def _slice(node: ir.Node, _: Constraints) -> list[Size]:
    sizes = list(_sizes(node.inputs[0]))
    starts, ends = _elements(node, 1) or [], _elements(node, 2) or []
    axes, steps = _elements(node, 3) or range(len(starts)), _elements(node, 4) or [1] * len(starts)
    for axis, start, end, step in zip(map(int, axes), starts, ends, map(int, steps), strict=True):
        size = sizes[axis]
        # Undecided where it depends on the size whether a place counts from the end.
        places = [v + size if v < 0 else v for v in (start, end)]
        low, high = (0, size) if step > 0 else (-1, size - 1)
        first, last = (minimum(maximum(v, low), high) for v in places)
        sizes[axis] = maximum(-quotient(first - last, step), 0)
    return sizes


def _pad(node: ir.Node, _: Constraints) -> list[Size]:
    sizes, pads = list(_sizes(node.inputs[0])), _elements(node, 1) or []
    axes = _elements(node, 3) or range(len(sizes))
    for k, axis in enumerate(map(int, axes)):
        sizes[axis] = sizes[axis] + pads[k] + pads[k + len(pads) // 2]
    return sizes


def _tile(node: ir.Node, _: Constraints) -> list[Size]:
    return [size * count for size, count in zip(_sizes(node.inputs[0]), _elements(node, 1) or [], strict=True)]


def _pool(node: ir.Node, _: Constraints) -> Sequence[Size]:
    """With ceil_mode the last window must begin in the image or the padding before it (ONNX's text of the pools)."""
    if "ceil_mode" not in node.attributes or not node.attributes["ceil_mode"].as_int():
        return _sizes(node.outputs[0])

    def ints(name: str, default: list[int]) -> Sequence[int]:
        return node.attributes[name].as_ints() if name in node.attributes else default

    x = _sizes(node.inputs[0])
    kernel = node.attributes["kernel_shape"].as_ints()
    rank = len(kernel)
    stride, dilation, pads = ints("strides", [1] * rank), ints("dilations", [1] * rank), ints("pads", [0] * 2 * rank)
    if "auto_pad" in node.attributes and node.attributes["auto_pad"].as_string() not in ("NOTSET", "VALID"):
        return _sizes(node.outputs[0])
    result = list(x[:2])
    for n, k, s, d, begin, end in zip(x[2:], kernel, stride, dilation, pads[:rank], pads[rank:], strict=True):
        windows = -quotient(-(n + begin + end - d * (k - 1) - 1), s) + 1
        result.append(minimum(windows, -quotient(-(n + begin), s)))
    return result


def _same_as_input(node: ir.Node, _: Constraints) -> Sequence[Size]:
    return _sizes(node.inputs[0])


_BROADCAST = (
    *("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Min", "Max", "Mean", "Sum", "Where", "PRelu", "BitShift"),
    *("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor"),
)
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_BROADCAST, _broadcast),
    "Expand": _expand,
    "MatMul": _matmul,
    "Concat": _concat,
    "Einsum": _einsum,
    "ConstantOfShape": _constant_of_shape,
    "Range": _range,
    "Pad": _pad,
    "Slice": _slice,
    "Tile": _tile,
    "GroupNormalization": _same_as_input,
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _pool),
}
