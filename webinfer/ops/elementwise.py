"""Elementwise operators: ONNX op type -> WGSL expression. Adding one is one entry here.

An expression is written over `V`, which is f32 or vec4<f32>; operands are already f32. `{0}` is the first operand.
Truth values are 0 and 1. Non-finite intermediate values are avoided by clamping arguments, since WGSL lets an
implementation assume that floats are finite (WGSL spec, "Floating Point Evaluation").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

Attributes = Mapping[str, ir.Attr]
FLOATS = frozenset({"FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16"})
LARGEST = 3.4028234e38
SMALLEST_NORMAL = 1.17549435e-38


@dataclass(frozen=True)
class Elementwise:
    """One op: `expression(attributes)` gives a format string over operand names; flops count per element."""

    expression: Callable[[Attributes], str]
    flops: int = 1
    functions: tuple[str, ...] = ()  # WGSL helper functions it needs, over V


def _fixed(text: str) -> Callable[[Attributes], str]:
    return lambda _: text


def _float(attributes: Attributes, name: str, default: float) -> str:
    return literal(attributes[name].as_float() if name in attributes else default)


def finite(value: float) -> float:
    """`value` as kernels may hold it: infinities (masks use them) become the largest finite f32, subnormals 0."""
    number = max(-LARGEST, min(LARGEST, float(value)))
    return number if abs(number) >= SMALLEST_NORMAL else 0.0


def literal(value: float) -> str:
    """A finite f32 literal. Negative values are in parentheses, because `--` is a reserved token of WGSL."""
    number = finite(value)
    text = f"{number:.9g}f"
    return f"({text})" if number < 0 else text


# erf by Abramowitz & Stegun 7.1.26, |error| <= 1.5e-7.
_ERF = """\
fn erf(x: V) -> V {
  let a = abs(x);
  let t = 1.0f / (1.0f + 0.3275911f * a);
  let p = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t;
  return sign(x) * (1.0f - p * exp(-min(a * a, V(80.0f))));
}
"""
# A general exponent goes through log2; small integers and the root are exact, and an odd one keeps the base's sign.
_POWER = """\
fn power(x: V, y: V) -> V {
  let a = abs(x);
  let odd = abs(y - 2.0f * round(y * 0.5f)) > V(0.5f);
  let general = exp2(clamp(y * log2(max(a, V(1e-37f))), V(-126.0f), V(127.99999f)));
  var m = select(general, V(0.0f), (a < V(1e-37f)) & (y > V(0.0f)));
  m = select(m, sqrt(a), y == V(0.5f));
  m = select(m, a, y == V(1.0f));
  m = select(m, a * a, y == V(2.0f));
  m = select(m, a * a * a, y == V(3.0f));
  return select(m, -m, odd & (x < V(0.0f)));
}
"""
# WGSL bounds the error of sin and cos within [-pi, pi] only; 2 pi in three parts (Cody-Waite) reduces exactly.
_TURN = """\
fn turn(x: V) -> V {
  let n = round(x * 0.15915494f);
  return ((x - n * 6.28125f) - n * 0.0019350052f) - n * 3.0199157e-7f;
}
"""
# (1 - e^-2a) / (1 + e^-2a) loses digits near 0, where the odd series is exact to f32.
_TANH = """\
fn tanh_stable(x: V) -> V {
  let a = min(abs(x), V(20.0f));
  let e = exp(-2.0f * a);
  let q = x * x;
  let series = x * (1.0f + q * (-0.33333333f + q * (0.13333333f - q * 0.053968254f)));
  return select(sign(x) * ((1.0f - e) / (1.0f + e)), series, a < V(0.1f));
}
"""
# exp's argument is kept where the result is finite and normal in f32.
# Never below 8.7e-27: products with smaller values are subnormal, and CPU adapters take 100 times as long for those.
_SIGMOID = "(1.0f / (1.0f + exp(clamp(-({0}), V(-87.0f), V(60.0f)))))"
_SOFTPLUS = "(max({0}, V(0.0f)) + log(1.0f + exp(-abs({0}))))"
# e^x - 1 loses digits near 0, where the series is exact to f32.
_EXPM1 = """\
fn expm1(x: V) -> V {
  let series = x * (1.0f + x * (0.5f + x * (0.16666667f + x * 0.041666668f)));
  return select(exp(clamp(x, V(-87.0f), V(88.0f))) - 1.0f, series, abs(x) < V(0.1f));
}
"""


def _gelu(attributes: Attributes) -> str:
    if _tanh_form(attributes):
        inner = "tanh_stable(0.7978845608f * ({0} + 0.044715f * {0} * {0} * {0}))"
        return f"(0.5f * {{0}} * (1.0f + {inner}))"
    return "(0.5f * {0} * (1.0f + erf({0} * 0.7071067812f)))"


def _tanh_form(attributes: Attributes) -> bool:
    return "approximate" in attributes and attributes["approximate"].as_string() == "tanh"


def _cast(attributes: Attributes) -> str:
    to = ir.DataType(attributes["to"].as_int()).name
    if to in FLOATS:
        return "V({0})"  # loads and stores convert
    return _truth("V({0}) != V(0.0f)") if to == "BOOL" else "trunc(V({0}))"


def _elu(attributes: Attributes) -> str:
    return "select(" + _float(attributes, "alpha", 1.0) + " * expm1({0}), V({0}), {0} >= V(0.0f))"


def _celu(attributes: Attributes) -> str:
    alpha = _float(attributes, "alpha", 1.0)
    return f"(max({{0}}, V(0.0f)) + {alpha} * expm1(min({{0}}, V(0.0f)) / {alpha}))"


def _selu(attributes: Attributes) -> str:
    alpha = _float(attributes, "alpha", 1.6732632)
    return _float(attributes, "gamma", 1.0507010) + f" * select({alpha} * expm1({{0}}), V({{0}}), {{0}} > V(0.0f))"


def _truth(condition: str) -> str:
    return f"select(V(0.0f), V(1.0f), {condition})"


ELEMENTWISE: dict[str, Elementwise] = {
    "Add": Elementwise(_fixed("({0} + {1})")),
    "Sub": Elementwise(_fixed("({0} - {1})")),
    "Mul": Elementwise(_fixed("({0} * {1})")),
    "Div": Elementwise(_fixed("({0} / {1})")),
    "Pow": Elementwise(_fixed("power({0}, {1})"), 4, (_POWER,)),
    "Sqrt": Elementwise(_fixed("sqrt({0})"), 4),
    "Reciprocal": Elementwise(_fixed("(1.0f / {0})")),
    "Neg": Elementwise(_fixed("(-({0}))")),
    "Abs": Elementwise(_fixed("abs({0})")),
    "Sign": Elementwise(_fixed("sign({0})")),
    "Floor": Elementwise(_fixed("floor({0})")),
    "Ceil": Elementwise(_fixed("ceil({0})")),
    "Round": Elementwise(_fixed("round({0})")),  # both round halves to even
    "Exp": Elementwise(_fixed("exp({0})"), 4),
    "Log": Elementwise(_fixed("log({0})"), 4),
    "Sin": Elementwise(_fixed("sin(turn({0}))"), 8, (_TURN,)),
    "Cos": Elementwise(_fixed("cos(turn({0}))"), 8, (_TURN,)),
    "Erf": Elementwise(_fixed("erf({0})"), 12, (_ERF,)),
    "Tanh": Elementwise(_fixed("tanh_stable({0})"), 8, (_TANH,)),
    "Sigmoid": Elementwise(_fixed(_SIGMOID), 4),
    "Silu": Elementwise(_fixed("({0} * " + _SIGMOID + ")"), 5),
    "Swish": Elementwise(lambda a: "({0} * " + _SIGMOID.format("(" + _float(a, "alpha", 1.0) + " * {0})") + ")", 6),
    "Relu": Elementwise(_fixed("max({0}, V(0.0f))")),
    "LeakyRelu": Elementwise(lambda a: "select({0} * " + _float(a, "alpha", 0.01) + ", V({0}), {0} >= V(0.0f))"),
    "PRelu": Elementwise(_fixed("select({0} * {1}, V({0}), {0} >= V(0.0f))")),
    "ThresholdedRelu": Elementwise(lambda a: "select(V(0.0f), V({0}), {0} > V(" + _float(a, "alpha", 1.0) + "))"),
    "Elu": Elementwise(_elu, 5, (_EXPM1,)),
    "Celu": Elementwise(_celu, 6, (_EXPM1,)),
    "Selu": Elementwise(_selu, 6, (_EXPM1,)),
    "HardSigmoid": Elementwise(
        lambda a: "clamp({0} * " + _float(a, "alpha", 0.2) + " + " + _float(a, "beta", 0.5) + ", V(0.0f), V(1.0f))"
    ),
    "HardSwish": Elementwise(_fixed("({0} * clamp({0} * 0.16666667f + 0.5f, V(0.0f), V(1.0f)))"), 4),
    "Softplus": Elementwise(_fixed(_SOFTPLUS), 8),
    "Softsign": Elementwise(_fixed("({0} / (1.0f + abs({0})))")),
    "Mish": Elementwise(_fixed("({0} * tanh_stable(" + _SOFTPLUS + "))"), 16, (_TANH,)),
    "Gelu": Elementwise(_gelu, 14, (_ERF, _TANH)),
    "Min": Elementwise(_fixed("min({0}, {1})")),
    "Max": Elementwise(_fixed("max({0}, {1})")),
    "Clip": Elementwise(_fixed("min(max({0}, {1}), {2})"), 2),
    "Where": Elementwise(_fixed("select(V({2}), V({1}), V({0}) != V(0.0f))")),
    "Equal": Elementwise(_fixed(_truth("V({0}) == V({1})"))),
    "Greater": Elementwise(_fixed(_truth("V({0}) > V({1})"))),
    "GreaterOrEqual": Elementwise(_fixed(_truth("V({0}) >= V({1})"))),
    "Less": Elementwise(_fixed(_truth("V({0}) < V({1})"))),
    "LessOrEqual": Elementwise(_fixed(_truth("V({0}) <= V({1})"))),
    "Not": Elementwise(_fixed("(1.0f - V({0}))")),
    "And": Elementwise(_fixed("min(V({0}), V({1}))")),
    "Or": Elementwise(_fixed("max(V({0}), V({1}))")),
    "Xor": Elementwise(_fixed("abs(V({0}) - V({1}))")),
    "Identity": Elementwise(_fixed("{0}"), 0),
    "Cast": Elementwise(_cast, 0),
}
