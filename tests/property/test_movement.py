"""Operators that rearrange elements, for every element type and rank, against ONNX Runtime CPU."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.moves import TYPES, Move, shapes, values
from tests.property.nodes import assert_right

DTYPES = st.sampled_from(TYPES)


def _signed(draw: st.DrawFn, axis: int, rank: int) -> int:
    """The axis, or its negative name."""
    return axis - rank if draw(st.booleans()) else axis


def _ints(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@st.composite
def transposes(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1, smallest=0)), draw(DTYPES)
    order = draw(st.permutations(range(len(shape))))
    return Move("Transpose", (values(draw, shape, dtype),), {"perm": order})


@st.composite
def slices(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1, smallest=0)), draw(DTYPES)
    axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(1, len(shape)))]
    steps = [draw(st.sampled_from((-3, -2, -1, 1, 2, 3))) for _ in axes]
    near, far = st.integers(-11, 11), st.sampled_from((1 << 31, (1 << 63) - 1))
    starts = [draw(near) for _ in axes]
    # ONNX Runtime takes INT_MAX as "to the end" when it walks backwards too; ONNX does not.
    ends = [draw(near) if draw(st.booleans()) else draw(far) * (1 if step > 0 else -1) for step in steps]
    named = [_signed(draw, a, len(shape)) for a in axes]
    inputs = (values(draw, shape, dtype), *map(_ints, (starts, ends, named, steps)))
    return Move("Slice", inputs, constants=(1, 2, 3, 4))


@st.composite
def splits(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1)), draw(DTYPES)
    axis = draw(st.integers(0, len(shape) - 1))
    data = values(draw, shape, dtype)
    if draw(st.booleans()):
        size = draw(st.integers(1, shape[axis]))
        parts = -(-shape[axis] // size)
        if -(-shape[axis] // parts) == size:  # the last part is the smaller one
            return Move("Split", (data,), {"axis": axis, "num_outputs": parts}, parts)
    cuts = sorted(draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
    sizes = np.diff([0, *cuts, shape[axis]]).tolist()
    named = {"axis": _signed(draw, axis, len(shape))}
    return Move("Split", (data, _ints(sizes)), named, len(sizes), (1,))


@st.composite
def expansions(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(smallest=0)), draw(DTYPES)
    source = [draw(st.sampled_from((1, size))) for size in shape][draw(st.integers(0, len(shape))) :]
    asked = [draw(st.sampled_from((1, size))) if k and size == s else size for k, size, s in _beside(shape, source)]
    return Move("Expand", (values(draw, source, dtype), _ints(asked)), constants=(1,))


def _beside(shape: list[int], source: list[int]) -> list[tuple[bool, int, int]]:
    """Per axis of `shape`: whether `source` has it, its size, and its size in `source`."""
    lead = len(shape) - len(source)
    return [(d >= lead, size, source[d - lead] if d >= lead else 1) for d, size in enumerate(shape)]


@st.composite
def tiles(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1, smallest=0)), draw(DTYPES)
    repeats = [draw(st.integers(0, 3)) if k < 4 else 1 for k in range(len(shape))]
    return Move("Tile", (values(draw, shape, dtype), _ints(repeats)), constants=(1,))


@st.composite
def joins(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1)), draw(DTYPES)
    axis = draw(st.integers(0, len(shape) - 1))
    count = draw(st.sampled_from((1, 2, 3, 8, 17)))
    parts = [[*shape[:axis], draw(st.integers(0, 5)), *shape[axis + 1 :]] for _ in range(count)]
    named = {"axis": _signed(draw, axis, len(shape))}
    return Move("Concat", tuple(values(draw, p, dtype) for p in parts), named, typed=tuple(range(count)))


@st.composite
def views(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(smallest=0)), draw(DTYPES)
    data = values(draw, shape, dtype)
    ones = [k for k, size in enumerate(shape) if size == 1]
    kind = draw(st.sampled_from(("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity")))
    if kind == "Reshape":
        return Move(kind, (data, _ints(list(reversed(shape)))), {"allowzero": 1}, constants=(1,))
    if kind == "Flatten":
        return Move(kind, (data,), {"axis": draw(st.integers(-len(shape), len(shape)))})
    if kind == "Squeeze" and ones:
        return Move(kind, (data, _ints([_signed(draw, k, len(shape)) for k in ones])), constants=(1,))
    if kind == "Unsqueeze" and len(shape) < 7:
        return Move(kind, (data, _ints([-1, draw(st.integers(0, len(shape)))])), constants=(1,))
    return Move("Identity", (data,))


@st.composite
def blocks(draw: st.DrawFn) -> Move:
    dtype, side = draw(DTYPES), draw(st.integers(1, 3))
    n, c, h, w = (draw(st.integers(1, 4)) for _ in range(4))
    if draw(st.booleans()):
        return Move("SpaceToDepth", (values(draw, (n, c, h * side, w * side), dtype),), {"blocksize": side})
    attributes = {"blocksize": side, "mode": draw(st.sampled_from(("DCR", "CRD")))}
    return Move("DepthToSpace", (values(draw, (n, c * side * side, h, w), dtype),), attributes)


@st.composite
def pads(draw: st.DrawFn) -> Move:
    """Within what ONNX Runtime takes: far reflections are a case of ops/pad.py."""
    shape, dtype = draw(shapes(1)), draw(DTYPES)
    mode = draw(st.sampled_from(("constant", "edge", "reflect", "wrap")))
    axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(1, min(len(shape), 3)))]
    most = {"constant": 5, "edge": 5, "reflect": -1, "wrap": 0}[mode]
    limits = [most if most > 0 else shape[a] + most for a in axes]
    lowest = [-(shape[a] // 2) if mode == "constant" else 0 for a in axes]
    amounts = [draw(st.integers(low, high)) for _ in range(2) for low, high in zip(lowest, limits, strict=True)]
    fill = values(draw, (), dtype) if mode == "constant" and draw(st.booleans()) else None
    named = _ints([_signed(draw, a, len(shape)) for a in axes])
    inputs = (values(draw, shape, dtype), _ints(amounts), fill, named)
    return Move("Pad", inputs, {"mode": mode}, constants=(1, 3), typed=(0, 2))


NODES = st.one_of(
    transposes(), slices(), splits(), expansions(), tiles(), joins(), views(), blocks(), pads()
)  # fmt: skip


@settings(max_examples=6, derandomize=True, deadline=None, database=None)
@given(nodes=st.lists(NODES, min_size=8, max_size=16))
def test_movement(nodes: list[Move]) -> None:
    assert_right(nodes)
