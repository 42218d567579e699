"""The memory plan: lifetimes of values -> spans of a few buffers.

Constraints (WebGPU spec): a storage binding starts at a multiple of minStorageBufferOffsetAlignment (256); within one
dispatch a buffer may not be bound both read-only and read_write (usage scope rules), so values that a dispatch reads
and writes live in different buffers; a binding is at most maxStorageBufferBindingSize.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from webinfer import manifest
from webinfer.errors import PlanError
from webinfer.expressions import extent
from webinfer.kernel import ALIGNMENT, ITEMSIZE, Dispatch, LoweredProgram, Value
from webinfer.symbols import largest
from webinfer.tiers import Tier


@dataclass(frozen=True)
class Lifetime:
    """A stored value: bytes, and the first and last dispatch during which its bytes must stay untouched."""

    name: str
    size: int
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether both are alive at some dispatch."""
        return self.first <= other.last and other.first <= self.last


@dataclass
class Arena:
    """One buffer under construction: placed lifetimes with their offsets."""

    size: int = 0
    placed: list[tuple[int, Lifetime]] = field(default_factory=list)

    def offset_for(self, life: Lifetime) -> int:
        """Offset of the tightest gap that fits `life`, or the end of what is alive with it."""
        busy = sorted((o, o + x.size) for o, x in self.placed if x.overlaps(life))
        best, best_gap, cursor = -1, -1, 0
        for start, end in busy:
            gap = start - cursor
            if gap >= life.size and (best < 0 or gap < best_gap):
                best, best_gap = cursor, gap
            cursor = max(cursor, end)
        tail = max(self.size - cursor, 0)
        if best < 0 or (life.size <= tail < best_gap):
            best = cursor
        return best


