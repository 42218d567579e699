"""LayerNormalization, RMSNormalization and SimplifiedLayerNormalization over trailing axes, with a fused epilogue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import onnx

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.epilogue import render_epilogue
from webinfer.tiers import Tier


def row_workgroup(tier: Tier, units: int) -> tuple[int, int, int]:
    """(invocations per row, rows per workgroup, 1) for rows of `units` loads.

    A CPU adapter runs a workgroup on one thread, so one vector of invocations takes several rows; a GPU wants 64 or
    more invocations, on as few rows as fill them.
    """
    if tier.tiling == "register":
        return (8, 2, 1)
    lanes = min(1 << max(units - 1, 0).bit_length(), 256)
    return (lanes, max(64 // lanes, 1), 1)


def row_storage_bytes(workgroup: tuple[int, int, int]) -> int:
    """Workgroup memory of lib/reduce.wgsl.j2 in bytes."""
    return 4 * (workgroup[0] + 16) * workgroup[1]


@lowers("LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization")
def lower_layer_norm(op: FusedOp, ctx: Lowering) -> None:
    """X [..., N]: rows of the axes from `axis` on; scale and bias have the shape of a row."""
    step = op.anchor
    assert step is not None
    if any(o for o in op.outputs[1:]):
        raise Unsupported("the mean and deviation outputs: remove them, only training reads them")
    source, output = step.inputs[0], op.outputs[0]
    shape = ctx.shape(output)
    axis = step.int("axis", -1) % len(shape)
    size = math.prod(shape[axis:])
    bias = step.inputs[2] if len(step.inputs) > 2 and step.inputs[2] else None
    for name in (step.inputs[1], *([bias] if bias else [])):
        if ctx.size(name) != size:
            raise Unsupported(
                f"{name} {list(ctx.shape(name))}: expected the shape of a row {list(shape[axis:])}; "
                "expand it at compile time"
            )
    vector = shape[-1] % 4 == 0
    lanes = 4 if vector else 1
    written = output if vector else aligned_output(ctx, output)
    tail = render_epilogue(ctx, op.epilogue, step, output, 4 if vector else 1)
    rows = math.prod(shape[:axis])
    workgroup = row_workgroup(ctx.tier, size // lanes)
    width: Literal[1, 4] = 4 if vector else 1
    params: dict[str, int | float] = {
        "rows": rows,
        "size": size // lanes,
        "inverse": 1.0 / max(size, 1),
        "epsilon": step.float("epsilon", 1e-5),
        "last": shape[-1] // lanes,
    }
    ctx.emit(
        "layer_norm",
        node=op.name,
        operands=[
            Operand("x", source, width=width),
            Operand("scale", step.inputs[1], width=width),
            *([Operand("bias", bias, width=width)] if bias else []),
            *tail.operands,
            Operand("out", written, "read_write", width=width),
        ],
        workgroups=grid(ceil_div(rows, workgroup[1])),
        workgroup_size=workgroup,
        params=params,
        flops=(7 + tail.flops) * math.prod(shape),
        workgroup_storage_bytes=row_storage_bytes(workgroup),
        epilogue=tail.code,
        scalars=tail.scalars,
        vector=vector,
        bias=bias is not None,
        centred=step.op_type == "LayerNormalization",
        one_axis=axis == len(shape) - 1,
    )
    finish(ctx, op.name, written, output)


def _layer(shape: Sequence[int], axis: int, g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", shape[axis:])
    g.constant("bias", shape[axis:])
    g.node("LayerNormalization", ["x", "scale", "bias"], ["y"], axis=axis)
    g.output("y")


def _no_bias(op_type: str, shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", shape[-1:])
    g.node(op_type, ["x", "scale"], ["y"], axis=-1, epsilon=1e-6)
    g.output("y", shape=shape)


def _fused(shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.constant("scale", shape[-1:])
    g.constant("bias", shape[-1:])
    g.constant("row", shape[-1:])
    g.input("residual", shape)
    first = g.position
    g.node("LayerNormalization", ["x", "scale", "bias"], ["n"], axis=-1)
    g.node("Mul", ["n", "row"], ["m"])
    g.node("Add", ["m", "residual"], ["y"])
    g.fused("Norm", ["x", "scale", "bias", "row", "residual"], ["y"], first)
    g.output("y")


def _far(g: Graph) -> None:
    g.input("x", (3, 64), offset=795.0)
    g.constant("scale", (64,))
    g.node("LayerNormalization", ["x", "scale"], ["y"])
    g.output("y")


def _far_in_double(g: Graph) -> None:
    g.input("x", (3, 64), offset=795.0)
    g.constant("scale", (64,))
    g.constant("epsilon", np.array(1e-5))
    for name in ("x", "scale", "epsilon"):
        g.node("Cast", [name], [f"{name}_d"], to=onnx.TensorProto.DOUBLE)
    g.ints("axes", (1,))
    g.node("ReduceMean", ["x_d", "axes"], ["mean"])
    g.node("Sub", ["x_d", "mean"], ["centred"])
    g.node("Mul", ["centred", "centred"], ["square"])
    g.node("ReduceMean", ["square", "axes"], ["variance"])
    g.node("Add", ["variance", "epsilon_d"], ["v"])
    g.node("Sqrt", ["v"], ["deviation"])
    g.node("Div", ["centred", "deviation"], ["n"])
    g.node("Mul", ["n", "scale_d"], ["m"])
    g.node("Cast", ["m"], ["y"], to=onnx.TensorProto.FLOAT)
    g.output("y")


CASES = [
    *(Case(f"layer_w{w}", partial(_layer, (2, 3, w + 1), -1)) for w in range(1, 10)),
    *(Case(f"layer_axes_w{w}", partial(_layer, (5, 3, w), 1)) for w in (4, 7, 8)),
    Case("layer_long", partial(_layer, (3, 1028), -1)),
    Case("layer_many_rows", partial(_layer, (257, 12), -1)),
    *(Case(f"fused_w{w}", partial(_fused, (2, 5, w)), fp16=2e-3) for w in (5, 6, 8, 384)),
    *(Case(f"rms_w{w}", partial(_no_bias, "RMSNormalization", (7, w))) for w in (3, 8, 130, 576)),
    *(Case(f"simplified_w{w}", partial(_no_bias, "SimplifiedLayerNormalization", (7, w))) for w in (3, 8)),
    Case(
        "layer_far_from_zero",
        _far,
        fp32=2e-4,
        fp16=2e-3,
        reference=_far_in_double,
        reason="the mean of values near 795 in 32-bit sums is off by a few of their last places (6e-5 each)",
    ),
]
