"""Strategies of windows that slide over images: kernels, strides, dilations and pads that fit, and seeded data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.property.harness import Array

_PADDING = ("none", "pads", "SAME_UPPER", "SAME_LOWER", "VALID")


def images(ranks: Sequence[int] = (1, 2, 3), largest: int = 9) -> st.SearchStrategy[list[int]]:
    """Spatial sizes."""
    side = st.integers(1, largest)
    return st.sampled_from(list(ranks)).flatmap(lambda rank: st.lists(side, min_size=rank, max_size=rank))


@st.composite
def windows(draw: st.DrawFn, size: Sequence[int], padding: Sequence[str] = _PADDING) -> dict[str, Any]:
    """Attributes of a window that fits into an image of `size`; ONNX Runtime takes SAME pads without dilations only."""
    mode = draw(st.sampled_from(list(padding)))
    attributes: dict[str, Any] = {"kernel_shape": [], "strides": [], "dilations": []}
    for n in size:
        kernel = draw(st.integers(1, min(3, n)))
        dilation = 1 if kernel == 1 or mode.startswith("SAME") else draw(st.integers(1, (n - 1) // (kernel - 1)))
        attributes["kernel_shape"].append(kernel)
        attributes["dilations"].append(dilation)
        attributes["strides"].append(draw(st.integers(1, 3)))
    if mode == "pads":
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in attributes["kernel_shape"] * 2]
    elif mode != "none":
        attributes["auto_pad"] = mode
    return attributes


def floats(seed: int, *shape: int) -> Array:
    """Normal values."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integers(seed: int, dtype: type[np.integer[Any]], *shape: int) -> Array:
    """Values over the whole range of a type."""
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, shape, dtype, endpoint=True)
