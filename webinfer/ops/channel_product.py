"""Products over channels in NCHW, register-tiled and workgroup-tiled: 1x1 convolutions and what Winograd multiplies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webinfer.lowering import Lowering, Operand, ceil_div
from webinfer.ops.epilogue import Epilogue
from webinfer.ops.gemm import emit_gemm
from webinfer.ops.window import Geometry, window_params
from webinfer.symbols import largest

_WORKGROUP = 64


@dataclass(frozen=True)
class ChannelProduct:
    """Sizes of y[n, k, p] = sum of w[n, k, c] x[n, c, p]: batch n, depth c, channels k, plane p in elements."""

    batch: int
    depth: int
    channels: int
    plane: int


def emit_pointwise(
    ctx: Lowering,
    node: str,
    *,
    sources: Sequence[str],
    tail: Sequence[Operand],
    shape: ChannelProduct,
    w_batch: int,
    flops: int,
    epilogue: Epilogue,
) -> None:
    """Register tiles. `sources` are joined along c; w_batch is the stride of n in w, in vec4s."""
    channels, plane = shape.channels, shape.plane
    blocks = 2 if channels % 8 == 0 else 1
    # More pixels per invocation amortise the weights, as long as there are enough invocations.
    vectors = 2 if plane % 8 == 0 and largest(plane) >= 1024 else 1
    workgroup = min(_WORKGROUP, max(largest(plane) // 4 // vectors, 1))
    ctx.emit(
        "conv_pointwise",
        node=node,
        operands=[*(Operand(f"x{i}", s) for i, s in enumerate(sources)), *tail],
        params={f"depth{i}": ctx.shape(s)[1] for i, s in enumerate(sources)}
        | {"channels": channels, "plane4": plane // 4, "w_batch": w_batch},
        workgroups=(ceil_div(plane // 4 // vectors, workgroup), ceil_div(channels, 4 * blocks), shape.batch),
        workgroup_size=(workgroup, 1, 1),
        flops=flops,
        epilogue=epilogue,
        scalars=epilogue.scalars,
        sources=len(sources),
        blocks=blocks,
        vectors=vectors,
    )


def emit_tiled(
    ctx: Lowering,
    node: str,
    *,
    sources: Sequence[str],
    tail: Sequence[Operand],
    shape: Geometry | ChannelProduct,
    w_batch: int,
    flops: int,
    epilogue: Epilogue,
    upsample: bool = False,
) -> None:
    """Tiles in workgroup memory: a Geometry gathers windows (implicit GEMM), a ChannelProduct reads vectors of x."""
    pointwise = isinstance(shape, ChannelProduct)
    if isinstance(shape, ChannelProduct):
        params: dict[str, int | float] = {"channels": shape.channels, "depth": shape.depth}
    else:
        params = window_params(shape)
    emit_gemm(
        ctx,
        node,
        "conv",
        operands=[*(Operand(f"x{i}", s, width=4 if pointwise else 1) for i, s in enumerate(sources)), *tail],
        params=params | {"plane4": shape.plane // 4, "depth0": ctx.shape(sources[0])[1], "w_batch": w_batch},
        batch=shape.batch,
        rows=shape.channels,
        columns4=shape.plane // 4,
        half=ctx.tier.f16 == "arithmetic" and ctx.dtype(sources[0]) == "float16",
        flops=flops,
        epilogue=epilogue,
        pointwise=pointwise,
        sources=len(sources),
        upsample=upsample,
    )
