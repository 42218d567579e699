"""Symbolic sizes: every answer of the algebra against trying all sizes within the bounds."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from webinfer.expressions import parse
from webinfer.symbols import (
    Size,
    Sym,
    Symbol,
    Undecided,
    bounds,
    evaluate,
    largest,
    maximum,
    minimum,
    operations,
    quotient,
    remainder,
)

A, B, C = Symbol("a", 1, 5), Symbol("b", 0, 4), Symbol("c", 4, 12, 4)
SYMBOLS = {s.name: s for s in (A, B, C)}
DOMAIN = [
    dict(zip(SYMBOLS, values, strict=True))
    for values in itertools.product(*(range(s.minimum, s.maximum + 1, s.multiple) for s in SYMBOLS.values()))
]


OPERATIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int, int], int]]] = {
    "+": (operator.add, operator.add),
    "-": (operator.sub, operator.sub),
    "*": (operator.mul, operator.mul),
    "//": (quotient, operator.floordiv),
    "%": (remainder, operator.mod),
    "min": (minimum, min),
    "max": (maximum, max),
}
Tree = Any
TREES = st.recursive(
    st.integers(-6, 6) | st.sampled_from(sorted(SYMBOLS)),
    lambda inner: st.tuples(st.sampled_from(sorted(OPERATIONS)), inner, inner),
    max_leaves=7,
)


def _symbolic(tree: Tree) -> Size:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return SYMBOLS[tree].size
    value: Size = OPERATIONS[tree[0]][0](_symbolic(tree[1]), _symbolic(tree[2]))
    return value


def _everywhere(tree: Tree) -> list[int]:
    """The values at all sizes; cases that divide by 0 anywhere are left out."""
    try:
        return [_plain(tree, sizes) for sizes in DOMAIN]
    except ZeroDivisionError:
        reject()


def _plain(tree: Tree, sizes: dict[str, int]) -> int:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return sizes[tree]
    return OPERATIONS[tree[0]][1](_plain(tree[1], sizes), _plain(tree[2], sizes))


@settings(max_examples=400, derandomize=True, deadline=None)
@given(TREES)
def test_value_bounds_and_text_agree_with_all_sizes(tree: Tree) -> None:
    value = _symbolic(tree)
    expected = _everywhere(tree)
    assert [evaluate(value, sizes) for sizes in DOMAIN] == expected
    low, high = bounds(value)
    assert low <= min(expected)
    assert max(expected) <= high
    read_back = parse(str(value), {name: s.size for name, s in SYMBOLS.items()})
    assert [evaluate(read_back, sizes) for sizes in DOMAIN] == expected


def _composed(value: Size) -> Size:
    """The value put together again from its operations."""
    if not isinstance(value, Sym):
        return value
    what = operations(value)
    if isinstance(what, Symbol):
        return what.size
    return OPERATIONS[what[0]][0](_composed(what[1]), _composed(what[2]))  # type: ignore[no-any-return]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(TREES)
def test_operations_give_the_value_again(tree: Tree) -> None:
    value = _symbolic(tree)
    assert str(_composed(value)) == str(value)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(TREES, TREES)
def test_equality_is_exact_and_order_is_proven(left: Tree, right: Tree) -> None:
    a, b = _symbolic(left), _symbolic(right)
    pairs = list(zip(_everywhere(left), _everywhere(right), strict=True))
    assert (a == b) == all(x == y for x, y in pairs)  # the domain is small, so that nothing stays unproven
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        try:
            answer = compare(a, b)
        except Undecided:
            continue
        assert all(compare(x, y) == answer for x, y in pairs)


def test_usual_shapes_simplify() -> None:
    seq, past = Symbol("seq", 1, 128).size, Symbol("past", 0, 512).size
    height = Symbol("height", 64, 512, 8).size
    assert str(past + seq) == "past + seq"
    assert str(2 * seq * past + 3) == "2 * past * seq + 3"
    assert (seq * 16 * past) // (seq * past) == 16
    assert (seq * past + seq * seq) // (past + seq) == seq
    assert largest(math.prod((seq, 4, past + seq))) == 128 * 4 * 640
    # What a convolution with stride 2 and a Resize by 2 make of a multiple of 8.
    halved = (height + 2 - 3) // 2 + 1
    assert isinstance(halved, Sym)
    assert halved * 2 == height
    assert height % 8 == 0
    assert seq % 4 != 0
    assert -(-seq // 4) == (seq + 3) // 4
    assert largest(-(-seq // 4)) == 32
    assert str(height) == "height"


def test_a_size_that_would_freeze_is_refused() -> None:
    seq = Symbol("seq", 1, 128).size
    assert seq > 0
    assert not seq > 128
    for frozen in (
        lambda: int(seq),
        lambda: float(seq),
        lambda: 1.0 / seq,
        lambda: 0.5 * seq,
        lambda: range(seq),
        lambda: [0] * seq,
        lambda: min(seq, 64),
        lambda: seq < 64,
    ):
        with pytest.raises(Undecided):
            frozen()


def test_text_that_is_no_expression() -> None:
    for text in ("a +", "a ** 2", "a / 2", "f(a)", "__import__('os')", "1.5", "a if a else 2"):
        with pytest.raises(ValueError, match="no integer expression"):
            parse(text, {"a": 3})
    with pytest.raises(KeyError):
        parse("a + d", {"a": 3})