def align(size: int, to: int = ALIGNMENT) -> int:
    """Round up to a multiple of `to`."""
    return -(-size // to) * to


def stored_bytes(value: Value) -> int:
    """Bytes of a value in GPU memory: elements padded to 16 bytes, since kernels load 4 elements at a time."""
    return max(align(largest(value.bytes), 16), 16)


def root(program: LoweredProgram, name: str) -> str:
    """The value whose bytes `name` shares."""
    return program.values[name].base or name


def lifetimes(program: LoweredProgram) -> list[Lifetime]:
    """Lifetimes of all activations, in order of first use."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for index, dispatch in enumerate(program.dispatches):
        for name in dispatch.args:
            r = root(program, name)
            if program.values[r].kind == "activation":
                first.setdefault(r, index)
                last[r] = index
    return [Lifetime(n, align(stored_bytes(program.values[n])), first[n], last[n]) for n in first]


def lower_bound(lives: list[Lifetime], steps: int) -> int:
    """The largest sum of live bytes at any dispatch: no plan can hold less."""
    delta = [0] * (steps + 1)
    for life in lives:
        delta[life.first] += life.size
        delta[life.last + 1] -= life.size
    peak = total = 0
    for d in delta:
        total += d
        peak = max(peak, total)
    return peak


def _conflicts(program: LoweredProgram) -> dict[str, set[str]]:
    apart: dict[str, set[str]] = defaultdict(set)
    for dispatch in program.dispatches:
        reads = {root(program, n) for n in dispatch.reads}
        writes = {root(program, n) for n in dispatch.writes}
        if reads & writes:
            raise PlanError(f"{dispatch.node}: {sorted(reads & writes)} is both read and written in one dispatch")
        for w in writes:
            apart[w] |= reads
            for r in reads:
                apart[r].add(w)
    return apart


def _pack(order: list[Lifetime], apart: dict[str, set[str]], max_buffer: int) -> list[Arena]:
    arenas: list[Arena] = []
    for life in order:
        best: tuple[int, int, int] | None = None  # growth, arena, offset
        for index, arena in enumerate(arenas):
            if any(x.name in apart[life.name] for _, x in arena.placed):
                continue
            offset = arena.offset_for(life)
            growth = max(offset + life.size - arena.size, 0)
            if offset + life.size <= max_buffer and (best is None or growth < best[0]):
                best = (growth, index, offset)
        if best is None or best[0] >= life.size:
            arenas.append(Arena(life.size, [(0, life)]))
        else:
            _, index, offset = best
            arenas[index].placed.append((offset, life))
            arenas[index].size = max(arenas[index].size, offset + life.size)
    return arenas


def pack_activations(program: LoweredProgram, tier: Tier) -> tuple[list[Arena], int]:
    """Place every activation; returns the arenas and the lower bound in bytes.

    Several greedy orders are tried and the smallest result is kept. Raises PlanError where one value alone exceeds
    the tier's binding or buffer limit.
    """
    lives = lifetimes(program)
    binding_limit, buffer_limit = tier.limit("maxStorageBufferBindingSize"), tier.limit("maxBufferSize")
    for value in program.values.values():
        if stored_bytes(value) > min(binding_limit, buffer_limit):
            raise PlanError(
                f"{value.name} {list(value.shape)} takes {stored_bytes(value):,} bytes, tier {tier.id} "
                f"binds at most {min(binding_limit, buffer_limit):,}: use smaller dimensions or fp16"
            )
    apart = _conflicts(program)
    orders = (
        sorted(lives, key=lambda x: (-x.size, x.first)),
        sorted(lives, key=lambda x: (-x.size, x.first - x.last)),
        sorted(lives, key=lambda x: (-x.size * (x.last - x.first + 1), x.first)),
        sorted(lives, key=lambda x: x.first),
    )
    candidates = [_pack(order, apart, buffer_limit) for order in orders]
    return min(candidates, key=lambda arenas: sum(a.size for a in arenas)), lower_bound(lives, len(program.dispatches))


def plan(
    program: LoweredProgram, tier: Tier, weights: Mapping[str, manifest.Weight], predicted_ms: Mapping[str, float]
) -> manifest.Program:
    """Turn a lowered program into the manifest's Program: buffers, spans, uploads.

    weights: initializers as they lie in the shards. Weights that load-time dispatches consume go to staging buffers,
    those that inference reads stay in weight buffers. predicted_ms: per SKU (`webinfer.cost.predictions`).
    """
    arenas, bound = pack_activations(program, tier)
    buffers: list[manifest.Buffer] = []
    spans: dict[str, manifest.Span] = {}

    def place(kind: str, names: list[str]) -> None:
        """Pack values one after another into buffers of `kind`, each at most the tier's buffer limit."""
        offset = limit = 0
        for name in names:
            size = stored_bytes(program.values[name])
            if limit == 0 or offset + size > limit:
                buffers.append(manifest.Buffer(kind=kind, size_bytes=1))  # type: ignore[arg-type]
                offset, limit = 0, tier.limit("maxBufferSize")
            spans[name] = manifest.Span(buffer=len(buffers) - 1, offset=offset, size_bytes=size)
            offset = align(offset + size)
            buffers[-1] = manifest.Buffer(kind=kind, size_bytes=offset)  # type: ignore[arg-type]

    for arena in arenas:
        buffers.append(manifest.Buffer(kind="activation", size_bytes=arena.size))
        for offset, life in arena.placed:
            size = stored_bytes(program.values[life.name])
            spans[life.name] = manifest.Span(buffer=len(buffers) - 1, offset=offset, size_bytes=size)
    used = {root(program, n) for d in program.dispatches for n in d.args}
    prepared = {n for d in program.prepare for n in d.args}
    weight_names = [n for n, v in program.values.items() if v.kind == "weight"]
    stages = _repacked(program)
    for depth in range(max(stages.values(), default=0) + 1):  # a load-time dispatch reads one buffer, writes another
        place("weight", [n for n in weight_names if n in used and stages.get(n, 0) == depth])
    for name in weight_names:  # one staging buffer per weight: freed as soon as it was re-packed
        if name in prepared and name not in used:
            place("staging", [name])
    for kind in ("input", "output"):
        for name in [n for n, v in program.values.items() if v.kind == kind]:
            place(kind, [name])

    uploads = [
        manifest.Upload(weight=n, buffer=spans[n].buffer, offset=spans[n].offset)
        for n in weight_names
        if n in weights and n in spans
    ]
    producer = {n: i for i, d in enumerate(program.dispatches) for n in d.writes}
    interface = {n for n, v in program.values.items() if v.kind in ("input", "output")}
    tensors = {}
    for name, value in program.values.items():
        base = root(program, name)
        # Views add nothing to what a caller or `verify` can read of their base.
        if value.kind != "weight" and base in spans and value.elements and (not value.base or name in interface):
            tensors[name] = manifest.PlannedTensor(
                dtype=value.dtype,  # type: ignore[arg-type]
                shape=[extent(d) for d in value.shape],
                span=_value_span(value, spans[base]),
                producer=producer.get(base, -1),
            )
    kinds: dict[str, int] = defaultdict(int)
    for buffer in buffers:
        kinds[buffer.kind] += buffer.size_bytes
    uniforms = ALIGNMENT * len({(d.kernel.name, d.params) for d in program.dispatches if d.params})
    return manifest.Program(
        tier=tier.id,
        description=tier.description,
        rank=tier.rank,
        predicted_ms=dict(predicted_ms),
        precision=tier.precision,
        tiling=tier.tiling,
        requires=tier.requires,
        kernels=sorted({d.kernel.name for d in [*program.prepare, *program.dispatches]}),
        buffers=buffers,
        uploads=uploads,
        prepare=[_dispatch(d, program, spans) for d in program.prepare],
        dispatches=[_dispatch(d, program, spans) for d in program.dispatches],
        tensors=tensors,
        plan=manifest.Plan(
            activation_peak_bytes=kinds["activation"],
            activation_lower_bound_bytes=bound,
            weight_bytes=kinds["weight"],
            gpu_bytes=sum(v for k, v in kinds.items() if k != "staging") + uniforms,
        ),
    )


_NON_FINITE: dict[str, manifest.NonFinite] = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}


