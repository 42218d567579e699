"""GroupQueryAttention of com.microsoft, as ONNX Runtime's CPU computes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Unsupported, lowers
from webinfer.ops.attention import UNBOUNDED, Heads, Lengths, Problem, attend, inner_heads, mask_of
from webinfer.ops.attention_cache import cached
from webinfer.ops.attention_contrib import DOMAIN, named, node_case, scale_of
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.rotary import Positions, positions_of, rotate

_REFUSED = {
    12: "k_scale: keep the cache in floats",
    13: "v_scale: keep the cache in floats",
    14: "q_norm_weight: normalize the projections by nodes of their own",
    15: "k_norm_weight: normalize the projections by nodes of their own",
    16: "query_seqlens: run chunks without padding",
}


@lowers("GroupQueryAttention", domain=DOMAIN)
def lower_group_query(op: FusedOp, ctx: Lowering) -> None:
    """Causal attention over a cache: seqlens_k holds, per batch, one less than the keys after this step.

    Its tokens are the last of these keys. present is as long as past, or as the longest sequence.
    """
    step = only_step(op)
    inputs, (y, present_key, present_value, scores) = named(step, op.outputs, 17)
    query, key, value, past_key, past_value, lengths, longest, cosine, sine, ids, score_bias, sink = inputs[:12]
    for position, advice in _REFUSED.items():
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
            scale_of(step, dims),
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


def _group(inputs: Sequence[Any], outputs: Sequence[Any], **attributes: Any) -> Callable[[Graph], None]:
    return partial(node_case, "GroupQueryAttention", inputs, outputs, {"num_heads": 4, "kv_num_heads": 2} | attributes)


def _ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


_LONGEST = np.array(8, np.int32)
_STEP = ((2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 8, 8), (2, 2, 8, 8), _ints(7, 4), _LONGEST)
_PROMPT = ((2, 5, 32), (2, 5, 16), (2, 5, 16), None, None, _ints(4, 4), np.array(5, np.int32))
_CHUNK = ((1, 3, 32), (1, 3, 16), (1, 3, 16), (1, 2, 5, 8), (1, 2, 5, 8), _ints(7), _LONGEST)
_KEPT = ((1, 3, 32), (1, 2, 8, 8), (1, 2, 8, 8))
_LARGE = ((1, 3, 64), (1, 3, 32), (1, 3, 32), (1, 2, 5, 16), (1, 2, 5, 16), _ints(7), _LONGEST)
_LARGE_KEPT = ((1, 3, 64), (1, 2, 8, 16), (1, 2, 8, 16))
_CACHES = ((16, 8), (16, 8))

_FORMS: dict[str, Callable[[Graph], None]] = {
    "prompt": _group(_PROMPT, [(2, 5, 32), (2, 2, 5, 8), (2, 2, 5, 8)]),
    "step": _group(_STEP, [(2, 1, 32), (2, 2, 8, 8), (2, 2, 8, 8)]),
    "chunk": _group(_CHUNK, _KEPT),
    "rotary": _group((*_LARGE, *_CACHES), _LARGE_KEPT, do_rotary=1),
    "rotary_step": _group(
        ((2, 1, 64), (2, 1, 32), (2, 1, 32), (2, 2, 8, 16), (2, 2, 8, 16), _ints(7, 4), _LONGEST, *_CACHES),
        [(2, 1, 64), (2, 2, 8, 16), (2, 2, 8, 16)],
        do_rotary=1,
    ),
    "packed": _group(
        ((1, 3, 128), None, None, *_LARGE[3:], *_CACHES), _LARGE_KEPT, do_rotary=1, rotary_interleaved=1, scale=0.2
    ),
    "ids": _group((*_LARGE, *_CACHES, np.array([[3, 9, 4]])), _LARGE_KEPT, do_rotary=1),
    "window": _group(_CHUNK, _KEPT, local_window_size=3, softcap=1.5),
    "bias": _group((*_CHUNK, None, None, None, (1, 4, 3, 8)), _KEPT),
    "sink": _group((*_CHUNK, None, None, None, None, (4,)), _KEPT),
    "smooth": _group(_CHUNK, _KEPT, smooth_softmax=1, local_window_size=2),
    "both_ways": _group(_CHUNK, _KEPT, causal=0),
}
CASES = [Case(name, build) for name, build in _FORMS.items()]
