"""The error-function and tanh forms of GELU -> Gelu (opset 20)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import onnx_ir as ir
from onnxscript.rewriter.pattern import MatchResult, OrValue, RewriteRuleClassBase

from webinfer.fusions.rewrite import RuleFusion, scalar


def _wrong(**values: tuple[ir.Value | None, float]) -> MatchResult:
    """A failed result naming the first constant that is not what GELU has there."""
    result = MatchResult()
    for name, (value, expected) in values.items():
        found = scalar(value)
        if value is not None and (found is None or not math.isclose(found, expected, rel_tol=1e-4)):
            return result.fail(f"{name} is {found}, GELU has {expected:.6g}", value)
    return result


# The three ways to place the half in x * gate / 2.
_HALVES: tuple[Callable[[Any, Any, Any, Any], Any], ...] = (
    lambda op, x, gate, half: op.Mul(op.Mul(x, gate), half),
    lambda op, x, gate, half: op.Mul(op.Mul(x, half), gate),
    lambda op, x, gate, half: op.Mul(x, op.Mul(gate, half)),
)


class _Gelu(RewriteRuleClassBase):
    """A form of GELU with the half in one of its places."""

    def __init__(self, place: Callable[[Any, Any, Any, Any], Any]) -> None:
        super().__init__()
        self._place = place


class _ErfGelu(_Gelu):
    """x * (1 + erf(x / sqrt(2))) / 2."""

    def pattern(self, op: Any, x: Any, root: Any, inverse: Any, one: Any, half: Any) -> Any:
        """Graph form."""
        error = op.Add(op.Erf(OrValue([op.Div(x, root), op.Mul(x, inverse)])), one)
        return self._place(op, x, error, half)

    def check(  # type: ignore[override]
        self,
        context: object,
        one: ir.Value,
        half: ir.Value,
        root: ir.Value | None = None,
        inverse: ir.Value | None = None,
        **_: object,
    ) -> MatchResult:
        """Constants as in the definition."""
        return _wrong(one=(one, 1.0), half=(half, 0.5), root=(root, math.sqrt(2.0)), inverse=(inverse, math.sqrt(0.5)))

    def rewrite(self, op: Any, x: ir.Value, **_: object) -> Any:
        """Standard operator."""
        return op.Gelu(x)


class _TanhGelu(_Gelu):
    """x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2 (Hendrycks and Gimpel, 2016)."""

    def pattern(self, op: Any, x: Any, three: Any, cubic: Any, factor: Any, one: Any, half: Any) -> Any:
        """Graph form."""
        cube = OrValue([op.Pow(x, three), op.Mul(op.Mul(x, x), x)])
        inner = op.Mul(op.Add(x, op.Mul(cube, cubic)), factor)
        gate = op.Add(op.Tanh(inner), one)
        return self._place(op, x, gate, half)

    def check(  # type: ignore[override]
        self,
        context: object,
        cubic: ir.Value,
        factor: ir.Value,
        one: ir.Value,
        half: ir.Value,
        three: ir.Value | None = None,
        **_: object,
    ) -> MatchResult:
        """Constants as in the definition."""
        return _wrong(
            three=(three, 3.0),
            cubic=(cubic, 0.044715),
            factor=(factor, math.sqrt(2.0 / math.pi)),
            one=(one, 1.0),
            half=(half, 0.5),
        )

    def rewrite(self, op: Any, x: ir.Value, **_: object) -> Any:
        """Standard operator."""
        return op.Gelu(x, approximate="tanh")


FUSION = RuleFusion(
    "gelu",
    40,
    *(form(place) for form in (_ErfGelu, _TanhGelu) for place in _HALVES),
    marker=frozenset({"Erf", "Tanh"}),
    reach=3,
)
