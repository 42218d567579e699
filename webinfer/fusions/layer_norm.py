"""Mean, deviation, variance, square root, division, scale and bias -> LayerNormalization (opset 17)."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
from onnxscript.rewriter.pattern import MatchResult, OrValue, RewriteRuleClassBase

from webinfer.fusions.rewrite import RuleFusion, constant, scalar, shape_of


class _LayerNorm(RewriteRuleClassBase):
    """Left decomposed, the square of a deviation near 795 passes float16's largest value, 65504."""

    def pattern(self, op: Any, x: Any, axes1: Any, axes2: Any, two: Any, epsilon: Any, scale: Any, bias: Any) -> Any:
        """Graph form."""
        deviation = op.Sub(x, op.ReduceMean(x, axes1))
        square = OrValue([op.Pow(deviation, two), op.Mul(deviation, deviation)])
        root = op.Sqrt(op.Add(op.ReduceMean(square, axes2), epsilon))
        normalized = OrValue([op.Div(deviation, root), op.Mul(deviation, op.Reciprocal(root))])
        return op.Add(op.Mul(normalized, scale), bias)

    def check(  # type: ignore[override]
        self,
        context: object,
        x: ir.Value,
        axes1: ir.Value,
        axes2: ir.Value,
        epsilon: ir.Value,
        scale: ir.Value,
        bias: ir.Value,
        two: ir.Value | None = None,
        **_: object,
    ) -> MatchResult:
        """The statistics must run over the last axis alone, scale and bias along it."""
        result = MatchResult()
        shape = shape_of(x)
        for axes in (axes1, axes2):
            array = constant(axes)
            if array is None or [int(a) % len(shape) for a in array.reshape(-1)] != [len(shape) - 1]:
                return result.fail("the mean is not over the last axis alone", axes)
        if two is not None and scalar(two) != 2.0:
            return result.fail("the deviation is not squared", two)
        if scalar(epsilon) is None:
            return result.fail("epsilon is not a constant scalar", epsilon)
        for value in (scale, bias):
            if shape_of(value) != shape[-1:]:
                return result.fail(f"{value.name} {list(shape_of(value))} is not one value per column", value)
        return result

    def rewrite(self, op: Any, x: ir.Value, epsilon: ir.Value, scale: ir.Value, bias: ir.Value, **_: object) -> Any:
        """Standard operator."""
        return op.LayerNormalization(x, scale, bias, axis=-1, epsilon=scalar(epsilon))


FUSION = RuleFusion("layer norm", 30, _LayerNorm(), marker=frozenset({"Sqrt"}), reach=4)
