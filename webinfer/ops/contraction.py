"""y = sum over k of x w, operands read with any strides: tiled forms where a matrix product is contiguous.

MatMul, Gemm, Einsum and the input projections of recurrent layers describe themselves as loop nests and end here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from webinfer.kernel import ITEMSIZE, PACKED_BITS
from webinfer.lowering import MAX_WORKGROUPS, Lowering, Operand, ceil_div, grid
from webinfer.ops.epilogue import Epilogue
from webinfer.ops.gemm import emit_gemm
from webinfer.ops.pack import pack_rows
from webinfer.ops.pointwise import merged
from webinfer.symbols import largest

_WORKGROUP = 64
_ROWS = 4
# Sums and products by the WGSL type of the elements.
ADD = dict.fromkeys(("f32", "i32", "u32"), "{} + {}") | {"vec2<u32>": "add64({}, {})"}
_MULTIPLY = dict.fromkeys(("f32", "i32", "u32"), "{} * {}") | {"vec2<u32>": "mul64({}, {})"}
NO_EPILOGUE = Epilogue("", (), 0, {})
RenderTail = Callable[[Literal[1, 4]], Epilogue]
ADVICE = {"contract": "no tiled form: contiguous float products whose columns are a multiple of 4 run tiled"}


@dataclass(frozen=True)
class Axis:
    """One loop of a nest: its size, and the strides in elements of the operands, 0 where one is repeated.

    `extra` are the strides of further operands of the general kernel, such as zero points.
    """

    size: int
    x: int
    w: int
    extra: tuple[int, ...] = ()


@dataclass(frozen=True)
class _MatrixProduct:
    """y[b] = x[b] @ w[b] with contiguous rows of x; columns of w are `w_column` apart, its depth `w_depth`."""

    batch: int
    rows: int
    depth: int
    columns: int
    x_repeats: bool  # the batch shares x
    w_repeats: bool
    w_depth: int
    w_column: int


def merged_axes(axes: Sequence[Axis]) -> list[Axis]:
    """Drop loops of size 1 and join neighbours that are one loop for every operand; at least one is left."""
    if not axes:
        return [Axis(1, 0, 0)]
    columns = zip(*((a.x, a.w, *a.extra) for a in axes), strict=True)
    nest = merged([a.size for a in axes], [list(c) for c in columns])
    return [Axis(s, x, w, tuple(e)) for s, x, w, *e in zip(nest.sizes, *nest.strides, strict=True)]


def contract(
    ctx: Lowering,
    node: str,
    operands: tuple[str, str],
    y: str,
    *,
    output: Sequence[Axis],
    depth: Sequence[Axis],
    tail: RenderTail | None = None,
) -> None:
    """Emit y, whose elements are the loop nest `output`, as sums over the loop nest `depth` of x w.

    tail: renders the epilogue over that many lanes; the last axis is then its column. Accumulates in f32, or exactly
    in the integer type of y.
    """
    # An epilogue counts columns along the last axis, which therefore stays apart.
    outer = [*merged_axes(output[:-1]), output[-1]] if tail and len(output) > 1 else merged_axes(output)
    inner = merged_axes(depth)
    product = _matrix_product(outer, inner)
    if product and ctx.element(y) == "f32" and _emit_matrix_product(ctx, node, operands, y, product, tail):
        return
    general(
        ctx,
        node,
        [Operand("x", operands[0], width=1), Operand("w", operands[1], width=1)],
        y,
        output=outer,
        depth=inner,
        epilogue=tail(1) if tail else NO_EPILOGUE,
    )


def general(
    ctx: Lowering,
    node: str,
    operands: Sequence[Operand],
    y: str,
    *,
    output: Sequence[Axis],
    depth: Sequence[Axis],
    result: str | None = None,
    term: str | None = None,
    accumulator: str | None = None,
    setup: Sequence[str] = (),
    epilogue: Epilogue = NO_EPILOGUE,
    scalars: Mapping[str, float] | None = None,
) -> None:
    """Emit the kernel for any strides. operands: x, w and what `extra` of the output axes has strides for; or x alone.

    term: the WGSL expression of what is summed, over the indices `x` and `w`; the plain product unless given. `sum` is
    of type `accumulator`, that of y's elements unless given. setup: statements before the loops, where `<operand>_at`
    is the index of a further operand. result: y's element as an expression over `sum`, which is the default.
    """
    element = ctx.element(y)
    lanes: Literal[1, 4] = 1 if ITEMSIZE[ctx.dtype(y)] == 8 else 4
    accumulator = accumulator or element
    names = [o.name for o in operands]
    elements = ctx.size(y)
    params: dict[str, int | float] = {"elements": elements, "columns": (ctx.shape(y) or (1,))[-1]}
    factors = names[:2]
    for prefix, axes, kept in (("o", output, names), ("k", depth, factors)):
        for d, axis in enumerate(axes):
            params[f"{prefix}{d}"] = axis.size
            steps = itertools.chain((axis.x, axis.w, *axis.extra), itertools.repeat(0))
            params |= {f"{prefix}{d}_{n}": step for n, step in zip(kept, steps, strict=False)}
    ctx.emit(
        "contract",
        node=node,
        operands=[*operands, *epilogue.operands, Operand("y", y, "read_write", width=lanes)],
        params=params,
        scalars={**(scalars or {}), **epilogue.scalars},
        workgroups=grid(ceil_div(ceil_div(elements, lanes), _WORKGROUP)),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=elements * (2 * math.prod(a.size for a in depth) + epilogue.flops),
        epilogue=epilogue,
        element=element,
        accumulator=accumulator,
        sum=ADD[accumulator].format("sum", term or _MULTIPLY[element].format("load_x(x)", "load_w(w)")),
        setup=setup,
        result=result or _wrapped(ctx.dtype(y)),
        lanes=lanes,
        rank=len(output),
        depth_rank=len(depth),
        names=names,
        factors=factors,
    )


def _wrapped(dtype: str) -> str:
    """`sum` as an element of `dtype`: integers below 32 bits wrap as numpy's do."""
    return f"extractBits(sum, 0u, {PACKED_BITS[dtype]}u)" if dtype in PACKED_BITS else "sum"


