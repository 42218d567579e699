"""Attention in one kernel that never writes the score matrix: ONNX Attention and ai.webinfer::ChannelMajorAttention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from webinfer.fused import DOMAIN, FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.pointwise import broadcast_strides, pointwise

LOG2_E = math.log2(math.e)
# One vector of invocations on a CPU adapter: short sequences still spread over all cores.
WORKGROUP = {"register": 8, "workgroup": 64}
KEYS = 8  # that an invocation of the register form takes per step
TILE_BYTES = 8192  # keys and values staged in workgroup memory


@dataclass(frozen=True)
class Layout:
    """Where element (batch, head, position, dim) lies: strides in elements.

    `stride` belongs to the outer of the two inner axes; the inner one is contiguous: dims, or positions where channel
    major.
    """

    batch: int
    head: int
    stride: int


@dataclass(frozen=True)
class Problem:
    """Sizes and layouts of one attention."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    dims: int
    v_dims: int
    q: Layout
    k: Layout
    v: Layout
    out: Layout
    channel_major: bool
    scale: float
    causal: bool = False


@lowers("Attention")
def lower_attention(op: FusedOp, ctx: Lowering) -> None:
    """Queries, keys, values [B, T, H * D] or [B, H, T, D]; grouped heads, any mask, causal; no KV cache."""
    step = op.anchor
    assert step is not None
    inputs = (*step.inputs, *[""] * 6)
    if any(inputs[4:6]) or any(op.outputs[1:]):
        raise Unsupported("attention with a KV cache or score outputs: run without past keys and values")
    if step.float("softcap", 0.0):
        raise Unsupported("attention with softcap")
    q, k, v = (ctx.shape(n) for n in inputs[:3])
    if len(q) == 3:
        heads, kv_heads = step.int("q_num_heads", 0), step.int("kv_num_heads", 0)
        queries, keys = q[1], k[1]
        dims, v_dims = q[2] // heads, v[2] // kv_heads
        layouts = [Layout(s[1] * s[2], d, s[2]) for s, d in ((q, dims), (k, dims), (v, v_dims))]
        out = Layout(queries * heads * v_dims, v_dims, heads * v_dims)
    else:
        heads, kv_heads, queries, keys, dims, v_dims = q[1], k[1], q[2], k[2], q[3], v[3]
        layouts = [Layout(s[1] * s[2] * s[3], s[2] * s[3], s[3]) for s in (q, k, v)]
        out = Layout(heads * queries * v_dims, queries * v_dims, v_dims)
    scale = step.float("scale", 0.0) or 1.0 / math.sqrt(dims)
    causal = bool(step.int("is_causal", 0))
    problem = Problem(
        q[0],
        heads,
        kv_heads,
        queries,
        keys,
        dims,
        v_dims,
        layouts[0],
        layouts[1],
        layouts[2],
        out,
        False,
        scale,
        causal,
    )
    _emit(op, ctx, step, problem, inputs[3])


@lowers("ChannelMajorAttention", domain=DOMAIN)
def lower_channel_major(op: FusedOp, ctx: Lowering) -> None:
    """Queries [B, D, T], keys and values [B, D, S] -> [B, D, T]; heads live in B."""
    step = op.anchor
    assert step is not None
    (batch, dims, queries), (_, _, keys), (_, v_dims, _) = (ctx.shape(n) for n in step.inputs[:3])
    q, k, v, out = (Layout(d * n, 0, n) for d, n in ((dims, queries), (dims, keys), (v_dims, keys), (v_dims, queries)))
    problem = Problem(batch, 1, 1, queries, keys, dims, v_dims, q, k, v, out, True, step.float("scale", 1.0))
    _emit(op, ctx, step, problem, "")


def _emit(op: FusedOp, ctx: Lowering, step: Step, p: Problem, mask: str) -> None:
    result = step.outputs[0]
    if op.epilogue:
        ctx.scratch(result, ctx.shape(op.output), ctx.dtype(step.inputs[0]))
    inner = (p.queries, p.keys) if p.channel_major else (p.dims, p.v_dims)
    aligned = all(n % 4 == 0 for n in (*inner, *((p.dims, p.v_dims) if p.channel_major else ())))
    written = result if aligned else aligned_output(ctx, result)
    if ctx.tier.tiling == "register":
        _register(op, ctx, step, p, mask, written, aligned=aligned)
    else:
        _workgroup(op, ctx, step, p, mask, written, aligned=aligned)
    finish(ctx, op.name, written, result)
    if op.epilogue:
        pointwise(ctx, op.name, op.epilogue, op.output)


def _sizes(p: Problem) -> dict[str, int | float]:
    return {
        "queries": p.queries,
        "keys": p.keys,
        "dims": p.dims,
        "v_dims": p.v_dims,
        "heads_per_kv": p.heads // p.kv_heads,
        "scale": p.scale * LOG2_E,
    }


def _masking(ctx: Lowering, p: Problem, mask: str) -> tuple[dict[str, int | float], list[Operand], str]:
    """Parameters, operand and kind of the mask."""
    if not mask:
        return {}, [], ""
    strides = broadcast_strides(ctx.shape(mask), (p.batch, p.heads, p.queries, p.keys))
    names = ("mask_batch", "mask_head", "mask_query", "mask_key")
    kind = "bool" if ctx.dtype(mask) == "bool" else "float"
    return dict(zip(names, strides, strict=True)), [Operand("mask", mask, width=1)], kind


