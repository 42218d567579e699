"""Reshape, InstanceNormalization over groups, Reshape, Mul, Add -> GroupNormalization (opset 21)."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
from onnxscript.rewriter.pattern import MatchResult, RewriteRuleClassBase

from webinfer.fusions.rewrite import RuleFusion, constant, initializer, shape_of


class _GroupNorm(RewriteRuleClassBase):
    """PyTorch exports group norm so: groups become the channels of an instance norm."""

    def pattern(self, op: Any, x: Any, groups: Any, scale1: Any, bias1: Any, image: Any, scale: Any, bias: Any) -> Any:
        """Graph form."""
        grouped = op.Reshape(x, groups, _outputs=["grouped"])
        normalized = op.InstanceNormalization(grouped, scale1, bias1, _outputs=["normalized"])
        return op.Add(op.Mul(op.Reshape(normalized, image, _outputs=["restored"]), scale), bias)

    def check(  # type: ignore[override]
        self,
        context: object,
        x: ir.Value,
        grouped: ir.Value,
        restored: ir.Value,
        scale1: ir.Value,
        bias1: ir.Value,
        scale: ir.Value,
        bias: ir.Value,
        **_: object,
    ) -> MatchResult:
        """Groups must split the channels evenly, and the affine part must be per channel and constant."""
        result = MatchResult()
        image, group = shape_of(x), shape_of(grouped)
        if len(image) < 3 or len(group) != 3 or group[0] != image[0] or image[1] % group[1]:
            return result.fail(f"{list(image)} reshaped to {list(group)} is no split of channels into groups", grouped)
        if shape_of(restored) != image:
            return result.fail("the second Reshape does not restore the shape", restored)
        for value in (scale, bias):
            padded = (1,) * (len(image) - len(shape_of(value))) + shape_of(value)
            if padded != (1, image[1], *(1,) * (len(image) - 2)):
                return result.fail(f"{value.name} {list(shape_of(value))} is not one value per channel", value)
        for value in (scale1, bias1, scale, bias):
            if constant(value) is None:
                return result.fail(f"{value.name} is not constant", value)
        return result

    def rewrite(
        self,
        op: Any,
        x: ir.Value,
        grouped: ir.Value,
        normalized: ir.Value,
        scale1: ir.Value,
        bias1: ir.Value,
        scale: ir.Value,
        bias: ir.Value,
        **_: object,
    ) -> Any:
        """Fold the instance norm's own affine part (usually 1 and 0) into that of the channels."""
        channels, groups = shape_of(x)[1], shape_of(grouped)[1]
        arrays = (np.asarray(constant(v)) for v in (scale1, bias1, scale, bias))
        inner_scale, inner_bias, outer_scale, outer_bias = arrays
        repeat = channels // groups
        gain = outer_scale.reshape(-1)
        new_scale = gain * np.repeat(inner_scale, repeat)
        new_bias = outer_bias.reshape(-1) + gain * np.repeat(inner_bias, repeat)
        producer = normalized.producer()
        assert producer is not None
        epsilon = producer.attributes["epsilon"].as_float() if "epsilon" in producer.attributes else 1e-5
        return op.GroupNormalization(
            x,
            op.initializer(initializer(f"{scale.name}/c", new_scale).const_value),
            op.initializer(initializer(f"{bias.name}/c", new_bias).const_value),
            num_groups=groups,
            epsilon=epsilon,
        )


FUSION = RuleFusion("group norm", 20, _GroupNorm(), marker=frozenset({"InstanceNormalization"}), reach=3)
