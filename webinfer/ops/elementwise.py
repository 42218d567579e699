"""Elementwise operators: ONNX op type -> WGSL expressions. Adding one is one entry here.

It then works alone, in chains and in epilogues, and tests feed it on every type that the operator allows. Expressions
are over lanes (webinfer/ops/lanes.py); functions come from wgsl/lib/math.wgsl.j2 and, on 64-bit integers, from
wgsl/lib/int64.wgsl.j2. Operands are names or short texts: an expression may hold one more than once.
"""

from __future__ import annotations

import math

from webinfer.ops.cast import CASTS
from webinfer.ops.expression import Call, Elementwise, Expression, joined
from webinfer.ops.lanes import WIDE, bits, converted, integer
from webinfer.ops.quantization import QUANTIZATION

_INFIX = ("(%s < %s)", "(%s + %s)", "(%s - %s)")
_UNIT = ((-1.0, 1.0),)
_SMALL = ((-4.0, 4.0),)
_POSITIVE = ((1e-3, 1e3),)


def _by_sign(signed: str, unsigned: str) -> Expression:
    return lambda call: unsigned if call.types[0].startswith("u") else signed


def _compare(floats: str, integers: str, wides: str, bools: str | None = None) -> Elementwise:
    return Elementwise(floats, integers, wides, bools, result="bool", domain=_SMALL)


def _clip(low: str, high: str) -> Expression:
    """Bounds that are there, the upper one last: it wins where they cross."""

    def expression(call: Call) -> str:
        text = low if call.has(1) else "{0}"
        return high.replace("{0}", text) if call.has(2) else text

    return expression


def _pow(call: Call) -> str:
    return f"power({{0}}, {converted('{1}', call.types[1], 'float32')})"


def _integer_pow(call: Call) -> str:
    if call.types[1].startswith("float"):
        return "power_mixed({0}, {1})"
    return f"power_integer({{0}}, {converted('{1}', call.types[1], 'int32')})"


def _wide_pow(call: Call) -> str:
    if call.types[1].startswith("float"):
        whole = "pow_i64({0}, i64_f32({1}))"
        return "select(i64_f32(power(f32_i64({0}), {1})), " + whole + ", {1} == round({1}))"
    return f"pow_i64({{0}}, {converted('{1}', call.types[1], 'int64')})"


def _mod(floor: str, truncate: str) -> Expression:
    return lambda call: truncate if call.int("fmod", 0) else floor


def _integer_mod(call: Call) -> str:
    floor = not call.int("fmod", 0) and not call.types[0].startswith("u")
    return "modulo_integer({0}, {1})" if floor else "({0} % {1})"


def _mean(call: Call) -> str:
    # pointwise.py says how many there were before it took some together.
    return f"({joined('({0} + {1})')(call)} / {call.int('count', len(call.types))}.0f)"


def _shrink(call: Call) -> str:
    bias, limit = call.float("bias", 0.0), call.float("lambd", 0.5)
    return f"select(select(V(0.0f), {{0}} - {bias}, {{0}} > V({limit})), {{0}} + {bias}, {{0}} < V(-{limit}))"


def _integer_shrink(call: Call) -> str:
    """What is left of x - bias truncates, so fractions of the bias take one more."""
    dtype = call.types[0]
    less, plus, minus = ("less_{sign}64(%s, %s)", "add64(%s, %s)", "sub64(%s, %s)") if dtype in WIDE else _INFIX
    bias, limit = math.ceil(call.number("bias", 0.0)), math.floor(call.number("lambd", 0.5))
    zero, step, high, low = (integer(v, dtype) for v in (0, bias, limit, -limit))
    text = f"select({zero}, {minus % ('{0}', step)}, {less % (high, '{0}')})"
    return text if dtype.startswith("u") else f"select({text}, {plus % ('{0}', step)}, {less % ('{0}', low)})"


def _is_infinite(call: Call) -> str:
    negative, positive = (call.int(f"detect_{side}", 1) for side in ("negative", "positive"))
    if negative and positive:
        return "is_infinite({0})"
    pattern = "0xff800000u" if negative else "0x7f800000u"
    return f"(bitcast<VU>({{0}}) == VU({pattern}))" if negative or positive else "VB(false)"


def _shift(call: Call) -> str:
    """Counts that are negative or too large shift everything out; narrow integers lie in a word with their sign."""
    dtype, count = call.types[0], "VU({1})"
    if call.string("direction", "") == "LEFT":
        return f"select({{T}}(0), {{0}} << min({count}, VU(31u)), {count} < VU({bits(dtype)}u))"
    right = f"({{0}} >> min({count}, VU(31u)))"
    return f"select(VU(0u), {right}, {count} < VU(32u))" if dtype.startswith("u") else right


def _wide_shift(call: Call) -> str:
    function = "shl64" if call.string("direction", "") == "LEFT" else "shr_{sign}64"
    return function + "({0}, shift_count({1}))"


def _gelu(call: Call) -> str:
    return "gelu_tanh({0})" if call.string("approximate", "none") == "tanh" else "gelu({0})"


