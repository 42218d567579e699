"""Mean of squares, square root, division and scale -> RMSNormalization (opset 23)."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
from onnxscript.rewriter.pattern import MatchResult, OrValue, RewriteRuleClassBase

from webinfer.fusions.rewrite import RuleFusion, constant, scalar, shape_of


class _RmsNorm(RewriteRuleClassBase):
    """Left decomposed, squares of values beyond 256 pass float16's largest value, 65504."""

    def pattern(self, op: Any, x: Any, axes: Any, two: Any, epsilon: Any, one: Any, scale: Any) -> Any:
        """Graph form."""
        square = OrValue([op.Pow(x, two), op.Mul(x, x)])
        root = op.Sqrt(op.Add(op.ReduceMean(square, axes), epsilon))
        inverse = OrValue([op.Reciprocal(root), op.Div(one, root)])
        return op.Mul(OrValue([op.Div(x, root), op.Mul(x, inverse)]), scale)

    def check(  # type: ignore[override]
        self,
        context: object,
        x: ir.Value,
        axes: ir.Value,
        epsilon: ir.Value,
        scale: ir.Value,
        two: ir.Value | None = None,
        one: ir.Value | None = None,
        **_: object,
    ) -> MatchResult:
        """The mean must run over the last axis alone, the scale along it."""
        result = MatchResult()
        shape = shape_of(x)
        array = constant(axes)
        if array is None or [int(a) % len(shape) for a in array.reshape(-1)] != [len(shape) - 1]:
            return result.fail("the mean is not over the last axis alone", axes)
        if two is not None and scalar(two) != 2.0:
            return result.fail("the values are not squared", two)
        if one is not None and scalar(one) != 1.0:
            return result.fail("the root is not inverted", one)
        if scalar(epsilon) is None:
            return result.fail("epsilon is not a constant scalar", epsilon)
        if shape_of(scale) != shape[-1:]:
            return result.fail(f"{scale.name} {list(shape_of(scale))} is not one value per column", scale)
        return result

    def rewrite(self, op: Any, x: ir.Value, epsilon: ir.Value, scale: ir.Value, **_: object) -> Any:
        """Standard operator."""
        return op.RMSNormalization(x, scale, axis=-1, epsilon=scalar(epsilon))


FUSION = RuleFusion("rms norm", 35, _RmsNorm(), marker=frozenset({"Sqrt"}), reach=4)
