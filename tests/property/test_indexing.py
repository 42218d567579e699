"""Operators that read or write at given positions, and what sorts or generates them, against ONNX Runtime CPU."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.harness import Array
from tests.property.moves import TYPES, Move, shapes, values
from tests.property.nodes import assert_right

DTYPES = st.sampled_from(TYPES)
NUMBERS = st.sampled_from([t for t in TYPES if t != "bool"])
INDEX_TYPES = st.sampled_from(("int32", "int64"))
REDUCTIONS = st.sampled_from(("add", "mul", "min", "max"))


def _positions(draw: st.DrawFn, shape: list[int], size: int, dtype: str = "int64") -> Array:
    """Positions along an axis of `size`, from both of its ends."""
    return np.random.default_rng(draw(st.integers(0, 9))).integers(-size, size, shape).astype(dtype)


def _constants(draw: st.DrawFn) -> tuple[int, ...]:
    """Indices come as an initializer or as an input."""
    return draw(st.sampled_from(((), (1,))))


@st.composite
def gathers(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1, 5)), draw(DTYPES)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    places = _positions(draw, draw(shapes(0, 3, smallest=0)), shape[axis], draw(INDEX_TYPES))
    inputs = (values(draw, shape, dtype), places)
    return Move("Gather", inputs, {"axis": axis}, constants=_constants(draw))


@st.composite
def gathers_of_elements(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1, 7)), draw(DTYPES)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    sizes = [draw(st.integers(1, n)) for n in shape]
    sizes[axis] = draw(st.integers(0, 9))
    places = _positions(draw, sizes, shape[axis], draw(INDEX_TYPES))
    inputs = (values(draw, shape, dtype), places)
    return Move("GatherElements", inputs, {"axis": axis}, constants=_constants(draw))


@st.composite
def gathers_of_slices(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(1, 7)), draw(DTYPES)
    batch = draw(st.integers(0, min(len(shape) - 1, 2)))
    axes = range(batch, draw(st.integers(batch + 1, len(shape))))
    sizes = [*shape[:batch], *draw(shapes(0, 2))]
    places = np.stack([_positions(draw, sizes, shape[a]) for a in axes], axis=-1)
    inputs = (values(draw, shape, dtype), places)
    return Move("GatherND", inputs, {"batch_dims": batch}, constants=_constants(draw))


def _wide(dtype: str) -> str:
    """The type that sums and products are right in, up to a multiple of what `dtype` holds."""
    return "float32" if dtype.startswith("float") else "int64"


@st.composite
def scatters_of_elements(draw: st.DrawFn) -> Move:
    """Without a reduction every place is hit once: ONNX leaves open which of several updates stays."""
    shape, reduced = draw(shapes(1, 5)), draw(st.booleans())
    dtype = draw(NUMBERS if reduced else DTYPES)
    axis = draw(st.integers(0, len(shape) - 1))
    sizes = [draw(st.integers(1, n)) for n in shape]
    if reduced:
        sizes[axis] = draw(st.integers(1, 40))
        places = _positions(draw, sizes, shape[axis])
    else:
        rng = np.random.default_rng(draw(st.integers(0, 9)))
        rows = int(np.prod(sizes)) // sizes[axis]
        picked = np.array([rng.permutation(shape[axis])[: sizes[axis]] for _ in range(rows)])
        places = np.moveaxis(picked.reshape(*sizes[:axis], *sizes[axis + 1 :], sizes[axis]), -1, axis)
        places = np.where(rng.random(places.shape) < 0.3, places - shape[axis], places).astype(np.int64)
    inputs = (values(draw, shape, dtype, 4), places, values(draw, places.shape, dtype, 4))
    attributes = {"axis": axis, "reduction": draw(REDUCTIONS) if reduced else "none"}
    return Move("ScatterElements", inputs, attributes, constants=_constants(draw), typed=(0, 2), wide=_wide(dtype))


@st.composite
def scatters_of_slices(draw: st.DrawFn) -> Move:
    shape, reduced = draw(shapes(1, 6)), draw(st.booleans())
    dtype = draw(NUMBERS if reduced else DTYPES)
    depth = draw(st.integers(1, len(shape)))
    outer = shape[:depth]
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    count = int(np.prod(outer))
    flat = rng.integers(0, count, 50) if reduced else rng.permutation(count)[: max(count // 2, 1)]
    places = np.stack(np.unravel_index(flat, outer), axis=-1).astype(np.int64)
    places = np.where(rng.random(places.shape) < 0.3, places - np.array(outer), places)
    inputs = (values(draw, shape, dtype, 4), places, values(draw, (len(flat), *shape[depth:]), dtype, 4))
    attributes = {"reduction": draw(REDUCTIONS) if reduced else "none"}
    return Move("ScatterND", inputs, attributes, constants=_constants(draw), typed=(0, 2), wide=_wide(dtype))


@st.composite
def top_ks(draw: st.DrawFn) -> Move:
    """Few different values, so that the order of equal ones counts."""
    shape, dtype = draw(shapes(1, 4)), draw(NUMBERS)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    attributes = {"axis": axis, "largest": draw(st.integers(0, 1))}
    count = np.array([draw(st.integers(1, shape[axis]))], np.int64)
    return Move("TopK", (values(draw, shape, dtype, 3), count), attributes, 2, constants=(1,))


@st.composite
def triangles(draw: st.DrawFn) -> Move:
    shape, dtype = draw(shapes(2, 6, smallest=0)), draw(DTYPES)
    diagonal = np.array(draw(st.one_of(st.integers(-6, 6), st.sampled_from((-(1 << 40), 1 << 40)))), np.int64)
    return Move("Trilu", (values(draw, shape, dtype), diagonal), {"upper": draw(st.integers(0, 1))}, constants=(1,))


@st.composite
def reversals(draw: st.DrawFn) -> Move:
    shape, dtype, time = draw(shapes(2, 4)), draw(DTYPES), draw(st.integers(0, 1))
    lengths = np.array([draw(st.integers(0, shape[time])) for _ in range(shape[1 - time])], np.int64)
    attributes = {"time_axis": time, "batch_axis": 1 - time}
    return Move("ReverseSequence", (values(draw, shape, dtype), lengths), attributes)


@st.composite
def one_hots(draw: st.DrawFn) -> Move:
    depth, dtype = draw(st.integers(1, 6)), draw(DTYPES)
    places = _positions(draw, draw(shapes(1, 4, smallest=0)), depth + 2)
    axis = draw(st.integers(-places.ndim - 1, places.ndim))
    inputs = (places, np.array([depth], np.int64), values(draw, (2,), dtype))
    return Move("OneHot", inputs, {"axis": axis}, constants=(1,), typed=(2,))


NODES = st.one_of(
    gathers(),
    gathers_of_elements(),
    gathers_of_slices(),
    scatters_of_elements(),
    scatters_of_slices(),
    top_ks(),
    triangles(),
    reversals(),
    one_hots(),
)


@settings(max_examples=6, derandomize=True, deadline=None, database=None)
@given(nodes=st.lists(NODES, min_size=8, max_size=16))
def test_indexing(nodes: list[Move]) -> None:
    assert_right(nodes)