def _register(op: FusedOp, ctx: Lowering, step: Step, p: Problem, mask: str, written: str, *, aligned: bool) -> None:
    params = _sizes(p)
    for name, layout in (("q", p.q), ("k", p.k), ("v", p.v), ("out", p.out)):
        position, dim = (1, layout.stride) if p.channel_major else (layout.stride, 1)
        unit = 4 if aligned and (name == "out" or (name in "kv" and p.channel_major)) else 1
        params |= {
            f"{name}_batch": layout.batch // unit,
            f"{name}_head": layout.head // unit,
            f"{name}_position": max(position // unit, 1),
            f"{name}_dim": max(dim // unit, 1),
        }
    mask_params, mask_operands, kind = _masking(ctx, p, mask)
    ctx.emit(
        "attention_register",
        node=op.name,
        operands=[
            Operand("q", step.inputs[0], width=1),
            *(
                Operand(n, i, width=4 if aligned and p.channel_major else 1)
                for n, i in zip("kv", step.inputs[1:3], strict=True)
            ),
            *mask_operands,
            Operand("out", written, "read_write", width=4 if aligned else 1),
        ],
        workgroups=(ceil_div(p.queries, WORKGROUP["register"] * 4), p.heads, p.batch),
        workgroup_size=(WORKGROUP["register"], 1, 1),
        params=params | mask_params,
        flops=_flops(p),
        dims=_array_size(p.dims),
        v_dims=_array_size(p.v_dims),
        keys=KEYS,
        aligned=aligned,
        channel_major=p.channel_major,
        causal=p.causal,
        mask=kind,
    )


def _workgroup(op: FusedOp, ctx: Lowering, step: Step, p: Problem, mask: str, written: str, *, aligned: bool) -> None:
    wide = 4 if aligned else 1
    params = _sizes(p)
    for name, layout in (("q", p.q), ("k", p.k), ("v", p.v), ("out", p.out)):
        unit = 1 if name == "q" else wide
        params |= {
            f"{name}_batch": layout.batch // unit,
            f"{name}_head": layout.head // unit,
            f"{name}_stride": layout.stride // unit,
        }
    mask_params, mask_operands, kind = _masking(ctx, p, mask)
    dims, v_dims = ceil_div(p.dims, 4), ceil_div(p.v_dims, 4)
    tile = max(TILE_BYTES // (64 * (dims + v_dims)), 1)
    ctx.emit(
        "attention_workgroup",
        node=op.name,
        operands=[
            Operand("q", step.inputs[0], width=1),
            *(Operand(n, i, width=4 if aligned else 1) for n, i in zip("kv", step.inputs[1:3], strict=True)),
            *mask_operands,
            Operand("out", written, "read_write", width=4 if aligned else 1),
        ],
        workgroups=(ceil_div(p.queries, WORKGROUP["workgroup"]), p.heads, p.batch),
        workgroup_size=(WORKGROUP["workgroup"], 1, 1),
        params=params | mask_params,
        flops=_flops(p),
        workgroup_storage_bytes=64 * tile * (dims + v_dims) + 16 * WORKGROUP["workgroup"],
        dims=dims,
        v_dims=v_dims,
        tile=tile,
        aligned=aligned,
        channel_major=p.channel_major,
        ragged=p.keys % 4 != 0,
        causal=p.causal,
        mask=kind,
    )


def _array_size(dims: int) -> int:
    """Length of a private array for `dims` values: few lengths, so that few shaders are compiled."""
    return 32 * ceil_div(dims, 32)


def _flops(p: Problem) -> int:
    return 2 * p.batch * p.heads * p.queries * p.keys * (p.dims + p.v_dims)


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


_HALF = "f16 results of a weighted mean carry one rounding of each input"

CASES = [
    *(
        Case(f"channel_major_t{t}", partial(_channel_major, (2, 8, t), t), fp16=2e-3, reason=_HALF)
        for t in (*range(1, 10), 16, 64, 260)
    ),
    Case("channel_major_d32", partial(_channel_major, (4, 32, 256), 256), fp16=2e-3, reason=_HALF),
    Case("channel_major_odd_dims", partial(_channel_major, (2, 6, 12), 12), fp16=2e-3, reason=_HALF),
    Case("channel_major_cross", partial(_channel_major, (2, 8, 20), 7), fp16=2e-3, reason=_HALF),
    *(
        Case(
            f"heads_t{t}",
            partial(_attention, (2, t, 24), (2, t, 24), {"q_num_heads": 3, "kv_num_heads": 3}, None),
            fp16=2e-3,
            reason=_HALF,
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
        fp16=2e-3,
        reason=_HALF,
    ),
    Case(
        "heads_grouped",
        partial(_attention, (1, 6, 32), (1, 11, 16), {"q_num_heads": 4, "kv_num_heads": 2}, None),
        fp16=2e-3,
        reason=_HALF,
    ),
    Case(
        "rank4_scale", partial(_attention, (2, 3, 6, 8), (2, 3, 10, 8), {"scale": 0.7}, None), fp16=2e-3, reason=_HALF
    ),
    Case("rank4_mask", partial(_attention, (2, 3, 6, 8), (2, 3, 10, 8), {}, (2, 1, 6, 10)), fp16=2e-3, reason=_HALF),
    Case("rank4_mask_2d", partial(_attention, (1, 2, 5, 8), (1, 2, 9, 8), {}, (5, 9)), fp16=2e-3, reason=_HALF),
    Case(
        "rank4_causal",
        partial(_attention, (1, 2, 70, 8), (1, 2, 70, 8), {"is_causal": 1}, None),
        fp16=2e-3,
        reason=_HALF,
    ),
    Case("rank4_masked_row", _masked_row, fp32=2e-3, fp16=5e-3, reason="scores vanish beside the mask in f32"),
    Case("rank4_bool_mask", _bool_mask, fp16=2e-3, reason=_HALF),
]
