"""ONNX Attention and ai.webinfer::ChannelMajorAttention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from webinfer.fused import DOMAIN, FusedOp
from webinfer.lowering import Lowering, lowers
from webinfer.ops.attention import UNBOUNDED, Heads, Lengths, Problem, attend, inner_heads, mask_of, outer_heads
from webinfer.ops.attention_cache import cached
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step


@lowers("Attention")
def lower_attention(op: FusedOp, ctx: Lowering) -> None:
    """Queries, keys, values [B, T, H * D] or [B, H, T, D] in every form that the operator has (opsets 23 to 25).

    The softmax runs in float32 whatever softmax_precision asks for.
    """
    step = only_step(op)
    q_name, k_name, v_name, mask, past_key, past_value, lengths = (*step.inputs, *[""] * 7)[:7]
    y, present_key, present_value, scores = (*op.outputs, *[""] * 4)[:4]
    q, k, v = (ctx.shape(n) for n in (q_name, k_name, v_name))
    if len(q) == 3:
        heads, kv_heads = step.int("q_num_heads", 0), step.int("kv_num_heads", 0)
        queries, new, dims, v_dims = q[1], k[1], q[2] // heads, v[2] // kv_heads
        q_heads, k_heads, v_heads = (
            inner_heads(n, s, h) for n, s, h in ((q_name, q, heads), (k_name, k, kv_heads), (v_name, v, kv_heads))
        )
        out = inner_heads(y, (q[0], queries, heads * v_dims), heads)
    else:
        heads, kv_heads, queries, new, dims, v_dims = q[1], k[1], q[2], k[2], q[3], v[3]
        q_heads, k_heads, v_heads = (outer_heads(n, s) for n, s in ((q_name, q), (k_name, k), (v_name, v)))
        out = outer_heads(y, (q[0], heads, queries, v_dims))
    past = ctx.shape(past_key)[2] if past_key else 0
    keys = past + new
    k_heads = cached(ctx, op.name, past_key, k_heads, (q[0], kv_heads, keys, dims), present_key, steps=new)
    v_heads = cached(ctx, op.name, past_value, v_heads, (q[0], kv_heads, keys, v_dims), present_value, steps=new)
    masking = mask_of(ctx, mask, (q[0], heads, queries, keys)) if mask else None
    left, right = step.int("left_window_size", -1), step.int("right_window_size", -1)
    boolean = bool(mask) and ctx.dtype(mask) == "bool"
    attend(
        op.name,
        ctx,
        Problem(
            q[0],
            heads,
            kv_heads,
            queries,
            keys,
            dims,
            v_dims,
            q_heads,
            k_heads,
            v_heads,
            out,
            step.float("scale", 1.0 / math.sqrt(dims)),
            offset=past,
            left=left if left >= 0 else UNBOUNDED,
            right=0 if step.int("is_causal", 0) else right if right >= 0 else UNBOUNDED,
            softcap=step.float("softcap", 0.0),
            bias=None if boolean else masking,
            mask=masking if boolean else None,
            lengths=Lengths(lengths, offset=not past_key) if lengths else None,
            scores=scores,
            scores_mode=cast("Literal[0, 1, 2, 3]", step.int("qk_matmul_output_mode", 0)),
        ),
    )


@lowers("ChannelMajorAttention", domain=DOMAIN)
def lower_channel_major(op: FusedOp, ctx: Lowering) -> None:
    """Queries [B, D, T], keys and values [B, D, S] -> [B, D, T]; heads live in B."""
    step = only_step(op)
    (batch, dims, queries), (_, _, keys), (_, v_dims, _) = (ctx.shape(n) for n in step.inputs[:3])
    names = (*step.inputs[:3], op.output)
    sizes = ((dims, queries), (dims, keys), (v_dims, keys), (v_dims, queries))
    q, k, v, out = (Heads(name, d * n, 0, n) for name, (d, n) in zip(names, sizes, strict=True))
    scale = step.float("scale", 1.0)
    attend(op.name, ctx, Problem(batch, 1, 1, queries, keys, dims, v_dims, q, k, v, out, scale, channel_major=True))


def _channel_major(shape: tuple[int, int, int], keys: int, g: Graph) -> None:
    """q, k and v are parts of one tensor when they have the same length, as a fused projection gives them."""
    batch, dims, queries = shape
    if keys == queries:
        g.input("qkv", (1, 3 * batch * dims, queries))
        g.ints("parts", [batch * dims] * 3)
        g.node("Split", ["qkv", "parts"], ["qs", "ks", "vs"], axis=1)
        g.ints("to", shape)
        for name in "qkv":
            g.node("Reshape", [f"{name}s", "to"], [name])
    else:
        g.input("q", shape)
        g.input("k", (batch, dims, keys))
        g.input("v", (batch, dims, keys))
    first = g.position
    g.node("Mul", ["q", g.constant("scale", np.array(dims**-0.5))], ["scaled"])
    g.node("Einsum", ["scaled", "k"], ["scores"], equation="bct,bcs->bts")
    g.node("Softmax", ["scores"], ["weights"], axis=-1)
    g.node("Einsum", ["weights", "v"], ["y"], equation="bts,bcs->bct")
    g.fused("ChannelMajorAttention", ["q", "k", "v", "scale"], ["y"], first, scale=dims**-0.5)
    g.output("y")


def _attention(
    q: Sequence[int], kv: Sequence[int], attributes: dict[str, Any], mask: Sequence[int] | None, g: Graph
) -> None:
    g.input("q", q)
    g.input("k", kv)
    g.input("v", kv)
    inputs = ["q", "k", "v"]
    if mask is not None:
        inputs.append(g.input("mask", mask))
    g.node("Attention", inputs, ["y"], **attributes)
    g.output("y")


def _bool_mask(g: Graph) -> None:
    for name in "qkv":
        g.input(name, (1, 2, 6, 8))
    g.input("mask", np.tril(np.ones((6, 6), bool)))
    g.node("Attention", ["q", "k", "v", "mask"], ["y"])
    g.output("y")


def _masked_row(g: Graph) -> None:
    """A row whose keys are all masked weighs them alike."""
    for name in "qkv":
        g.input(name, (1, 1, 5, 4), scale=0.1)
    mask = np.zeros((5, 5), np.float32)
    mask[2] = -65504.0
    g.input("mask", mask)
    g.node("Attention", ["q", "k", "v", "mask"], ["y"])
    g.output("y")


CASES = [
    *(Case(f"channel_major_t{t}", partial(_channel_major, (2, 8, t), t)) for t in (*range(1, 10), 16, 64, 260)),
    Case("channel_major_d32", partial(_channel_major, (4, 32, 256), 256)),
    Case("channel_major_odd_dims", partial(_channel_major, (2, 6, 12), 12)),
    Case("channel_major_cross", partial(_channel_major, (2, 8, 20), 7)),
    *(
        Case(
            f"heads_t{t}",
            partial(_attention, (2, t, 24), (2, t, 24), {"q_num_heads": 3, "kv_num_heads": 3}, None),
        )
        for t in (1, 2, 3, 5, 8, 33)
    ),
    Case(
        "heads_d64",
        partial(_attention, (1, 257, 128), (1, 257, 128), {"q_num_heads": 2, "kv_num_heads": 2}, None),
        precisions=("fp32",),
    ),
    Case(
        "heads_odd_dims",
        partial(_attention, (2, 5, 14), (2, 9, 14), {"q_num_heads": 2, "kv_num_heads": 2}, None),
    ),
    Case(
        "heads_grouped",
        partial(_attention, (1, 6, 32), (1, 11, 16), {"q_num_heads": 4, "kv_num_heads": 2}, None),
    ),
    Case("rank4_scale", partial(_attention, (2, 3, 6, 8), (2, 3, 10, 8), {"scale": 0.7}, None)),
    Case("rank4_mask", partial(_attention, (2, 3, 6, 8), (2, 3, 10, 8), {}, (2, 1, 6, 10))),
    Case("rank4_mask_2d", partial(_attention, (1, 2, 5, 8), (1, 2, 9, 8), {}, (5, 9))),
    Case(
        "rank4_causal",
        partial(_attention, (1, 2, 70, 8), (1, 2, 70, 8), {"is_causal": 1}, None),
    ),
    Case("rank4_masked_row", _masked_row, fp32=2e-4, reason="scores vanish beside the mask in f32"),
    Case("rank4_bool_mask", _bool_mask),
]
