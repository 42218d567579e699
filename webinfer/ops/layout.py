"""Ops whose output is a loop nest over the source: Transpose, Slice, Split, Expand, Tile and the block shuffles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step, rearrange, strides_of
from webinfer.ops.pointwise import broadcast_strides
from webinfer.symbols import maximum, minimum


@lowers("Transpose")
def lower_transpose(op: FusedOp, ctx: Lowering) -> None:
    """Transpose."""
    step = only_step(op)
    shape = ctx.shape(step.inputs[0])
    order = step.ints("perm", tuple(reversed(range(len(shape)))))
    strides = strides_of(shape)
    rearrange(ctx, op.name, step.inputs[0], op.output, [shape[p] for p in order], [strides[p] for p in order])


@lowers("Slice")
def lower_slice(op: FusedOp, ctx: Lowering) -> None:
    """Slice: the sizes are the output's, a start beyond an end of its axis is led back to it."""
    step = only_step(op)
    shape = ctx.shape(step.inputs[0])
    inputs = (*step.inputs, "", "")
    starts, axes, steps = (ctx.integers(inputs[k]) for k in (1, 3, 4))
    if starts is None:
        raise Unsupported(f"{step.inputs[1]} is computed at run time; fold it to a constant")
    strides, offset = list(strides_of(shape)), 0
    for k, start in enumerate(starts):
        axis = axes[k] % len(shape) if axes else k
        stride = steps[k] if steps else 1
        first = start + shape[axis] if start < 0 else start
        last = shape[axis] if stride > 0 else shape[axis] - 1
        offset += minimum(maximum(first, 0), last) * strides[axis]
        strides[axis] *= stride
    rearrange(ctx, op.name, step.inputs[0], op.output, ctx.shape(op.output), strides, offset)


@lowers("Split")
def lower_split(op: FusedOp, ctx: Lowering) -> None:
    """Split: every part is a slice."""
    step = only_step(op)
    shape = ctx.shape(step.inputs[0])
    axis = step.int("axis", 0) % len(shape)
    strides, start = strides_of(shape), 0
    for part in filter(None, op.outputs):
        sizes = ctx.shape(part)
        rearrange(ctx, op.name, step.inputs[0], part, sizes, strides, start * strides[axis])
        start += sizes[axis]


@lowers("Expand")
def lower_expand(op: FusedOp, ctx: Lowering) -> None:
    """Expand; the output's shape is known, so the shape input is not read."""
    step = only_step(op)
    shape = ctx.shape(op.output)
    rearrange(ctx, op.name, step.inputs[0], op.output, shape, broadcast_strides(ctx.shape(step.inputs[0]), shape))


@lowers("Tile")
def lower_tile(op: FusedOp, ctx: Lowering) -> None:
    """Tile: every dimension becomes (repeats, size), read with stride 0 over the repeats."""
    step = only_step(op)
    shape, output = ctx.shape(step.inputs[0]), ctx.shape(op.output)
    sizes, strides = [], []
    for size, total, stride in zip(shape, output, strides_of(shape), strict=True):
        sizes += [total // maximum(size, 1), size]
        strides += [0, stride]
    rearrange(ctx, op.name, step.inputs[0], op.output, sizes, strides)


@lowers("DepthToSpace", "SpaceToDepth")
def lower_depth_space(op: FusedOp, ctx: Lowering) -> None:
    """DepthToSpace (DCR and CRD) and SpaceToDepth: transposes of a rank-6 view (ONNX operator texts)."""
    step = only_step(op)
    n, c, h, w = ctx.shape(step.inputs[0])
    b = step.int("blocksize", 1)
    if step.op_type == "SpaceToDepth":
        crd = step.string("mode", "DCR") == "CRD"
        shape, order = (n, c, h // b, b, w // b, b), (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
    elif step.string("mode", "DCR") == "DCR":
        shape, order = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        shape, order = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    strides = strides_of(shape)
    rearrange(ctx, op.name, step.inputs[0], op.output, [shape[p] for p in order], [strides[p] for p in order])


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
    *(
        Case(f"expand_{'x'.join(map(str, s))}", partial(_expand, s, t))
        for s, t in (((1, 1, 5), (2, 3, 5)), ((3, 1), (2, 3, 4)), ((4,), (4,)), ((1,), (3, 3)))
    ),
    Case("tile", _tile),
    Case("depth_to_space_dcr", partial(_blocks, "DepthToSpace", (2, 8, 3, 5), "DCR")),
    Case("depth_to_space_crd", partial(_blocks, "DepthToSpace", (2, 8, 3, 5), "CRD")),
    Case("space_to_depth", partial(_blocks, "SpaceToDepth", (2, 3, 4, 6), "")),
]
