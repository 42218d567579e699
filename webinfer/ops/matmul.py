"""MatMul and Gemm: register-tiled, workgroup-tiled, and a flat form for odd widths and transposed operands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.epilogue import render_epilogue
from webinfer.ops.gemm import emit_gemm
from webinfer.ops.pack import pack_rows

_WORKGROUP = 64
_ROWS = 4


@dataclass(frozen=True)
class Product:
    """y[b] = x[b] @ w[b] with strides in elements; a batch stride of 0 repeats the operand."""

    batch: int
    rows: int
    depth: int
    columns: int
    x_strides: tuple[int, int, int]  # batch, row, depth
    w_strides: tuple[int, int, int]  # batch, depth, column


def _batch_strides(shape: tuple[int, ...], batch: int, matrix: int) -> int:
    own = math.prod(shape[:-2])
    if own not in (1, batch):
        raise Unsupported(f"batch dimensions {list(shape[:-2])} broadcast in part: Expand the operand first")
    return 0 if own == 1 else matrix


@lowers("MatMul")
def lower_matmul(op: FusedOp, ctx: Lowering) -> None:
    """Semantics of NumPy's matmul; leading dimensions of x join the rows where w is a single matrix."""
    assert op.anchor is not None
    x, w = ctx.shape(op.anchor.inputs[0]), ctx.shape(op.anchor.inputs[1])
    x = (1, *x) if len(x) == 1 else x
    w = (*w, 1) if len(w) == 1 else w
    depth, columns = w[-2:]
    if math.prod(w[:-2]) == 1:
        product = Product(1, math.prod(x[:-1]), depth, columns, (0, depth, 1), (0, columns, 1))
    else:
        batch = max(math.prod(x[:-2]), math.prod(w[:-2]))
        product = Product(
            batch,
            x[-2],
            depth,
            columns,
            (_batch_strides(x, batch, x[-2] * depth), depth, 1),
            (_batch_strides(w, batch, depth * columns), columns, 1),
        )
    _emit(op, ctx, product, None)


@lowers("Gemm")
def lower_gemm(op: FusedOp, ctx: Lowering) -> None:
    """Compute A' B' + C; raises Unsupported for an alpha or beta other than 1 and for a C that is not per column."""
    assert op.anchor is not None
    step = op.anchor
    if step.float("alpha", 1.0) != 1.0 or (len(step.inputs) > 2 and step.float("beta", 1.0) != 1.0):
        raise Unsupported("alpha or beta other than 1: scale the weights instead")
    a, b = ctx.shape(step.inputs[0]), ctx.shape(step.inputs[1])
    trans_a, trans_b = step.int("transA", 0), step.int("transB", 0)
    rows, depth = (a[1], a[0]) if trans_a else a
    columns = b[0] if trans_b else b[1]
    bias = step.inputs[2] if len(step.inputs) > 2 and step.inputs[2] else None
    if bias and ctx.size(bias) != columns:
        raise Unsupported(f"addend of shape {list(ctx.shape(bias))}: use an Add after the Gemm")
    product = Product(
        1,
        rows,
        depth,
        columns,
        (0, 1, rows) if trans_a else (0, depth, 1),
        (0, 1, depth) if trans_b else (0, columns, 1),
    )
    _emit(op, ctx, product, bias)


