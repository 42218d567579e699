"""Element types in elementwise expressions: their WGSL types, conversions and constants.

Expressions are over lanes. `V`, `VI`, `VU` and `VB` are f32, i32, u32 and bool, or vectors of four of them; 64-bit
integers are vec2<u32> (wgsl/lib/int64.wgsl.j2) and have one lane. A bool is a VB between its load and its store.
"""

from __future__ import annotations

import math
from typing import Literal

Kind = Literal["float", "int", "uint", "bool", "int64", "uint64"]
LANE: dict[Kind, str] = {
    "float": "V",
    "int": "VI",
    "uint": "VU",
    "bool": "VB",
    "int64": "vec2<u32>",
    "uint64": "vec2<u32>",
}
WIDE = frozenset({"int64", "uint64"})
LARGEST = 3.4028234e38


def kind(dtype: str) -> Kind:
    """What computes with an element type in ONNX's spelling; integers below 32 bits are wrapped into a word."""
    if dtype == "bool" or dtype in WIDE:
        return dtype  # type: ignore[return-value]
    return "float" if dtype.startswith("float") else "uint" if dtype.startswith("uint") else "int"


def bits(dtype: str) -> int:
    """Bits of an integer type."""
    return int(dtype.lstrip("uint"))


def limits(dtype: str) -> tuple[int, int]:
    """Smallest and largest number of an integer type."""
    if dtype.startswith("u"):
        return 0, (1 << bits(dtype)) - 1
    return -(1 << bits(dtype) - 1), (1 << bits(dtype) - 1) - 1


def aliases(lanes: Literal[1, 4]) -> str:
    """WGSL declarations of the lane types."""
    scalars = {"V": "f32", "VI": "i32", "VU": "u32", "VB": "bool"}
    return "\n".join(f"alias {a} = {f'vec4<{s}>' if lanes == 4 else s};" for a, s in scalars.items())


def wrapped(text: str, dtype: str) -> str:
    """Integer arithmetic in a word, as `dtype` holds its result; extractBits extends the sign."""
    if kind(dtype) in ("int", "uint") and bits(dtype) < 32:
        return f"extractBits({text}, 0u, {bits(dtype)}u)"
    return text


def loaded(text: str, dtype: str) -> str:
    """What a load gives (or one element of it, for all lanes) as lanes."""
    if kind(dtype) == "bool":
        return f"(VU({text}) != VU(0u))"
    return text if dtype in WIDE else f"{LANE[kind(dtype)]}({text})"


def stored(text: str, dtype: str) -> str:
    """Lanes as a store takes them."""
    return f"VU({text})" if dtype == "bool" else text


def converted(text: str, source: str, target: str) -> str:
    """ONNX Cast: floats truncate, integers keep their low bits, whatever is not 0 is true. The result is to be wrapped.

    Floats beyond an integer type go through a wider integer, as compiled C does on x86; ONNX leaves that undefined.
    """
    given, wanted = kind(source), kind(target)
    if given == wanted == "float" or source == target:
        return text
    if wanted == "float":
        return f"f32_{'i' if given == 'int64' else 'u'}64({text})" if source in WIDE else f"V({text})"
    if wanted == "bool":
        if source in WIDE:
            return f"any({text} != vec2<u32>(0u))"
        return f"truth({text})" if given == "float" else f"({text} != {LANE[given]}(0))"
    if target in WIDE:
        if given == "float":
            return f"{'i' if wanted == 'int64' else 'u'}64_f32({text})"
        if source in WIDE:
            return text
        return f"i64_i32({text})" if given == "int" else f"vec2<u32>(u32({text}), 0u)"
    if source in WIDE:
        text = f"({text}).x"
    return f"to_unsigned({text})" if given == "float" and wanted == "uint" else f"{LANE[wanted]}({text})"


def literal(value: float) -> str:
    """A finite f32 literal. Negative values are in parentheses, because `--` is a reserved token of WGSL."""
    text = f"{max(-LARGEST, min(LARGEST, float(value))):.9g}f"
    return f"({text})" if math.copysign(1.0, value) < 0 else text


def integer(value: int, dtype: str) -> str:
    """A constant of an integer type, as lanes; it wraps."""
    if dtype in WIDE:
        return f"vec2<u32>({value & 0xFFFFFFFF}u, {value >> 32 & 0xFFFFFFFF}u)"
    low, _ = limits(dtype)
    return f"{LANE[kind(dtype)]}({(value - low) % (1 << bits(dtype)) + low})"
