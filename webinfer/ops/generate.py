"""Tensors made from little: ConstantOfShape, Range, EyeLike, OneHot; and Trilu, which keeps a triangle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from onnx import TensorProto, helper

from webinfer.fused import FusedOp
from webinfer.kernel import ITEMSIZE, words
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements
from webinfer.ops.numbers import numbers

_FARTHEST = 1 << 30  # no matrix has a diagonal beyond it


def fill(ctx: Lowering, node: str, output: str, value: float = 0) -> None:
    """Set every element of `output`."""
    low, high = _words_of(ctx.dtype(output), value)
    emit_elements(ctx, "fill", node, output, [], {"low": low, "high": high}, bits=True)


def _words_of(dtype: str, value: float) -> tuple[int, int]:
    """The words of an element moved as bits, twice the same where it is a single one."""
    if dtype == "float32":
        return (int(np.float32(value).view(np.uint32)),) * 2
    if dtype == "float16":
        return (int(np.float16(value).view(np.uint16)),) * 2
    low, high = int(value) % (1 << 32), int(value) % (1 << 64) >> 32
    return (low, high if words(dtype) == 2 else low)


@lowers("ConstantOfShape")
def lower_constant_of_shape(op: FusedOp, ctx: Lowering) -> None:
    """ConstantOfShape, where folding left it: a large result, or a shape that is known only at run time."""
    step = only_step(op)
    value = step.attributes["value"].as_tensor().numpy().reshape(-1)[0] if "value" in step.attributes else 0
    fill(ctx, op.name, op.output, value)


@lowers("Range")
def lower_range(op: FusedOp, ctx: Lowering) -> None:
    """Range: start + i * delta; the limit decides the size, which is known."""
    start, _, delta = only_step(op).inputs
    dtype = ctx.dtype(op.output)
    arithmetic = numbers(dtype)
    step = "vec2<u32>(e, 0u)" if words(dtype) == 2 else f"{ctx.element(op.output)}(e)"
    emit_elements(
        ctx,
        "range",
        op.name,
        op.output,
        [Operand("start", start, width=1), Operand("delta", delta, width=1)],
        {},
        value=arithmetic.add % ("load_start(0u)", arithmetic.multiply % ("load_delta(0u)", step)),
        declarations=arithmetic.declarations,
    )


@lowers("EyeLike")
def lower_eye_like(op: FusedOp, ctx: Lowering) -> None:
    """EyeLike: only the shape of the input counts."""
    step, dtype = only_step(op), ctx.dtype(op.output)
    params: dict[str, int | float] = {
        "columns": ctx.shape(op.output)[1],
        "k:i32": max(min(step.int("k", 0), _FARTHEST), -_FARTHEST),
        "one": _words_of(dtype, 1)[0],
    }
    emit_elements(ctx, "eye_like", op.name, op.output, [], params, bits=True, lanes=words(dtype))


@lowers("Trilu")
def lower_trilu(op: FusedOp, ctx: Lowering) -> None:
    """Trilu: elements on the other side of the diagonal `k` become 0."""
    step = only_step(op)
    diagonal = [0] if len(step.inputs) < 2 or not step.inputs[1] else ctx.integers(step.inputs[1])
    if diagonal is None:
        raise Unsupported(f"the diagonal {step.inputs[1]} is computed at run time; fold it to a constant")
    rows, columns = ctx.shape(op.output)[-2:]
    params: dict[str, int | float] = {
        "rows": rows,
        "columns": columns,
        "k:i32": max(min(diagonal[0], _FARTHEST), -_FARTHEST),
    }
    emit_elements(
        ctx,
        "trilu",
        op.name,
        op.output,
        [Operand("x", step.inputs[0], width=1, bits=True)],
        params,
        bits=True,
        lanes=words(ctx.dtype(op.output)),
        upper=step.int("upper", 1) != 0,
    )


@lowers("OneHot")
def lower_one_hot(op: FusedOp, ctx: Lowering) -> None:
    """OneHot: indices of any type; those outside [-depth, depth) give `off` everywhere."""
    step = only_step(op)
    index, _, values = step.inputs
    shape, dtype = ctx.shape(op.output), ctx.dtype(index)
    axis = step.int("axis", -1) % len(shape)
    emit_elements(
        ctx,
        "one_hot",
        op.name,
        op.output,
        [Operand("index", index, width=1), Operand("values", values, width=1, bits=True)],
        {"depth": shape[axis], "inner": math.prod(shape[axis + 1 :])},
        bits=True,
        lanes=words(ctx.dtype(op.output)),
        kind="float" if dtype.startswith("float") else "wide" if ITEMSIZE[dtype] == 8 else "word",
        signed=not dtype.startswith("u"),
    )


def _eye(shape: Sequence[int], k: int, dtype: int, g: Graph) -> None:
    g.input("x", shape)
    g.node("EyeLike", ["x"], ["y"], k=k, dtype=dtype)
    g.output("y", dtype=dtype)


def _trilu(shape: Sequence[int], k: int, upper: int, g: Graph) -> None:
    g.input("x", shape)
    g.node("Trilu", ["x", g.constant("k", np.array(k))], ["y"], upper=upper)
    g.output("y")


def _one_hot(dtype: type, axis: int, values: Sequence[int], on: type, g: Graph) -> None:
    g.input("i", np.array([[0, 3, -1], [2, 4, 100]]).astype(dtype))
    g.input("values", np.array(values, on))
    g.node("OneHot", ["i", g.ints("depth", [4]), "values"], ["y"], axis=axis)
    g.output("y", dtype=helper.np_dtype_to_tensor_dtype(np.dtype(on)))


CASES = [
    Case("eye", partial(_eye, (3, 5), 1, TensorProto.FLOAT), precisions=("fp32",)),
    Case("eye_int64", partial(_eye, (4, 3), -2, TensorProto.INT64), precisions=("fp32",)),
    *(Case(f"trilu_{k}_{u}", partial(_trilu, (2, 3, 5), k, u)) for k, u in ((0, 1), (-1, 1), (2, 0), (-9, 0))),
    Case("one_hot", partial(_one_hot, np.int64, -1, (2, 5), np.float32), precisions=("fp32",)),
    Case("one_hot_first", partial(_one_hot, np.int64, 0, (-1, 1 << 40), np.int64), precisions=("fp32",)),
    Case("one_hot_float", partial(_one_hot, np.float32, 1, (0, 1), np.int64), precisions=("fp32",)),
]
