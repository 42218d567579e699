"""Ops that only move elements: Transpose, Slice, Split, Expand, Tile, DepthToSpace, SpaceToDepth, Concat.

What is contiguous in the source becomes a view and costs no dispatch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp, Step
from webinfer.kernel import ITEMSIZE
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.pointwise import broadcast_strides, merged

WORKGROUP = 64
CONCAT_INPUTS = 7  # one binding stays for the output
U32 = 1 << 32


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    return tuple(math.prod(shape[d + 1 :]) for d in range(len(shape)))


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
    nest = merged(sizes, [strides])
    dims, steps = nest.sizes, nest.strides[0]
    vector = dims[-1] % 4 == 0 and steps[-1] == 1 and all(s % 4 == 0 for s in (*steps[:-1], offset))
    if vector:
        dims, steps, offset = (*dims[:-1], dims[-1] // 4), (*(s // 4 for s in steps[:-1]), 1), offset // 4
    count = ceil_div(math.prod(sizes), 4)
    params: dict[str, int | float] = {"count": count, "last": math.prod(sizes) - 1, "offset": offset}
    params |= {f"d{d}": size for d, size in enumerate(dims)}
    params |= {f"s{d}": step % U32 for d, step in enumerate(steps)}  # u32 wraps, so negative strides work
    ctx.emit(
        "copy",
        node=node,
        operands=[Operand("x", source, width=4 if vector else 1), Operand("out", output, "read_write")],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        rank=len(dims),
        vector=vector,
        element=element_type(ctx, output),
    )


def element_type(ctx: Lowering, name: str) -> str:
    """WGSL type that loads and stores of a value's elements use."""
    return {"float32": "f32", "float16": "f32", "int32": "i32", "int64": "i32", "int8": "i32"}.get(
        ctx.dtype(name), "u32"
    )


def aligned_output(ctx: Lowering, output: str) -> str:
    """Where a kernel that stores single elements writes: `output`, or a 32-bit scratch when it holds 16-bit floats.

    Two invocations must not write one 32-bit word. Pass both names to `finish` after the dispatch.
    """
    if ITEMSIZE[ctx.dtype(output)] == 4:
        return output
    return ctx.scratch(f"{output}#f32", ctx.shape(output), "float32")


def finish(ctx: Lowering, node: str, written: str, output: str) -> None:
    """Convert what was written to the scratch of `aligned_output` into `output`."""
    if written != output:
        strided_copy(ctx, node, written, output, (ctx.size(output),), (1,))


def concatenate(ctx: Lowering, node: str, inputs: Sequence[str], axis: int, output: str) -> None:
    """Concat along `axis`; more inputs than bindings go through intermediate results."""
    shape = ctx.shape(output)
    axis %= max(len(shape), 1)
    parts = [n for n in inputs if ctx.size(n)]
    level = 0
    while len(parts) > CONCAT_INPUTS:
        group, rest = parts[:CONCAT_INPUTS], parts[CONCAT_INPUTS:]
        length = sum(ctx.shape(n)[axis] for n in group)
        name = ctx.scratch(f"{output}#part{level}", (*shape[:axis], length, *shape[axis + 1 :]), ctx.dtype(output))
        _concat(ctx, node, group, axis, name)
        parts, level = [name, *rest], level + 1
    _concat(ctx, node, parts, axis, output)


