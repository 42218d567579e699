"""What a stage of the pipeline is: it states what it needs, changes the model in place, and states what it ensures."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import onnx_ir as ir
from onnx_ir.passes import common

from webinfer.dims import is_known
from webinfer.errors import GraphError


@dataclass(frozen=True)
class Changes:
    """What a stage did: counts by kind, remarks for `-v` (refusals with their reasons), warnings that always show."""

    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """A stage's changes, the nodes before and after it, and its wall time in seconds."""

    stage: str
    changes: Changes
    nodes_before: int
    nodes_after: int
    seconds: float

    def __str__(self) -> str:
        done = ", ".join(f"{count} {kind}" for kind, count in self.changes.counts.items() if count) or "no change"
        return f"{self.stage}: {done}; {self.nodes_before} -> {self.nodes_after} nodes in {self.seconds:.2f} s"


class Stage(ABC):
    """One named step from the source graph to the graph that is lowered."""

    name: ClassVar[str]

    def requires(self, model: ir.Model) -> str | None:
        """Why `model` cannot enter this stage, or None."""
        return misordered(model)

    @abstractmethod
    def apply(self, model: ir.Model) -> Changes:
        """Change `model` in place."""

    @abstractmethod
    def ensures(self, model: ir.Model) -> str | None:
        """What this stage promised and did not deliver, or None."""

    def run(self, model: ir.Model) -> Report:
        """Check, apply, check. Raises GraphError naming this stage where a check fails."""
        start, before = time.perf_counter(), len(model.graph)
        fault = self.requires(model)
        if fault:
            raise GraphError(f"stage {self.name} cannot start: {fault}")
        with _Remarks() as remarks:
            changes = self.apply(model)
        changes = replace(changes, notes=(*changes.notes, *remarks.lines))
        fault = misordered(model) or self.ensures(model)
        if fault:
            raise GraphError(f"stage {self.name} broke its contract: {fault}")
        return Report(self.name, changes, before, len(model.graph), time.perf_counter() - start)


class _Remarks(logging.Handler):
    """Collects what the graph libraries log: it shows with `-v` and is not printed behind the command line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._loggers = [logging.getLogger(name) for name in ("onnx_ir", "onnxscript")]

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the first line."""
        self.lines.append(record.getMessage().splitlines()[0])

    def __enter__(self) -> Self:
        for logger in self._loggers:
            logger.propagate = False
            logger.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for logger in self._loggers:
            logger.removeHandler(self)
            logger.propagate = True


def misordered(model: ir.Model) -> str | None:
    """Why the main graph is no valid topological order of uniquely named values, or None."""
    known = {v.name for v in model.graph.inputs} | set(model.graph.initializers)
    for node in model.graph:
        for value in node.inputs:
            if value is not None and value.name not in known:
                return f"node {describe(node)} reads {value.name!r} before anything makes it"
        for value in node.outputs:
            if not value.name and not value.uses():
                continue  # an omitted optional output
            if value.name in known:
                return f"two values are named {value.name!r}"
            known.add(value.name)
    missing = [v.name for v in model.graph.outputs if v.name not in known]
    return f"nothing makes the graph output {missing[0]!r}" if missing else None


def fix_names(model: ir.Model) -> None:
    """Name every node and value uniquely; omitted optional outputs stay without a name."""
    omitted = [o for n in ir.traversal.RecursiveGraphIterator(model.graph) for o in n.outputs if not o.name]
    common.NameFixPass()(model)
    for value in omitted:
        if not value.uses() and not value.is_graph_output():
            value.name = ""


def dynamic_value(model: ir.Model) -> str | None:
    """The first node output whose shape or element type is not known at compile time, described, or None."""
    for node in model.graph:
        for value in node.outputs:
            if not value.name:
                continue
            if not is_known(value.shape):
                shape = "unknown" if value.shape is None else str(value.shape)
                return f"value {value.name!r} of node {describe(node)} has the shape {shape}, not known before it runs"
            if value.dtype is None:
                return f"value {value.name!r} of node {describe(node)} has no known element type"
    return None


def operands(node: ir.Node) -> str:
    """Element types and shapes of a node's inputs, as messages list them: `float32[2, 64], -`."""
    return ", ".join(_typed(v) if v is not None and v.name else "-" for v in node.inputs)


def _typed(value: ir.Value) -> str:
    names = {"FLOAT": "float32", "DOUBLE": "float64"}
    dtype = "unknown" if value.dtype is None else names.get(value.dtype.name, value.dtype.name.lower())
    shape = "[...]" if value.shape is None else str([d if isinstance(d, int) else str(d) for d in value.shape])
    return dtype + shape.replace("'", "")


def describe(node: ir.Node) -> str:
    """`name (domain::op)`, as every message spells a node."""
    name = node.name or (node.outputs[0].name if node.outputs else "") or "unnamed"
    return f"{name} ({node.domain or 'ai.onnx'}::{node.op_type})"
