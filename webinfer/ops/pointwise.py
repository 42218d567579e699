"""Elementwise chains that stand alone: one kernel per chain, operands broadcast as numpy does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from webinfer.fused import DOMAIN, FusedOp, Step
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.epilogue import add_scalar, chain, constant_scalar

WORKGROUP = 64
FLOAT_TYPES = ("float32", "float16")
_STORED = {
    "float32": "vec4<f32>",
    "float16": "vec4<f32>",
    "bool": "vec4<u32>",
    "uint8": "vec4<u32>",
    "uint32": "vec4<u32>",
    "int32": "vec4<i32>",
    "int64": "vec4<i32>",
    "int8": "vec4<i32>",
}


@dataclass(frozen=True)
class Strided:
    """A loop nest over an output, dimensions merged where every operand allows: sizes and strides per operand.

    Strides are in elements, 0 where an operand is broadcast; outermost dimension first.
    """

    sizes: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


def broadcast_strides(shape: Sequence[int], output: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides of `shape` seen as `output` (numpy broadcasting): 0 along broadcast dimensions."""
    padded = (1,) * (len(output) - len(shape)) + tuple(shape)
    strides = [math.prod(padded[d + 1 :]) for d in range(len(padded))]
    return tuple(0 if padded[d] == 1 else strides[d] for d in range(len(output)))


