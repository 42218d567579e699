"""Sym: an integer that depends on named sizes within bounds; lowerings compute with it as with a plain int.

Arithmetic (+ - * // %, `minimum`, `maximum`, math.prod) gives simplified expressions, and plain ints where the sizes
cancel out. `==` is True only where it holds for all sizes within the bounds, so that code which tests for a special
case takes the general path otherwise. What would silently freeze a size raises Undecided: an order that the bounds do
not prove, int(), float(), range(), a division into floats. `largest` gives the maximum, for choices of performance.

An expression is a polynomial over atoms: sizes, and quotients, remainders, minima and maxima that do not simplify.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Union, cast

import numpy as np

Size = Union[int, "Sym"]
_PROOF_POINTS = 1 << 16  # up to this many combinations of sizes, facts are decided by trying all of them


class Undecided(Exception):
    """A decision or a number depends on a size that is known only at run time."""


@dataclass(frozen=True)
class Symbol:
    """A named size: any multiple of `multiple` from `minimum` to `maximum`, both of which are such multiples."""

    name: str
    minimum: int
    maximum: int
    multiple: int = 1

    @property
    def size(self) -> Size:
        """The size as a number to compute with."""
        return _make({(_Atom(self),): self.multiple}) if self.minimum < self.maximum else self.minimum


class _Atom:
    """A size in units of its multiple, or an operation on two expressions that does not simplify."""

    __slots__ = ("bounds", "text", "what")

    def __init__(self, what: Symbol | tuple[str, Size, Size]) -> None:
        self.what = what
        if isinstance(what, Symbol):
            self.text = what.name if what.multiple == 1 else f"{what.name} // {what.multiple}"
            self.bounds = (what.minimum // what.multiple, what.maximum // what.multiple)
        else:
            op, a, b = what
            self.text = f"{op}({a}, {b})" if op in ("min", "max") else f"{_operand(a)} {op} {_operand(b)}"
            self.bounds = _call_bounds(op, bounds(a), bounds(b))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Atom) and self.what == other.what

    def __hash__(self) -> int:
        return hash(self.text)

    def __lt__(self, other: _Atom) -> bool:
        return self.text < other.text


_Monomial = tuple[_Atom, ...]


class Sym:
    """See the module. Equal expressions have equal hashes."""

    __slots__ = ("_bounds", "_range", "_terms")

    def __init__(self, terms: Mapping[_Monomial, int]) -> None:
        self._terms = dict(sorted(terms.items(), key=lambda t: (-len(t[0]), t[0])))
        sides = [_scaled(_product(atom.bounds for atom in monomial), c) for monomial, c in self._terms.items()]
        self._bounds = (sum(low for low, _ in sides), sum(high for _, high in sides))
        self._range: tuple[int, int] | None = None

    @property
    def symbols(self) -> dict[str, Symbol]:
        """The sizes that the value depends on, by name."""
        found: dict[str, Symbol] = {}
        for atom in itertools.chain.from_iterable(self._terms):
            if isinstance(atom.what, Symbol):
                found[atom.what.name] = atom.what
            else:
                found |= {n: s for side in atom.what[1:] if isinstance(side, Sym) for n, s in side.symbols.items()}
        return found

    def __add__(self, other: object) -> Any:
        return _arithmetic(self, other, _add)

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return _arithmetic(self, other, lambda a, b: _add(a, _multiply(b, -1)))

    def __rsub__(self, other: object) -> Any:
        return _arithmetic(self, other, lambda a, b: _add(b, _multiply(a, -1)))

    def __mul__(self, other: object) -> Any:
        return _arithmetic(self, other, _multiply)

    __rmul__ = __mul__

    def __neg__(self) -> Size:
        return _multiply(self, -1)

    def __pos__(self) -> Sym:
        return self

    def __floordiv__(self, other: object) -> Any:
        return _arithmetic(self, other, quotient)

    def __rfloordiv__(self, other: object) -> Any:
        return _arithmetic(self, other, lambda a, b: quotient(b, a))

    def __mod__(self, other: object) -> Any:
        return _arithmetic(self, other, remainder)

    def __rmod__(self, other: object) -> Any:
        return _arithmetic(self, other, lambda a, b: remainder(b, a))

    def __divmod__(self, other: object) -> Any:
        return (self // other, self % other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, np.integer, Sym)) and _always_zero(self - other)

    def __hash__(self) -> int:
        return hash(tuple(self._terms.items()))

    def __abs__(self) -> Size:
        return self if self >= 0 else -self

    def __bool__(self) -> bool:
        return self != 0

    def __lt__(self, other: Size) -> bool:
        return self._ordered(other, "<", lambda low, high: True if high < 0 else False if low >= 0 else None)

    def __le__(self, other: Size) -> bool:
        return self._ordered(other, "<=", lambda low, high: True if high <= 0 else False if low > 0 else None)

    def __gt__(self, other: Size) -> bool:
        return self._ordered(other, ">", lambda low, high: True if low > 0 else False if high <= 0 else None)

    def __ge__(self, other: Size) -> bool:
        return self._ordered(other, ">=", lambda low, high: True if low >= 0 else False if high < 0 else None)

    def _ordered(self, other: Size, sign: str, decide: Callable[[int, int], bool | None]) -> bool:
        answer = decide(*_range(self - other))
        if answer is None:
            raise Undecided(f"whether {self} {sign} {other} depends on the size")
        return answer

    def _frozen(self, *_: object) -> NoReturn:
        raise Undecided(f"it needs {self} as a fixed number")

    __int__ = __index__ = __float__ = __truediv__ = __rtruediv__ = __round__ = __pow__ = __rpow__ = _frozen

    def __str__(self) -> str:
        text = ""
        for monomial, c in self._terms.items():
            text += (f" {'-' if c < 0 else '+'} " if text else "-" if c < 0 else "") + _term(monomial, c)
        return text

    __repr__ = __str__


def _term(monomial: _Monomial, signed: int) -> str:
    """A product without its sign, in which a size stands by its name where its multiple divides the coefficient."""
    factors, c = [], abs(signed)
    for atom in monomial:
        if isinstance(atom.what, Symbol) and c % atom.what.multiple == 0:
            c //= atom.what.multiple
            factors.append(atom.what.name)
        else:
            single = isinstance(atom.what, tuple) and atom.what[0] in ("min", "max")
            factors.append(atom.text if single else f"({atom.text})")
    if c != 1 or not factors:
        factors.insert(0, str(c))
    lone = len(factors) == 1 and factors[0].startswith("(") and signed > 0
    return factors[0][1:-1] if lone else " * ".join(factors)


def _operand(value: Size) -> str:
    text = str(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


# -- arithmetic --------------------------------------------------------------------------------------------------------


def _arithmetic(a: Sym, b: object, fn: Callable[[Size, Size], Size]) -> Any:
    if isinstance(b, (Sym, int)):
        return fn(a, b)
    if isinstance(b, np.integer):
        return fn(a, int(b))
    if isinstance(b, (float, np.floating)):
        raise Undecided(f"it needs {a} as a fixed number")
    return NotImplemented


def _terms(value: Size) -> Mapping[_Monomial, int]:
    return value._terms if isinstance(value, Sym) else {(): int(value)}  # noqa: SLF001


def _make(terms: Mapping[_Monomial, int]) -> Size:
    kept = {m: c for m, c in terms.items() if c}
    if all(m == () for m in kept):
        return kept.get((), 0)
    return Sym(kept)


def _call(op: str, a: Size, b: Size) -> Size:
    return _make({(_Atom((op, a, b)),): 1})


def _add(a: Size, b: Size) -> Size:
    total = dict(_terms(a))
    for monomial, c in _terms(b).items():
        total[monomial] = total.get(monomial, 0) + c
    return _make(total)


def _multiply(a: Size, b: Size) -> Size:
    total: dict[_Monomial, int] = {}
    for (m, c), (n, d) in itertools.product(_terms(a).items(), _terms(b).items()):
        monomial = tuple(sorted(m + n))
        total[monomial] = total.get(monomial, 0) + c * d
    return _make(total)


def quotient(a: Size, b: Size) -> Size:
    """Floor of a / b. Where b is 0 the value is arbitrary, but not an error: sizes may be 0."""
    if isinstance(b, Sym):
        exact = _exact_quotient(a, b)
        if exact is not None:
            return exact
        (low, high), (least, _) = bounds(a), bounds(b)
        return 0 if low >= 0 and high < least else _call("//", a, b)
    if b == 0:
        return 0
    if b < 0:
        a, b = _multiply(a, -1), -b
    if isinstance(a, int):
        return a // b
    # Whole multiples of b leave the quotient; the sign stays with the rest, so that its bounds stay tight.
    whole = {m: c // b if m == () or c >= 0 else -(-c // b) for m, c in _terms(a).items()}
    rest = _make({m: c - b * whole[m] for m, c in _terms(a).items()})
    return _add(_make(whole), _proper_quotient(rest, b))


def _proper_quotient(rest: Size, b: int) -> Size:
    low, high = bounds(rest)
    if low // b == high // b:
        return low // b
    assert isinstance(rest, Sym)
    terms = rest._terms  # noqa: SLF001
    if next(iter(terms.values())) < 0:  # floor(-x / b) is -floor((x + b - 1) / b): ceilings get one form
        return _multiply(quotient(_add(_multiply(rest, -1), b - 1), b), -1)
    common = math.gcd(b, *(c for m, c in terms.items() if m))
    if common > 1:  # (g x + c) // (g d) is (x + c // g) // d
        return quotient(_make({m: c // common for m, c in terms.items()}), b // common)
    if len(terms) == 1:
        ((monomial, c),) = terms.items()
        what = monomial[0].what
        if c == 1 and len(monomial) == 1 and isinstance(what, tuple) and what[0] == "//" and isinstance(what[2], int):
            return quotient(what[1], what[2] * b)
    return _call("//", rest, b)


def _exact_quotient(a: Size, b: Sym) -> Size | None:
    """The quotient where b divides a as a polynomial, by long division; None where it does not."""
    lead, leading = next(iter(b._terms.items()))  # noqa: SLF001
    rest, result = a, cast("Size", 0)
    for _ in range(64):
        if isinstance(rest, int) and rest == 0:
            return result
        monomial, c = next(iter(_terms(rest).items()))
        left = list(monomial)
        for atom in lead:
            if atom not in left:
                return None
            left.remove(atom)
        if c % leading:
            return None
        step = _make({tuple(left): c // leading})
        result, rest = _add(result, step), _add(rest, _multiply(_multiply(b, step), -1))
    return None


def remainder(a: Size, b: Size) -> Size:
    """What a // b leaves; arbitrary where b is 0."""
    if isinstance(b, Sym):
        (low, high), (least, _) = bounds(a), bounds(b)
        if _exact_quotient(a, b) is not None:
            return 0
        return a if low >= 0 and high < least else _call("%", a, b)
    if b == 0:
        return 0
    if b < 0:
        return _multiply(remainder(_multiply(a, -1), -b), -1)
    rest = _make({m: c % b for m, c in _terms(a).items()})
    low, high = bounds(rest)
    if low // b == high // b:
        return _add(rest, -(low // b) * b)
    return _call("%", rest, b)


def minimum(*values: Size) -> int:
    """The smallest value at every size; the builtin `min` works only where the bounds decide."""
    return _extreme("min", values)


def maximum(*values: Size) -> int:
    """The largest value at every size; the builtin `max` works only where the bounds decide."""
    return _extreme("max", values)


def _extreme(op: str, values: Sequence[Size]) -> int:
    result = values[0]
    for value in values[1:]:
        low, high = _range(_add(result, _multiply(value, -1)))
        if low >= 0 or high <= 0:
            result = result if (high <= 0) == (op == "min") else value
        else:
            result = _call(op, *sorted((result, value), key=str))
    return cast("int", result)


def broadcast_size(a: Size, b: Size) -> int:
    """The size of a dimension that `a` and `b` give together: they are equal, or one of them is 1."""
    if b in (a, 1) or (a != 1 and bounds(a)[0] > 1):
        return cast("int", a)
    return cast("int", b) if a == 1 or bounds(b)[0] > 1 else maximum(a, b)


def broadcast_stride(stride: int, size: int, to: int) -> int:
    """The stride with which a dimension of `size` is read as one of size `to`: 0 where it is 1."""
    if size == 1:
        return 0
    return stride if size == to or bounds(size)[0] > 1 else stride * minimum(size - 1, 1)


# -- facts -------------------------------------------------------------------------------------------------------------


def bounds(value: Size) -> tuple[int, int]:
    """Numbers that the value never goes below and above."""
    return value._bounds if isinstance(value, Sym) else (int(value), int(value))  # noqa: SLF001


def largest(value: Size) -> int:
    """The largest value or a number above it, for memory and for choices of performance."""
    return _range(value)[1]


def _range(value: Size) -> tuple[int, int]:
    """The smallest and the largest value; `bounds` where there are too many combinations of sizes to try."""
    if isinstance(value, int):
        return (value, value)
    if value._range is None:  # noqa: SLF001
        values = _everywhere(value)
        value._range = value._bounds if values is None else (int(np.min(values)), int(np.max(values)))  # noqa: SLF001
    return value._range  # noqa: SLF001


def _everywhere(value: Sym) -> Any:
    """The values at all combinations of sizes; None where there are too many."""
    sizes = value.symbols
    ranges = [np.arange(s.minimum, s.maximum + 1, s.multiple) for s in sizes.values()]
    if math.prod(map(len, ranges)) > _PROOF_POINTS:
        return None
    return _evaluate(value, dict(zip(sizes, np.meshgrid(*ranges, indexing="ij"), strict=True)))


def operations(value: Sym) -> Symbol | tuple[str, Size, Size]:
    """The size that the value is, or the operation (+ * // % min max) of two simpler ones that gives it."""
    (monomial, c), *rest = value._terms.items()  # noqa: SLF001
    if rest:
        return ("+", _make({monomial: c}), _make(dict(rest)))
    atom, *others = monomial
    what, unit = atom.what, atom.what.multiple if isinstance(atom.what, Symbol) else 1
    whole = c % unit == 0  # the size itself, or in units of its multiple
    factor = c // unit if whole else c
    if factor != 1 or others:
        return ("*", _make({(atom,): unit if whole else 1}), _make({tuple(others): factor}))
    return what if whole or not isinstance(what, Symbol) else ("//", _make({(atom,): unit}), unit)


def is_open(value: object) -> bool:
    """Whether the value is a Sym; type checkers take one for an int, so that they know better than isinstance."""
    return isinstance(value, Sym)


def _product(sides: Iterator[tuple[int, int]]) -> tuple[int, int]:
    low = high = 1
    for a, b in sides:
        corners = (low * a, low * b, high * a, high * b)
        low, high = min(corners), max(corners)
    return low, high


def _scaled(side: tuple[int, int], factor: int) -> tuple[int, int]:
    return (side[0] * factor, side[1] * factor) if factor >= 0 else (side[1] * factor, side[0] * factor)


def _call_bounds(op: str, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    if op in ("min", "max"):
        pick = min if op == "min" else max
        return pick(a[0], b[0]), pick(a[1], b[1])
    divisors = {d for d in (*b, -1, 1) if b[0] <= d <= b[1] and d}
    if op == "//":
        corners = [x // d for x in a for d in divisors] + ([0] if b[0] <= 0 <= b[1] else [])
        return min(corners), max(corners)
    return min(b[0] + 1, 0), max(b[1] - 1, 0)


def _always_zero(value: Size) -> bool:
    if isinstance(value, int):
        return value == 0
    low, high = value._bounds  # noqa: SLF001
    if low > 0 or high < 0:
        return False
    sizes = value.symbols.values()
    probes = (
        {s.name: s.minimum + (s.maximum - s.minimum) // s.multiple * part // 3 * s.multiple for s in sizes}
        for part in (3, 0, 1, 2)
    )
    if any(evaluate(value, probe) for probe in probes):
        return False
    values = _everywhere(value)
    return values is not None and not np.any(values)


def evaluate(value: Size, sizes: Mapping[str, int]) -> int:
    """The value at the given sizes. Raises KeyError for a size that is missing."""
    return int(_evaluate(value, sizes))


def _evaluate(value: Size, sizes: Mapping[str, Any]) -> Any:
    if not isinstance(value, Sym):
        return value
    total: Any = 0
    for monomial, c in value._terms.items():  # noqa: SLF001
        term: Any = c
        for atom in monomial:
            if isinstance(atom.what, Symbol):
                term = term * (sizes[atom.what.name] // atom.what.multiple)
            else:
                op, a, b = atom.what
                term = term * _OPERATIONS[op](_evaluate(a, sizes), _evaluate(b, sizes))
        total = total + term
    return total


def _divided(fn: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: np.where(np.equal(b, 0), 0, fn(a, np.where(np.equal(b, 0), 1, b)))


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "//": _divided(np.floor_divide),
    "%": _divided(np.mod),
    "min": np.minimum,
    "max": np.maximum,
}
