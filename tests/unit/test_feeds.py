"""Inputs of a run: files, shapes, element types and seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from webinfer.errors import InputError
from webinfer.feeds import check_feeds, read_inputs, seeded_feeds
from webinfer.manifest import TensorSpec

SPECS = [
    TensorSpec(name="x", dtype="float32", shape=[2, 3]),
    TensorSpec(name="ids", dtype="int64", shape=[4]),
    TensorSpec(name="mask", dtype="bool", shape=[]),
]


def test_files_are_read_by_name(tmp_path: Path) -> None:
    np.save(tmp_path / "a=b.npy", np.arange(3))
    feeds = read_inputs([f"x={tmp_path / 'a=b.npy'}"])
    np.testing.assert_array_equal(feeds["x"], [0, 1, 2])


@pytest.mark.parametrize("pair", ["x", "=x.npy", "x="])
def test_a_malformed_pair_is_named(pair: str) -> None:
    with pytest.raises(InputError, match=r"expected NAME=FILE\.npy"):
        read_inputs([pair])


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.npy does not exist"):
        read_inputs([f"x={tmp_path / 'none.npy'}"])
    (tmp_path / "text.npy").write_text("hello")
    with pytest.raises(InputError, match=r"text\.npy is not a \.npy file"):
        read_inputs([f"x={tmp_path / 'text.npy'}"])
    # Pickled objects would run code when they are read.
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"pickled\.npy is not a \.npy file"):
        read_inputs([f"x={tmp_path / 'pickled.npy'}"])
    np.savez(tmp_path / "many.npz", a=np.zeros(1))
    with pytest.raises(InputError, match=r"many\.npz is an \.npz archive"):
        read_inputs([f"x={tmp_path / 'many.npz'}"])
    np.save(tmp_path / "x.npy", np.zeros(1))
    with pytest.raises(InputError, match="x: given twice"):
        read_inputs([f"x={tmp_path / 'x.npy'}"] * 2)


def test_seeded_inputs_are_valid_and_reproducible() -> None:
    feeds = seeded_feeds(SPECS, 5)
    check_feeds(SPECS, feeds)
    assert all(np.array_equal(feeds[n], seeded_feeds(SPECS, 5)[n]) for n in feeds)
    assert not np.array_equal(feeds["x"], seeded_feeds(SPECS, 6)["x"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.zeros(1)}, "input 'y' is not one of the model's: expected x float32"),
        ({"x": None}, r"input x \(float32 \[2, 3\]\) is missing; add --input x=FILE.npy"),
        ({"x": np.zeros((3, 2), np.float32)}, r"input x: expected shape \[2, 3\], found \[3, 2\]"),
        ({"x": np.zeros((2, 3))}, "input x: expected dtype float32, found float64"),
        ({"ids": np.zeros(4, np.int32)}, "input ids: expected dtype int64, found int32"),
        ({"mask": np.zeros(1, bool)}, r"input mask: expected shape \[\], found \[1\]"),
    ],
)
def test_wrong_inputs_are_named(change: dict[str, np.ndarray | None], message: str) -> None:
    feeds = {n: a for n, a in {**seeded_feeds(SPECS, 0), **change}.items() if a is not None}
    with pytest.raises(InputError, match=message):
        check_feeds(SPECS, feeds)
