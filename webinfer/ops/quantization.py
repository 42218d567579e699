"""QuantizeLinear and DequantizeLinear, per tensor, per axis and in blocks, and com.microsoft's operators between them.

They are elementwise, so they join chains.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from onnx import helper

from webinfer.ops.case import Case, Graph
from webinfer.ops.expression import Call, Elementwise
from webinfer.ops.lanes import LANE, kind, limits, literal


def _quantized(call: Call) -> str:
    """Type of the result: as asked for, else that of the zero point, else uint8."""
    return call.element("output_dtype") or (call.types[2] if call.has(2) else "uint8")


def _quantize(call: Call) -> str:
    """Numbers are clamped as floats: every bound of up to 16 bits is exact."""
    target = _quantized(call)
    low, high = map(float, limits(target))
    level = "round(V({0}) / {1})" + (" + V({2})" if call.has(2) else "")
    return f"{LANE[kind(target)]}(clamp({level}, V({literal(low)}), V({literal(high)})))"


def _dequantize(call: Call) -> str:
    """Differences are taken as floats: unsigned integers would wrap below the zero point."""
    return "(V({0}) - V({2})) * {1}" if call.has(2) else "V({0}) * {1}"


def _real(call: Call) -> str:
    return call.element("output_dtype") or call.types[1]


def _number(call: Call, operand: int) -> str:
    """The number for which an integer operand stands; its scale and perhaps its zero point follow it."""
    zero = f" - V({{{operand + 2}}})" if call.has(operand + 2) else ""
    return f"((V({{{operand}}}){zero}) * {{{operand + 1}}})"


def _level(call: Call, number: str, scale: int) -> str:
    """`number` as an integer of the first operand's type; operand `scale` may be followed by a zero point."""
    low, high = map(float, limits(call.types[0]))
    level = f"round({number} / {{{scale}}})" + (f" + V({{{scale + 1}}})" if call.has(scale + 1) else "")
    return f"{LANE[kind(call.types[0])]}(clamp({level}, V({literal(low)}), V({literal(high)})))"


def _between(number: Callable[[Call, str], str]) -> Elementwise:
    """x, scale, zero point -> scale, zero point of the result."""
    return Elementwise(integers=lambda call: _level(call, number(call, _number(call, 0)), 3), flops=8, variants=())


def _joined(operator: str) -> Elementwise:
    """Two such operands, then scale and zero point of the result."""

    def integers(call: Call) -> str:
        return _level(call, f"({_number(call, 0)} {operator} {_number(call, 3)})", 6)

    return Elementwise(integers=integers, flops=9, variants=())


def _leaky(call: Call, number: str) -> str:
    return f"select({number} * {call.float('alpha', 0.01)}, {number}, {number} >= V(0.0f))"


QUANTIZATION = {
    "QuantizeLinear": Elementwise(_quantize, _quantize, flops=4, result=_quantized, per_axis=True),
    "DequantizeLinear": Elementwise(integers=_dequantize, flops=2, result=_real, per_axis=True),
    "QLinearAdd": _joined("+"),
    "QLinearMul": _joined("*"),
    "QLinearSigmoid": _between(lambda _, number: f"sigmoid({number})"),
    "QLinearLeakyRelu": _between(_leaky),
}


def _round_trip(
    shape: Sequence[int], scale: Sequence[int], dtype: Any, attributes: dict[str, Any], zero_point: int | None, g: Graph
) -> None:
    """Quantize to integers and back."""
    g.input("x", shape, scale=2.0)
    names = [g.constant("scale", np.asarray(np.abs(g.floats(scale, scale=0.1)) + 0.01))]
    if zero_point is not None:
        names.append(g.constant("zero", np.full(scale, zero_point, dtype)))
    g.node("QuantizeLinear", ["x", *names], ["q"], **attributes)
    g.node("DequantizeLinear", ["q", *names], ["y"], **attributes)
    g.output("y")


