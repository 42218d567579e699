"""Comparison with the reference, and the bars that verification holds outputs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from webinfer.errors import CheckFailed

# Largest absolute difference from ONNX Runtime CPU per precision of the program that ran.
BARS = {"fp32": 1e-3, "fp16": 2e-2}

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Difference:
    """How far a tensor is from its reference.

    max_abs: largest absolute difference over the elements that are finite in both. mismatched: elements that are
    non-finite in one of the two and not the same in both; any makes the comparison fail.
    """

    name: str
    max_abs: float
    largest: float
    mismatched: int

    def holds(self, bar: float) -> bool:
        """True where every element is comparable and within `bar`."""
        return self.mismatched == 0 and self.max_abs <= bar


def compare(name: str, expected: Array, found: Array) -> Difference:
    """Compare in float64. Raises CheckFailed where the shapes differ."""
    if expected.shape != found.shape:
        raise CheckFailed(f"{name}: expected shape {list(expected.shape)}, found {list(found.shape)}")
    a, b = expected.astype(np.float64), found.astype(np.float64)
    comparable = np.isfinite(a) & np.isfinite(b)
    # Equal infinities are a result; NaN never is, not even against NaN.
    same = ~comparable & (a == b)
    difference = np.abs(np.subtract(a, b, where=comparable, out=np.zeros_like(a)))
    return Difference(
        name=name,
        max_abs=float(difference.max(initial=0.0)),
        largest=float(np.abs(a, where=np.isfinite(a), out=np.zeros_like(a)).max(initial=0.0)),
        mismatched=int(a.size - comparable.sum() - same.sum()),
    )


def compare_all(expected: Mapping[str, Array], found: Mapping[str, Array]) -> list[Difference]:
    """Compare every expected tensor. Raises CheckFailed where one is missing."""
    missing = [name for name in expected if name not in found]
    if missing:
        raise CheckFailed(f"outputs {', '.join(missing)} are missing; found {', '.join(found) or 'none'}")
    return [compare(name, value, found[name]) for name, value in expected.items()]
