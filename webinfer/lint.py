"""Lint: what each node of a model becomes on each tier, what it costs on each SKU, and what would make it better."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from exporters.onnx import open_onnx
from webinfer.compile import back_stages, chosen_precisions, front_stages
from webinfer.cost import Bound, Cost, Sku, all_skus, predict
from webinfer.errors import GraphError, UnsupportedError
from webinfer.kernel import Dispatch
from webinfer.ops import load_all
from webinfer.passes.contract import operands
from webinfer.passes.lower import Fault, lower_what_can_be
from webinfer.symbols import Symbol
from webinfer.tiers import Tier, all_tiers, tiers_for

# Shares of a model's time from which on a node's cost is worth a remark.
_SLOW_SHARE = 0.02
_ADVICE: dict[Bound, str] = {
    "compute": "arithmetic bounds it: fewer channels, a smaller kernel or resolution",
    "memory": "memory traffic bounds it: place it behind a convolution or a matrix product, where it is fused",
    "dispatch": "launching bounds it: batch small nodes into larger ones",
}


@dataclass(frozen=True)
class NodeLint:
    """One node of the compiled graph.

    covers: the op types fused into it, in order. tiers: tier -> why no kernel takes it there, "" where one does.
    predicted: SKU -> milliseconds. dispatches, flops, bytes, kernels and bound (what most of the time goes to) are
    those of the GPU that is slowest for the model. advice: what to change in the model, "" for nothing.
    """

    name: str
    op: str
    covers: tuple[str, ...]
    shapes: str
    tiers: Mapping[str, str]
    dispatches: int
    flops: int
    bytes: int
    kernels: tuple[str, ...]
    predicted: Mapping[str, float]
    bound: str
    advice: str

    @property
    def supported(self) -> bool:
        """Whether every tier has a kernel for it."""
        return not any(self.tiers.values())


@dataclass(frozen=True)
class ModelLint:
    """Everything `webinfer lint` says. totals: SKU -> milliseconds of all supported nodes.

    unsized: why the graph could not be brought to static shapes; then there are no nodes. broken_fusions: places that
    look like a fusion's pattern and were left alone, with the reason.
    """

    source: str
    target: str
    nodes: tuple[NodeLint, ...]
    totals: Mapping[str, float]
    tiers: Mapping[str, str]
    broken_fusions: tuple[str, ...]
    warnings: tuple[str, ...]
    unsized: str = ""

    @property
    def faults(self) -> int:
        """Nodes without a kernel on some tier, and the graph itself where it has no static shapes."""
        return sum(not n.supported for n in self.nodes) + bool(self.unsized)

    def slowest(self, sku: str, count: int) -> list[NodeLint]:
        """The `count` nodes with the most predicted time on `sku`."""
        return sorted(self.nodes, key=lambda n: -n.predicted.get(sku, 0.0))[:count]


@dataclass(frozen=True)
class _Compiled:
    """One precision: its graph, and per tier the dispatches of each node and the nodes without a kernel."""

    model: ir.Model
    work: Mapping[str, Mapping[str, list[Dispatch]]]
    faults: Mapping[str, list[Fault]]


@dataclass(frozen=True)
class _Run:
    """A SKU and what it would run: its tier, or the one with the same tiling where that was not compiled."""

    sku: Sku
    tier: Tier
    work: Mapping[str, list[Dispatch]]

    def cost(self, node: str) -> Cost:
        """Of one node; nothing where it is not in this tier's graph."""
        return predict(self.work.get(node, ()), self.sku, self.tier.arithmetic)

    def total(self) -> float:
        """Milliseconds of the whole model."""
        return predict((d for own in self.work.values() for d in own), self.sku, self.tier.arithmetic).ms


