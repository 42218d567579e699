"""GroupNormalization and InstanceNormalization with a fused Concat in front and a fused epilogue: one dispatch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import onnx

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.concat import concatenate
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.epilogue import render_epilogue
from webinfer.symbols import largest

# A CPU adapter runs a workgroup on one thread: few invocations keep barriers cheap. A GPU hides latency with many.
WORKGROUP = {"register": 16, "workgroup": 256}


@lowers("GroupNormalization", "InstanceNormalization")
def lower_group_norm(op: FusedOp, ctx: Lowering) -> None:
    """X [N, C, ...]; scale and bias per channel [C]."""
    step = op.anchor
    assert step is not None
    shape = ctx.shape(op.output)
    batch, channels, spatial = shape[0], shape[1], math.prod(shape[2:])
    groups = step.int("num_groups", 0) if step.op_type == "GroupNormalization" else channels
    if channels % groups:
        raise Unsupported(f"{channels} channels do not divide into {groups} groups")
    sources = [s for s in op.sources() if ctx.size(s)]
    if len(sources) > 2 or (len(sources) == 2 and batch > 1):
        joined = ctx.scratch(f"{op.name}#concat", shape, ctx.dtype(sources[0]))
        concatenate(ctx, op.name, sources, 1, joined)
        sources = [joined]
    vector = spatial % 4 == 0
    lanes = 4 if vector else 1
    written = op.output if vector else aligned_output(ctx, op.output)
    tail = render_epilogue(ctx, op.epilogue, step, op.output, 4 if vector else 1)
    workgroup = WORKGROUP[ctx.tier.tiling]
    size = channels // groups * spatial
    params: dict[str, int | float] = {
        "groups": batch * groups,
        "groups_per_batch": groups,
        "size": size // lanes,
        "channels": channels // groups,
        "spatial": spatial // lanes,
        "epsilon": step.float("epsilon", 1e-5),
    }
    if len(sources) == 2:
        params["split"] = ctx.size(sources[0]) // lanes
    ctx.emit(
        "group_norm",
        node=op.name,
        operands=[
            *(Operand(f"x{k}", s, width=4 if vector else 1) for k, s in enumerate(sources)),
            Operand("scale", step.inputs[1], width=1),
            Operand("bias", step.inputs[2], width=1),
            *tail.operands,
            Operand("out", written, "read_write", width=4 if vector else 1),
        ],
        workgroups=grid(batch * groups),
        workgroup_size=(workgroup, 1, 1),
        params=params,
        flops=(7 + tail.flops) * math.prod(shape),
        workgroup_storage_bytes=4 * (workgroup + 16),
        epilogue=tail.code,
        scalars=tail.scalars,
        sources=len(sources),
        vector=vector,
        by_channel=largest(spatial // lanes) >= workgroup,
    )
    finish(ctx, op.name, written, op.output)


def _group(shape: Sequence[int], groups: int, offset: float, g: Graph) -> None:
    g.input("x", shape, offset=offset)
    g.constant("scale", (shape[1],))
    g.constant("bias", (shape[1],))
    g.node("GroupNormalization", ["x", "scale", "bias"], ["y"], num_groups=groups, epsilon=1e-5)
    g.output("y", shape=shape)


def _instance(shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", (shape[1],))
    g.constant("bias", (shape[1],))
    g.node("InstanceNormalization", ["x", "scale", "bias"], ["y"])
    g.output("y")


def _fused(shapes: Sequence[Sequence[int]], groups: int, g: Graph) -> None:
    """Concat -> group norm -> scale and shift -> SiLU -> residual, as diffusion residual blocks have it."""
    n, spatial = shapes[0][0], tuple(shapes[0][2:])
    channels = sum(s[1] for s in shapes)
    names = [g.input(f"x{k}", s) for k, s in enumerate(shapes)]
    g.constant("scale", (channels,))
    g.constant("bias", (channels,))
    ones = (1,) * len(spatial)
    g.input("factor", (1, channels, *ones))
    g.input("residual", (n, channels, *spatial))
    first = g.position
    joined = g.node("Concat", names, ["c"], axis=1) if len(names) > 1 else names[0]
    g.node("GroupNormalization", [joined, "scale", "bias"], ["n"], num_groups=groups)
    g.node("Mul", ["n", "factor"], ["m"])
    g.node("Sigmoid", ["m"], ["s"])
    g.node("Mul", ["m", "s"], ["a"])
    g.node("Add", ["a", "residual"], ["y"])
    g.fused("Norm", [*names, "scale", "bias", "factor", "residual"], ["y"], first)
    g.output("y", shape=(n, channels, *spatial))


def _group_in_double(shape: Sequence[int], groups: int, offset: float, g: Graph) -> None:
    """The definition with means over [N, G, -1] in double: ONNX Runtime's f32 kernel is off by 0.1 far from zero."""
    g.input("x", shape, offset=offset)
    g.constant("scale", (shape[1],))
    g.constant("bias", (shape[1],))
    g.ints("grouped", (shape[0], groups, -1))
    g.ints("column", (1, shape[1], *[1] * (len(shape) - 2)))
    g.ints("full", shape)
    g.constant("epsilon", np.array(1e-5))
    for name in ("x", "scale", "bias", "epsilon"):
        g.node("Cast", [name], [f"{name}_d"], to=onnx.TensorProto.DOUBLE)
    g.node("Reshape", ["x_d", "grouped"], ["r"])
    g.ints("axes", (2,))
    g.node("ReduceMean", ["r", "axes"], ["mean"])
    g.node("Sub", ["r", "mean"], ["centred"])
    g.node("Mul", ["centred", "centred"], ["square"])
    g.node("ReduceMean", ["square", "axes"], ["variance"])
    g.node("Add", ["variance", "epsilon_d"], ["v"])
    g.node("Sqrt", ["v"], ["deviation"])
    g.node("Div", ["centred", "deviation"], ["n"])
    g.node("Reshape", ["n", "full"], ["n_full"])
    for name in ("scale", "bias"):
        g.node("Reshape", [f"{name}_d", "column"], [f"{name}_c"])
    g.node("Mul", ["n_full", "scale_c"], ["m"])
    g.node("Add", ["m", "bias_c"], ["a"])
    g.node("Cast", ["a"], ["y"], to=onnx.TensorProto.FLOAT)
    g.output("y")


