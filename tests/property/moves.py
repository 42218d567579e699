"""Nodes that move elements, of every element type, and what their tests draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from tests.property.harness import Array
from tests.property.nodes import Node

TYPES = ("float32", "float16", "bool", *(f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)))


@dataclass(frozen=True)
class Move(Node):
    """A node whose inputs at `typed` share one element type, of which it does not matter which.

    ONNX Runtime, which has few kernels for small types, computes with a wide type on numbers that all types hold.
    """

    typed: tuple[int, ...] = (0,)
    wide: str = "float32"

    def expected(self) -> tuple[Array, ...]:
        """Results of the wide type, converted back; positions stay int64."""
        inputs = tuple(
            a.astype(self.wide) if a is not None and k in self.typed else a for k, a in enumerate(self.inputs)
        )
        node = Node(self.op_type, inputs, self.attributes, self.outputs, self.constants)
        first = self.inputs[self.typed[0]]
        assert first is not None
        return tuple(a if a.dtype != self.wide else a.astype(first.dtype) for a in node.expected())


@st.composite
def shapes(draw: st.DrawFn, low: int = 0, high: int = 8, smallest: int = 1) -> list[int]:
    """Shapes of at most 2,048 elements, with sizes that are and are not multiples of 4."""
    shape: list[int] = []
    for _ in range(draw(st.integers(low, high))):
        room = 2048 // max(int(np.prod(shape)), 1)
        shape.append(draw(st.integers(smallest, max(min(room, 9), smallest))))
    return shape


def values(draw: st.DrawFn, shape: Sequence[int], dtype: str, high: int = 100) -> Array:
    """Whole numbers that `dtype` holds."""
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(0 if dtype.startswith("u") else -high, high, shape).astype(dtype)
