"""MatMul, Gemm and com.microsoft::FusedMatMul, described as loop nests (webinfer/ops/contraction.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.contraction import ADD, Axis, RenderTail, contract, general
from webinfer.ops.copy import strided_copy, strides_of
from webinfer.ops.epilogue import operand_kind, render_epilogue
from webinfer.ops.pointwise import broadcast_strides
from webinfer.symbols import broadcast_size, broadcast_stride


def matmul_axes(
    x: Sequence[int], w: Sequence[int], x_strides: Sequence[int] = (), w_strides: Sequence[int] = ()
) -> tuple[list[Axis], Axis]:
    """Output axes and depth of NumPy's matmul; strides are row-major unless given."""
    x_strides, w_strides = x_strides or strides_of(x), w_strides or strides_of(w)
    depth = Axis(x[-1], x_strides[-1], w_strides[-2:][0])
    rows = [Axis(x[-2], x_strides[-2], 0)] if len(x) > 1 else []
    columns = [Axis(w[-1], 0, w_strides[-1])] if len(w) > 1 else []
    batch = []
    for d in range(-max(len(x), len(w)), -2):
        size_x, step_x = (x[d], x_strides[d]) if len(x) >= -d else (1, 0)
        size_w, step_w = (w[d], w_strides[d]) if len(w) >= -d else (1, 0)
        size = broadcast_size(size_x, size_w)
        batch.append(Axis(size, broadcast_stride(step_x, size_x, size), broadcast_stride(step_w, size_w, size)))
    return [*batch, *rows, *columns], depth


@lowers("MatMul")
def lower_matmul(op: FusedOp, ctx: Lowering) -> None:
    """Semantics of NumPy's matmul."""
    assert op.anchor is not None
    x, w = op.anchor.inputs
    output, depth = matmul_axes(ctx.shape(x), ctx.shape(w))
    contract(ctx, op.name, (x, w), op.output, output=output, depth=[depth], tail=_tail(op, ctx))


@lowers("FusedMatMul", domain="com.microsoft")
def lower_fused_matmul(op: FusedOp, ctx: Lowering) -> None:
    """Compute alpha A' B': transA swaps the last two axes, transBatchA moves the first one before the last."""
    assert op.anchor is not None
    step = op.anchor
    views = [
        _transposed(ctx.shape(name), step.int(f"trans{letter}", 0), step.int(f"transBatch{letter}", 0))
        for name, letter in zip(step.inputs, "AB", strict=True)
    ]
    (x, x_strides), (w, w_strides) = views
    output, depth = matmul_axes(x, w, x_strides, w_strides)
    tail = _tail(op, ctx, alpha=step.float("alpha", 1.0))
    contract(ctx, op.name, (step.inputs[0], step.inputs[1]), op.output, output=output, depth=[depth], tail=tail)


def _transposed(shape: Sequence[int], matrix: int, batch: int) -> tuple[list[int], list[int]]:
    """Sizes and strides of a FusedMatMul operand as it takes part in the product; vectors are not transposed."""
    order = list(range(len(shape)))
    if len(shape) > 1:
        if batch:
            order = [*order[1:-1], order[0], order[-1]]
        if matrix:
            order = [*order[:-2], order[-1], order[-2]]
    strides = strides_of(shape)
    return [shape[d] for d in order], [strides[d] for d in order]


@lowers("Gemm")
def lower_gemm(op: FusedOp, ctx: Lowering) -> None:
    """Compute alpha A' B' + beta C; raises Unsupported for an alpha or beta other than 1 on integers."""
    assert op.anchor is not None
    step = op.anchor
    shapes, strides = zip(
        *(
            _transposed(ctx.shape(name), step.int(flag, 0), 0)
            for name, flag in zip(step.inputs, ("transA", "transB"), strict=False)
        ),
        strict=True,
    )
    output, depth = matmul_axes(*shapes, *strides)
    c = step.inputs[2] if len(step.inputs) > 2 and step.inputs[2] else None
    alpha, beta = step.float("alpha", 1.0), step.float("beta", 1.0) if c else 1.0
    shape = ctx.shape(op.output)
    operands = (step.inputs[0], step.inputs[1])
    if ctx.element(op.output) != "f32":
        if alpha != 1.0 or beta != 1.0:
            raise Unsupported("alpha or beta other than 1 on integers: multiply the operands instead")
        if c:
            extra = broadcast_strides(ctx.shape(c), shape)
            _integer_gemm(op, ctx, [replace(a, extra=(s,)) for a, s in zip(output, extra, strict=True)], depth, c)
        else:
            contract(ctx, op.name, operands, op.output, output=output, depth=[depth])
        return
    if c and operand_kind(ctx.shape(c), shape, "Gemm") is None:
        whole = ctx.scratch(f"{op.output}#c", shape, ctx.dtype(c))
        strided_copy(ctx, op.name, c, whole, shape, broadcast_strides(ctx.shape(c), shape))
        c = whole
    tail = _tail(op, ctx, bias=c, alpha=alpha, beta=beta)
    contract(ctx, op.name, operands, op.output, output=output, depth=[depth], tail=tail)


def _integer_gemm(op: FusedOp, ctx: Lowering, output: Sequence[Axis], depth: Axis, c: str) -> None:
    assert op.anchor is not None
    names = zip("xwc", (*op.anchor.inputs[:2], c), strict=True)
    element = ctx.element(op.output)
    general(
        ctx,
        op.name,
        [Operand(binding, name, width=1) for binding, name in names],
        op.output,
        output=output,
        depth=[depth],
        result=ADD[element].format("sum", "load_c(c_at)"),
    )


def _tail(
    op: FusedOp, ctx: Lowering, *, bias: str | None = None, alpha: float = 1.0, beta: float = 1.0
) -> RenderTail | None:
    """What renders the epilogue, or None where there is nothing to do after the product."""
    assert op.anchor is not None
    if not op.epilogue and bias is None and alpha == 1.0:
        return None
    anchor, output = op.anchor, op.output
    return lambda lanes: render_epilogue(ctx, op.epilogue, anchor, output, lanes, bias=bias, alpha=alpha, beta=beta)


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


def _integers(g: Graph) -> None:
    """Products beyond 32 bits, and sums that wrap at 64."""
    rng = np.random.default_rng(0)
    for name, shape in (("x", (2, 3, 5)), ("w", (5, 4))):
        g.input(name, rng.integers(-(2**62), 2**62, shape))
    g.node("MatMul", ["x", "w"], ["y"])
    g.output("y", dtype=TensorProto.INT64)


def _any_addend(g: Graph) -> None:
    g.input("x", (5, 8))
    g.constant("w", (8, 12), scale=0.2)
    g.input("c", (5, 1))
    g.node("Gemm", ["x", "w", "c"], ["y"], alpha=0.5, beta=-2.0)
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
    Case("int64", _integers),
    _product("gemm_per_row", _any_addend),
    _product("scaled_residual", partial(_scaled_residual, 19, 12, 24)),
    _product("scaled_residual_odd", partial(_scaled_residual, 5, 6, 7)),
]
