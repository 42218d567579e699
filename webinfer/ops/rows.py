"""Rows of a tensor along any axes, and the one kernel that takes them: reductions, softmax, normalization of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from webinfer.lowering import Lowering, Operand, ceil_div, grid
from webinfer.ops.copy import strides_of
from webinfer.ops.epilogue import Epilogue
from webinfer.ops.lanes import aliases
from webinfer.ops.pointwise import merged
from webinfer.symbols import largest, maximum
from webinfer.templating import environment
from webinfer.tiers import Tier

BLOCK = 32  # terms that one invocation adds before it starts another partial sum (wgsl/kernels/rows.wgsl.j2)
# Keys of -inf and inf in lib/order.wgsl.j2; keys between are those of finite values.
LOWEST_KEY, HIGHEST_KEY = "0x007fffffu", "0xff800000u"
NO_EPILOGUE = Epilogue("", (), 0, {})


@dataclass(frozen=True)
class Pass:
    """One value per row, the WGSL variable `name`: the combination of an expression over a row's elements.

    `each` reads the element `x` (of type U), its position `at` in the tensor and `index` (of type VU) in the row, and
    values of earlier passes. `then` are statements about the value. word: WGSL type of the value.
    """

    name: str
    each: str
    combine: str = "(%s + %s)"
    initial: str = "0.0"
    word: str = "f32"
    then: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rows:
    """Where the elements of each row lie: loop nests over the rows and over a row's elements, in loads of `width`.

    A nest is (sizes, strides), outermost first. Rows and elements are in the order of the tensor.
    """

    kept: tuple[tuple[int, ...], tuple[int, ...]]
    reduced: tuple[tuple[int, ...], tuple[int, ...]]
    width: Literal[1, 4]

    @property
    def count(self) -> int:
        """Number of rows."""
        return math.prod(self.kept[0])

    @property
    def size(self) -> int:
        """Loads per row."""
        return math.prod(self.reduced[0])

    @property
    def length(self) -> int:
        """Elements per row."""
        return self.size * self.width

    def workgroup(self, tier: Tier) -> tuple[int, int, int]:
        """(invocations per row, rows per workgroup, 1).

        A CPU adapter runs a workgroup on one thread, so one vector of invocations takes several rows; a GPU wants 64
        or more invocations, on as few rows as fill them. Where neighbours in memory belong to different rows, so do
        neighbouring invocations, unless the rows are few.
        """
        register = tier.tiling == "register"
        if self.reduced[1][-1] != 1 and (largest(self.count) >= 256 or largest(self.size) <= 64):
            return (1, 16 if register else 64, 1)
        if register:
            return (8, 2, 1)
        # A few sizes of team, so that rows of different lengths share pipelines; each invocation takes up to two loads.
        lanes = next(n for n in (4, 16, 64, 256) if 2 * n >= largest(self.size) or n == 256)
        return (lanes, max(64 // lanes, 1), 1)


def rows_of(shape: Sequence[int], axes: Sequence[int], *, vector: bool = True) -> Rows:
    """The rows along `axes` (ascending) of a row-major tensor; `vector` allows loads of four elements."""
    strides = strides_of(shape)
    kept = [d for d in range(len(shape)) if d not in axes]
    outer = merged([shape[d] for d in kept], [[strides[d] for d in kept]])
    inner = merged([shape[d] for d in axes], [[strides[d] for d in axes]])
    steps = (*outer.strides[0], *inner.strides[0][:-1])
    if vector and inner.strides[0][-1] == 1 and inner.sizes[-1] % 4 == 0 and all(s % 4 == 0 for s in steps):
        return Rows(
            (outer.sizes, tuple(s // 4 for s in outer.strides[0])),
            ((*inner.sizes[:-1], inner.sizes[-1] // 4), (*(s // 4 for s in inner.strides[0][:-1]), 1)),
            4,
        )
    return Rows((outer.sizes, outer.strides[0]), (inner.sizes, inner.strides[0]), 1)


def order(nan: str, *, vector: bool) -> str:
    """WGSL of `ordered(x)`, the u32 key of a float, and its inverse `value_of(key)`; NaN is "lowest" or "highest"."""
    module = environment().get_template("lib/order.wgsl.j2").module
    units = ("vec4<f32>", "vec4<u32>") if vector else ("f32", "u32")
    return str(module.order("0u" if nan == "lowest" else "0xffffffffu", *units))  # type: ignore[attr-defined]


def emit_rows(
    ctx: Lowering,
    node: str,
    rows: Rows,
    operands: Sequence[Operand],
    passes: Sequence[Pass],
    *,
    word: str = "f32",
    x: str = "load_x(at)",
    results: Mapping[str, str] | None = None,
    elements: Mapping[str, str] | None = None,
    params: Mapping[str, int | float] | None = None,
    epilogue: Epilogue = NO_EPILOGUE,
    libraries: Sequence[str] = (),
    parts: tuple[int, int] | None = None,
    flops: int = 0,
) -> None:
    """Emit one dispatch of wgsl/kernels/rows.wgsl.j2.

    x: the element, of type `word`, at position `at`. results: binding -> WGSL of the value per row; elements: binding
    -> WGSL of the value per element, stored at the element's position. libraries: WGSL declarations. parts: (pieces per
    row, loads per piece) where results are per piece. flops count per element.
    """
    workgroup = rows.workgroup(ctx.tier)
    pieces, chunk = parts or (1, maximum(rows.size, 1))
    params_of_nests: dict[str, int | float] = {}
    for prefix, (sizes, strides) in (("k", rows.kept), ("r", rows.reduced)):
        params_of_nests |= {f"{prefix}{d}": size for d, size in enumerate(sizes)}
        params_of_nests |= {f"{prefix}_s{d}": stride for d, stride in enumerate(strides)}
    ctx.emit(
        "rows",
        node=node,
        operands=[*operands, *epilogue.operands],
        workgroups=grid(ceil_div(rows.count * pieces, workgroup[1])),
        workgroup_size=workgroup,
        params={
            **params_of_nests,
            "size": rows.size,
            "pieces": rows.count * pieces,
            **({"parts": pieces, "chunk": chunk} if parts else {}),
            **(params or {}),
        },
        scalars=epilogue.scalars,
        flops=(flops + epilogue.flops) * rows.count * rows.length,
        workgroup_storage_bytes=sum(8 if p.word == "vec2<u32>" else 4 for p in passes)
        * (workgroup[0] + 16)
        * workgroup[1],
        kept_rank=len(rows.kept[0]),
        reduced_rank=len(rows.reduced[0]),
        vector=rows.width == 4,
        cut=parts is not None,
        blocked=largest(chunk) > BLOCK * workgroup[0],
        word=word,
        x=x,
        passes=passes,
        results=list((results or {}).items()),
        elements=list((elements or {}).items()),
        libraries=libraries,
        epilogue=epilogue.code,
        aliases=aliases(rows.width),
    )
