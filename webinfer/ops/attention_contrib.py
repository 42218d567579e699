"""Attention of com.microsoft as ONNX Runtime's CPU computes it: MultiHeadAttention, Attention, GroupQueryAttention."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from webinfer.fused import FusedOp, Step
from webinfer.lowering import LOWERINGS, Lowering, Unsupported, lowers
from webinfer.ops.attention import UNBOUNDED, Heads, Lengths, Mask, Problem, attend, inner_heads, mask_of, outer_heads
from webinfer.ops.attention_cache import cached
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step, rearrange
from webinfer.ops.pointwise import pointwise
from webinfer.ops.rotary import Positions, positions_of, rotate

MASK_FILTER = -10000.0  # the default of the attribute mask_filter_value


def _named(step: Step, outputs: Sequence[str], count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Inputs and outputs, "" for those that the node omits."""
    return (*step.inputs, *[""] * count)[:count], (*outputs, *[""] * 4)[:4]


def _scale(step: Step, dims: int) -> float:
    return step.float("scale", 0.0) or 1.0 / math.sqrt(dims)


def _padding(ctx: Lowering, mask: str, sizes: tuple[int, int, int, int]) -> tuple[Mask | None, Lengths | None]:
    """A mask of [batch, heads, queries, keys]: element by element, or as the number (and the first) of the keys."""
    batch, _, queries, keys = sizes
    shape = ctx.shape(mask)
    if len(shape) == 1:
        if shape[0] not in (batch, 2 * batch):
            raise Unsupported("key lengths of packed sequences: give one length per batch, or a mask")
        return None, Lengths(mask, starts=batch if shape[0] == 2 * batch else 0)
    if len(shape) == 2:
        return Mask(mask, (shape[1], 0, 0, 1), shape[1]), None
    if len(shape) == 3:
        return Mask(mask, (shape[1] * shape[2], 0, shape[2], 1), shape[2]), None
    # [batch, 1, longest, longest]: the rows of these queries, which are the last of the keys.
    raise Unsupported(f"a mask of shape {shape}: slice it to [{batch}, {queries}, {keys}]")


@lowers("MultiHeadAttention", domain="com.microsoft")
def lower_multi_head(op: FusedOp, ctx: Lowering) -> None:
    """Separate or packed projections [B, T, H * D], [B, T, H, 3, D], keys [B, H, S, D] of an encoder; past and mask."""
    step = only_step(op)
    inputs, (y, present_key, present_value, scores) = _named(step, op.outputs, 10)
    query, key, value, bias, padding, score_bias, past_key, past_value, past_length, beams = inputs
    if past_length or beams:
        raise Unsupported("buffers shared by past and present, or beams: export with a growing cache")
    heads = step.int("num_heads", 1)
    shape = ctx.shape(query)
    batch, queries = shape[:2]
    if len(shape) == 5:
        q, k, v = (_packed(query, shape, part) for part in range(3))
        new, dims, v_dims = queries, shape[4], shape[4]
    else:
        q, dims = inner_heads(query, shape, heads), shape[2] // heads
        keyed = ctx.shape(key)
        if len(keyed) == 5:
            k, v = (_packed(key, keyed, part) for part in range(2))
            new, v_dims = keyed[1], dims
        elif len(keyed) == 4:
            k, v = (outer_heads(n, ctx.shape(n)) for n in (key, value))
            new, v_dims = keyed[2], ctx.shape(value)[3]
        else:
            valued = ctx.shape(value)
            k, v = inner_heads(key, keyed, heads), inner_heads(value, valued, heads)
            new, v_dims = keyed[1], valued[2] // heads
    if bias:
        q = _biased(ctx, op.name, q, (batch, heads, queries, dims), bias, 0)
        if len(ctx.shape(key) if key else shape) != 4:
            k = _biased(ctx, op.name, k, (batch, heads, new, dims), bias, heads * dims)
            v = _biased(ctx, op.name, v, (batch, heads, new, v_dims), bias, 2 * heads * dims)
    keys = new + (ctx.shape(past_key)[2] if past_key else 0)
    k = cached(ctx, op.name, past_key, k, (batch, heads, keys, dims), present_key, steps=new)
    v = cached(ctx, op.name, past_value, v, (batch, heads, keys, v_dims), present_value, steps=new)
    sizes = (batch, heads, queries, keys)
    mask, lengths = _padding(ctx, padding, sizes) if padding else (None, None)
    attend(
        op.name,
        ctx,
        Problem(
            *(batch, heads, heads, queries, keys, dims, v_dims),
            *(q, k, v, inner_heads(y, (batch, queries, heads * v_dims), heads)),
            _scale(step, dims),
            offset=keys - new,
            right=0 if step.int("unidirectional", 0) else UNBOUNDED,
            bias=mask_of(ctx, score_bias, sizes) if score_bias else None,
            mask=mask,
            lengths=lengths,
            filler=step.float("mask_filter_value", MASK_FILTER) if padding else None,
            scores=scores,
        ),
    )


