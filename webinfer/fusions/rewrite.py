"""What a fusion is: it looks at one node and answers with a rewrite, a refusal with its reason, or nothing."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnx_ir as ir
from onnxscript.rewriter import pattern

from webinfer.dims import sizes_of

FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.FLOAT16})


@dataclass(frozen=True)
class Rewrite:
    """Nodes of the main graph and what takes their place.

    `old_nodes` are in graph order; `kept` are those of them that other nodes still read, so they stay. New nodes go
    after `after`, by default the last old node. `functions` are the model-local functions that new nodes call.
    """

    old_nodes: tuple[ir.Node, ...]
    old_outputs: tuple[ir.Value, ...]
    new_nodes: tuple[ir.Node, ...]
    new_outputs: tuple[ir.Value, ...]
    initializers: tuple[ir.Value, ...] = ()
    functions: tuple[ir.Function, ...] = ()
    kept: tuple[ir.Node, ...] = ()
    after: ir.Node | None = None


@dataclass(frozen=True)
class Refusal:
    """A place that looks like the fusion's pattern and is left alone."""

    node: ir.Node
    reason: str


class Fusion(ABC):
    """One fusion. `order` says when it runs; `backwards` visits the graph from its end.

    stage "fuse" recognises operators, before precision is chosen; "outline" groups nodes into functions after that.
    """

    name: str
    order: int
    stage: Literal["fuse", "outline"] = "fuse"
    backwards: bool = False

    @abstractmethod
    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """Try the pattern with `node` as its last node (its first one for fusions that grow forwards)."""


@dataclass
class _Tracer:
    """Receives why a rule whose pattern matched did not hold; onnxscript calls `log`."""

    refusals: list[Refusal] = field(default_factory=list)

    def log(self, rule: object, graph: object, node: ir.Node, match: Any, status: pattern.MatchStatus) -> None:
        """Keep reasons of checks; a pattern that does not match is no refusal."""
        used_elsewhere = "other uses" in (match.reason or "")
        if status == pattern.MatchStatus.CONDITION_FAILED or used_elsewhere:
            self.refusals.append(Refusal(node, match.reason or "the rule's check failed"))


class RuleFusion(Fusion):
    """A fusion made of onnxscript rewrite rules; operands of commutative operators match in both orders.

    Rules are tried only near a `marker`, the rarest operator of the pattern: the pattern's last node is at most `reach`
    nodes after it. (Commuting multiplies rules, and trying them all at every node takes minutes.)
    """

    functions: tuple[ir.Function, ...] = ()

    def __init__(
        self, name: str, order: int, *forms: pattern.RewriteRuleClassBase, marker: frozenset[str], reach: int
    ) -> None:
        self.name, self.order = name, order
        rules = [pattern.RewriteRule(f.pattern, f.rewrite, f.check, name=f.name) for f in forms]
        self._rules = pattern.RewriteRuleSet(rules, commute=True).rules
        self._marker, self._reach = marker, reach

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """The first rule that matches; otherwise the first reason of a rule that matched and refused."""
        if node.op_type not in self._marker:
            return None
        tracer = _Tracer()
        last = [node]
        for _ in range(self._reach + 1):
            for root, rule in ((root, rule) for root in last for rule in self._rules):
                delta = rule.try_rewrite(model, model.graph, root, tracer=tracer)  # type: ignore[arg-type]
                if delta is not None:
                    return self._rewrite(delta, model)
            last = list(dict.fromkeys(c for n in last for o in n.outputs for c in o.consumers()))
        return tracer.refusals[0] if tracer.refusals else None

    def _rewrite(self, delta: Any, model: ir.Model) -> Rewrite:
        matched = set(delta.match.nodes)
        return Rewrite(
            old_nodes=tuple(n for n in model.graph if n in matched),
            old_outputs=tuple(delta.match.outputs),
            new_nodes=tuple(delta.new_nodes),
            new_outputs=tuple(delta.new_outputs),
            initializers=tuple(delta.new_initializers),
            functions=self.functions,
        )


def shape_of(value: ir.Value | None) -> tuple[int, ...]:
    """Sizes of a value; stages before guarantee that they are known."""
    assert value is not None
    assert value.shape is not None
    return sizes_of(value.shape)


def constant(value: ir.Value | None) -> npt.NDArray[Any] | None:
    """The array of an initializer, or None."""
    if value is None or value.const_value is None or not value.is_initializer():
        return None
    return value.const_value.numpy()


def scalar(value: ir.Value | None) -> float | None:
    """The value of a one-element initializer, or None; does not load large tensors."""
    if value is None or value.const_value is None or not value.is_initializer() or value.const_value.size != 1:
        return None
    return float(value.const_value.numpy().reshape(-1)[0])


def initializer(name: str, array: npt.NDArray[Any]) -> ir.Value:
    """A new constant, not yet part of a graph."""
    tensor = ir.tensor(np.ascontiguousarray(array), name=name)
    return ir.Value(name=name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor)


def sole_consumer(value: ir.Value) -> ir.Node | None:
    """The one node that reads `value` (perhaps twice), or None where there are others or it is a graph output."""
    consumers = set(value.consumers())
    return consumers.pop() if len(consumers) == 1 and not value.is_graph_output() else None


def used_outside(nodes: Sequence[ir.Node], outputs: Sequence[ir.Value]) -> ir.Value | None:
    """A value made inside `nodes`, other than `outputs`, that something outside needs; None where there is none."""
    inside = set(nodes)
    for node in nodes:
        for value in node.outputs:
            if value not in outputs and (value.is_graph_output() or any(c not in inside for c in value.consumers())):
                return value
    return None


def elements(value: ir.Value | None) -> int:
    """Number of elements."""
    return math.prod(shape_of(value))