def _matrix_product(output: Sequence[Axis], depth: Sequence[Axis]) -> _MatrixProduct | None:
    """The nest as a batch of matrix products, or None where x's rows are not contiguous or more axes are left."""
    if len(depth) != 1 or output[-1].x != 0:
        return None
    columns, inner, rest = output[-1], depth[0], list(output[:-1])
    rows = rest.pop() if rest and rest[-1].w == 0 else Axis(1, inner.size, 0)
    batch = rest.pop() if rest else Axis(1, 0, 0)
    if rest or inner.size == 0 or (inner.x != 1 and inner.size != 1) or (rows.x != inner.size and rows.size != 1):
        return None
    if batch.x not in (0, rows.size * inner.size) or batch.w not in (0, inner.size * columns.size):
        return None
    w_depth = columns.size * columns.w if inner.size == 1 else inner.w
    return _MatrixProduct(
        batch.size, rows.size, inner.size, columns.size, batch.x == 0, batch.w == 0, w_depth, columns.w
    )


def _emit_matrix_product(
    ctx: Lowering, node: str, operands: tuple[str, str], y: str, p: _MatrixProduct, tail: RenderTail | None
) -> bool:
    """Emit the form tiled in registers or in workgroup memory; False where neither takes `p`."""
    x, w = operands
    contiguous = (p.w_depth, p.w_column) == (p.columns, 1)
    if p.columns % 4 != 0 or not (contiguous or (ctx.is_weight(w) and p.batch == 1)):
        return False
    if largest(ceil_div(p.rows, _ROWS)) > MAX_WORKGROUPS or largest(p.batch) > MAX_WORKGROUPS:
        return False
    epilogue = tail(4) if tail else NO_EPILOGUE
    if not contiguous:
        w = pack_rows(
            ctx,
            w,
            node,
            rows=p.columns,
            depth=p.depth,
            row_stride=p.w_column,
            depth_stride=p.w_depth,
            depth_major=True,
        )
    columns4 = p.columns // 4
    flops = 2 * p.batch * p.rows * p.depth * p.columns + epilogue.flops * ctx.size(y)
    params: dict[str, int | float] = {
        "rows": p.rows,
        "columns4": columns4,
        "x_batch": 0 if p.x_repeats else p.rows,
        "w_batch": 0 if p.w_repeats else p.depth * columns4,
    }
    after = [Operand("w", w), *epilogue.operands, Operand("y", y, "read_write")]
    if ctx.tier.tiling == "workgroup" and largest(p.rows) >= 16:
        emit_gemm(
            ctx,
            node,
            "matmul",
            operands=[Operand("x", x, width=1), *after],
            params=params | {"depth": p.depth},
            batch=p.batch,
            rows=p.rows,
            columns4=columns4,
            half=ctx.tier.f16 == "arithmetic" and ctx.dtype(y) == "float16",
            flops=flops,
            epilogue=epilogue,
        )
        return True
    width: Literal[1, 4] = 4 if p.depth % 4 == 0 else 1
    rows = min(_ROWS, largest(p.rows))
    ctx.emit(
        "matmul_register",
        node=node,
        operands=[Operand("x", x, width=width), *after],
        # depth counts loads of x; w advances once per element of the depth.
        params=params | {"depth": p.depth // width},
        workgroups=(ceil_div(columns4, _WORKGROUP), ceil_div(p.rows, rows), p.batch),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=flops,
        epilogue=epilogue,
        scalars=epilogue.scalars,
        rows=rows,
        depth_width=width,
    )
    return True