def _packed(value: str, shape: Sequence[int], part: int) -> Heads:
    """Part of [batch, position, head, parts, dim]."""
    _, positions, heads, parts, dims = shape
    return Heads(value, positions * heads * parts * dims, parts * dims, heads * parts * dims, part * dims)


def _biased(ctx: Lowering, node: str, x: Heads, sizes: tuple[int, int, int, int], bias: str, start: int) -> Heads:
    """X plus the heads * dims elements of `bias` from `start` on, as [batch, position, head * dim]."""
    batch, heads, positions, dims = sizes
    shape, width = (batch, positions, heads * dims), heads * dims
    stem = f"{node}#{x.value}#{x.start}#{start}"
    part = ctx.scratch(f"{stem}#bias", (width,), ctx.dtype(bias))
    rearrange(ctx, node, bias, part, (width,), (1,), start)
    dense = ctx.scratch(f"{stem}#dense", shape, ctx.dtype(x.value))
    rearrange(ctx, node, x.value, dense, (batch, positions, heads, dims), (x.batch, x.stride, x.head, 1), x.start)
    total = ctx.scratch(f"{stem}#biased", shape, ctx.dtype(x.value))
    pointwise(ctx, node, (Step("Add", (dense, part), (total,), {}),), total)
    return inner_heads(total, shape, heads)


