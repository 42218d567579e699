"""Small integer tensors whose elements depend only on the sizes of the inputs: shapes, and what is computed from them.

Elements are ints or Syms in numpy arrays of objects, so that numpy's own indexing and arithmetic evaluate the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from webinfer.dims import is_known, sizes_of
from webinfer.symbols import Sym, Undecided, bounds, maximum, minimum, quotient, remainder

Array = np.ndarray[Any, np.dtype[Any]]
META = "webinfer.integers"  # where a value's elements lie in ir.Value.meta
MOST = 64  # larger tensors are data, not shapes
_NUMBERS = frozenset(
    {"INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "BOOL", "FLOAT", "FLOAT16", "DOUBLE"}
)


class Unknown(Exception):
    """The node's result is not known before the model runs."""


def integers(value: ir.Value | None) -> Array | None:
    """The elements of `value` as an array of ints and Syms; None where they are not known or no integers."""
    if value is None:
        return None
    if META in value.meta:
        return value.meta[META]  # type: ignore[no-any-return]
    tensor = value.const_value if value.is_initializer() else None
    if tensor is None or tensor.size > MOST or tensor.dtype.name not in _NUMBERS:
        return None
    array = tensor.numpy()
    whole = np.isfinite(array).all() and (array == np.floor(array)).all() if array.dtype.kind == "f" else True
    return np.array([int(v) for v in array.reshape(-1)], object).reshape(array.shape) if whole else None


def evaluate(node: ir.Node) -> None:
    """Note the elements of the node's results where they are known."""
    for output in node.outputs:
        output.meta.pop(META, None)
    rule = _RULES.get(node.op_type)
    if rule is None or node.domain or len(node.outputs) != 1:
        return
    try:
        result = np.asarray(rule(node), object)
    except (Unknown, Undecided):
        return
    if result.size <= MOST:
        node.outputs[0].meta[META] = result


def _read(node: ir.Node, index: int) -> Array:
    array = integers(node.inputs[index]) if index < len(node.inputs) else None
    if array is None:
        raise Unknown
    return array


def _optional(node: ir.Node, index: int) -> Array | None:
    return _read(node, index) if index < len(node.inputs) and node.inputs[index] is not None else None


def _plain(node: ir.Node, index: int) -> list[int] | None:
    """An operand that must be plain integers, flattened."""
    array = _optional(node, index)
    return None if array is None else [int(v) for v in array.reshape(-1)]


def _attribute(node: ir.Node, name: str, default: int) -> int:
    return node.attributes[name].as_int() if name in node.attributes else default


def _shape(node: ir.Node) -> Array:
    (value,) = node.inputs
    if value is None or value.shape is None or not is_known(value.shape):
        raise Unknown
    return _objects(sizes_of(value.shape))


def _objects(values: Sequence[Any]) -> Array:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _shape_slice(node: ir.Node) -> Array:
    sizes = _shape(node)
    return sizes[_attribute(node, "start", 0) : _attribute(node, "end", len(sizes))]


def _gather(node: ir.Node) -> Array:
    data, axis = _read(node, 0), _attribute(node, "axis", 0)
    places = np.array([int(v) for v in _read(node, 1).reshape(-1)], np.int64).reshape(_read(node, 1).shape)
    return np.asarray(np.take(data, places, axis=axis), object)


def _slice(node: ir.Node) -> Array:
    data, starts, ends = _read(node, 0), _plain(node, 1), _plain(node, 2)
    assert starts is not None
    assert ends is not None
    axes, steps = _plain(node, 3) or range(len(starts)), _plain(node, 4) or [1] * len(starts)
    places = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first, last, stride = slice(start, end, step).indices(data.shape[axis])
        places[axis] = slice(first, last if last >= 0 else None, stride)
    return data[tuple(places)]


def _unsqueeze(node: ir.Node) -> Array:
    data, axes = _read(node, 0), _plain(node, 1) or []
    rank = data.ndim + len(axes)
    added = {a % rank for a in axes}
    sizes = iter(data.shape)
    return data.reshape([1 if d in added else next(sizes) for d in range(rank)])


def _squeeze(node: ir.Node) -> Array:
    data, axes = _read(node, 0), _plain(node, 1)
    return np.squeeze(data, axis=None if axes is None else tuple(axes))


def _reshape(node: ir.Node) -> Array:
    data, to = _read(node, 0), _plain(node, 1)
    assert to is not None
    return data.reshape([data.shape[d] if size == 0 else size for d, size in enumerate(to)])


def _range(node: ir.Node) -> Array:
    start, limit, delta = (int(_read(node, k).reshape(-1)[0]) for k in range(3))
    return _objects(list(range(start, limit, delta)))


def _filled(node: ir.Node) -> Array:
    tensor = node.attributes["value"].as_tensor().numpy() if "value" in node.attributes else np.zeros(1)
    if tensor.reshape(-1)[0] != int(tensor.reshape(-1)[0]):
        raise Unknown
    to = _plain(node, 0)
    assert to is not None
    return np.full(to, int(tensor.reshape(-1)[0]), object)


