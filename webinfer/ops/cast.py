"""Operators that change element types: Cast, CastLike, BitCast."""

from __future__ import annotations

import onnx_ir as ir

from webinfer.ops.expression import Call, Elementwise
from webinfer.ops.lanes import LANE, bits, converted, kind


def _target(call: Call) -> str:
    name = call.element("to")
    assert name is not None
    return name


def _cast(call: Call) -> str:
    return converted("{0}", call.types[0], _target(call))


def _like(call: Call) -> str:
    return call.types[1]


def _cast_like(call: Call) -> str:
    return converted("{0}", call.types[0], call.types[1])


def _size(dtype: str) -> int:
    return 8 if dtype == "bool" else int(dtype.removeprefix("float")) if dtype.startswith("float") else bits(dtype)


def _bit_cast(call: Call) -> str:
    """Words keep their bits; float16 is computed on as f32, so its bits are put together and taken apart."""
    source, target = call.types[0], _target(call)
    if _size(source) != _size(target):
        return ""
    if (source == "float16") == (target == "float16"):
        if "float32" in (source, target) and source != target:
            return f"bitcast<{LANE[kind(target)]}>({{0}})"
        return converted("{0}", source, target)
    if target == "float16":
        return f"half_of_bits({converted('{0}', source, 'uint16')})"
    return converted("bits_of_half({0})", "uint16", target)


_TARGETS = tuple(
    {"to": int(ir.DataType[name])}
    for name in (
        *("FLOAT", "FLOAT16", "BOOL"),
        *("INT2", "INT4", "INT8", "INT16", "INT32", "INT64"),
        *("UINT2", "UINT4", "UINT8", "UINT16", "UINT32", "UINT64"),
    )
)
CASTS = {
    "Cast": Elementwise(_cast, _cast, _cast, _cast, flops=0, result=_target, special=False, variants=_TARGETS),
    "CastLike": Elementwise(_cast_like, _cast_like, _cast_like, _cast_like, flops=0, result=_like, special=False),
    "BitCast": Elementwise(_bit_cast, _bit_cast, _bit_cast, _bit_cast, flops=0, result=_target, variants=_TARGETS),
}