@lowers("Attention", domain="com.microsoft")
def lower_merged(op: FusedOp, ctx: Lowering) -> None:
    """Attention with its projections: x [B, T, I], weights [I, Q + K + V]; past and present [2, B, H, S, D]."""
    step = only_step(op)
    inputs, (y, present, *_) = _named(step, op.outputs, 7)
    x, weights, bias, padding, past, score_bias, past_length = inputs
    if past_length or step.int("past_present_share_buffer", 0):
        raise Unsupported("a buffer shared by past and present: export with a growing cache")
    if step.int("do_rotary", 0):
        raise Unsupported("do_rotary of com.microsoft::Attention: use GroupQueryAttention, or RotaryEmbedding nodes")
    heads = step.int("num_heads", 1)
    batch, queries, _ = ctx.shape(x)
    total = ctx.shape(weights)[1]
    q_size, k_size, v_size = step.ints("qkv_hidden_sizes") or (total // 3,) * 3
    dims, v_dims = q_size // heads, v_size // heads
    projected = ctx.scratch(f"{op.name}#projected", (batch, queries, total), ctx.dtype(x))
    product = Step("MatMul", (x, weights), (f"{projected}/product" if bias else projected,), {})
    added = (Step("Add", (product.outputs[0], bias), (projected,), {}),) if bias else ()
    LOWERINGS["", "MatMul"](FusedOp(op.name, "", None, product, added, (projected,)), ctx)
    q, k, v = (
        Heads(projected, queries * total, size // heads, total, start)
        for size, start in ((q_size, 0), (k_size, q_size), (v_size, q_size + k_size))
    )
    keys = queries + (ctx.shape(past)[3] if past else 0)
    if past or present:
        shape = (batch, heads, keys, dims)
        k = cached(ctx, op.name, past, k, shape, present, steps=queries, parts=2, part=v.start - k.start)
        v = replace(k, start=batch * heads * keys * dims)
    sizes = (batch, heads, queries, keys)
    mask, lengths = _padding(ctx, padding, sizes) if padding else (None, None)
    attend(
        op.name,
        ctx,
        Problem(
            *(batch, heads, heads, queries, keys, dims, v_dims),
            *(q, k, v, inner_heads(y, (batch, queries, v_size), heads)),
            _scale(step, dims),
            offset=keys - queries,
            right=0 if step.int("unidirectional", 0) else UNBOUNDED,
            bias=mask_of(ctx, score_bias, sizes) if score_bias else None,
            mask=mask,
            lengths=lengths,
            filler=step.float("mask_filter_value", MASK_FILTER) if padding else None,
        ),
    )


_GROUP_REFUSED = {
    12: "k_scale: keep the cache in floats",
    13: "v_scale: keep the cache in floats",
    14: "q_norm_weight: normalize the projections by nodes of their own",
    15: "k_norm_weight: normalize the projections by nodes of their own",
    16: "query_seqlens: run chunks without padding",
}


@lowers("GroupQueryAttention", domain="com.microsoft")
def lower_group_query(op: FusedOp, ctx: Lowering) -> None:
    """Causal attention over a cache: seqlens_k holds, per batch, one less than the keys after this step.

    Its tokens are the last of these keys. present is as long as past, or as the longest sequence.
    """
    step = only_step(op)
    inputs, (y, present_key, present_value, scores) = _named(step, op.outputs, 17)
    query, key, value, past_key, past_value, lengths, longest, cosine, sine, ids, score_bias, sink = inputs[:12]
    for position, advice in _GROUP_REFUSED.items():
        if inputs[position]:
            raise Unsupported(f"GroupQueryAttention with {advice}")
    if step.int("sliding_window_cache", 0):
        raise Unsupported(
            "GroupQueryAttention with a sliding window cache: keep the whole cache, local_window_size masks"
        )
    heads, kv_heads = step.int("num_heads", 1), step.int("kv_num_heads", 1)
    batch, tokens, hidden = ctx.shape(query)
    if key:
        dims = hidden // heads
        q = inner_heads(query, ctx.shape(query), heads)
        k, v = (inner_heads(n, ctx.shape(n), kv_heads) for n in (key, value))
    else:
        dims = hidden // (heads + 2 * kv_heads)
        q, k, v = (Heads(query, tokens * hidden, dims, hidden, first * dims) for first in (0, heads, heads + kv_heads))
    if step.int("do_rotary", 0):
        positions = positions_of(ctx, ids) if ids else Positions("lengths", lengths)
        turned = []
        for name, x, count in (("q", q, heads), ("k", k, kv_heads)):
            output = ctx.scratch(f"{op.name}#{name}", (batch, tokens, count * dims), ctx.dtype(query))
            interleaved = bool(step.int("rotary_interleaved", 0))
            size, caches = (batch, count, tokens, dims), (cosine, sine)
            rotate(ctx, op.name, x, output, size, caches, positions, interleaved=interleaved, head_major=False)
            turned.append(inner_heads(output, ctx.shape(output), count))
        q, k = turned
    past = ctx.shape(past_key)[2] if past_key else 0
    keys = ctx.shape(present_key)[2] if present_key else max(past, *(ctx.integers(longest) or [past + tokens]))
    shape = (batch, kv_heads, keys, dims)
    k = cached(ctx, op.name, past_key, k, shape, present_key, steps=tokens, lengths=lengths)
    v = cached(ctx, op.name, past_value, v, shape, present_value, steps=tokens, lengths=lengths)
    window = step.int("local_window_size", -1)
    mode = step.int("qk_output", 0)
    attend(
        op.name,
        ctx,
        Problem(
            *(batch, heads, kv_heads, tokens, keys, dims, dims),
            *(q, k, v, inner_heads(y, (batch, tokens, heads * dims), heads)),
            _scale(step, dims),
            left=window - 1 if window > 0 else UNBOUNDED,
            right=0 if step.int("causal", 1) else UNBOUNDED,
            softcap=step.float("softcap", 0.0),
            bias=mask_of(ctx, score_bias, (batch, heads, tokens, keys)) if score_bias else None,
            lengths=Lengths(lengths, more=1, offset=True, least_offset=0),
            sink=sink,
            smooth=bool(step.int("smooth_softmax", 0)),
            scores=scores if mode else "",
            scores_mode=3 if mode == 2 else 0,
        ),
    )


def _node(
    op_type: str,
    inputs: Sequence[Sequence[int] | np.ndarray | None],
    outputs: Sequence[Sequence[int] | None],
    attributes: dict[str, Any],
    g: Graph,
) -> None:
    """One node; a tuple among the inputs is the shape of random values, a 0-d array a constant."""
    names = []
    for k, data in enumerate(inputs):
        if data is None:
            names.append("")
        elif isinstance(data, np.ndarray) and not data.ndim:
            names.append(g.constant(f"x{k}", data))
        else:
            names.append(g.input(f"x{k}", data, scale=0.5))
    results = [f"y{k}" if shape else "" for k, shape in enumerate(outputs)]
    g.node(op_type, names, results, domain="com.microsoft", **attributes)
    for name, shape in zip(results, outputs, strict=True):
        if shape:
            g.output(name, shape=shape)


def _multi_head(inputs: Sequence[Any], outputs: Sequence[Any], **attributes: Any) -> Callable[[Graph], None]:
    return partial(_node, "MultiHeadAttention", inputs, outputs, {"num_heads": 2} | attributes)


def _packed_case(shape: Sequence[int], queries: Sequence[int] | None, unpack: bool, g: Graph) -> None:
    """Packed projections, which ONNX Runtime's CPU does not take; `unpack` splits them for the reference."""
    names = [g.input("q", queries)] if queries else []
    names.append(g.input("packed", shape))
    if unpack:
        parts = [f"part{k}" for k in range(shape[3])]
        g.node("Split", [names.pop()], parts, axis=3, num_outputs=len(parts))
        g.ints("to", (shape[0], shape[1], -1))
        names += [g.node("Reshape", [part, "to"], [f"{part}/heads"]) for part in parts]
    g.node("MultiHeadAttention", names, ["y"], domain="com.microsoft", num_heads=shape[2])
    g.output("y", shape=(shape[0], (queries or shape)[1], shape[2] * shape[4]))


def _packed_cases() -> list[Case]:
    sizes = {"heads_packed": ((2, 5, 2, 3, 8), None), "heads_packed_pairs": ((2, 5, 2, 2, 8), (2, 3, 16))}
    builds = {name: (partial(_packed_case, *s, False), partial(_packed_case, *s, True)) for name, s in sizes.items()}
    return [Case(n, build, fp16=2e-3, reason=_HALF, reference=same) for n, (build, same) in builds.items()]


def _merged(inputs: Sequence[Any], outputs: Sequence[Any], **attributes: Any) -> Callable[[Graph], None]:
    return partial(_node, "Attention", inputs, outputs, {"num_heads": 2} | attributes)


def _group(inputs: Sequence[Any], outputs: Sequence[Any], **attributes: Any) -> Callable[[Graph], None]:
    return partial(_node, "GroupQueryAttention", inputs, outputs, {"num_heads": 4, "kv_num_heads": 2} | attributes)


def _ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


_QKV = ((2, 3, 12), (2, 5, 12), (2, 5, 20))
_PADDED = _ints([1, 1, 1, 0, 0], [1, 1, 1, 1, 0])
_WEIGHTS = ((2, 4, 10), (10, 36), (36,))
_LONGEST = np.array(8, np.int32)
_STEP = ((2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 8, 8), (2, 2, 8, 8), _ints(7, 4), _LONGEST)
_PROMPT = ((2, 5, 32), (2, 5, 16), (2, 5, 16), None, None, _ints(4, 4), np.array(5, np.int32))
_CHUNK = ((1, 3, 32), (1, 3, 16), (1, 3, 16), (1, 2, 5, 8), (1, 2, 5, 8), _ints(7), _LONGEST)
_KEPT = ((1, 3, 32), (1, 2, 8, 8), (1, 2, 8, 8))
_LARGE = ((1, 3, 64), (1, 3, 32), (1, 3, 32), (1, 2, 5, 16), (1, 2, 5, 16), _ints(7), _LONGEST)
_LARGE_KEPT = ((1, 3, 64), (1, 2, 8, 16), (1, 2, 8, 16))
_CACHES = ((16, 8), (16, 8))

_FORMS: dict[str, Callable[[Graph], None]] = {
    "heads": _multi_head(_QKV, [(2, 3, 20)]),
    "heads_bias": _multi_head((*_QKV, (44,)), [(2, 3, 20)], scale=0.3),
    "heads_lengths": _multi_head((*_QKV, None, _ints(5, 2)), [(2, 3, 20)]),
    "heads_padding": _multi_head((*_QKV, (44,), _PADDED), [(2, 3, 20)]),
    "heads_padding_3d": _multi_head((*_QKV, None, np.repeat(_PADDED[:, None], 3, 1)), [(2, 3, 20)]),
    "heads_all_padded": _multi_head((*_QKV, None, _PADDED * _ints([0], [1])), [(2, 3, 20)]),
    "heads_score_bias": _multi_head((*_QKV, None, _PADDED, (1, 2, 3, 5)), [(2, 3, 20)]),
    "heads_encoder_keys": _multi_head(((2, 3, 16), (2, 2, 5, 8), (2, 2, 5, 8)), [(2, 3, 16)]),
    "heads_past": _multi_head(
        ((2, 3, 16), (2, 3, 16), (2, 3, 16), (48,), None, (2, 2, 3, 7), (2, 2, 4, 8), (2, 2, 4, 8)),
        [(2, 3, 16), (2, 2, 7, 8), (2, 2, 7, 8)],
        unidirectional=1,
    ),
    "heads_present": _multi_head(_QKV, [(2, 3, 20), (2, 2, 5, 6), (2, 2, 5, 10)]),
    "merged": _merged(_WEIGHTS, [(2, 4, 12)]),
    "merged_causal": _merged(_WEIGHTS, [(2, 4, 12)], unidirectional=1),
    "merged_sizes": _merged(((2, 4, 10), (10, 44), (44,)), [(2, 4, 20)], qkv_hidden_sizes=[12, 12, 20]),
    "merged_lengths": _merged((*_WEIGHTS, _ints(4, 2)), [(2, 4, 12)]),
    "merged_left_padding": _merged((*_WEIGHTS, _ints(4, 4, 0, 1)), [(2, 4, 12)], mask_filter_value=-1e4),
    "merged_mask_2d": _merged((*_WEIGHTS, _ints([1, 1, 1, 0], [1, 1, 0, 0])), [(2, 4, 12)], unidirectional=1),
    "merged_mask_3d": _merged((*_WEIGHTS, np.tril(np.ones((2, 4, 4), np.int32))), [(2, 4, 12)]),
    "merged_past": _merged((*_WEIGHTS, None, (2, 2, 2, 3, 6)), [(2, 4, 12), (2, 2, 2, 7, 6)], unidirectional=1),
    "group_prompt": _group(_PROMPT, [(2, 5, 32), (2, 2, 5, 8), (2, 2, 5, 8)]),
    "group_step": _group(_STEP, [(2, 1, 32), (2, 2, 8, 8), (2, 2, 8, 8)]),
    "group_chunk": _group(_CHUNK, _KEPT),
    "group_rotary": _group((*_LARGE, *_CACHES), _LARGE_KEPT, do_rotary=1),
    "group_rotary_step": _group(
        ((2, 1, 64), (2, 1, 32), (2, 1, 32), (2, 2, 8, 16), (2, 2, 8, 16), _ints(7, 4), _LONGEST, *_CACHES),
        [(2, 1, 64), (2, 2, 8, 16), (2, 2, 8, 16)],
        do_rotary=1,
    ),
    "group_packed": _group(
        ((1, 3, 128), None, None, *_LARGE[3:], *_CACHES), _LARGE_KEPT, do_rotary=1, rotary_interleaved=1, scale=0.2
    ),
    "group_ids": _group((*_LARGE, *_CACHES, np.array([[3, 9, 4]])), _LARGE_KEPT, do_rotary=1),
    "group_window": _group(_CHUNK, _KEPT, local_window_size=3, softcap=1.5),
    "group_bias": _group((*_CHUNK, None, None, None, (1, 4, 3, 8)), _KEPT),
    "group_sink": _group((*_CHUNK, None, None, None, None, (4,)), _KEPT),
    "group_smooth": _group(_CHUNK, _KEPT, smooth_softmax=1, local_window_size=2),
    "group_both_ways": _group(_CHUNK, _KEPT, causal=0),
}
_HALF = "f16 results of a weighted mean carry one rounding of each input"
CASES = [*(Case(name, build, fp16=2e-3, reason=_HALF) for name, build in _FORMS.items()), *_packed_cases()]
