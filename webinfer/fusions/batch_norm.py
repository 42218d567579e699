"""BatchNormalization folded into the weights of the Conv or ConvTranspose before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
from onnxscript.rewriter.pattern import MatchResult, RewriteRuleClassBase

from webinfer.fusions.rewrite import RuleFusion, constant, initializer


class _BatchNorm(RewriteRuleClassBase):
    """y = (conv(x) - mean) * scale / sqrt(var + epsilon) + bias is a convolution with scaled weights."""

    def __init__(self, op_type: str) -> None:
        super().__init__(f"BatchNormalization into {op_type}")
        self._op_type = op_type

    def pattern(self, op: Any, x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
        """Graph form."""
        made = getattr(op, self._op_type)(x, _allow_other_inputs=True, _outputs=["made"])
        return op.BatchNormalization(made, scale, bias, mean, var, _outputs=["normalized"])

    def check(  # type: ignore[override]
        self,
        context: object,
        made: ir.Value,
        normalized: ir.Value,
        scale: ir.Value,
        bias: ir.Value,
        mean: ir.Value,
        var: ir.Value,
        **_: object,
    ) -> MatchResult:
        """Everything but the input must be constant."""
        result = MatchResult()
        conv, norm = made.producer(), normalized.producer()
        assert conv is not None
        assert norm is not None
        for value in (*conv.inputs[1:3], scale, bias, mean, var):
            if value is not None and constant(value) is None:
                return result.fail(f"{value.name} is not constant", value)
        if "training_mode" in norm.attributes and norm.attributes["training_mode"].as_int():
            return result.fail("the BatchNormalization is in training mode", normalized)
        return result

    def rewrite(
        self,
        op: Any,
        x: ir.Value,
        made: ir.Value,
        normalized: ir.Value,
        scale: ir.Value,
        bias: ir.Value,
        mean: ir.Value,
        var: ir.Value,
        **_: object,
    ) -> Any:
        """Weights are [out, in / group, ...] for Conv and [in, out / group, ...] for ConvTranspose."""
        conv, norm = made.producer(), normalized.producer()
        assert conv is not None
        assert norm is not None
        epsilon = norm.attributes["epsilon"].as_float() if "epsilon" in norm.attributes else 1e-5
        factors = [constant(v) for v in (scale, bias, mean, var)]
        own_scale, own_bias, own_mean, own_var = (np.asarray(f, dtype=np.float64) for f in factors)
        gain = own_scale / np.sqrt(own_var + epsilon)
        weight, old_bias = constant(conv.inputs[1]), constant(conv.inputs[2]) if len(conv.inputs) > 2 else None
        assert weight is not None
        if self._op_type == "Conv":
            scaled = weight * gain.reshape(-1, *(1,) * (weight.ndim - 1))
        else:
            group = conv.attributes["group"].as_int() if "group" in conv.attributes else 1
            grouped = weight.reshape(group, -1, *weight.shape[1:])
            scaled = (grouped * gain.reshape(group, 1, -1, *(1,) * (weight.ndim - 2))).reshape(weight.shape)
        shifted = ((0 if old_bias is None else old_bias) - own_mean) * gain + own_bias
        stem = conv.inputs[1].name if conv.inputs[1] is not None else made.name
        return getattr(op, self._op_type)(
            x,
            op.initializer(initializer(f"{stem}/bn", scaled.astype(weight.dtype)).const_value),
            op.initializer(initializer(f"{stem}/bn_bias", shifted.astype(weight.dtype)).const_value),
            **dict(conv.attributes),
        )


FUSION = RuleFusion(
    "batch norm",
    10,
    _BatchNorm("Conv"),
    _BatchNorm("ConvTranspose"),
    marker=frozenset({"BatchNormalization"}),
    reach=0,
)