def _concat(ctx: Lowering, node: str, parts: Sequence[str], axis: int, output: str) -> None:
    shape = ctx.shape(output)
    lengths = [math.prod(ctx.shape(n)[axis:]) for n in parts]
    vector = all(n % 4 == 0 for n in lengths)
    unit = 4 if vector else 1
    count = ceil_div(ctx.size(output), 4)
    params: dict[str, int | float] = {"count": count, "last": ctx.size(output) - 1, "row": sum(lengths) // unit}
    params |= {f"n{k}": n // unit for k, n in enumerate(lengths)}
    ctx.emit(
        "concat",
        node=node,
        operands=[
            *(Operand(f"x{k}", n, width=4 if vector else 1) for k, n in enumerate(parts)),
            Operand("out", output, "read_write"),
        ],
        workgroups=grid(ceil_div(count, WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params=params,
        inputs=len(parts),
        rows=math.prod(shape[:axis]) > 1,
        vector=vector,
        element=element_type(ctx, output),
    )


def _constant_ints(ctx: Lowering, step: Step, index: int) -> list[int] | None:
    if index >= len(step.inputs) or not step.inputs[index]:
        return None
    array = ctx.constant(step.inputs[index])
    if array is None:
        raise Unsupported(f"{step.op_type}: input {step.inputs[index]} is computed at run time; fold it to a constant")
    return [int(v) for v in array.reshape(-1)]


def _anchor(op: FusedOp) -> Step:
    assert op.anchor is not None
    if op.epilogue:
        raise Unsupported(f"{op.anchor.op_type} with a fused epilogue: do not fuse it")
    return op.anchor


@lowers("Transpose")
def lower_transpose(op: FusedOp, ctx: Lowering) -> None:
    """Transpose."""
    step = _anchor(op)
    shape = ctx.shape(step.inputs[0])
    order = step.ints("perm", tuple(reversed(range(len(shape)))))
    strides = strides_of(shape)
    rearrange(ctx, op.name, step.inputs[0], op.output, [shape[p] for p in order], [strides[p] for p in order])


@lowers("Slice")
def lower_slice(op: FusedOp, ctx: Lowering) -> None:
    """Slice with constant starts, ends, axes and steps."""
    step = _anchor(op)
    shape = ctx.shape(step.inputs[0])
    starts, ends = _constant_ints(ctx, step, 1), _constant_ints(ctx, step, 2)
    assert starts is not None
    assert ends is not None
    axes = _constant_ints(ctx, step, 3) or list(range(len(starts)))
    steps = _constant_ints(ctx, step, 4) or [1] * len(starts)
    strides, offset = list(strides_of(shape)), 0
    for axis, start, end, stride in zip((a % len(shape) for a in axes), starts, ends, steps, strict=True):
        first, _, _ = slice(start, end, stride).indices(shape[axis])
        offset += first * strides[axis]
        strides[axis] *= stride
    rearrange(ctx, op.name, step.inputs[0], op.output, ctx.shape(op.output), strides, offset)


@lowers("Split")
def lower_split(op: FusedOp, ctx: Lowering) -> None:
    """Split: every part is a slice."""
    step = _anchor(op)
    shape = ctx.shape(step.inputs[0])
    axis = step.int("axis", 0) % len(shape)
    strides, start = strides_of(shape), 0
    for part in op.outputs:
        sizes = ctx.shape(part)
        rearrange(ctx, op.name, step.inputs[0], part, sizes, strides, start * strides[axis])
        start += sizes[axis]


@lowers("Expand")
def lower_expand(op: FusedOp, ctx: Lowering) -> None:
    """Expand; the output's shape is static, so the shape input is not read."""
    step = _anchor(op)
    shape = ctx.shape(op.output)
    rearrange(ctx, op.name, step.inputs[0], op.output, shape, broadcast_strides(ctx.shape(step.inputs[0]), shape))


@lowers("Tile")
def lower_tile(op: FusedOp, ctx: Lowering) -> None:
    """Tile: every dimension becomes (repeats, size), read with stride 0 over the repeats."""
    step = _anchor(op)
    shape, output = ctx.shape(step.inputs[0]), ctx.shape(op.output)
    sizes, strides = [], []
    for size, total, stride in zip(shape, output, strides_of(shape), strict=True):
        sizes += [total // max(size, 1), size]
        strides += [0, stride]
    rearrange(ctx, op.name, step.inputs[0], op.output, sizes, strides)


@lowers("DepthToSpace", "SpaceToDepth")
def lower_depth_space(op: FusedOp, ctx: Lowering) -> None:
    """DepthToSpace (DCR and CRD) and SpaceToDepth: transposes of a rank-6 view (ONNX operator texts)."""
    step = _anchor(op)
    n, c, h, w = ctx.shape(step.inputs[0])
    b = step.int("blocksize", 1)
    if step.op_type == "SpaceToDepth":
        shape, order = (n, c, h // b, b, w // b, b), (0, 3, 5, 1, 2, 4)
    elif step.string("mode", "DCR") == "DCR":
        shape, order = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        shape, order = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    strides = strides_of(shape)
    rearrange(ctx, op.name, step.inputs[0], op.output, [shape[p] for p in order], [strides[p] for p in order])


@lowers("Concat")
def lower_concat(op: FusedOp, ctx: Lowering) -> None:
    """Concat; of one tensor it is a view."""
    step = _anchor(op)
    parts = [n for n in step.inputs if ctx.size(n)]
    if len(parts) == 1 and ctx.view(op.output, parts[0]):
        return
    concatenate(ctx, op.name, step.inputs, step.int("axis", 0), op.output)


def _transpose(shape: Sequence[int], perm: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.node("Transpose", ["x"], ["y"], perm=perm)
    g.output("y")


def _slice(
    shape: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int],
    steps: Sequence[int],
    g: Graph,
) -> None:
    g.input("x", shape)
    for name, values in (("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps)):
        g.ints(name, values)
    g.node("Slice", ["x", "starts", "ends", "axes", "steps"], ["s"])
    g.node("Neg", ["s"], ["y"])
    g.output("s", "y")


def _split(shape: Sequence[int], axis: int, parts: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.ints("parts", parts)
    names = [f"p{k}" for k in range(len(parts))]
    g.node("Split", ["x", "parts"], names, axis=axis)
    for k, name in enumerate(names):
        g.node("Abs", [name], [f"y{k}"])
        g.output(f"y{k}")


def _concat_case(shapes: Sequence[Sequence[int]], axis: int, g: Graph) -> None:
    names = [g.input(f"x{k}", shape) for k, shape in enumerate(shapes)]
    g.node("Concat", names, ["y"], axis=axis)
    g.output("y")


def _expand(shape: Sequence[int], to: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.ints("to", to)
    g.node("Expand", ["x", "to"], ["y"])
    g.output("y")


def _tile(g: Graph) -> None:
    g.input("x", (2, 3, 5))
    g.ints("repeats", (2, 1, 3))
    g.node("Tile", ["x", "repeats"], ["y"])
    g.output("y")


def _blocks(op_type: str, shape: Sequence[int], mode: str, g: Graph) -> None:
    g.input("x", shape)
    attributes = {"mode": mode} if mode else {}
    g.node(op_type, ["x"], ["y"], blocksize=2, **attributes)
    g.output("y")


_SLICES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((3, 5, 7), (1,), (3,), (1,), (1,)),
    ((3, 5, 7), (-1,), (-100,), (2,), (-2,)),
    ((2, 8), (0, 3), (2, 1000), (0, 1), (1, 2)),
    ((1, 12, 4), (4,), (8,), (1,), (1,)),
    ((1, 9, 3), (1,), (9,), (-2,), (1,)),
    ((5,), (3,), (3,), (0,), (1,)),
]

CASES = [
    *(
        Case(f"transpose_{'x'.join(map(str, s))}_{''.join(map(str, p))}", partial(_transpose, s, p))
        for s, p in (
            ((5, 7), (1, 0)),
            ((2, 3, 4, 8), (0, 2, 1, 3)),
            ((2, 6, 9), (0, 2, 1)),
            ((1, 4, 1, 5), (0, 2, 1, 3)),
            ((2, 3, 2, 3, 2), (4, 2, 0, 3, 1)),
            ((3, 8), (1, 0)),
        )
    ),
    *(Case(f"slice_{k}", partial(_slice, *s)) for k, s in enumerate(_SLICES)),
    *(Case(f"split_axis1_w{w}", partial(_split, (1, 6, w), 1, (1, 2, 3))) for w in range(1, 10)),
    Case("split_batch", partial(_split, (2, 6, 3), 1, (4, 2))),
    Case("split_last", partial(_split, (3, 10), -1, (3, 4, 3))),
    Case("split_zero_part", partial(_split, (4, 2), 0, (0, 4))),
    *(Case(f"concat_w{w}", partial(_concat_case, ((2, 3, w), (2, 1, w), (2, 4, w)), 1)) for w in range(1, 10)),
    Case("concat_last", partial(_concat_case, ((3, 2), (3, 5)), -1)),
    Case("concat_ten", partial(_concat_case, [(2, k + 1) for k in range(10)], 1)),
    Case("concat_zero_size", partial(_concat_case, ((2, 0), (2, 1)), 1)),
    Case("concat_one", partial(_concat_case, ((2, 5),), 0)),
    *(
        Case(f"expand_{'x'.join(map(str, s))}", partial(_expand, s, t))
        for s, t in (((1, 1, 5), (2, 3, 5)), ((3, 1), (2, 3, 4)), ((4,), (4,)), ((1,), (3, 3)))
    ),
    Case("tile", _tile),
    Case("depth_to_space_dcr", partial(_blocks, "DepthToSpace", (2, 8, 3, 5), "DCR")),
    Case("depth_to_space_crd", partial(_blocks, "DepthToSpace", (2, 8, 3, 5), "CRD")),
    Case("space_to_depth", partial(_blocks, "SpaceToDepth", (2, 3, 4, 6), "")),
]
