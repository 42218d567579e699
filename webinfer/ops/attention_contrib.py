"""MultiHeadAttention, Attention and PackedMultiHeadAttention of com.microsoft, as ONNX Runtime's CPU computes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from webinfer.fused import FusedOp, Step
from webinfer.lowering import LOWERINGS, Lowering, Unsupported, lowers
from webinfer.ops.attention import UNBOUNDED, Heads, Lengths, Mask, Problem, attend, inner_heads, mask_of, outer_heads
from webinfer.ops.attention_cache import cached
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step, rearrange
from webinfer.ops.pointwise import pointwise

DOMAIN = "com.microsoft"
MASK_FILTER = -10000.0  # the default of the attribute mask_filter_value


def named(step: Step, outputs: Sequence[str], count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Inputs and outputs, "" for those that the node omits."""
    return (*step.inputs, *[""] * count)[:count], (*outputs, *[""] * 4)[:4]


def scale_of(step: Step, dims: int) -> float:
    """The attribute, where 0 stands for 1 / sqrt(dims)."""
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


@lowers("MultiHeadAttention", domain=DOMAIN)
def lower_multi_head(op: FusedOp, ctx: Lowering) -> None:
    """Separate or packed projections [B, T, H * D], [B, T, H, 3, D], keys [B, H, S, D] of an encoder; past and mask."""
    step = only_step(op)
    inputs, (y, present_key, present_value, scores) = named(step, op.outputs, 10)
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
    out = inner_heads(y, (batch, queries, heads * v_dims), heads)
    sizes = (batch, heads, queries, keys, dims, v_dims)
    _attend(op, ctx, step, sizes, (q, k, v, out), keys - new, padding, score_bias, scores)


