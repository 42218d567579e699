"""QuantizeLinear and DequantizeLinear, per tensor, per axis and in blocks: elementwise, so they join chains."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

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


QUANTIZATION = {
    "QuantizeLinear": Elementwise(_quantize, _quantize, flops=4, result=_quantized, per_axis=True),
    "DequantizeLinear": Elementwise(integers=_dequantize, flops=2, result=_real, per_axis=True),
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
]
