"""Inputs of a run: read from files, made from a seed, checked against the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from webinfer.errors import InputError
from webinfer.manifest import TensorSpec

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


def check_feeds(specs: Sequence[TensorSpec], feeds: Mapping[str, Array]) -> None:
    """Raise InputError where a name, a shape or an element type is not the model's."""
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
        if list(found.shape) != spec.shape:
            raise InputError(
                f"input {spec.name}: expected shape {spec.shape}, found {list(found.shape)}; reshape it, or export the "
                "model for this size with --dim"
            )
        if found.dtype.name != spec.dtype:
            raise InputError(
                f"input {spec.name}: expected dtype {spec.dtype}, found {found.dtype.name}; "
                f"convert it with numpy's astype({spec.dtype!r})"
            )


def seeded_feeds(specs: Sequence[TensorSpec], seed: int) -> dict[str, Array]:
    """Reproducible inputs: floats uniform in [0, 1), integers 0 or 1, which are valid token ids, masks and indices."""
    rng = np.random.default_rng(seed)
    return {
        spec.name: (
            rng.random(spec.shape).astype(spec.dtype)
            if spec.dtype.startswith("float")
            else rng.integers(0, 2, spec.shape).astype(spec.dtype)
        )
        for spec in specs
    }
