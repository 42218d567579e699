"""Gives every dynamic dimension of the model's inputs the size that `--dim NAME=VALUE` asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import onnx_ir as ir

from webinfer.errors import SourceError
from webinfer.passes.contract import Changes, Stage


@dataclass(frozen=True)
class FixDims(Stage):
    """Requires nothing; ensures static input shapes. Shapes derived from the old ones are forgotten.

    `dims` maps a dimension's name to its size; a dimension without a name is addressed as `INPUT:AXIS`.
    """

    dims: Mapping[str, int]
    name: ClassVar[str] = "fix dims"

    def apply(self, model: ir.Model) -> Changes:
        """Raises SourceError for a dimension left dynamic, a name that no input has, or a size below 1."""
        inputs = [v for v in model.graph.inputs if v.name not in model.graph.initializers]
        used: dict[str, int] = {}
        unfixed: dict[str, str] = {}
        for value in inputs:
            if value.shape is None:
                raise SourceError(f"input {value.name!r} has no shape in the model; re-export it with input shapes")
            sizes: list[int] = []
            for axis, dim in enumerate(value.shape):
                key = _key(value, axis, dim)
                if isinstance(dim, int):
                    sizes.append(dim)
                elif key in self.dims:
                    used[key] = self.dims[key]
                    sizes.append(self.dims[key])
                else:
                    unfixed.setdefault(key, f"axis {axis} of input {value.name!r}")
                    sizes.append(0)
            value.shape = ir.Shape(sizes)
        if unfixed:
            flags = " ".join(f"--dim {key}=SIZE" for key in unfixed)
            places = "; ".join(f"{key!r} ({where})" for key, where in unfixed.items())
            raise SourceError(f"dynamic dimension {places} has no size; add {flags}")
        unknown = sorted(set(self.dims) - set(used))
        if unknown:
            raise SourceError(
                f"--dim {unknown[0]}={self.dims[unknown[0]]}: no dynamic dimension has this name; "
                f"the model's are: {', '.join(used) or 'none'}"
            )
        bad = [f"{k}={n}" for k, n in used.items() if n < 1]
        if bad:
            raise SourceError(f"--dim {bad[0]}: a dimension is at least 1")
        if used:
            _forget_shapes(model)
        return Changes({f"{k}={n}": 1 for k, n in used.items()})

    def ensures(self, model: ir.Model) -> str | None:
        """Every input is static."""
        loose = [v.name for v in model.graph.inputs if v.shape is None or not v.shape.is_static()]
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
            if value.name not in self.shapes:
                continue
            given = ir.Shape(self.shapes[value.name])
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
        wrong = [v.name for v in model.graph.inputs if v.name in self.shapes and v.shape != self.shapes[v.name]]
        return f"input {wrong[0]!r} has another shape" if wrong else None


def _forget_shapes(model: ir.Model) -> None:
    for value in (*model.graph.outputs, *(o for node in model.graph for o in node.outputs)):
        value.shape = None


def _key(value: ir.Value, axis: int, dim: int | ir.SymbolicDim) -> str:
    name = None if isinstance(dim, int) else dim.value
    return str(name) if name else f"{value.name}:{axis}"