def _emit(op: FusedOp, ctx: Lowering, p: Product, bias: str | None) -> None:
    assert op.anchor is not None
    step: Step = op.anchor
    x, w = step.inputs[:2]
    contiguous_x = p.x_strides[1:] == (p.depth, 1)
    contiguous_w = p.w_strides[1:] == (p.columns, 1)
    if p.columns % 4 or not contiguous_x or not (contiguous_w or (ctx.is_weight(w) and p.batch == 1)):
        _flat(op, ctx, p, bias)
        return
    epilogue = render_epilogue(ctx, op.epilogue, step, op.output, 4, bias=bias)
    if not contiguous_w:
        w = pack_rows(
            ctx, w, op.name, rows=p.columns, depth=p.depth, row_stride=p.depth, depth_stride=1, depth_major=True
        )
    columns4 = p.columns // 4
    tiled = ctx.tier.tiling == "workgroup" and p.rows >= 16
    flops = 2 * p.batch * p.rows * p.depth * p.columns + epilogue.flops * ctx.size(op.output)
    x_batch = p.rows if p.x_strides[0] else 0
    w_batch = p.depth * columns4 if p.w_strides[0] else 0
    params: dict[str, int | float] = {"rows": p.rows, "columns4": columns4, "x_batch": x_batch, "w_batch": w_batch}
    tail = [Operand("w", w), *epilogue.operands, Operand("y", op.output, "read_write")]
    if tiled:
        emit_gemm(
            ctx,
            op.name,
            "matmul",
            operands=[Operand("x", x, width=1), *tail],
            params=params | {"depth": p.depth},
            batch=p.batch,
            rows=p.rows,
            columns4=columns4,
            half=ctx.tier.f16 == "arithmetic" and ctx.dtype(op.output) == "float16",
            flops=flops,
            epilogue=epilogue,
        )
        return
    width = 4 if p.depth % 4 == 0 else 1
    rows = min(_ROWS, p.rows)
    ctx.emit(
        "matmul_register",
        node=op.name,
        operands=[Operand("x", x, width=4 if width == 4 else 1), *tail],
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


def _flat(op: FusedOp, ctx: Lowering, p: Product, bias: str | None) -> None:
    assert op.anchor is not None
    epilogue = render_epilogue(ctx, op.epilogue, op.anchor, op.output, 1, bias=bias)
    elements = ctx.size(op.output)
    ctx.emit(
        "matmul_flat",
        node=op.name,
        operands=[
            Operand("x", op.anchor.inputs[0], width=1),
            Operand("w", op.anchor.inputs[1], width=1),
            *epilogue.operands,
            Operand("y", op.output, "read_write"),
        ],
        params={
            "elements": elements,
            "rows": p.rows,
            "depth": p.depth,
            "columns": p.columns,
            "x_batch_stride": p.x_strides[0],
            "x_row_stride": p.x_strides[1],
            "x_depth_stride": p.x_strides[2],
            "w_batch_stride": p.w_strides[0],
            "w_depth_stride": p.w_strides[1],
            "w_column_stride": p.w_strides[2],
        },
        workgroups=grid(ceil_div(ceil_div(elements, 4), _WORKGROUP)),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=2 * p.batch * p.rows * p.depth * p.columns + epilogue.flops * elements,
        epilogue=epilogue,
        scalars=epilogue.scalars,
    )


def _matmul(x: Sequence[int], w: Sequence[int], constant: bool, g: Graph) -> None:
    g.input("x", x)
    if constant:
        g.constant("w", w, scale=0.2)
    else:
        g.input("w", w, scale=0.2)
    g.node("MatMul", ["x", "w"], ["y"])
    g.output("y")


def _gemm(rows: int, depth: int, columns: int, attributes: dict[str, Any], bias: bool, g: Graph) -> None:
    g.input("x", (depth, rows) if attributes.get("transA") else (rows, depth))
    g.constant("w", (columns, depth) if attributes.get("transB") else (depth, columns), scale=0.2)
    inputs = ["x", "w"]
    if bias:
        inputs.append(g.constant("b", (columns,)))
    g.node("Gemm", inputs, ["y"], **attributes)
    g.output("y")


def _scaled_residual(rows: int, depth: int, columns: int, g: Graph) -> None:
    g.input("x", (1, rows, depth))
    g.input("r", (1, rows, columns))
    g.constant("w", (depth, columns), scale=0.2)
    g.constant("b", (columns,))
    g.constant("s", (columns,))
    first = g.position
    g.node("MatMul", ["x", "w"], ["m"])
    g.node("Add", ["b", "m"], ["a"])
    g.node("Mul", ["a", "s"], ["t"])
    g.node("Add", ["t", "r"], ["y"])
    g.fused("MatMulAddMulAdd", ["x", "w", "b", "s", "r"], ["y"], first)
    g.output("y")


# Tiers with f16 math sum runs of 8 products in f16: a few roundings of 2^-11 of sums that grow with the depth.
_product = partial(Case, fp16=5e-3, reason="f16 partial sums")
CASES = [
    *(
        _product(f"matmul_{m}x{k}x{n}", partial(_matmul, (m, k), (k, n), True))
        for m, k, n in ((1, 128, 256), (5, 7, 8), (33, 20, 68), (17, 5, 3), (4, 4, 1), (257, 24, 96))
    ),
    *(_product(f"matmul_w{n}", partial(_matmul, (3, n), (n, 10 - n), True)) for n in range(1, 10)),
    _product("batched", partial(_matmul, (2, 3, 20, 8), (2, 3, 8, 12), False)),
    _product("batched_odd", partial(_matmul, (6, 5, 7), (6, 7, 3), False)),
    _product("batched_weight", partial(_matmul, (2, 9, 8), (8, 16), True)),
    _product("repeated_x", partial(_matmul, (18, 8), (3, 8, 12), False)),
    _product("vector", partial(_matmul, (8,), (8, 12), True)),
    _product("into_vector", partial(_matmul, (5, 8), (8,), True)),
    *(
        _product(f"gemm_{m}x{k}x{n}_a{a}b{b}", partial(_gemm, m, k, n, {"transA": a, "transB": b}, True))
        for m, k, n, a, b in (
            (1, 128, 64, 0, 1),
            (6, 10, 8, 0, 0),
            (20, 16, 12, 1, 0),
            (20, 16, 7, 1, 1),
            (18, 9, 32, 0, 1),
        )
    ),
    _product("gemm_no_bias", partial(_gemm, 3, 8, 8, {"transB": 1}, False)),
    _product("scaled_residual", partial(_scaled_residual, 19, 12, 24)),
    _product("scaled_residual_odd", partial(_scaled_residual, 5, 6, 7)),
]