def _attend(
    op: FusedOp,
    ctx: Lowering,
    step: Step,
    sizes: tuple[int, int, int, int, int, int],
    tensors: tuple[Heads, Heads, Heads, Heads],
    offset: int,
    padding: str,
    score_bias: str,
    scores: str = "",
) -> None:
    """Emit the attention of q, k, v and the output with what both operators share: padding, bias, mask, scale.

    sizes: batch, heads, queries, keys, dims, v_dims. offset: position of the first query among the keys.
    """
    batch, heads, queries, keys, dims, v_dims = sizes
    mask, lengths = _padding(ctx, padding, sizes[:4]) if padding else (None, None)
    attend(
        op.name,
        ctx,
        Problem(
            *(batch, heads, heads, queries, keys, dims, v_dims),
            *tensors,
            scale_of(step, dims),
            offset=offset,
            right=0 if step.int("unidirectional", 0) else UNBOUNDED,
            bias=mask_of(ctx, score_bias, sizes[:4]) if score_bias else None,
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


@lowers("Attention", domain=DOMAIN)
def lower_merged(op: FusedOp, ctx: Lowering) -> None:
    """Attention with its projections: x [B, T, I], weights [I, Q + K + V]; past and present [2, B, H, S, D]."""
    step = only_step(op)
    inputs, (y, present, *_) = named(step, op.outputs, 7)
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
    out = inner_heads(y, (batch, queries, v_size), heads)
    sizes = (batch, heads, queries, keys, dims, v_dims)
    _attend(op, ctx, step, sizes, (q, k, v, out), keys - queries, padding, score_bias)


@lowers("PackedMultiHeadAttention", domain=DOMAIN)
def lower_packed_sequences(op: FusedOp, ctx: Lowering) -> None:
    """Sequences without padding, behind each other: [tokens, H * D] or [tokens, H, 3, D]; each sees its own keys."""
    step = only_step(op)
    (query, key, value, bias, _, starts, score_bias), _ = named(step, op.outputs, 7)
    heads, shape = step.int("num_heads", 1), ctx.shape(query)
    tokens = shape[0]
    if len(shape) == 4:
        q, k, v = (_packed(query, (1, *shape), part) for part in range(3))
        dims, v_dims = shape[3], shape[3]
    else:
        q, k, v = (inner_heads(n, (1, *ctx.shape(n)), heads) for n in (query, key, value))
        dims, v_dims = shape[1] // heads, ctx.shape(value)[1] // heads
    if bias:
        q = _biased(ctx, op.name, q, (1, heads, tokens, dims), bias, 0)
        k = _biased(ctx, op.name, k, (1, heads, tokens, dims), bias, heads * dims)
        v = _biased(ctx, op.name, v, (1, heads, tokens, v_dims), bias, 2 * heads * dims)
    sequences = ctx.shape(starts)[0] - 1
    longest = ctx.shape(score_bias)[-1] if score_bias else 0
    attend(
        op.name,
        ctx,
        Problem(
            *(1, heads, heads, tokens, tokens, dims, v_dims),
            *(q, k, v, inner_heads(op.output, (1, tokens, heads * v_dims), heads)),
            scale_of(step, dims),
            bias=mask_of(ctx, score_bias, (sequences, heads, longest, longest)) if score_bias else None,
            lengths=Lengths(starts, packed=sequences),
        ),
    )


def node_case(
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
    g.node(op_type, names, results, domain=DOMAIN, **attributes)
    for name, shape in zip(results, outputs, strict=True):
        if shape:
            g.output(name, shape=shape)


def _multi_head(inputs: Sequence[Any], outputs: Sequence[Any], **attributes: Any) -> Callable[[Graph], None]:
    return partial(node_case, "MultiHeadAttention", inputs, outputs, {"num_heads": 2} | attributes)


def _packed_case(shape: Sequence[int], queries: Sequence[int] | None, unpack: bool, g: Graph) -> None:
    """Packed projections, which ONNX Runtime's CPU does not take; `unpack` splits them for the reference."""
    names = [g.input("q", queries)] if queries else []
    names.append(g.input("packed", shape))
    if unpack:
        parts = [f"part{k}" for k in range(shape[3])]
        g.node("Split", [names.pop()], parts, axis=3, num_outputs=len(parts))
        g.ints("to", (shape[0], shape[1], -1))
        names += [g.node("Reshape", [part, "to"], [f"{part}/heads"]) for part in parts]
    g.node("MultiHeadAttention", names, ["y"], domain=DOMAIN, num_heads=shape[2])
    g.output("y", shape=(shape[0], (queries or shape)[1], shape[2] * shape[4]))


_TOKENS = (0, 1, 2, 5, 6, 3, 4, 7)  # of two sequences of 3 and 2 tokens, the padding last


def _sequences(unpacked: bool, g: Graph) -> None:
    """Packed sequences, which have no CPU kernel in ONNX Runtime; the reference computes each alone."""
    starts = _ints(0, 3, 5)
    names = [g.input(n, (5, 12)) for n in "qkv"]
    g.input("scores", (2, 2, 4, 4))
    if not unpacked:
        g.input("offsets", _ints(_TOKENS[:4], _TOKENS[4:]))
        g.input("starts", starts)
        g.node(
            "PackedMultiHeadAttention", [*names, "", "offsets", "starts", "scores"], ["y"], domain=DOMAIN, num_heads=2
        )
        g.output("y", shape=(5, 12))
        return
    results = []
    for k, (first, last) in enumerate(pairwise(starts)):
        for name, begin, end in (
            ("rows", [first, 0], [last, 12]),
            ("bias", [k, 0, 0, 0], [k + 1, 2, last - first, last - first]),
        ):
            g.ints(f"{name}{k}/begin", begin)
            g.ints(f"{name}{k}/end", end)
        g.ints(f"batch{k}", (1, last - first, 12))
        parts = [g.node("Slice", [n, f"rows{k}/begin", f"rows{k}/end"], [f"{n}{k}"]) for n in names]
        heads = [g.node("Reshape", [n, f"batch{k}"], [f"{n}/batch"]) for n in parts]
        bias = g.node("Slice", ["scores", f"bias{k}/begin", f"bias{k}/end"], [f"bias{k}"])
        results.append(g.node("MultiHeadAttention", [*heads, "", "", bias], [f"y{k}"], domain=DOMAIN, num_heads=2))
    g.node("Concat", results, ["batched"], axis=1)
    g.ints("flat", (5, 12))
    g.node("Reshape", ["batched", "flat"], ["y"])
    g.output("y", shape=(5, 12))


def _packed_cases() -> list[Case]:
    sizes = {"heads_packed": ((2, 5, 2, 3, 8), None), "heads_packed_pairs": ((2, 5, 2, 2, 8), (2, 3, 16))}
    builds = {name: (partial(_packed_case, *s, False), partial(_packed_case, *s, True)) for name, s in sizes.items()}
    return [Case(n, build, reference=same) for n, (build, same) in builds.items()]


def _merged(inputs: Sequence[Any], outputs: Sequence[Any], **attributes: Any) -> Callable[[Graph], None]:
    return partial(node_case, "Attention", inputs, outputs, {"num_heads": 2} | attributes)


def _ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


_QKV = ((2, 3, 12), (2, 5, 12), (2, 5, 20))
_PADDED = _ints([1, 1, 1, 0, 0], [1, 1, 1, 1, 0])
_WEIGHTS = ((2, 4, 10), (10, 36), (36,))

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
}
CASES = [
    *(Case(name, build) for name, build in _FORMS.items()),
    *_packed_cases(),
    Case("sequences", partial(_sequences, False), reference=partial(_sequences, True)),
]
