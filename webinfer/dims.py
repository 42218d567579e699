"""Dimensions of the graph as sizes to compute with: plain integers, and expressions over bounded symbols.

A `BoundedDim` carries its expression through every pass that keeps shapes; written to a file it is its text, so that
the model stays portable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import onnx_ir as ir

from webinfer.symbols import Size, Sym, Symbol, quotient

CONSTRAINTS = "webinfer.constraints"  # where a graph's constraints lie in ir.Graph.meta


class BoundedDim(ir.SymbolicDim):
    """A dimension that depends on symbols. Arithmetic is that of its size."""

    __slots__ = ("size",)

    def __init__(self, size: Sym) -> None:
        super().__init__(str(size))
        self.size = size

    def _with(self, other: Any, op: str) -> Any:
        if isinstance(other, ir.SymbolicDim) and not isinstance(other, BoundedDim):
            return other  # of unknown size, and so is the result
        value = other.size if isinstance(other, BoundedDim) else other
        return as_dim(getattr(self.size, op)(value))

    def __add__(self, other: Any) -> Any:
        return self._with(other, "__add__")

    def __radd__(self, other: Any) -> Any:
        return self._with(other, "__radd__")

    def __sub__(self, other: Any) -> Any:
        return self._with(other, "__sub__")

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, "__rsub__")

    def __mul__(self, other: Any) -> Any:
        return self._with(other, "__mul__")

    def __rmul__(self, other: Any) -> Any:
        return self._with(other, "__rmul__")

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, "__floordiv__")

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, "__rfloordiv__")

    def __mod__(self, other: Any) -> Any:
        return self._with(other, "__mod__")

    def __neg__(self) -> Any:
        return as_dim(-self.size)

    def __truediv__(self, other: Any) -> Any:
        return _Ratio(self.size, other.size if isinstance(other, BoundedDim) else other)


class _Ratio:
    """A quotient on its way to math.ceil or math.floor."""

    def __init__(self, a: Size, b: Size) -> None:
        self._a, self._b = a, b

    def __ceil__(self) -> Any:
        return as_dim(-quotient(-self._a, self._b))

    def __floor__(self) -> Any:
        return as_dim(quotient(self._a, self._b))


def as_dim(size: Size) -> int | BoundedDim:
    """The dimension of a size."""
    return BoundedDim(size) if isinstance(size, Sym) else size


def as_shape(sizes: Iterable[Size]) -> ir.Shape:
    """The shape of sizes."""
    return ir.Shape([as_dim(s) for s in sizes])


def is_known(shape: ir.Shape | None) -> bool:
    """Whether every dimension is an integer or an expression over bounded symbols."""
    return shape is not None and all(isinstance(d, (int, BoundedDim)) for d in shape)


def sizes_of(shape: ir.Shape) -> tuple[int, ...]:
    """The sizes of a known shape; type checkers take a Sym for an int, as lowerings do."""
    return tuple(cast("int", d.size if isinstance(d, BoundedDim) else d) for d in shape)


def symbols_of(values: Sequence[ir.Value]) -> dict[str, Symbol]:
    """All symbols in the shapes of `values`, in order of appearance."""
    found: dict[str, Symbol] = {}
    for dim in (d for value in values for d in value.shape or ()):
        if isinstance(dim, BoundedDim):
            found |= {name: s for name, s in dim.size.symbols.items() if name not in found}
    return found


@dataclass(frozen=True)
class Constraint:
    """What sizes must meet for the inferred shapes to hold: `zero` is 0; `text` says it for people."""

    zero: Sym
    text: str


def constraints_of(model: ir.Model) -> tuple[Constraint, ...]:
    """What the inference of shapes asked of the sizes."""
    return tuple(model.graph.meta.get(CONSTRAINTS, ()))
