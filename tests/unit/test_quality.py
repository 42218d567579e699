"""Comparisons: a value that is not a number never passes."""

from __future__ import annotations

import numpy as np
import pytest

from webinfer.errors import CheckFailed
from webinfer.quality import compare, compare_all


def test_the_largest_difference_decides() -> None:
    difference = compare("y", np.array([0.0, 1.0, -4.0]), np.array([0.0, 1.5, -4.0]))
    assert (difference.max_abs, difference.largest) == (0.5, 4.0)
    assert difference.holds(0.5)
    assert not difference.holds(0.4)


@pytest.mark.parametrize(
    ("expected", "found", "holds"),
    [
        ([np.nan, np.nan], [np.nan, np.nan], False),
        ([1.0, 2.0], [1.0, np.nan], False),
        ([1.0, 2.0], [np.inf, 2.0], False),
        ([np.inf, -np.inf], [np.inf, -np.inf], True),
        ([np.inf, 0.0], [-np.inf, 0.0], False),
        ([], [], True),
    ],
)
def test_non_finite_values(expected: list[float], found: list[float], holds: bool) -> None:
    assert compare("y", np.array(expected), np.array(found)).holds(1e9) is holds


def test_unsigned_and_half_values_do_not_wrap() -> None:
    assert compare("y", np.array([0], np.uint8), np.array([255], np.uint8)).max_abs == 255
    assert compare("y", np.array([65504], np.float16), np.array([-65504], np.float16)).max_abs == 131008


def test_shapes_and_names_must_match() -> None:
    with pytest.raises(CheckFailed, match=r"y: expected shape \[2\], found \[1, 2\]"):
        compare("y", np.zeros(2), np.zeros((1, 2)))
    with pytest.raises(CheckFailed, match="outputs z are missing; found y"):
        compare_all({"y": np.zeros(1), "z": np.zeros(1)}, {"y": np.zeros(1)})
