"""RotaryEmbedding of ONNX and com.microsoft, and the rotation for attention that brings its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.attention import Heads, inner_heads, outer_heads
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements


@dataclass(frozen=True)
class Positions:
    """Where each of `steps` tokens stands, as a row of the caches.

    "rows": the caches hold a row per token of every batch. "ids": element batch * `batch` + token * `token` of `value`
    plus token * `step`. "lengths": `value` holds one less than the number of keys per batch, the tokens are the last.
    """

    kind: Literal["rows", "ids", "lengths"]
    value: str = ""
    batch: int = 0
    token: int = 0
    step: int = 0


def positions_of(ctx: Lowering, ids: str) -> Positions:
    """Positions from an input of shape [batch, tokens], or [1]: that of the first token."""
    shape = ctx.shape(ids)
    return Positions("ids", ids, shape[1], 1) if len(shape) == 2 else Positions("ids", ids, step=1)


def rotate(
    ctx: Lowering,
    node: str,
    x: Heads,
    output: str,
    sizes: Sequence[int],
    caches: tuple[str, str],
    positions: Positions,
    *,
    interleaved: bool,
    head_major: bool,
) -> None:
    """Write x, rotated, to `output`. sizes: [batch, heads, tokens, dims]; caches: cosines and sines [.., half]."""
    _, heads, tokens, dims = sizes
    half = ctx.shape(caches[0])[-1]
    operands = [Operand(n, v, width=1) for n, v in (("x", x.value), ("cosine", caches[0]), ("sine", caches[1]))]
    params: dict[str, int | float] = {
        "dims": dims,
        "inner": tokens if head_major else heads,
        "outer": heads if head_major else tokens,
        "half": half,
        "steps": tokens,
        "cached": ctx.size(caches[0]) // half,
        "x_start": x.start,
        "x_batch": x.batch,
        "x_head": x.head,
        "x_stride": x.stride,
    }
    if positions.kind != "rows":
        operands.append(Operand(positions.kind, positions.value, width=1))
    if positions.kind == "ids":
        params |= {"id_batch": positions.batch, "id_position": positions.token, "id_step": positions.step}
    emit_elements(
        ctx,
        "rotary",
        node,
        output,
        operands,
        params,
        flops=4,
        positions=positions.kind,
        interleaved=interleaved,
        head_major=head_major,
    )


@lowers("RotaryEmbedding")
def lower_rotary(op: FusedOp, ctx: Lowering) -> None:
    """[B, T, H * D] or [B, H, T, D]; caches [B, T, D / 2] or, with position_ids, [positions, D / 2]."""
    step = only_step(op)
    x, cosine, sine, ids = (*step.inputs, "")[:4]
    _rotate(op, ctx, x, (cosine, sine), positions_of(ctx, ids) if ids else Positions("rows"))


@lowers("RotaryEmbedding", domain="com.microsoft")
def lower_contrib_rotary(op: FusedOp, ctx: Lowering) -> None:
    """The same with other inputs; num_heads may be missing where the caches give the head size."""
    x, ids, cosine, sine = only_step(op).inputs
    _rotate(op, ctx, x, (cosine, sine), positions_of(ctx, ids))


def _rotate(op: FusedOp, ctx: Lowering, x: str, caches: tuple[str, str], positions: Positions) -> None:
    step = only_step(op)
    shape = ctx.shape(x)
    if len(shape) == 4:
        batch, heads, tokens, dims = shape
        read = outer_heads(x, shape)
    else:
        batch, tokens, hidden = shape
        heads = step.int("num_heads", 0) or hidden // (2 * ctx.shape(caches[0])[-1])
        dims = hidden // heads
        read = inner_heads(x, shape, heads)
    rotate(
        ctx,
        op.name,
        read,
        op.output,
        (batch, heads, tokens, dims),
        caches,
        positions,
        interleaved=bool(step.int("interleaved", 0)),
        head_major=len(shape) == 4,
    )


def _onnx(
    shape: Sequence[int], cache: Sequence[int], ids: np.ndarray | None, attributes: dict[str, Any], g: Graph
) -> None:
    names = [g.input("x", shape), g.input("cosine", cache), g.input("sine", cache)]
    if ids is not None:
        names.append(g.input("ids", ids))
    g.node("RotaryEmbedding", names, ["y"], **attributes)
    g.output("y", shape=shape)


def _contrib(shape: Sequence[int], cache: Sequence[int], ids: np.ndarray, attributes: dict[str, Any], g: Graph) -> None:
    names = [g.input("x", shape), g.input("ids", ids), g.input("cosine", cache), g.input("sine", cache)]
    g.node("RotaryEmbedding", names, ["y"], domain="com.microsoft", **attributes)
    g.output("y", shape=shape)


_IDS = np.array([[4, 0, 6], [1, 2, 3]])

CASES = [
    Case("rows", partial(_onnx, (2, 3, 3, 8), (2, 3, 4), None, {})),
    Case("rows_inner_heads", partial(_onnx, (2, 3, 24), (2, 3, 4), None, {"num_heads": 3, "interleaved": 1})),
    Case("partial", partial(_onnx, (2, 3, 3, 10), (7, 2), _IDS, {"rotary_embedding_dim": 4})),
    Case(
        "partial_interleaved",
        partial(_onnx, (2, 3, 30), (7, 3), _IDS, {"num_heads": 3, "rotary_embedding_dim": 6, "interleaved": 1}),
    ),
    Case("contrib", partial(_contrib, (2, 3, 24), (7, 4), _IDS, {})),
    Case("contrib_first", partial(_contrib, (2, 3, 3, 8), (7, 4), np.array([3]), {"interleaved": 1})),
    Case("contrib_partial", partial(_contrib, (2, 3, 30), (7, 2), _IDS, {"num_heads": 3, "rotary_embedding_dim": 4})),
]
