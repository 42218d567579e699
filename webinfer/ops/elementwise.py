"""Elementwise operators: ONNX op type -> WGSL expression. Adding one is one entry here.

An expression is written over `V`, which is f32 or vec4<f32>; operands are already f32. `{0}` is the first operand.
Non-finite intermediate values are avoided by clamping arguments, since WGSL lets an implementation assume that
floats are finite (WGSL spec, "Floating Point Evaluation").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

Attributes = Mapping[str, ir.Attr]


@dataclass(frozen=True)
class Elementwise:
    """One op: `expression(attributes)` gives a format string over operand names; flops per element for the cost model."""

    expression: Callable[[Attributes], str]
    flops: int = 1
    functions: str = ""  # WGSL helper functions it needs, over V


def _fixed(text: str) -> Callable[[Attributes], str]:
    return lambda _: text


def _float(attributes: Attributes, name: str, default: float) -> str:
    return literal(attributes[name].as_float() if name in attributes else default)


def literal(value: float) -> str:
    """A finite f32 literal; infinities become the largest finite value (masks use them)."""
    limit = 3.4028234e38
    return f"{max(-limit, min(limit, float(value))):.9g}".replace("inf", str(limit)) + "f"


# erf by Abramowitz & Stegun 7.1.26, |error| <= 1.5e-7.
_ERF = """\
fn erf(x: V) -> V {
  let a = abs(x);
  let t = 1.0f / (1.0f + 0.3275911f * a);
  let p = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  return sign(x) * (1.0f - p * exp(-min(a * a, V(80.0f))));
}
"""
# exp's argument is kept where the result is finite and normal in f32.
_SIGMOID = "(1.0f / (1.0f + exp(clamp(-{0}, V(-87.0f), V(87.0f)))))"
_TANH = "tanh(clamp({0}, V(-20.0f), V(20.0f)))"


def _gelu(attributes: Attributes) -> str:
    if "approximate" in attributes and attributes["approximate"].as_string() == "tanh":
        inner = _TANH.format("(0.7978845608f * ({0} + 0.044715f * {0} * {0} * {0}))")
        return f"(0.5f * {{0}} * (1.0f + {inner}))"
    return "(0.5f * {0} * (1.0f + erf({0} * 0.7071067812f)))"


ELEMENTWISE: dict[str, Elementwise] = {
    "Add": Elementwise(_fixed("({0} + {1})")),
    "Sub": Elementwise(_fixed("({0} - {1})")),
    "Mul": Elementwise(_fixed("({0} * {1})")),
    "Div": Elementwise(_fixed("({0} / {1})")),
    # A general exponent needs care for negative bases; an integer-valued one keeps the sign.
    "Pow": Elementwise(_fixed("power({0}, {1})"), 4, """\
fn power(x: V, y: V) -> V {
  let odd = abs(y - 2.0f * round(y * 0.5f)) > V(0.5f);
  let magnitude = select(exp2(y * log2(max(abs(x), V(1e-38f)))), V(0.0f), (abs(x) < V(1e-38f)) & (y > V(0.0f)));
  let exact = select(magnitude, x * x, y == V(2.0f));
  return select(exact, -exact, odd & (x < V(0.0f)));
}
"""),
    "Sqrt": Elementwise(_fixed("sqrt({0})"), 4),
    "Reciprocal": Elementwise(_fixed("(1.0f / {0})")),
    "Neg": Elementwise(_fixed("(-{0})")),
    "Abs": Elementwise(_fixed("abs({0})")),
    "Exp": Elementwise(_fixed("exp({0})"), 4),
    "Log": Elementwise(_fixed("log({0})"), 4),
    "Sin": Elementwise(_fixed("sin({0})"), 4),
    "Cos": Elementwise(_fixed("cos({0})"), 4),
    "Erf": Elementwise(_fixed("erf({0})"), 12, _ERF),
    "Tanh": Elementwise(_fixed(_TANH), 8),
    "Sigmoid": Elementwise(_fixed(_SIGMOID), 4),
    "Silu": Elementwise(_fixed("({0} * " + _SIGMOID + ")"), 5),
    "Relu": Elementwise(_fixed("max({0}, V(0.0f))")),
    "LeakyRelu": Elementwise(lambda a: "select({0} * " + _float(a, "alpha", 0.01) + ", {0}, {0} >= V(0.0f))"),
    "HardSigmoid": Elementwise(
        lambda a: "clamp({0} * " + _float(a, "alpha", 0.2) + " + " + _float(a, "beta", 0.5) + ", V(0.0f), V(1.0f))"
    ),
    "HardSwish": Elementwise(_fixed("({0} * clamp({0} * 0.16666667f + 0.5f, V(0.0f), V(1.0f)))"), 4),
    "Softplus": Elementwise(_fixed("(max({0}, V(0.0f)) + log(1.0f + exp(-abs({0}))))"), 8),
    "Gelu": Elementwise(_gelu, 14, _ERF),
    "Min": Elementwise(_fixed("min({0}, {1})")),
    "Max": Elementwise(_fixed("max({0}, {1})")),
    "Clip": Elementwise(_fixed("min(max({0}, {1}), {2})"), 2),
    "Identity": Elementwise(_fixed("{0}"), 0),
    "Cast": Elementwise(_fixed("{0}"), 0),  # between float types only: loads and stores convert
}
