"""Lowering: fused ONNX -> dispatches, by the lowering that each op registered.

Requires: known shapes, inferred types, topological order. Ensures: every node is covered, or one UnsupportedError
lists all that are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from webinfer.dims import symbols_of
from webinfer.errors import UnsupportedError
from webinfer.fused import FusedOp, read_fused
from webinfer.kernel import ITEMSIZE, LoweredProgram
from webinfer.lowering import LOWERINGS, Lowering, Unsupported
from webinfer.ops import load_all
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.passes.contract import operands
from webinfer.symbols import Undecided
from webinfer.tiers import Tier


@dataclass(frozen=True)
class Fault:
    """A node that no kernel covers: what it is, with its operands, and why."""

    node: str
    call: str
    reason: str


def lower(model: ir.Model, tier: Tier) -> LoweredProgram:
    """Lower every node of `model` for `tier`. Raises UnsupportedError with one line per node that no kernel covers."""
    program, faults = lower_what_can_be(model, tier)
    if faults:
        lines = [f"{f.node}: {f.call}: {f.reason}" for f in faults]
        raise UnsupportedError(f"{len(faults)} of {len(model.graph)} nodes have no kernel:\n  " + "\n  ".join(lines))
    return program


def lower_what_can_be(model: ir.Model, tier: Tier) -> tuple[LoweredProgram, list[Fault]]:
    """The dispatches of the nodes that have kernels, and the nodes that have none."""
    load_all()
    ctx = Lowering(model, tier)
    faults: list[Fault] = []
    for node in model.graph:
        if ctx.is_shape_tensor(node):
            continue
        op = read_fused(node, model, ELEMENTWISE)
        try:
            _lower_node(op, node, ctx)
        except (Undecided, TypeError) as fault:
            if isinstance(fault, TypeError) and not _depends_on_symbols(node):
                raise
            advice = f"{fault}; fix the size with --dim NAME=N"
            faults.append(Fault(op.name, f"{op.key[0] or 'ai.onnx'}::{op.key[1]}({operands(node)})", advice))
        except Unsupported as fault:
            faults.append(Fault(op.name, f"{op.key[0] or 'ai.onnx'}::{op.key[1]}({operands(node)})", str(fault)))
    ctx.write_shape_outputs()
    return ctx.program, faults


def _depends_on_symbols(node: ir.Node) -> bool:
    return bool(symbols_of([v for v in (*node.inputs, *node.outputs) if v is not None]))


def _lower_node(op: FusedOp, node: ir.Node, ctx: Lowering) -> None:
    lowering = LOWERINGS.get(op.key)
    if lowering is None:
        raise Unsupported("no kernel for this operator; export the model without it, or add it in webinfer/ops")
    # WGSL lacks these element types and none stands in for them.
    names = [v.name for v in (*node.inputs, *node.outputs) if v is not None and v.name]
    other = next((dtype for n in names if (dtype := ctx.dtype(n)) not in ITEMSIZE), None)
    if other is not None:
        raise Unsupported(f"no kernel computes in {other}; cast to float32 in the model")
    lowering(op, ctx)
