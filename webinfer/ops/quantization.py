"""QuantizeLinear and DequantizeLinear, per tensor, per axis and in blocks: elementwise, so they join chains."""

from __future__ import annotations

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


QUANTIZATION = {
    "QuantizeLinear": Elementwise(_quantize, _quantize, flops=4, result=_quantized, per_axis=True),
    "DequantizeLinear": Elementwise(integers=_dequantize, flops=2, result=_real, per_axis=True),
}
