"""Inputs of a run: read from files, made from a seed, checked against the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from webinfer.errors import InputError
from webinfer.expressions import parse
from webinfer.manifest import Component, TensorSpec
from webinfer.samples import sample_sizes
from webinfer.symbols import Symbol, evaluate

Array = np.ndarray[Any, np.dtype[Any]]


def read_inputs(pairs: Sequence[str]) -> dict[str, Array]:
    """Arrays by input name from `NAME=FILE.npy` pairs. Raises InputError naming the pair or the file."""
    feeds: dict[str, Array] = {}
    for pair in pairs:
        name, equals, file = pair.partition("=")
        if not equals or not name or not file:
            raise InputError(f"--input {pair!r}: expected NAME=FILE.npy")
        if name in feeds:
            raise InputError(f"--input {name}: given twice; give each input once")
        path = Path(file)
        if not path.is_file():
            raise InputError(f"--input {name}: {path} does not exist; expected a .npy file (numpy.save)")
        try:
            array = np.load(path, allow_pickle=False)
        except (ValueError, OSError, EOFError) as fault:
            raise InputError(
                f"--input {name}: {path} is not a .npy file ({fault}); write it with numpy.save"
            ) from fault
        if not isinstance(array, np.ndarray):
            raise InputError(f"--input {name}: {path} is an .npz archive; expected one array per file (numpy.save)")
        feeds[name] = array
    return feeds


def check_feeds(
    specs: Sequence[TensorSpec], feeds: Mapping[str, Array], sizes: Mapping[str, int] | None = None
) -> None:
    """Raise InputError where a name, a shape or an element type is not the model's.

    sizes: a value for every symbol in the shapes (`sizes_given`).
    """
    names = {spec.name for spec in specs}
    listed = ", ".join(f"{s.name} {s.dtype} {s.shape}" for s in specs)
    unknown = [name for name in feeds if name not in names]
    if unknown:
        raise InputError(f"input {unknown[0]!r} is not one of the model's: expected {listed}; correct the name")
    for spec in specs:
        if spec.name not in feeds:
            raise InputError(
                f"input {spec.name} ({spec.dtype} {spec.shape}) is missing; add --input {spec.name}=FILE.npy"
            )
        found = feeds[spec.name]
        if list(found.shape) != shape_at(spec.shape, sizes or {}):
            raise InputError(
                f"input {spec.name}: expected shape {spec.shape}, found {list(found.shape)}; reshape it, or export the "
                "model for this size with --dim"
            )
        if found.dtype.name != spec.dtype:
            raise InputError(
                f"input {spec.name}: expected dtype {spec.dtype}, found {found.dtype.name}; "
                f"convert it with numpy's astype({spec.dtype!r})"
            )


def seeded_feeds(specs: Sequence[TensorSpec], seed: int, sizes: Mapping[str, int] | None = None) -> dict[str, Array]:
    """Reproducible inputs: floats uniform in [0, 1), integers 0 or 1, which are valid token ids, masks and indices.

    sizes: a value for every symbol in the shapes.
    """
    rng = np.random.default_rng(seed)
    shapes = [shape_at(spec.shape, sizes or {}) for spec in specs]
    return {
        spec.name: (
            rng.random(shape).astype(spec.dtype)
            if spec.dtype.startswith("float")
            else rng.integers(0, 2, shape).astype(spec.dtype)
        )
        for spec, shape in zip(specs, shapes, strict=True)
    }


def shape_at(shape: Sequence[int | str], sizes: Mapping[str, int]) -> list[int]:
    """A declared shape in numbers."""
    return [evaluate(parse(d, sizes), sizes) if isinstance(d, str) else d for d in shape]


def samples_of(component: Component) -> list[dict[str, int]]:
    """Sizes at which to try a component: largest, smallest, odd ones between; one empty choice without symbols."""
    symbols = [Symbol(n, s.minimum, s.maximum, s.multiple) for n, s in component.symbols.items()]
    sizes = {s.name: s.size for s in symbols}
    return sample_sizes(symbols, [parse(c.zero, sizes) for c in component.constraints])


def sizes_given(component: Component, feeds: Mapping[str, Array]) -> dict[str, int]:
    """The value of every symbol, from the inputs that have it as a dimension. Raises InputError where they disagree."""
    sizes: dict[str, int] = {}
    for spec in component.inputs:
        found = feeds[spec.name].shape if spec.name in feeds else ()
        if component.symbols and len(found) != len(spec.shape):
            raise InputError(f"input {spec.name}: expected shape {spec.shape}, found {list(found) or 'none'}")
        for axis, (dim, size) in enumerate(zip(spec.shape, found, strict=False)):
            if not isinstance(dim, str) or dim not in component.symbols:
                continue
            bounds, where = component.symbols[dim], f"input {spec.name}, axis {axis} ({dim})"
            if not bounds.minimum <= size <= bounds.maximum or size % bounds.multiple:
                kind = f"a multiple of {bounds.multiple}" if bounds.multiple > 1 else "a size"
                raise InputError(f"{where}: expected {kind} from {bounds.minimum} to {bounds.maximum}, found {size}")
            if sizes.setdefault(dim, size) != size:
                raise InputError(f"{where}: expected {sizes[dim]}, as other inputs have it, found {size}")
    for constraint in component.constraints:
        if evaluate(parse(constraint.zero, sizes), sizes) != 0:
            listed = ", ".join(f"{n} = {v}" for n, v in sizes.items())
            raise InputError(f"the inputs have {listed}, but {constraint.text}")
    return sizes
