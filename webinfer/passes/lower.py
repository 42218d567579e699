"""Lowering: fused ONNX -> dispatches, by the lowering that each op registered.

Requires: static shapes, inferred types, topological order. Ensures: every node is covered, or one UnsupportedError
lists all that are not.
"""

from __future__ import annotations

import onnx_ir as ir

from webinfer.errors import UnsupportedError
from webinfer.fused import FusedOp, read_fused
from webinfer.kernel import LoweredProgram
from webinfer.lowering import LOWERINGS, Lowering, Unsupported
from webinfer.ops import load_all
from webinfer.ops.elementwise import ELEMENTWISE
from webinfer.tiers import Tier


def lower(model: ir.Model, tier: Tier) -> LoweredProgram:
    """Lower every node of `model` for `tier`. Raises UnsupportedError with one line per node that no kernel covers."""
    load_all()
    ctx = Lowering(model, tier)
    faults: list[str] = []
    for node in model.graph:
        op = read_fused(node, model, ELEMENTWISE)
        lowering = LOWERINGS.get(op.key)
        try:
            if lowering is None:
                raise Unsupported("no kernel for this operator; see `webinfer lint`")
            lowering(op, ctx)
        except Unsupported as fault:
            faults.append(_describe(op, node, ctx, str(fault)))
    if faults:
        raise UnsupportedError(f"{len(faults)} of {len(model.graph)} nodes have no kernel:\n  " + "\n  ".join(faults))
    return ctx.program


def _describe(op: FusedOp, node: ir.Node, ctx: Lowering, reason: str) -> str:
    inputs = ", ".join(
        f"{ctx.dtype(v.name)}{list(ctx.shape(v.name))}" if v is not None and v.name else "-" for v in node.inputs
    )
    return f"{op.name}: {op.key[0] or 'ai.onnx'}::{op.key[1]}({inputs}): {reason}"