def merged(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> Strided:
    """Drop dimensions of size 1 and merge neighbours whose strides fit for every operand."""
    kept: list[tuple[int, list[int]]] = []
    for d, size in enumerate(sizes):
        if size == 1:
            continue
        own = [s[d] for s in strides]
        if kept and all(p == size * s for p, s in zip(kept[-1][1], own, strict=True)):
            kept[-1] = (kept[-1][0] * size, own)
        else:
            kept.append((size, own))
    if not kept:
        kept = [(1, [0] * len(strides))]
    return Strided(tuple(s for s, _ in kept), tuple(tuple(own[k] for _, own in kept) for k in range(len(strides))))


@lowers("Pointwise", domain=DOMAIN)
def lower_pointwise(op: FusedOp, ctx: Lowering) -> None:
    """A chain of elementwise steps; a chain that changes nothing becomes a view."""
    unchanged = all(
        s.op_type == "Identity" or (s.op_type == "Cast" and ctx.dtype(op.epilogue[0].inputs[0]) == ctx.dtype(op.output))
        for s in op.epilogue
    )
    if unchanged and len(op.epilogue) == 1 and ctx.view(op.output, op.epilogue[0].inputs[0]):
        return
    pointwise(ctx, op.name, op.epilogue, op.output)


def pointwise(ctx: Lowering, node: str, steps: Sequence[Step], output: str) -> None:
    """Emit `steps` as one dispatch that writes `output`. Raises Unsupported for integer arithmetic."""
    made = {o for s in steps for o in s.outputs}
    _check_types(ctx, steps, made, output)
    shape = ctx.shape(output)
    known: dict[str, str] = {}
    scalars: dict[str, float] = {}
    loads: list[tuple[str, str, str]] = []  # variable, binding, kind
    operands: list[Operand] = []
    names = dict.fromkeys(i for s in steps for i in s.inputs if i and i not in made)
    tensors = [n for n in names if constant_scalar(ctx, n) is None]
    nest = merged(shape, [broadcast_strides(shape, shape), *(broadcast_strides(ctx.shape(n), shape) for n in tensors)])
    # Four consecutive outputs share their outer coordinates where the innermost size is a multiple of 4.
    vector = nest.sizes[-1] % 4 == 0
    params: dict[str, int | float] = {"count": ceil_div(math.prod(shape), 4)}
    indexed: list[dict[str, Any]] = []
    for name in names:
        scalar = constant_scalar(ctx, name)
        if scalar is not None:
            known[name] = add_scalar(scalars, scalar)
            continue
        strides = nest.strides[1 + tensors.index(name)]
        binding = f"x{len(operands)}"
        if strides == nest.strides[0]:
            kind, width = "same", 4
        elif not any(strides):
            kind, width = "scalar", 1
        elif vector:
            kind, width = ("row", 4) if strides[-1] else ("uniform", 1)
        else:
            kind, width = "gather", 1
        if kind in ("row", "uniform", "gather"):
            indexed.append({"name": binding, "strides": strides, "kind": kind})
            unit = width if kind == "row" else 1
            params |= {f"{binding}_s{d}": s // (unit if d < len(strides) - 1 else 1) for d, s in enumerate(strides)}
        operands.append(Operand(binding, name, width=4 if width == 4 else 1))
        loads.append((f"v_{binding}", binding, kind))
        known[name] = f"v_{binding}"
    if indexed:
        params |= {f"d{d}": s // 4 if vector and d == len(nest.sizes) - 1 else s for d, s in enumerate(nest.sizes)}
        params["last"] = math.prod(shape) - 1
    lines, functions, flops = chain(tuple(steps), known)
    stored = _STORED[ctx.dtype(output)]
    result = known[steps[-1].outputs[0]]
    ctx.emit(
        "pointwise",
        node=node,
        operands=[*operands, Operand("out", output, "read_write")],
        workgroups=grid(ceil_div(ceil_div(math.prod(shape), 4), WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        scalars=scalars,
        flops=flops * math.prod(shape),
        functions=functions,
        lines=lines,
        result=f"{stored}(V({result}))",
        loads=loads,
        indexed=indexed,
        rank=len(nest.sizes),
        vector=vector,
    )


def _check_types(ctx: Lowering, steps: Sequence[Step], made: set[str], output: str) -> None:
    """Integers pass through f32, which is exact only where they are converted to float or are truth values."""
    for step in steps:
        for name in step.inputs:
            if not name or name in made or ctx.dtype(name) in (*FLOAT_TYPES, "bool"):
                continue
            if step.op_type != "Cast" or ctx.dtype(output) not in (*FLOAT_TYPES, "bool"):
                raise Unsupported(
                    f"{step.op_type} on {ctx.dtype(name)}: 32-bit float arithmetic would not be exact; "
                    "fold it at compile time or cast to float first"
                )
    if ctx.dtype(output) not in _STORED:
        raise Unsupported(f"output type {ctx.dtype(output)}: cast to float32")


def _unary(
    op_type: str, shape: Sequence[int], scale: float, offset: float, attributes: dict[str, Any], g: Graph
) -> None:
    g.input("x", shape, scale=scale, offset=offset)
    g.node(op_type, ["x"], ["y"], **attributes)
    g.output("y")


def _binary(op_type: str, a: Sequence[int], b: Sequence[int], g: Graph) -> None:
    g.input("a", a)
    g.input("b", b, offset=3.0 if op_type == "Div" else 0.0, scale=0.3)
    g.node(op_type, ["a", "b"], ["y"])
    g.output("y")


def _chain(shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.input("s", (1, shape[1], *[1] * (len(shape) - 2)))
    g.constant("t", (shape[-1],))
    g.constant("one", np.array(-1.5))
    first = g.position
    g.node("Mul", ["x", "s"], ["a"])
    g.node("Add", ["a", "t"], ["b"])
    g.node("Sigmoid", ["b"], ["c"])
    g.node("Mul", ["b", "c"], ["d"])
    g.node("Sub", ["d", "one"], ["y"])
    g.fused("Chain", ["x", "s", "t", "one"], ["y"], first)
    g.output("y")


def _compare(g: Graph) -> None:
    g.input("a", (3, 5))
    g.input("b", (5,))
    g.node("Greater", ["a", "b"], ["m"])
    g.node("Where", ["m", "a", "b"], ["y"])
    g.output("y")


def _power(exponent: float, g: Graph) -> None:
    g.input("x", (2, 9), offset=2.0, scale=0.3)
    g.constant("e", np.array(exponent))
    g.node("Pow", ["x", "e"], ["y"])
    g.output("y")


def _clip(g: Graph) -> None:
    g.input("x", (2, 7))
    g.constant("high", np.array(0.5))
    g.node("Clip", ["x", "", "high"], ["y"])
    g.output("y")


def _cast(g: Graph) -> None:
    g.input("x", np.arange(-3, 4, dtype=np.int64))
    g.node("Cast", ["x"], ["y"], to=g.float_type)
    g.output("y")


def _identity(g: Graph) -> None:
    g.input("x", (3, 3))
    g.node("Identity", ["x"], ["y"])
    g.output("y")


_UNARY: list[tuple[str, float, float, dict[str, Any]]] = [
    ("Sqrt", 0.3, 3.0, {}),
    ("Reciprocal", 0.3, 3.0, {}),
    ("Neg", 1.0, 0.0, {}),
    ("Abs", 1.0, 0.0, {}),
    ("Sign", 1.0, 0.0, {}),
    ("Floor", 3.0, 0.0, {}),
    ("Ceil", 3.0, 0.0, {}),
    ("Round", 3.0, 0.0, {}),
    ("Exp", 1.0, 0.0, {}),
    ("Log", 0.3, 3.0, {}),
    ("Sin", 300.0, 0.0, {}),
    ("Cos", 300.0, 0.0, {}),
    ("Erf", 1.0, 0.0, {}),
    ("Tanh", 10.0, 0.0, {}),
    ("Sigmoid", 50.0, 0.0, {}),
    ("Relu", 1.0, 0.0, {}),
    ("LeakyRelu", 1.0, 0.0, {"alpha": 0.1}),
    ("ThresholdedRelu", 1.0, 0.0, {"alpha": 0.5}),
    ("Elu", 1.0, 0.0, {"alpha": 1.5}),
    ("Celu", 1.0, 0.0, {"alpha": 2.0}),
    ("Selu", 1.0, 0.0, {}),
    ("HardSigmoid", 3.0, 0.0, {}),
    ("HardSwish", 3.0, 0.0, {}),
    ("Softplus", 10.0, 0.0, {}),
    ("Softsign", 1.0, 0.0, {}),
    ("Mish", 3.0, 0.0, {}),
    ("Gelu", 2.0, 0.0, {}),
    ("Gelu", 2.0, 0.0, {"approximate": "tanh"}),
]
_UNARY_FP32 = {"Sin": 5e-4, "Cos": 5e-4}
_SHAPES = [
    ((2, 3, 4, 4), (2, 3, 4, 4)),
    ((2, 3, 5), (3, 1)),
    ((4, 1, 5), (3, 1)),
    ((7,), ()),
    ((2, 6, 8), (8,)),
    ((2, 6, 8), (6, 1)),
    ((1, 5, 3, 3), (2, 5, 1, 1)),
    ((2, 1, 2, 1, 3, 1), (1, 3, 1, 2, 1, 2)),
]

CASES = [
    *(
        Case(
            f"{op}{i}",
            partial(_unary, op, (2, 3, 9), scale, offset, attributes),
            fp32=_UNARY_FP32.get(op, 2e-5),
            fp16=2e-3,
            reason="WGSL allows sin and cos an absolute error of 2^-11; f16 results round once more",
        )
        for i, (op, scale, offset, attributes) in enumerate(_UNARY)
    ),
    *(Case(f"add_{'x'.join(map(str, a))}_{'x'.join(map(str, b))}", partial(_binary, "Add", a, b)) for a, b in _SHAPES),
    *(
        Case(f"{op.lower()}_w{w}", partial(_binary, op, (3, w), (w,)))
        for w, op in enumerate(("Sub", "Mul", "Div", "Min", "Max", "PRelu", "Add", "Mul", "Sub"), start=1)
    ),
    *(Case(f"chain_w{w}", partial(_chain, (2, 3, 2, w)), fp16=3e-3) for w in range(1, 10)),
    *(Case(f"pow_{e}", partial(_power, e), fp16=2e-3) for e in (0.0, 0.5, 1.0, 2.0, 3.0, -1.0, 1.7)),
    Case("many_workgroups", partial(_unary, "Neg", (1, 4, 1024, 1025), 1.0, 0.0, {}), precisions=("fp32",)),
    Case("where_greater", _compare),
    Case("clip_upper_only", _clip),
    Case("cast_int64", _cast),
    Case("identity_output", _identity),
    Case("zero_size", partial(_binary, "Add", (2, 0), (1, 0))),
]
