"""Strided copies: how every operator that only moves elements makes its output, by indices where it takes some.

What is contiguous in the source becomes a view and costs no dispatch. Elements are moved as bits (kernel.MOVED_AS), so
that one kernel serves every element type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from webinfer.fused import FusedOp, Step
from webinfer.kernel import ITEMSIZE, word_type, words
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid
from webinfer.ops.pointwise import merged

WORKGROUP = 64
U32 = 1 << 32


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


def only_step(op: FusedOp) -> Step:
    """The node of an operator whose kernel applies no elementwise tail."""
    assert op.anchor is not None
    if op.epilogue:
        raise Unsupported(f"{op.anchor.op_type} with a fused epilogue: do not fuse it")
    return op.anchor


@dataclass(frozen=True)
class Index:
    """Positions that an index tensor gives: negative ones count from the end, those outside are clamped.

    strides: per dimension of the nest, in elements of the index tensor. axes: size of an axis and the distance from one
    position along it to the next, for each of the consecutive index elements that belong to one place of the nest.
    """

    value: str
    strides: tuple[int, ...]
    axes: tuple[tuple[int, int], ...]

    @property
    def operand(self) -> Operand:
        """Its binding, as lib/address.wgsl.j2 reads it."""
        return Operand("index", self.value, width=1)


@dataclass(frozen=True)
class Nest:
    """A loop nest of `sizes` and the element that each of its places stands for (lib/address.wgsl.j2):
    offset + sum of coordinate * stride + what `index` adds. Strides may be 0 (repeat) or negative (reverse).
    """

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    index: Index | None = None

    def merged(self) -> Nest:
        """The same with as few dimensions as possible."""
        if self.index is None or not self.index.axes:
            nest = merged(self.sizes, [self.strides])
            return Nest(nest.sizes, nest.strides[0], self.offset)
        nest = merged(self.sizes, [self.strides, self.index.strides])
        return Nest(nest.sizes, nest.strides[0], self.offset, replace(self.index, strides=nest.strides[1]))

    def in_words(self, count: int) -> Nest:
        """The nest over single words of elements that have `count` of them."""
        if count == 1:
            return self
        index = self.index and Index(
            self.index.value, (*self.index.strides, 0), tuple((n, s * count) for n, s in self.index.axes)
        )
        strides = (*(s * count for s in self.strides), 1)
        return Nest((*self.sizes, count), strides, self.offset * count, index)

    def by_four(self) -> Nest | None:
        """The nest over groups of four consecutive elements, or None where the source's are not consecutive."""
        steps = [*self.strides[:-1], self.offset, *(s for _, s in (self.index.axes if self.index else ()))]
        apart = self.index is not None and self.index.strides[-1] != 0
        if self.sizes[-1] % 4 or self.strides[-1] != 1 or apart or any(s % 4 for s in steps):
            return None
        index = self.index and replace(self.index, axes=tuple((n, s // 4) for n, s in self.index.axes))
        sizes = (*self.sizes[:-1], self.sizes[-1] // 4)
        return Nest(sizes, (*(s // 4 for s in self.strides[:-1]), 1), self.offset // 4, index)

    def params(self) -> dict[str, int | float]:
        """Uniforms that lib/address.wgsl.j2 reads."""
        found: dict[str, int | float] = {"offset": self.offset}
        found |= {f"d{d}": size for d, size in enumerate(self.sizes)}
        found |= {f"s{d}": step % U32 for d, step in enumerate(self.strides)}  # u32 wraps, so negative strides work
        if self.index:
            found |= {f"t{d}": step for d, step in enumerate(self.index.strides)}
            for k, (size, step) in enumerate(self.index.axes):
                found |= {f"n{k}:i32": size, f"u{k}": step}
        return found

    def variables(self) -> Mapping[str, Any]:
        """What lib/address.wgsl.j2 selects text by."""
        return {"rank": len(self.sizes), "indices": len(self.index.axes) if self.index else 0}


def rearrange(
    ctx: Lowering, node: str, source: str, output: str, sizes: Sequence[int], strides: Sequence[int], offset: int = 0
) -> None:
    """Make `output`, whose elements are a loop nest of `sizes`, from `source` read with `strides` from `offset` on.

    Strides are in elements; they may be 0 (repeat) or negative (reverse).
    """
    nest = merged(sizes, [strides])
    contiguous = len(nest.sizes) == 1 and (nest.strides[0][0] == 1 or nest.sizes[0] == 1)
    if not (contiguous and ctx.dtype(source) == ctx.dtype(output) and ctx.view(output, source, offset)):
        strided_copy(ctx, node, source, output, sizes, strides, offset)


def strided_copy(
    ctx: Lowering, node: str, source: str, output: str, sizes: Sequence[int], strides: Sequence[int], offset: int = 0
) -> None:
    """Emit the copy that `rearrange` describes; also converts between float32 and float16."""
    nested_copy(ctx, node, source, output, Nest(tuple(sizes), tuple(strides), offset))


def nested_copy(ctx: Lowering, node: str, source: str, output: str, nest: Nest) -> None:
    """Emit a copy of the elements of `source` that the places of `nest` stand for, in order."""
    bits = ctx.dtype(source) == ctx.dtype(output)
    lanes = words(ctx.dtype(output)) if bits else 1
    single = nest.in_words(lanes).merged()
    vector = single.by_four()
    elements = ctx.size(output) * lanes
    count = ceil_div(elements, 4)
    shown = vector or single
    ctx.emit(
        "copy",
        node=node,
        operands=[
            Operand("x", source, width=4 if vector else 1, bits=bits),
            *([shown.index.operand] if shown.index else []),
            Operand("out", output, "read_write", bits=bits),
        ],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params={"count": count, "last": elements - 1, **shown.params()},
        vector=vector is not None,
        element=word_type(ctx.dtype(output)) if bits else ctx.element(output),
        **shown.variables(),
    )


def aligned_output(ctx: Lowering, output: str) -> str:
    """Where a kernel that stores single elements writes: `output`, or a 32-bit scratch when it holds 16-bit floats.

    Two invocations must not write one 32-bit word. Pass both names to `finish` after the dispatch.
    """
    if ITEMSIZE[ctx.dtype(output)] > 2:
        return output
    return ctx.scratch(f"{output}#f32", ctx.shape(output), "float32")


def finish(ctx: Lowering, node: str, written: str, output: str) -> None:
    """Convert what was written to the scratch of `aligned_output` into `output`."""
    if written != output:
        strided_copy(ctx, node, written, output, (ctx.size(output),), (1,))
