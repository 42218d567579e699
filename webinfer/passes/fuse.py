"""Runs the fusions of one stage in order; a rewrite that does not hold numerically is dropped with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import onnx_ir as ir
from onnx_ir.passes import common

from webinfer.fused import DOMAIN
from webinfer.fusions import all_fusions
from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite
from webinfer.fusions.verify import Verifier
from webinfer.passes.contract import Changes, Stage, describe, dynamic_value
from webinfer.symbols import Undecided


@dataclass(frozen=True)
class _Fusing(Stage):
    """Requires known shapes; ensures them again, and that every function that is called exists and is used."""

    verify: bool = True
    kind: ClassVar[Literal["fuse", "outline"]]

    def requires(self, model: ir.Model) -> str | None:
        """Known shapes."""
        return dynamic_value(model) or super().requires(model)

    def apply(self, model: ir.Model) -> Changes:
        """Apply every fusion of this stage at every node."""
        return run_fusions(model, [f for f in all_fusions() if f.stage == self.kind], verify=self.verify)

    def ensures(self, model: ir.Model) -> str | None:
        """Known shapes, and calls that resolve."""
        calls = {n.op_identifier() for n in model.graph if n.domain == DOMAIN}
        missing = calls - set(model.functions)
        return dynamic_value(model) or (f"function {next(iter(missing))} does not exist" if missing else None)


@dataclass(frozen=True)
class Fuse(_Fusing):
    """Recognises operators in their decomposed forms."""

    name: ClassVar[str] = "fuse"
    kind: ClassVar[Literal["fuse", "outline"]] = "fuse"


@dataclass(frozen=True)
class Outline(_Fusing):
    """Groups each operator with the elementwise nodes that follow it into one function."""

    name: ClassVar[str] = "outline"
    kind: ClassVar[Literal["fuse", "outline"]] = "outline"


def run_fusions(model: ir.Model, fusions: Sequence[Fusion], *, verify: bool = True) -> Changes:
    """Apply `fusions` in the order given; counts by fusion name, refusals as notes (equal ones once, with a count)."""
    counts: Counter[str] = Counter()
    refusals: Counter[str] = Counter()
    examples: dict[str, str] = {}
    verifier = Verifier()
    for fusion in fusions:
        for node in list(reversed(model.graph) if fusion.backwards else model.graph):
            if node.graph is None:  # an earlier rewrite of this sweep removed it
                continue
            place = describe(node)
            try:
                found = fusion.match(node, model)
            except Undecided as open_size:
                found = Refusal(node, str(open_size))
            if isinstance(found, Rewrite):
                for function in found.functions:
                    function.opset_imports[""] = model.opset_imports[""]
                fault = verifier.fault(found, model) if verify else None
                if fault is None:
                    _apply(found, model)
                    counts[fusion.name] += 1
                    continue
                _discard(found)
                found = Refusal(node, fault)
            if found is not None:
                reason = f"{fusion.name}: {found.reason}"
                refusals[reason] += 1
                examples.setdefault(reason, place)
        common.RemoveUnusedNodesPass()(model)
    common.RemoveUnusedFunctionsPass()(model)
    notes = [f"{r} at {examples[r]}" + (f" and {n - 1} more" if n > 1 else "") for r, n in refusals.items()]
    return Changes(counts, tuple(notes))


def _apply(rewrite: Rewrite, model: ir.Model) -> None:
    for function in rewrite.functions:
        model.functions.setdefault(function.identifier(), function)
    for value in rewrite.initializers:
        name, n = value.name or "constant", 1
        while value.name in model.graph.initializers:
            value.name, n = f"{name}_{n}", n + 1
        model.graph.register_initializer(value)
    for node in rewrite.new_nodes:
        model.opset_imports.setdefault(node.domain, 1)
    ir.convenience.replace_nodes_and_values(
        model.graph,
        rewrite.after or rewrite.old_nodes[-1],
        [n for n in rewrite.old_nodes if n not in rewrite.kept],
        rewrite.new_nodes,
        rewrite.old_outputs,
        rewrite.new_outputs,
    )


def _discard(rewrite: Rewrite) -> None:
    """Disconnect nodes that will not be used, so that they do not count as consumers."""
    for node in rewrite.new_nodes:
        for k in range(len(node.inputs)):
            node.replace_input_with(k, None)
