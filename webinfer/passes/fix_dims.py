"""Gives every dynamic dimension of the model's inputs the size, or the bounds, that `--dim` asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import onnx_ir as ir

from webinfer.dims import as_shape, is_known, symbols_of
from webinfer.errors import SourceError
from webinfer.expressions import parse
from webinfer.passes.contract import Changes, Stage
from webinfer.symbols import Size, Symbol


@dataclass(frozen=True)
class FixDims(Stage):
    """Requires nothing; ensures inputs whose dimensions are integers or expressions over bounded symbols.

    `dims` maps a dimension's name to its size or its bounds; a dimension without a name is addressed as `INPUT:AXIS`.
    A dimension may be an expression over others (`past + seq`). Shapes derived from the old ones are forgotten.
    """

    dims: Mapping[str, int | Symbol]
    name: ClassVar[str] = "fix dims"

    def apply(self, model: ir.Model) -> Changes:
        """Raises SourceError for a dimension left dynamic, a name that no input has, or a fixed size below 1."""
        sizes: dict[str, Size] = {n: d if isinstance(d, int) else d.size for n, d in self.dims.items()}
        used: set[str] = set()
        open_dims: dict[str, str] = {}
        for value in (v for v in model.graph.inputs if v.name not in model.graph.initializers):
            if value.shape is None:
                raise SourceError(f"input {value.name!r} has no shape in the model; re-export it with input shapes")
            shape: list[Size] = []
            for axis, dim in enumerate(value.shape):
                key = _key(value, axis, dim)
                size = dim if isinstance(dim, int) else _size(key, sizes, used)
                if size is None:
                    open_dims.setdefault(key, f"axis {axis} of input {value.name!r}")
                shape.append(0 if size is None else size)
            value.shape = as_shape(shape)
        if open_dims:
            flags = " ".join(f"--dim {key}=SIZE" for key in open_dims)
            places = "; ".join(f"{key!r} ({where})" for key, where in open_dims.items())
            raise SourceError(f"dynamic dimension {places} has no size; add {flags}, or a range, MIN..MAX")
        unknown = sorted(set(self.dims) - used)
        if unknown:
            raise SourceError(
                f"--dim {unknown[0]}={_text(self.dims[unknown[0]])}: no dynamic dimension has this name; "
                f"the model's are: {', '.join(sorted(used)) or 'none'}"
            )
        bad = [f"{k}={n}" for k, n in self.dims.items() if isinstance(n, int) and n < 1]
        if bad:
            raise SourceError(f"--dim {bad[0]}: a dimension is at least 1")
        told = {str(d) for v in model.graph.inputs for d in v.shape or ()}
        untold = [name for name in symbols_of(model.graph.inputs) if name not in told]
        if untold:
            raise SourceError(f"--dim {untold[0]}: no input has this size as a dimension of its own; give one number")
        if used:
            _forget_shapes(model)
        return Changes({f"{k}={_text(self.dims[k])}": 1 for k in sorted(used)})

    def ensures(self, model: ir.Model) -> str | None:
        """Every input has known sizes."""
        loose = [v.name for v in model.graph.inputs if not is_known(v.shape)]
        return f"input {loose[0]!r} is still dynamic" if loose else None


@dataclass(frozen=True)
class FixShapes(Stage):
    """Requires nothing; ensures that inputs have the given shapes. Shapes derived from the old ones are forgotten."""

    shapes: Mapping[str, Sequence[int]]
    name: ClassVar[str] = "fix shapes"

    def apply(self, model: ir.Model) -> Changes:
        """Raises SourceError where an input declares other sizes."""
        changed = 0
        for value in model.graph.inputs:
            if (sizes := self.shapes.get(value.name or "")) is None:
                continue
            given = ir.Shape(sizes)
            if value.shape == given:
                continue
            declared = value.shape
            if declared is not None and (
                len(declared) != len(given)
                or any(isinstance(d, int) and d != n for d, n in zip(declared, given, strict=True))
            ):
                raise SourceError(f"input {value.name!r}: expected the shape {declared}, found {list(given)}")
            value.shape = given
            changed += 1
        if changed:
            _forget_shapes(model)
        return Changes({"shapes given": changed})

    def ensures(self, model: ir.Model) -> str | None:
        """The shapes hold."""
        wrong = [v.name for v in model.graph.inputs if v.shape != self.shapes.get(v.name or "", v.shape)]
        return f"input {wrong[0]!r} has another shape" if wrong else None


def _forget_shapes(model: ir.Model) -> None:
    for value in (*model.graph.outputs, *(o for node in model.graph for o in node.outputs)):
        value.shape = None


def _key(value: ir.Value, axis: int, dim: int | ir.SymbolicDim) -> str:
    name = None if isinstance(dim, int) else dim.value
    return str(name) if name else f"{value.name}:{axis}"


def _size(key: str, sizes: Mapping[str, Size], used: set[str]) -> Size | None:
    """The size of a dimension by its own name, or as an expression over others; notes the names that it used."""
    if key in sizes:
        used.add(key)
        return sizes[key]
    try:
        value = parse(key, sizes)
    except (ValueError, KeyError):
        return None
    used.update(name for name in sizes if re.search(rf"\b{re.escape(name)}\b", key))
    return value


def _text(dim: int | Symbol) -> str:
    if isinstance(dim, int):
        return str(dim)
    return f"{dim.minimum}..{dim.maximum}" + (f":{dim.multiple}" if dim.multiple > 1 else "")
