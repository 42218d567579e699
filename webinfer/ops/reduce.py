"""Reductions over any axes (ReduceMean, ReduceSum, ReduceMax ...) of every element type, and global pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import onnx

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.functions import functions_in
from webinfer.ops.numbers import constant, extreme, numbers
from webinfer.ops.rows import HIGHEST_KEY, LOWEST_KEY, Pass, Rows, emit_rows, order, rows_of
from webinfer.symbols import largest, maximum

SERIAL = 512  # loads that one invocation combines; longer rows are cut into pieces, whose results are reduced again


@dataclass(frozen=True)
class Reduction:
    """How elements combine, what is taken of each element, and what of their combination."""

    combine: Literal["add", "multiply", "max", "min"]
    each: Literal["x", "abs", "square", "exp"] = "x"
    last: Literal["all", "mean", "sqrt", "log", "log_shifted"] = "all"


REDUCTIONS = {
    "ReduceSum": Reduction("add"),
    "ReduceMean": Reduction("add", last="mean"),
    "ReduceMax": Reduction("max"),
    "ReduceMin": Reduction("min"),
    "ReduceProd": Reduction("multiply"),
    "ReduceL1": Reduction("add", each="abs"),
    "ReduceL2": Reduction("add", each="square", last="sqrt"),
    "ReduceSumSquare": Reduction("add", each="square"),
    "ReduceLogSum": Reduction("add", last="log"),
    "ReduceLogSumExp": Reduction("add", each="exp", last="log_shifted"),
    "GlobalAveragePool": Reduction("add", last="mean"),
    "GlobalMaxPool": Reduction("max"),
}

# The square root rounded down: sqrt may be off by its last places, which matters where it should be whole.
_ROOT = "fn root(x: f32) -> f32 { let r = round(sqrt(x)); return select(r, r - 1.0f, r * r > x); }"


@lowers(*REDUCTIONS)
def lower_reduce(op: FusedOp, ctx: Lowering) -> None:
    """One dispatch; two where a row is longer than one team takes."""
    step = op.anchor
    assert step is not None
    shape = ctx.shape(step.inputs[0])
    if op.epilogue:
        raise Unsupported(f"{step.op_type} with a fused epilogue: do not fuse it")
    axes = list(range(2, len(shape))) if step.op_type.startswith("Global") else reduced_axes(step, ctx, len(shape))
    written = aligned_output(ctx, op.output)
    reduce(ctx, op.name, REDUCTIONS[step.op_type], step.inputs[0], axes, written)
    finish(ctx, op.name, written, op.output)


def reduced_axes(step: Step, ctx: Lowering, rank: int) -> list[int]:
    """The axes in order, from the input (opset 18, ReduceSum 13) or the attribute; all where none are given."""
    given: Sequence[int] | None = step.ints("axes")
    if len(step.inputs) > 1 and step.inputs[1]:
        given = ctx.integers(step.inputs[1])
        if given is None:
            raise Unsupported(f"axes {step.inputs[1]} are computed at run time; fold them to a constant")
    if not given:
        return [] if step.int("noop_with_empty_axes", 0) else list(range(rank))
    return sorted({a % rank for a in given})


def reduce(ctx: Lowering, node: str, reduction: Reduction, source: str, axes: Sequence[int], output: str) -> None:
    """Emit the reduction of `source` over `axes` into `output`, whose elements take four bytes or more."""
    dtype = ctx.dtype(source)
    rows = rows_of(ctx.shape(source), axes, vector=not numbers(dtype).wide)
    chunk = rows.workgroup(ctx.tier)[0] * SERIAL
    if largest(rows.size) <= chunk:
        _emit(ctx, node, reduction, source, rows, rows.length, output)
        return
    # Sums of pieces add up; the largest value, product and logarithm of pieces are the whole reduction of theirs.
    once = reduction.combine == "add" and reduction.each != "exp"
    first = Reduction("add", each=reduction.each) if once else reduction
    second = Reduction("add", last=reduction.last) if once else reduction
    running = "float32" if dtype.startswith("float") or reduction.each == "exp" else dtype
    parts = ceil_div(rows.size, chunk)
    pieces = ctx.scratch(f"{output}#pieces", (rows.count, parts), running)
    _emit(ctx, node, first, source, rows, rows.length, pieces, (parts, chunk))
    rest = rows_of((rows.count, parts), (1,), vector=not numbers(running).wide)
    _emit(ctx, node, second, pieces, rest, rows.length, output)


def _emit(
    ctx: Lowering,
    node: str,
    reduction: Reduction,
    source: str,
    rows: Rows,
    length: int,
    output: str,
    parts: tuple[int, int] | None = None,
) -> None:
    """One dispatch; `length` divides a mean."""
    element, result = numbers(ctx.dtype(source)), numbers(ctx.dtype(output))
    vector, shifted = rows.width == 4, reduction.each == "exp"
    real = element.word == "f32" or shifted
    running = numbers("float32") if real else element
    x = "load_x(at)"
    if element.word != running.word:
        x = f"vec4<f32>({x})" if vector else element.to_float % x
    each = {
        "x": "x",
        "abs": running.abs % "x",
        "square": running.multiply % ("x", "x"),
        "exp": "exponential(x - V(shift))",
    }
    last = {
        "all": "all",
        "mean": running.divide % ("all", "P.length"),
        "sqrt": "sqrt(all)" if real else result.from_float % f"root({element.to_float % 'all'})",
        "log": result.from_float % _logarithm("all" if real else element.to_float % "all", rows),
        # A largest value that is not finite is the result: inf, NaN, or -inf where the row has no other element.
        "log_shifted": result.from_float % f"select(value_of(key), {_logarithm('all', rows)} + value_of(key), finite)",
    }
    combine = getattr(running, reduction.combine)
    initial = _initial(reduction.combine, "float32" if real else ctx.dtype(source))
    passes = [Pass("all", each[reduction.each], combine, initial, running.word)]
    libraries = [
        *(element.declarations or result.declarations),
        *([_ROOT] if reduction.last == "sqrt" and not real else []),
    ]
    if real and reduction.combine in ("max", "min"):
        # In the integer order of floats, NaN and infinities are exact.
        nan, initial = ("highest", LOWEST_KEY) if reduction.combine == "max" else ("lowest", HIGHEST_KEY)
        libraries.append(order(nan, vector=vector))
        passes = [Pass("key", "ordered(x)", combine, initial, "u32", ("let all = value_of(key);",))]
    if shifted:
        libraries.append(order("highest", vector=vector))
        shift = (f"let finite = key > {LOWEST_KEY} && key < {HIGHEST_KEY};", "let shift = value_of(key);")
        passes.insert(0, Pass("key", "ordered(x)", "max(%s, %s)", LOWEST_KEY, "u32", shift))
    libraries.append(functions_in(f"{each[reduction.each]} {last[reduction.last]}"))
    emit_rows(
        ctx,
        node,
        rows,
        [Operand("x", source, width=rows.width), Operand("out", output, "read_write", width=1)],
        passes,
        word=running.word,
        x=x,
        results={"out": last[reduction.last]},
        params={"length": maximum(length, 1)} if reduction.last == "mean" else {},
        libraries=libraries,
        parts=parts,
        flops=1,
    )


def _logarithm(value: str, rows: Rows) -> str:
    """The logarithm of a value per row, by the library's function over lanes."""
    return f"logarithm(V({value}))" + (".x" if rows.width == 4 else "")


