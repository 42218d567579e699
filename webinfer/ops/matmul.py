"""MatMul and Gemm: register-tiled, workgroup-tiled, and a flat form for odd widths and transposed operands."""

from __future__ import annotations

import math
from dataclasses import dataclass

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.epilogue import render_epilogue
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
    """numpy matmul semantics; leading dimensions of x join the rows where w is a single matrix."""
    assert op.anchor is not None
    x, w = ctx.shape(op.anchor.inputs[0]), ctx.shape(op.anchor.inputs[1])
    x = (1, *x) if len(x) == 1 else x
    w = (*w, 1) if len(w) == 1 else w
    depth, columns = w[-2:]
    if math.prod(w[:-2]) == 1:
        product = Product(1, math.prod(x[:-1]), depth, columns, (0, depth, 1), (0, columns, 1))
    else:
        batch = max(math.prod(x[:-2]), math.prod(w[:-2]))
        product = Product(batch, x[-2], depth, columns, (_batch_strides(x, batch, x[-2] * depth), depth, 1),
                          (_batch_strides(w, batch, depth * columns), columns, 1))
    _emit(op, ctx, product, None)


@lowers("Gemm")
def lower_gemm(op: FusedOp, ctx: Lowering) -> None:
    """alpha A' B' + beta C. The addend must be per column (or absent), alpha and beta 1: legalization folds the rest."""
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
    product = Product(1, rows, depth, columns, (0, 1, rows) if trans_a else (0, depth, 1),
                      (0, 1, depth) if trans_b else (0, columns, 1))
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
        w = pack_rows(ctx, w, op.name, rows=p.columns, depth=p.depth, row_stride=p.depth, depth_stride=1,
                      depth_major=True)
    columns4 = p.columns // 4
    tiled = ctx.tier.tiling == "workgroup" and p.rows >= 16
    flops = 2 * p.batch * p.rows * p.depth * p.columns + epilogue.flops * ctx.size(op.output)
    x_batch = p.rows if p.x_strides[0] else 0
    w_batch = 1 if p.w_strides[0] else 0
    params: dict[str, int | float] = {"rows": p.rows, "columns4": columns4, "x_batch": x_batch, "w_batch": w_batch}
    tail = [Operand("w", w), *epilogue.operands, Operand("y", op.output, "read_write")]
    if tiled:
        half = ctx.tier.f16 == "arithmetic" and ctx.dtype(op.output) == "float16"
        ctx.emit(
            "gemm_workgroup",
            node=op.name,
            operands=[Operand("x", x, width=1), *tail],
            params=params | {"depth": p.depth},
            workgroups=(ceil_div(columns4, 16), ceil_div(p.rows, 32), p.batch),
            workgroup_size=(128, 1, 1),
            flops=flops,
            f16_arithmetic=half,
            workgroup_storage_bytes=384 * 4 * (2 if half else 4),
            epilogue=epilogue,
            kind="matmul",
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
        operands=[Operand("x", op.anchor.inputs[0], width=1), Operand("w", op.anchor.inputs[1], width=1),
                  *epilogue.operands, Operand("y", op.output, "read_write")],
        params={
            "elements": elements, "rows": p.rows, "depth": p.depth, "columns": p.columns,
            "x_batch_stride": p.x_strides[0], "x_row_stride": p.x_strides[1], "x_depth_stride": p.x_strides[2],
            "w_batch_stride": p.w_strides[0], "w_depth_stride": p.w_strides[1], "w_column_stride": p.w_strides[2],
        },
        workgroups=grid(ceil_div(ceil_div(elements, 4), _WORKGROUP)),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=2 * p.batch * p.rows * p.depth * p.columns + epilogue.flops * elements,
        epilogue=epilogue,
    )