def lint(source: Path, target: str, *, precision: str, dims: Mapping[str, int | Symbol]) -> ModelLint:
    """Compile `source` as far as it goes. Raises SourceError for a file that is no valid model."""
    opened = open_onnx(source)
    notes: list[str] = []
    warnings: list[str] = []
    try:
        for stage in front_stages(dims):
            changes = stage.run(opened.model).changes
            warnings += changes.warnings
            notes += changes.notes if stage.name == "fuse" else ()
    except UnsupportedError as fault:
        return ModelLint(source.name, target, (), {}, {}, (), tuple(warnings), unsized=str(fault))
    tiers: dict[str, str] = {}
    compiled: dict[str, _Compiled] = {}
    for chosen in chosen_precisions(precision):
        model = opened.model.clone()
        own = tiers_for(target, chosen)
        try:
            for stage in back_stages(chosen):
                changes = stage.run(model).changes
                notes += changes.notes if stage.name == "outline" else ()
        except GraphError as fault:
            tiers |= {tier.id: str(fault) for tier in own}
            continue
        lowered = {tier.id: lower_what_can_be(model, tier) for tier in own}
        tiers |= dict.fromkeys(lowered, "")
        work = {tier: _by_node(program.dispatches) for tier, (program, _) in lowered.items()}
        compiled[chosen] = _Compiled(model, work, {tier: faults for tier, (_, faults) in lowered.items()})
    runs = _runs(target, compiled)
    return ModelLint(
        source=source.name,
        target=target,
        nodes=tuple(_nodes(compiled, runs)),
        totals={run.sku.id: run.total() for run in runs},
        tiers=tiers,
        broken_fusions=tuple(dict.fromkeys(notes)),
        warnings=tuple(warnings),
    )


def _runs(target: str, compiled: Mapping[str, _Compiled]) -> list[_Run]:
    tiers = [t for p, result in compiled.items() for t in tiers_for(target, p) if t.id in result.work]
    runs = []
    for sku in all_skus().values():
        own = [t for t in tiers if t.id == sku.tier] or [t for t in tiers if t.tiling == all_tiers()[sku.tier].tiling]
        if own:
            runs.append(_Run(sku, own[0], compiled[own[0].precision].work[own[0].id]))
    return runs


def _by_node(dispatches: Iterable[Dispatch]) -> dict[str, list[Dispatch]]:
    grouped: dict[str, list[Dispatch]] = defaultdict(list)
    for dispatch in dispatches:
        grouped[dispatch.node].append(dispatch)
    return grouped


def _nodes(compiled: Mapping[str, _Compiled], runs: Sequence[_Run]) -> list[NodeLint]:
    """The nodes of the float32 graph where there is one; the costs of another one come by their names."""
    if not compiled:
        return []
    main = compiled.get("fp32") or next(iter(compiled.values()))
    reasons: dict[str, dict[str, str]] = defaultdict(dict)
    for result in compiled.values():
        for tier, faults in result.faults.items():
            for fault in faults:
                reasons[fault.node][tier] = fault.reason
    tier_ids = [tier for result in compiled.values() for tier in result.work]
    slowest = max((r for r in runs if r.sku.kind != "software"), key=_Run.total, default=None)
    total = slowest.total() if slowest else 0.0
    found = []
    for node in main.model.graph:
        name = node.name or ""
        own = slowest.work.get(name, []) if slowest else []
        cost = slowest.cost(name) if slowest and own else None
        function = main.model.functions.get(node.op_identifier())
        found.append(
            NodeLint(
                name=name,
                op=f"{node.domain or 'ai.onnx'}::{node.op_type.partition('__')[0]}",
                covers=tuple(n.op_type for n in function) if function is not None else (),
                shapes=operands(node),
                tiers={tier: reasons[name].get(tier, "") for tier in tier_ids},
                dispatches=len(own),
                flops=sum(d.flops for d in own),
                bytes=sum(d.bytes for d in own),
                kernels=tuple(dict.fromkeys(d.kernel.name for d in own)),
                predicted={run.sku.id: run.cost(name).ms for run in runs},
                bound=cost.bound if cost else "",
                advice=_advice(reasons[name], own, cost, total),
            )
        )
    return found


def _advice(reasons: Mapping[str, str], own: Sequence[Dispatch], cost: Cost | None, total: float) -> str:
    """Why there is no kernel; for a node that takes a share of the time, a faster form or what bounds it."""
    if reasons:
        return next(iter(reasons.values()))
    if cost is None or cost.ms < _SLOW_SHARE * total:
        return ""
    slow_forms = load_all()
    stems = (dispatch.kernel.name.rpartition("_")[0] for dispatch in own)
    return next((slow_forms[stem] for stem in stems if stem in slow_forms), _ADVICE[cost.bound])