def _initial(combine: str, dtype: str) -> str:
    """The result over no elements: 0, 1, the lowest or the highest integer."""
    if combine in ("add", "multiply") or dtype.startswith("float"):
        return constant(dtype, int(combine == "multiply"))
    return extreme(dtype, highest=combine == "min")


def _reduce(op_type: str, x: Sequence[int], axes: Sequence[int], keep: int, g: Graph) -> None:
    g.input("x", x, offset=2.0 if op_type == "ReduceLogSum" else 0.0, scale=0.3)
    g.ints("axes", axes)
    g.node(op_type, ["x", "axes"], ["y"], keepdims=keep)
    g.output("y")


def _global(op_type: str, x: Sequence[int], g: Graph) -> None:
    g.input("x", x)
    g.node(op_type, ["x"], ["y"])
    g.output("y")


def _integers(op_type: str, dtype: str, axes: Sequence[int], g: Graph) -> None:
    """Sums beyond 32 bits where the type holds them."""
    kind = np.dtype(dtype)
    data = np.arange(-30, 30).reshape(3, 4, 5) * (3 << 40 if kind.itemsize == 8 else 2)
    g.input("x", data.astype(kind))
    g.ints("axes", axes)
    g.node(op_type, ["x", "axes"], ["y"], keepdims=0)
    g.output("y", dtype=onnx.helper.np_dtype_to_tensor_dtype(kind))


def _all(g: Graph) -> None:
    g.input("x", (3, 5, 7))
    g.node("ReduceMean", ["x"], ["y"], keepdims=0)
    g.output("y")


CASES = [
    *(Case(f"{op}_last", partial(_reduce, op, (3, 4, 9), (-1,), 1)) for op in REDUCTIONS if op.startswith("Reduce")),
    *(Case(f"{op}_axes", partial(_reduce, op, (2, 3, 4, 5), (1, -2), 0)) for op in ("ReduceMean", "ReduceL2")),
    *(Case(f"mean_w{w}", partial(_reduce, "ReduceMean", (2, 3, w), (2,), 1)) for w in (1, 6, 8)),
    Case("sum_axis0", partial(_reduce, "ReduceSum", (6, 5), (0,), 1)),
    Case("sum_many_rows", partial(_reduce, "ReduceSum", (140_000, 3), (1,), 0), precisions=("fp32",)),
    Case("max_long", partial(_reduce, "ReduceMax", (3, 5000), (1,), 0)),
    Case(
        "sum_very_long",
        partial(_reduce, "ReduceSum", (2, 100_001), (1,), 0),
        precisions=("fp32",),
    ),
    Case("mean_all", _all),
    *(
        Case(f"{op}_{dtype}", partial(_integers, op, dtype, axes))
        for op, dtype, axes in (
            ("ReduceSum", "int64", (1,)),
            ("ReduceMax", "int64", (0, 2)),
            ("ReduceMean", "int32", (2,)),
            ("ReduceMin", "int8", (1,)),
            ("ReduceMax", "uint8", (2,)),
        )
    ),
    Case("sum_zero_size", partial(_reduce, "ReduceSum", (2, 0, 3), (1,), 0)),
    *(
        Case(f"{op}_{'x'.join(map(str, s))}", partial(_global, op, s))
        for op in ("GlobalAveragePool", "GlobalMaxPool")
        for s in ((2, 5, 7, 7), (1, 3, 8, 8), (2, 3, 5))
    ),
]