def _repacked(program: LoweredProgram) -> dict[str, int]:
    """How many load-time dispatches lie between the weights of the file and each weight that they make."""
    depth: dict[str, int] = {}
    for dispatch in program.prepare:
        below = max((depth.get(name, 0) for name in dispatch.reads), default=0)
        depth |= {name: max(depth.get(name, 0), below + 1) for name in dispatch.writes}
    return depth


def _value_span(value: Value, base: manifest.Span) -> manifest.Span:
    """Bytes of a value: padded as stored, or exact for a view (whose offset need not be aligned)."""
    if value.base is None:
        return base
    item = ITEMSIZE[value.dtype]
    return manifest.Span(
        buffer=base.buffer, offset=base.offset + value.offset * item, size_bytes=max(largest(value.bytes), 1)
    )


def _dispatch(d: Dispatch, program: LoweredProgram, spans: dict[str, manifest.Span]) -> manifest.Dispatch:
    args = []
    for name in d.args:
        value = program.values[name]
        base = spans[root(program, name)]
        # Views bind from the aligned offset below; the kernel adds the remainder (`<name>_base`).
        start = value.binding_start
        end = align(largest(value.offset * ITEMSIZE[value.dtype] + value.bytes), 16)
        args.append(
            manifest.Span(
                buffer=base.buffer, offset=base.offset + start, size_bytes=max(min(end, base.size_bytes) - start, 16)
            )
        )
    return manifest.Dispatch(
        kernel=d.kernel.name,
        node=d.node,
        args=args,
        params=[
            extent(p) if not isinstance(p, float) else p if math.isfinite(p) else _NON_FINITE[str(p)] for p in d.params
        ],
        workgroups=[extent(n) for n in d.workgroups],
        flops=d.flops,
        bytes=d.bytes,
    )
