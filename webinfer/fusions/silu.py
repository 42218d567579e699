"""x * sigmoid(x) -> the function ai.webinfer::Silu."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir
from onnxscript.rewriter.pattern import RewriteRuleClassBase

from webinfer.fused import DOMAIN
from webinfer.fusions.rewrite import RuleFusion


def _function() -> ir.Function:
    x, s, y = ir.Value(name="x"), ir.Value(name="s"), ir.Value(name="y")
    nodes = [ir.Node("", "Sigmoid", [x], outputs=[s]), ir.Node("", "Mul", [x, s], outputs=[y])]
    graph = ir.Graph([x], [y], nodes=nodes, opset_imports={"": 23}, name="Silu")
    return ir.Function(DOMAIN, "Silu", graph=graph, attributes=[])


class _Silu(RewriteRuleClassBase):
    """ONNX has no SiLU before opset 24 (Swish)."""

    def pattern(self, op: Any, x: Any) -> Any:
        """Graph form."""
        return op.Mul(x, op.Sigmoid(x))

    def rewrite(self, op: Any, x: ir.Value) -> Any:
        """Call."""
        return op.Silu(x, _domain=DOMAIN)


FUSION = RuleFusion("silu", 50, _Silu(), marker=frozenset({"Sigmoid"}), reach=1)
FUSION.functions = (_function(),)