def _swish(default: float, after: str = "") -> Expression:
    return lambda call: "({0} * sigmoid(" + call.float("alpha", default) + " * {0})" + after + ")"


def _elu(call: Call) -> str:
    return "select(" + call.float("alpha", 1.0) + " * expm1({0}), {0}, {0} >= V(0.0f))"


def _celu(call: Call) -> str:
    alpha = call.float("alpha", 1.0)
    return f"select({alpha} * expm1({{0}} / {alpha}), {{0}}, {{0}} >= V(0.0f))"


def _selu(call: Call) -> str:
    alpha, gamma = call.float("alpha", 1.6732632), call.float("gamma", 1.0507010)
    return f"({gamma} * select({alpha} * expm1({{0}}), {{0}}, {{0}} > V(0.0f)))"


def _hard_sigmoid(call: Call) -> str:
    line = "{0} * " + call.float("alpha", 0.2) + " + " + call.float("beta", 0.5)
    return f"at_most(at_least({line}, V(0.0f)), V(1.0f))"


def _plain(floats: str, flops: int = 1, domain: tuple[tuple[float, float], ...] = ((-10.0, 10.0),)) -> Elementwise:
    return Elementwise(floats, flops=flops, domain=domain)


ELEMENTWISE: dict[str, Elementwise] = {
    "Add": Elementwise("({0} + {1})", "({0} + {1})", "add64({0}, {1})"),
    "Sub": Elementwise("({0} - {1})", "({0} - {1})", "sub64({0}, {1})"),
    "Mul": Elementwise("({0} * {1})", "({0} * {1})", "mul64({0}, {1})"),
    "Div": Elementwise(
        "({0} / {1})", "({0} / {1})", "div_{sign}64({0}, {1})", domain=((-10.0, 10.0), (0.5, 10.0)), divides=True
    ),
    "Mod": Elementwise(
        _mod("modulo({0}, {1})", "remainder_of({0}, {1})"),
        _integer_mod,
        _mod("mod_{sign}64({0}, {1})", "rem_{sign}64({0}, {1})"),
        flops=8,
        domain=((-10.0, 10.0), (0.5, 10.0)),
        divides=True,
        variants=({"fmod": 0}, {"fmod": 1}),
    ),
    "Pow": Elementwise(_pow, _integer_pow, _wide_pow, flops=8, domain=((0.1, 6.0), (0.0, 6.0)), special=False),
    "Neg": Elementwise("(-{0})", "(-{0})", "neg64({0})"),
    "Abs": Elementwise("abs({0})", _by_sign("abs({0})", "{0}"), _by_sign("abs_i64({0})", "{0}")),
    "Sign": Elementwise(
        "sign_of({0})",
        _by_sign("clamp({0}, VI(-1), VI(1))", "min({0}, VU(1u))"),
        _by_sign("sign_i64({0})", "min_u64({0}, vec2<u32>(1u, 0u))"),
    ),
    "Sqrt": _plain("sqrt({0})", 4, ((0.0, 1e4),)),
    "Reciprocal": _plain("(1.0f / {0})", 1, _POSITIVE),
    "Floor": _plain("floor({0})"),
    "Ceil": _plain("ceil({0})"),
    "Round": _plain("round({0})"),  # both round halves to even
    "Exp": _plain("exponential({0})", 8),
    "Log": _plain("logarithm({0})", 8, _POSITIVE),
    "Sin": _plain("sine({0}, VI(0))", 12, ((-1e3, 1e3),)),
    "Cos": _plain("sine({0}, VI(1))", 12, ((-1e3, 1e3),)),
    "Tan": _plain("tangent({0})", 12, ((-100.0, 100.0),)),
    "Asin": _plain("arcsine({0})", 12, _UNIT),
    "Acos": _plain("arccosine({0})", 12, _UNIT),
    "Atan": _plain("arctangent({0})", 12, ((-100.0, 100.0),)),
    "Sinh": _plain("hyperbolic_sine({0})", 12),
    "Cosh": _plain("hyperbolic_cosine({0})", 12),
    "Tanh": _plain("hyperbolic_tangent({0})", 8),
    "Asinh": _plain("area_sine({0})", 12, ((-1e3, 1e3),)),
    "Acosh": _plain("area_cosine({0})", 12, ((1.0, 1e3),)),
    "Atanh": _plain("area_tangent({0})", 12, ((-0.99, 0.99),)),
    "Erf": _plain("erf({0})", 18, _SMALL),
    "Sigmoid": _plain("sigmoid({0})", 4),
    "Silu": _plain("({0} * sigmoid({0}))", 5),
    "Swish": Elementwise(_swish(1.0), flops=6, special=False),
    "SwiGLU": Elementwise(_swish(1.0, " * {1}"), flops=7, special=False),
    "QuickGelu": Elementwise(_swish(1.702), flops=6, special=False),
    "Gelu": Elementwise(_gelu, flops=20, special=False, variants=({}, {"approximate": "tanh"})),
    "BiasGelu": Elementwise("gelu({0} + {1})", flops=21, special=False),
    "FastGelu": Elementwise(lambda c: f"gelu_tanh({{0}}{' + {1}' if c.has(1) else ''})", flops=14, special=False),
    "Relu": Elementwise("at_least({0}, V(0.0f))", "max({0}, VI(0))", "max_i64({0}, vec2<u32>(0u))"),
    "LeakyRelu": Elementwise(
        lambda c: "select({0} * " + c.float("alpha", 0.01) + ", {0}, {0} >= V(0.0f))", variants=({}, {"alpha": 0.1})
    ),
    "PRelu": Elementwise(
        "select({0} * {1}, {0}, {0} >= V(0.0f))",
        _by_sign("select({0} * {1}, {0}, {0} >= VI(0))", "{0}"),
        _by_sign("select({0}, mul64({0}, {1}), negative64({0}))", "{0}"),
    ),
    "ThresholdedRelu": Elementwise(
        lambda c: "select(V(0.0f), {0}, {0} > V(" + c.float("alpha", 1.0) + "))", variants=({}, {"alpha": 0.5})
    ),
    "Elu": Elementwise(_elu, flops=8, variants=({}, {"alpha": 1.5})),
    "Celu": Elementwise(_celu, flops=8, variants=({}, {"alpha": 2.0})),
    "Selu": Elementwise(_selu, flops=8, variants=({}, {"alpha": 1.5, "gamma": 2.0})),
    "HardSigmoid": Elementwise(_hard_sigmoid, flops=4, variants=({}, {"alpha": 0.1, "beta": 0.4})),
    "HardSwish": Elementwise(
        "({0} * at_most(at_least({0} * 0.16666667f + 0.5f, V(0.0f)), V(1.0f)))", flops=4, special=False
    ),
    "Softplus": _plain("softplus({0})", 16),
    "Softsign": _plain("({0} / (1.0f + abs({0})))", 2),
    "Mish": Elementwise("({0} * hyperbolic_tangent(softplus({0})))", flops=24, special=False),
    "Shrink": Elementwise(
        _shrink, _integer_shrink, _integer_shrink, flops=4, special=False, variants=({}, {"bias": 1.5, "lambd": 2.5})
    ),
    "Sum": Elementwise(joined("({0} + {1})")),
    "Mean": Elementwise(_mean),
    "Min": Elementwise(joined("minimum({0}, {1})"), joined("min({0}, {1})"), joined("min_{sign}64({0}, {1})")),
    "Max": Elementwise(joined("maximum({0}, {1})"), joined("max({0}, {1})"), joined("max_{sign}64({0}, {1})")),
    "Clip": Elementwise(
        _clip("at_least({0}, {1})", "at_most({0}, {2})"),
        _clip("max({0}, {1})", "min({0}, {2})"),
        _clip("max_{sign}64({0}, {1})", "min_{sign}64({0}, {2})"),
        flops=2,
        domain=((-10.0, 10.0), (-9.0, 0.0), (1.0, 9.0)),
    ),
    "Where": Elementwise(*("select({2}, {1}, {0})",) * 4, by=1),
    "Equal": _compare("equal({0}, {1})", "({0} == {1})", "all({0} == {1})", "({0} == {1})"),
    "Less": _compare("less({0}, {1})", "({0} < {1})", "less_{sign}64({0}, {1})"),
    "LessOrEqual": _compare("less_equal({0}, {1})", "({0} <= {1})", "!less_{sign}64({1}, {0})"),
    "Greater": _compare("less({1}, {0})", "({0} > {1})", "less_{sign}64({1}, {0})"),
    "GreaterOrEqual": _compare("less_equal({1}, {0})", "({0} >= {1})", "!less_{sign}64({0}, {1})"),
    "And": Elementwise(bools="({0} & {1})"),
    "Or": Elementwise(bools="({0} | {1})"),
    "Xor": Elementwise(bools="({0} != {1})"),
    "Not": Elementwise(bools="!{0}"),
    "BitShift": Elementwise(
        None,
        _shift,
        _wide_shift,
        domain=((-100.0, 100.0), (-2.0, 66.0)),
        variants=({"direction": "LEFT"}, {"direction": "RIGHT"}),
    ),
    "BitwiseAnd": Elementwise(None, "({0} & {1})", "({0} & {1})"),
    "BitwiseOr": Elementwise(None, "({0} | {1})", "({0} | {1})"),
    "BitwiseXor": Elementwise(None, "({0} ^ {1})", "({0} ^ {1})"),
    "BitwiseNot": Elementwise(None, "(~{0})", "(~{0})"),
    "IsNaN": Elementwise("is_nan({0})", result="bool"),
    "IsInf": Elementwise(_is_infinite, result="bool", variants=({}, {"detect_negative": 0}, {"detect_positive": 0})),
    "Identity": Elementwise(*("{0}",) * 4, flops=0),
    **CASTS,
    **QUANTIZATION,
}
