"""Text of integer expressions: dimensions of ONNX models and numbers of manifests that depend on sizes.

The runtime reads the same grammar (js_runtime/src/expressions.ts): integers, names, + - * // %, parentheses, min(a, b),
max(a, b), with Python's precedences; // and % round towards minus infinity, and are no error for a divisor 0.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from webinfer.symbols import Size, Sym, maximum, minimum, quotient, remainder

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: quotient,
    ast.Mod: remainder,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {"min": minimum, "max": maximum}


def extent(size: Size) -> int | str:
    """What a manifest holds for a size: the number, or the text of its expression."""
    return str(size) if isinstance(size, Sym) else size


def parse(text: str, sizes: Mapping[str, Size]) -> Size:
    """The value that `str` of a Sym, or a dimension of an ONNX model, describes in terms of `sizes`.

    Raises ValueError where the text is no expression, KeyError for an unknown name.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as fault:
        raise ValueError(f"{text!r} is no integer expression") from fault
    return _walk(tree, text, sizes)


def _walk(tree: ast.expr, text: str, sizes: Mapping[str, Size]) -> Size:
    match tree:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -1 * _walk(operand, text, sizes)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_walk(left, text, sizes), _walk(right, text, sizes))  # type: ignore[no-any-return]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            return _FUNCTIONS[name](*(_walk(a, text, sizes) for a in args))  # type: ignore[no-any-return]
        case _:
            raise ValueError(f"{text!r} is no integer expression of + - * // % min max")
