"""Attention without a score matrix: one problem description for every operator, and the three kernels that solve it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from webinfer.lowering import MAX_WORKGROUPS, Lowering, Operand, ceil_div, grid
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.pointwise import broadcast_strides
from webinfer.symbols import largest

LOG2_E = math.log2(math.e)
# One vector of invocations on a CPU adapter: short sequences still spread over all cores.
WORKGROUP = {"register": 8, "workgroup": 64}
KEYS = 8  # that an invocation of the register form takes per step
TILE_BYTES = 8192  # keys and values staged in workgroup memory
UNBOUNDED = 1 << 30  # positions
MINUS_INFINITY = 0xFF80_0000  # its bits: no literal of WGSL is infinite


@dataclass(frozen=True)
class Heads:
    """A value read as [batch, head, position, dim]: strides in elements, from element `start` on.

    `stride` belongs to the outer of the two inner axes; the inner one is contiguous: dims, or positions where the
    problem is channel major.
    """

    value: str
    batch: int
    head: int
    stride: int
    start: int = 0


def inner_heads(value: str, shape: Sequence[int], heads: int) -> Heads:
    """[batch, position, head * dim]."""
    return Heads(value, shape[1] * shape[2], shape[2] // heads, shape[2])


def outer_heads(value: str, shape: Sequence[int]) -> Heads:
    """[batch, head, position, dim]."""
    return Heads(value, shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3])


@dataclass(frozen=True)
class Mask:
    """A tensor that broadcasts to [batch, head, query, key]; keys past its own last dimension are masked."""

    value: str
    strides: tuple[int, ...]
    keys: int


@dataclass(frozen=True)
class Lengths:
    """Keys that each batch has: element b of `value` plus `more`; element `starts` + b is the first key, where not 0.

    offset: the queries are the last of these keys, at or behind position `least_offset`. packed: so many sequences lie
    behind each other in the one batch, and `value` holds where each starts and where the last one ends.
    """

    value: str
    more: int = 0
    starts: int = 0
    offset: bool = False
    least_offset: int = -UNBOUNDED
    packed: int = 0


@dataclass(frozen=True)
class Problem:
    """One attention. Key j is seen by query i where -left <= j - (i + offset) <= right."""

    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    dims: int
    v_dims: int
    q: Heads
    k: Heads
    v: Heads
    out: Heads
    scale: float
    channel_major: bool = False
    offset: int = 0
    left: int = UNBOUNDED
    right: int = UNBOUNDED
    softcap: float = 0.0  # scores s become softcap * tanh(s / softcap); 0: as they are
    bias: Mask | None = None  # floats, added; -inf hides
    mask: Mask | None = None  # 0 masks
    lengths: Lengths | None = None  # others are masked
    filler: float | None = None  # what masked scores get on top; None hides their keys
    sink: str = ""  # per head, the score of a key without a value
    smooth: bool = False  # such a key with score 0
    scores: str = ""  # output [batch, heads, queries, keys]
    scores_mode: Literal[0, 1, 2, 3] = 0  # scaled products, capped, masked, weights

    @property
    def flops(self) -> int:
        """Of the two products."""
        return 2 * self.batch * self.heads * self.queries * self.keys * (self.dims + self.v_dims)


def mask_of(ctx: Lowering, value: str, shape: Sequence[int]) -> Mask:
    """`value`, whose last dimension may be shorter than that of `shape`: [batch, heads, queries, keys]."""
    own = ctx.shape(value)
    keys = own[-1] if own and own[-1] != 1 else shape[-1]
    return Mask(value, broadcast_strides(own, (*shape[:-1], keys)), keys)


def attend(node: str, ctx: Lowering, p: Problem) -> None:
    """Emit the kernel that suits `p`."""
    result = p.out.value
    if _needs_general(p):
        written = aligned_output(ctx, result)
        _general(node, ctx, p, written)
    else:
        inner = (p.queries, p.keys) if p.channel_major else (p.dims, p.v_dims)
        starts = (p.q.start, p.k.start, p.v.start)
        aligned = all(n % 4 == 0 for n in (*inner, *starts, *((p.dims, p.v_dims) if p.channel_major else ())))
        written = result if aligned else aligned_output(ctx, result)
        emit = _register if ctx.tier.tiling == "register" else _workgroup
        emit(node, ctx, p, written, aligned=aligned)
    finish(ctx, node, written, result)


def _needs_general(p: Problem) -> bool:
    """Whether the two fast kernels, which know one mask and a causal frontier, do not suffice."""
    masks = [m for m in (p.bias, p.mask) if m]
    return bool(
        p.lengths
        or p.softcap
        or p.sink
        or p.smooth
        or p.scores
        or p.filler is not None
        or len(masks) > 1
        or any(m.keys != p.keys for m in masks)
        or p.left != UNBOUNDED
        or p.right not in (0, UNBOUNDED)
        or p.offset < 0
        or p.keys == 0
        or max(largest(p.batch), largest(p.heads)) > MAX_WORKGROUPS
    )


def _sizes(p: Problem) -> dict[str, int | float]:
    sizes: dict[str, int | float] = {
        "queries": p.queries,
        "keys": p.keys,
        "dims": p.dims,
        "v_dims": p.v_dims,
        "heads_per_kv": p.heads // p.kv_heads,
        "scale": p.scale * LOG2_E,
    }
    return sizes | ({"offset": p.offset} if p.right == 0 else {})


def _masking(p: Problem) -> tuple[dict[str, int | float], list[Operand], str]:
    """Parameters, operand and kind of the one mask."""
    mask = p.bias or p.mask
    if mask is None:
        return {}, [], ""
    names = ("mask_batch", "mask_head", "mask_query", "mask_key")
    params = dict(zip(names, mask.strides, strict=True))
    return dict(params), [Operand("mask", mask.value, width=1)], "float" if p.bias else "bool"


def _tensors(p: Problem) -> tuple[tuple[str, Heads], ...]:
    return (("q", p.q), ("k", p.k), ("v", p.v), ("out", p.out))


def _register(node: str, ctx: Lowering, p: Problem, written: str, *, aligned: bool) -> None:
    params = _sizes(p)
    for name, heads in _tensors(p):
        position, dim = (1, heads.stride) if p.channel_major else (heads.stride, 1)
        unit = 4 if aligned and (name == "out" or (name in "kv" and p.channel_major)) else 1
        params |= {
            f"{name}_batch": heads.batch // unit,
            f"{name}_head": heads.head // unit,
            f"{name}_position": max(position // unit, 1),
            f"{name}_dim": max(dim // unit, 1),
        }
        if name != "out":
            params[f"{name}_start"] = heads.start // unit
    mask_params, mask_operands, kind = _masking(p)
    wide: Literal[1, 4] = 4 if aligned and p.channel_major else 1
    ctx.emit(
        "attention_register",
        node=node,
        operands=[
            Operand("q", p.q.value, width=1),
            Operand("k", p.k.value, width=wide),
            Operand("v", p.v.value, width=wide),
            *mask_operands,
            Operand("out", written, "read_write", width=4 if aligned else 1),
        ],
        workgroups=(ceil_div(p.queries, WORKGROUP["register"] * 4), p.heads, p.batch),
        workgroup_size=(WORKGROUP["register"], 1, 1),
        params=params | mask_params,
        flops=p.flops,
        dims=_array_size(p.dims),
        v_dims=_array_size(p.v_dims),
        keys=KEYS,
        aligned=aligned,
        channel_major=p.channel_major,
        causal=p.right == 0,
        mask=kind,
    )


def _workgroup(node: str, ctx: Lowering, p: Problem, written: str, *, aligned: bool) -> None:
    wide: Literal[1, 4] = 4 if aligned else 1
    q_width: Literal[1, 4] = 1 if p.channel_major else wide
    params = _sizes(p)
    for name, heads in _tensors(p):
        unit = q_width if name == "q" else wide
        params |= {
            f"{name}_batch": heads.batch // unit,
            f"{name}_head": heads.head // unit,
            f"{name}_stride": heads.stride // unit,
        }
        if name != "out":
            params[f"{name}_start"] = heads.start // unit
    mask_params, mask_operands, kind = _masking(p)
    dims, v_dims = ceil_div(p.dims, 4), ceil_div(p.v_dims, 4)
    tile = max(TILE_BYTES // (64 * (dims + v_dims)), 1)
    ctx.emit(
        "attention_workgroup",
        node=node,
        operands=[
            Operand("q", p.q.value, width=q_width),
            Operand("k", p.k.value, width=wide),
            Operand("v", p.v.value, width=wide),
            *mask_operands,
            Operand("out", written, "read_write", width=wide),
        ],
        workgroups=(ceil_div(p.queries, WORKGROUP["workgroup"]), p.heads, p.batch),
        workgroup_size=(WORKGROUP["workgroup"], 1, 1),
        params=params | mask_params,
        flops=p.flops,
        workgroup_storage_bytes=64 * tile * (dims + v_dims) + 32 * WORKGROUP["workgroup"],
        dims=dims,
        v_dims=v_dims,
        tile=tile,
        aligned=aligned,
        channel_major=p.channel_major,
        causal=p.right == 0,
        mask=kind,
    )


def _general(node: str, ctx: Lowering, p: Problem, written: str) -> None:
    size = WORKGROUP[ctx.tier.tiling]
    rows = p.batch * p.heads * p.queries
    params: dict[str, int | float] = {
        "rows": rows,
        "queries": p.queries,
        "heads": p.heads,
        "heads_per_kv": p.heads // p.kv_heads,
        "keys": p.keys,
        "dims": p.dims,
        "v_dims": p.v_dims,
        "scale": float(p.scale),
        "softcap": float(p.softcap),
        "offset:i32": p.offset,
        "left:i32": p.left,
        "right:i32": p.right,
        "zero_sink": int(p.smooth),
        # In f32 a filler beyond this and a score could sum to an infinity.
        "filler": max(p.filler or 0.0, -2.0e38),
        "fills": int(p.filler is not None),
    }
    for name, heads in _tensors(p):
        params |= {f"{name}_batch": heads.batch, f"{name}_head": heads.head, f"{name}_stride": heads.stride}
        if name != "out":
            params[f"{name}_start"] = heads.start
    # Without keys nothing is read, but a binding must not be empty.
    operands = [Operand(n, h.value if p.keys else p.q.value, width=1) for n, h in _tensors(p)[:3]]
    for name, mask in (("bias", p.bias), ("mask", p.mask)):
        if mask:
            operands.append(Operand(name, mask.value, width=1))
            axes = ("batch", "head", "query", "key")
            params |= {f"{name}_{axis}": s for axis, s in zip(axes, mask.strides, strict=True)}
            params[f"{name}_keys"] = mask.keys
    if p.lengths:
        operands.append(Operand("lengths", p.lengths.value, width=1))
        params |= {
            "length_more:i32": p.lengths.more,
            "length_starts": p.lengths.starts,
            "length_offset": int(p.lengths.offset),
            "least_offset:i32": p.lengths.least_offset,
        }
        if p.lengths.packed:
            params["sequences"] = p.lengths.packed
    if p.sink:
        operands.append(Operand("sink", p.sink, width=1))
    operands.append(Operand("out", written, "read_write", width=1))
    scores = aligned_output(ctx, p.scores) if p.scores and p.keys else ""
    if scores:
        operands.append(Operand("scores", scores, "read_write", width=1))
        params |= {"scores_mode": p.scores_mode, "minus_infinity": MINUS_INFINITY}
    ctx.emit(
        "attention_general",
        node=node,
        operands=operands,
        workgroups=grid(rows),
        workgroup_size=(size, 1, 1),
        params=params,
        flops=p.flops,
        workgroup_storage_bytes=4 * (2 * size + 16),
        slots=_power_of_two(ceil_div(p.v_dims, size)),
        bias=p.bias is not None,
        mask=p.mask is not None,
        lengths=p.lengths is not None,
        packed=p.lengths is not None and p.lengths.packed > 0,
        sink=bool(p.sink),
        scores=bool(scores),
    )
    if scores:
        finish(ctx, node, scores, p.scores)


def _array_size(dims: int) -> int:
    """Length of a private array for `dims` values: few lengths, so that few shaders are compiled."""
    return 32 * ceil_div(dims, 32)


def _power_of_two(n: int) -> int:
    return 1 << max(n - 1, 0).bit_length()