def _cast(node: ir.Node) -> Array:
    if ir.DataType(node.attributes["to"].as_int()).name not in _NUMBERS - {"BOOL"}:
        raise Unknown
    return _read(node, 0)


def _divide(node: ir.Node) -> Array:
    """ONNX truncates, quotients round down: they agree for sizes, which are not negative. Floats divide exactly."""
    floating = node.outputs[0].dtype is not None and node.outputs[0].dtype.is_floating_point()

    def divide(a: Any, b: Any) -> Any:
        if bounds(a)[0] < 0 or bounds(b)[0] <= 0 or (floating and remainder(a, b) != 0):
            raise Unknown
        return quotient(a, b)

    return _each(node, divide)


def _modulo(node: ir.Node) -> Array:
    def modulo(a: Any, b: Any) -> Any:
        if bounds(a)[0] < 0 or bounds(b)[0] <= 0:
            raise Unknown
        return remainder(a, b)

    return _each(node, modulo)


def _compare(decide: Callable[[Any, Any], bool]) -> Callable[[ir.Node], Array]:
    return lambda node: _each(node, lambda a, b: int(decide(a, b)))


def _equal(a: Any, b: Any) -> bool:
    if a == b:
        return True
    low, high = bounds(a - b)
    if low <= 0 <= high and (isinstance(a, Sym) or isinstance(b, Sym)):
        raise Unknown
    return False


def _each(node: ir.Node, fn: Callable[..., Any]) -> Array:
    """Apply a function of two elements, chained over more inputs, with broadcasting."""
    result = _read(node, 0)
    for k in range(1, len(node.inputs)):
        a, b = np.broadcast_arrays(result, _read(node, k))
        result = _objects([fn(x, y) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)]).reshape(a.shape)
    return result


def _where(node: ir.Node) -> Array:
    condition, a, b = np.broadcast_arrays(_read(node, 0), _read(node, 1), _read(node, 2))
    picked = [x if int(c) else y for c, x, y in zip(condition.flat, a.flat, b.flat, strict=True)]
    return _objects(picked).reshape(condition.shape)


def _reduce(combine: Callable[[Any, Any], Any], initial: int | None) -> Callable[[ir.Node], Array]:
    def rule(node: ir.Node) -> Array:
        data, axes = _read(node, 0), _plain(node, 1)
        if data.ndim > 1 or (axes is None and _attribute(node, "noop_with_empty_axes", 0)):
            raise Unknown
        values = list(data.reshape(-1))
        if initial is None and not values:
            raise Unknown
        result = values.pop(0) if initial is None else initial
        for value in values:
            result = combine(result, value)
        return _objects([result]).reshape([1] * data.ndim if _attribute(node, "keepdims", 1) else [])

    return rule


_RULES: Mapping[str, Callable[[ir.Node], Array]] = {
    "Shape": _shape_slice,
    "Size": lambda node: np.asarray(np.multiply.reduce(_shape(node), initial=1), object),
    "Gather": _gather,
    "Slice": _slice,
    "Concat": lambda n: np.concatenate([_read(n, k) for k in range(len(n.inputs))], axis=n.attributes["axis"].as_int()),
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Reshape": _reshape,
    "Expand": lambda node: np.broadcast_to(
        _read(node, 0), np.broadcast_shapes(_read(node, 0).shape, tuple(_plain(node, 1) or ()))
    ),
    "Tile": lambda node: np.tile(_read(node, 0), _plain(node, 1) or []),
    "Transpose": lambda node: np.transpose(
        _read(node, 0), node.attributes["perm"].as_ints() if "perm" in node.attributes else None
    ),
    "Range": _range,
    "ConstantOfShape": _filled,
    "Identity": lambda node: _read(node, 0),
    "Cast": _cast,
    "Floor": lambda node: _read(node, 0),
    "Ceil": lambda node: _read(node, 0),
    "Round": lambda node: _read(node, 0),
    "Neg": lambda node: -_read(node, 0),
    "Add": lambda node: _each(node, lambda a, b: a + b),
    "Sub": lambda node: _each(node, lambda a, b: a - b),
    "Mul": lambda node: _each(node, lambda a, b: a * b),
    "Div": _divide,
    "Mod": _modulo,
    "Min": lambda node: _each(node, minimum),
    "Max": lambda node: _each(node, maximum),
    "Equal": _compare(_equal),
    "Less": _compare(lambda a, b: a < b),
    "LessOrEqual": _compare(lambda a, b: a <= b),
    "Greater": _compare(lambda a, b: a > b),
    "GreaterOrEqual": _compare(lambda a, b: a >= b),
    "Not": lambda node: np.asarray(1 - _read(node, 0), object),
    "And": lambda node: _each(node, lambda a, b: int(bool(a) and bool(b))),
    "Or": lambda node: _each(node, lambda a, b: int(bool(a) or bool(b))),
    "Where": _where,
    "ReduceProd": _reduce(lambda a, b: a * b, 1),
    "ReduceSum": _reduce(lambda a, b: a + b, 0),
    "ReduceMin": _reduce(minimum, None),
    "ReduceMax": _reduce(maximum, None),
}
