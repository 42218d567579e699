"""What an elementwise operator is: WGSL expressions over its operands, by the kind of element that it computes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from webinfer.ops.lanes import LANE, kind, literal


@dataclass(frozen=True)
class Call:
    """One use of an operator. `types` are the element types of its operands in ONNX's spelling, "" where omitted."""

    types: tuple[str, ...]
    attributes: Mapping[str, ir.Attr]

    def has(self, operand: int) -> bool:
        """Whether an optional operand is there."""
        return operand < len(self.types) and bool(self.types[operand])

    def number(self, name: str, default: float) -> float:
        """A float attribute."""
        return self.attributes[name].as_float() if name in self.attributes else default

    def float(self, name: str, default: float) -> str:
        """A float attribute as a literal."""
        return literal(self.number(name, default))

    def int(self, name: str, default: int) -> int:
        """An integer attribute."""
        return self.attributes[name].as_int() if name in self.attributes else default

    def string(self, name: str, default: str) -> str:
        """A string attribute."""
        return self.attributes[name].as_string() if name in self.attributes else default

    def element(self, name: str) -> str | None:
        """An attribute that names an element type; None where it is omitted or 0."""
        number = self.int(name, 0)
        return _dtype(ir.DataType(number)) if number else None


# A format string, or what makes one: {0}, {1} ... are operands as lanes; {T} is the type of lanes, {sign} "i" or "u".
Expression = str | Callable[[Call], str]
Range = tuple[float, float]


def joined(template: str) -> Callable[[Call], str]:
    """`template`, which joins {0} and {1}, over any number of operands from left to right."""

    def expression(call: Call) -> str:
        text = "{0}"
        for k in range(1, len(call.types)):
            text = template.replace("{1}", f"{{{k}}}").replace("{0}", text)
        return text

    return expression


@dataclass(frozen=True)
class Elementwise:
    """An operator: one expression per kind of element, None where it has none.

    integers: up to 32 bits, signed or not; results wrap. wides: 64 bits. `by` is the operand whose type selects the
    expression, and the type of the result where `result` does not give another. per_axis: operands after the first lie
    along attribute `axis` of the first, or in blocks of `block_size` there. flops: per element.

    For tests: domain is the range of each operand, the last one repeated; `special`: also infinities, NaN and the ends
    of integer types; `divides`: the last operand is not an integer 0; variants: attributes, one node each, none where
    the operator brings its own cases.
    """

    floats: Expression | None = None
    integers: Expression | None = None
    wides: Expression | None = None
    bools: Expression | None = None
    flops: int = 1
    result: str | Callable[[Call], str] = ""
    by: int = 0
    per_axis: bool = False
    domain: tuple[Range, ...] = ((-10.0, 10.0),)
    special: bool = True
    divides: bool = False
    variants: tuple[Mapping[str, Any], ...] = ({},)

    def result_type(self, call: Call) -> str:
        """Element type of the result."""
        given = self.result(call) if callable(self.result) else self.result
        return given or call.types[self.by]

    def template(self, call: Call) -> str | None:
        """The format string over the operands, or nothing where the operator does not take their type."""
        dtype = call.types[self.by]
        group = {"float": self.floats, "int": self.integers, "uint": self.integers, "bool": self.bools}
        chosen = group.get(kind(dtype), self.wides)
        text = chosen(call) if callable(chosen) else chosen
        return text and text.replace("{T}", LANE[kind(dtype)]).replace("{sign}", "u" if dtype.startswith("u") else "i")


def _dtype(dtype: ir.DataType) -> str:
    return {"FLOAT": "float32", "DOUBLE": "float32", "BFLOAT16": "float32"}.get(dtype.name, dtype.name.lower())