def _weights(shape: Sequence[int], scale: Sequence[int], dtype: Any, attributes: dict[str, Any], g: Graph) -> None:
    """Integers that lie packed in the package, with numbers below the zero point."""
    low, high = (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) if np.dtype(dtype).kind in "iu" else (-8, 7)
    numbers = np.random.default_rng(0).integers(low, high, shape, endpoint=True)
    g.constant("w", numbers.astype(dtype))
    g.constant("scale", np.asarray(np.abs(g.floats(scale, scale=0.1)) + 0.01))
    g.constant("zero", np.full(scale, (low + high) // 2 + 2).astype(dtype))
    g.input("x", shape)
    g.node("DequantizeLinear", ["w", "scale", "zero"], ["d"], **attributes)
    g.node("Add", ["d", "x"], ["y"])
    g.output("y")


def _qlinear(op_type: str, dtype: Any, attributes: dict[str, Any], g: Graph) -> None:
    """Every level of the type, some beyond the range of the result; the scales leave no ties."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    operands = []
    for name, shape in (("a", (4, 64)), ("b", (64,)))[: 2 if op_type in ("QLinearAdd", "QLinearMul") else 1]:
        operands.append(g.input(name, np.arange(low, low + math.prod(shape)).reshape(shape).astype(dtype)))
        operands.append(g.constant(f"{name}_scale", np.array(0.0471, np.float32)))
        operands.append(g.constant(f"{name}_zero", np.array((low + high) // 2 + 3, dtype)))
    operands.append(g.constant("y_scale", np.array(0.0113, np.float32)))
    operands.append(g.constant("y_zero", np.array(low + 20, dtype)))
    g.node(op_type, operands, ["y"], domain="com.microsoft", **attributes)
    g.output("y", shape=(4, 64), dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


_QLINEAR: list[tuple[str, Any, dict[str, Any]]] = [
    ("QLinearAdd", np.uint8, {}),
    ("QLinearMul", np.int8, {}),
    ("QLinearSigmoid", np.uint8, {}),
    ("QLinearLeakyRelu", np.int8, {"alpha": 0.07}),
]
_FORMS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "tensor": ((2, 3, 5), (), {}),
    "axis": ((2, 3, 5), (3,), {}),
    "last": ((2, 3, 8), (8,), {"axis": -1}),
    "blocks": ((2, 6, 4), (2, 2, 4), {"axis": 1, "block_size": 3}),
    "blocks_last": ((3, 8), (3, 2), {"axis": 1, "block_size": 4}),
    "ragged": ((2, 7), (2, 3), {"axis": 1, "block_size": 3}),
}
_ROUND_TRIPS: list[tuple[str, Any, int | None]] = [
    ("tensor", np.uint8, 130),
    ("axis", np.int16, -7),
    ("last", np.uint8, None),
    ("blocks", np.int8, 3),
    ("blocks_last", np.uint16, 40000),
    ("ragged", np.int8, None),
]
_WEIGHTS: list[tuple[str, Any]] = [
    ("tensor", np.int8),
    ("axis", np.uint8),
    ("blocks", ml_dtypes.int4),
    ("ragged", ml_dtypes.int4),
    ("last", np.uint16),
]

CASES = [
    *(
        Case(f"round_trip_{form}", partial(_round_trip, *_FORMS[form][:2], dtype, _FORMS[form][2], zero))
        for form, dtype, zero in _ROUND_TRIPS
    ),
    *(
        Case(
            f"weights_{form}",
            partial(_weights, *_FORMS[form][:2], dtype, _FORMS[form][2]),
            fp16=2e-3,
            reason="two results round to 11 bits",
        )
        for form, dtype in _WEIGHTS
    ),
    *(
        Case(f"{op_type}_{np.dtype(dtype).name}", partial(_qlinear, op_type, dtype, attributes), precisions=("fp32",))
        for op_type, dtype, attributes in _QLINEAR
    ),
]