_FAR = "the mean of values near 795 in 32-bit sums is off by a few of their last places (6e-5 each)"

CASES = [
    *(Case(f"group_w{w}", partial(_group, (2, 6, 3, w), 2, 0.0)) for w in (1, 2, 4, 7)),
    Case("group_odd_channels", partial(_group, (3, 15, 5, 5), 5, 0.0)),
    Case("group_one", partial(_group, (1, 8, 17), 1, 0.0)),
    Case("group_large", partial(_group, (1, 8, 64, 64), 4, 0.0)),
    Case(
        "group_far_from_zero",
        partial(_group, (1, 8, 8, 8), 2, 795.0),
        fp32=1e-4,
        reason=_FAR,
        reference=partial(_group_in_double, (1, 8, 8, 8), 2, 795.0),
    ),
    *(
        Case(f"instance_{'x'.join(map(str, s))}", partial(_instance, s))
        for s in ((2, 80, 2), (1, 3, 7, 7), (2, 4, 8), (1, 2, 3, 4, 5))
    ),
    *(Case(f"fused_w{w}", partial(_fused, ((1, 6, 2, w),), 3)) for w in (1, 4, 6)),
    *(Case(f"fused_concat_w{w}", partial(_fused, ((1, 2, 3, w), (1, 4, 3, w)), 3)) for w in (1, 2, 5, 8)),
    Case("fused_concat_batch", partial(_fused, ((2, 2, 3, 4), (2, 4, 3, 4)), 3)),
    Case("fused_large", partial(_fused, ((1, 8, 32, 32), (1, 8, 32, 32)), 4)),
]
