"""WGSL arithmetic of each element type, as kernels that are generic over it need it: reductions and running sums."""

from __future__ import annotations

from dataclasses import dataclass

from webinfer.kernel import element_type
from webinfer.ops.lanes import limits
from webinfer.templating import environment


@dataclass(frozen=True)
class Numbers:
    """Formats over operands (%s): how numbers of one element type add, multiply, compare and convert.

    word: the WGSL type; library: the file under wgsl/ with the functions; from_float rounds towards zero.
    """

    word: str
    add: str = "(%s + %s)"
    multiply: str = "(%s * %s)"
    max: str = "max(%s, %s)"
    min: str = "min(%s, %s)"
    abs: str = "abs(%s)"
    divide: str = "(%s / %s)"  # by a u32
    to_float: str = "%s"
    from_float: str = "%s"
    library: str | None = None

    @property
    def declarations(self) -> list[str]:
        """WGSL of the functions that the formats call."""
        return [environment().get_template(self.library).render()] if self.library else []

    @property
    def wide(self) -> bool:
        """Whether an element is two words, which move one element at a time."""
        return self.word == "vec2<u32>"


_FLOAT = Numbers("f32", divide="(%s / f32(%s))")
_SIGNED = Numbers("i32", divide="(%s / i32(%s))", to_float="f32(%s)", from_float="i32(%s)")
_UNSIGNED = Numbers("u32", abs="%s", to_float="f32(%s)", from_float="u32(%s)")


def _wide(kind: str) -> Numbers:
    return Numbers(
        "vec2<u32>",
        add="add64(%s, %s)",
        multiply="mul64(%s, %s)",
        max=f"max_{kind}(%s, %s)",
        min=f"min_{kind}(%s, %s)",
        abs="abs_i64(%s)" if kind == "i64" else "%s",
        divide=f"div_{kind}(%s, vec2<u32>(%s, 0u))",
        to_float=f"f32_{kind}(%s)",
        from_float=f"{kind}_f32(%s)",
        library="lib/int64.wgsl.j2",
    )


_WIDE = {"int64": _wide("i64"), "uint64": _wide("u64")}


def numbers(dtype: str) -> Numbers:
    """The arithmetic of an element type in ONNX's spelling ("float32")."""
    return _WIDE.get(dtype) or {"f32": _FLOAT, "i32": _SIGNED, "u32": _UNSIGNED}[element_type(dtype)]


def constant(dtype: str, value: int) -> str:
    """A WGSL constant of an element type."""
    if dtype in _WIDE:
        return f"vec2<u32>({value & 0xFFFFFFFF}u, {value >> 32 & 0xFFFFFFFF}u)"
    return f"{element_type(dtype)}({value})"


def extreme(dtype: str, *, highest: bool) -> str:
    """The highest or lowest value of an integer type or bool, as a WGSL constant."""
    low, high = (0, 1) if dtype == "bool" else limits(dtype)
    return constant(dtype, high if highest else low)
