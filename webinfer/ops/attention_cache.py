"""The KV cache of attention: past keys or values with those of this step behind them."""

from __future__ import annotations

from collections.abc import Sequence

from webinfer.lowering import Lowering, Operand
from webinfer.ops.attention import Heads, outer_heads
from webinfer.ops.copy import rearrange
from webinfer.ops.elements import emit_elements


def cached(
    ctx: Lowering,
    node: str,
    past: str,
    new: Heads,
    shape: Sequence[int],
    present: str,
    *,
    steps: int,
    lengths: str = "",
    parts: int = 1,
    part: int = 0,
) -> Heads:
    """The keys or values that attention reads: `shape` is [batch, kv_heads, positions, dims].

    past and present are values of the graph or "". The `steps` new positions follow the whole past, or, with `lengths`
    (int32 [batch], one less than the keys after this step), end there. parts: keys and values lie behind each other in
    one present tensor, and the new ones `part` elements apart; the result is then that of the first part.
    """
    batch, heads, positions, dims = shape
    old = ctx.shape(past)[-2] if past else 0
    if not present and not old and positions == steps:
        return new
    if not present:
        present = ctx.scratch(f"{node}#{past}#{new.value}#{new.start}#present", shape, ctx.dtype(new.value))
    if not old and positions == steps and parts == 1:
        strides = (new.batch, new.head, new.stride, 1)
        rearrange(ctx, node, new.value, present, shape, strides, new.start)
        return new
    operands = [Operand("x", new.value, width=1)]
    if old:
        operands.append(Operand("past", past, width=1))
    if lengths:
        operands.append(Operand("lengths", lengths, width=1))
    params: dict[str, int | float] = {
        "batch": batch,
        "heads": heads,
        "positions": positions,
        "dims": dims,
        "past_positions": old,
        "steps": steps,
        "x_start": new.start,
        "x_part": part,
        "x_batch": new.batch,
        "x_head": new.head,
        "x_stride": new.stride,
    }
    emit_elements(ctx, "attention_cache", node, present, operands, params, past=bool(old), lengths=bool(lengths))
    return outer_heads(present, shape)
