"""Winograd F(4x4, 3x3) (Lavin and Gray, arXiv:1509.09308): large 3x3 convolutions with a quarter of the products."""

from __future__ import annotations

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, ceil_div, grid
from webinfer.ops.channel_product import ChannelProduct, emit_pointwise, emit_tiled
from webinfer.ops.epilogue import Epilogue
from webinfer.ops.window import Geometry
from webinfer.symbols import largest

_WORKGROUP = 64
# Below this size of the product, two more dispatches cost more than the multiplications that Winograd saves.
_LEAST_FLOPS = 250_000_000
# Patches and products lie in memory at the same time: phones have less of it than of time.
_MOST_SCRATCH_BYTES = 10_000_000
# Transformed filters are 4 times as large (8 times in f16 models): each must serve enough tiles.
_LEAST_TILES_PER_CHANNEL = 8


def winograd_pays(g: Geometry) -> bool:
    """Whether a 3x3 convolution (stride 1, padding 1) should run as Winograd F(4x4, 3x3): a quarter of the products."""
    tiles = g.batch * ceil_div(g.size[0], 4) * (g.size[1] // 4)
    scratch = 36 * 4 * tiles * (g.depth + g.channels)
    return (
        g.groups == 1
        and g.size[1] % 4 == 0
        and tiles % 8 == 0
        and largest(tiles) >= _LEAST_TILES_PER_CHANNEL * max(g.depth, g.channels)
        and min(g.depth, g.channels) >= 16
        and g.channels % 4 == 0
        and largest(g.flops) >= _LEAST_FLOPS
        and largest(scratch) <= _MOST_SCRATCH_BYTES
    )


def emit_winograd(op: FusedOp, ctx: Lowering, g: Geometry, epilogue: Epilogue) -> None:
    """Patches transformed, 36 matrix products, transformed back: three dispatches. f32: f16 loses too much."""
    assert op.anchor is not None
    weight = op.anchor.inputs[1]
    tiles_y, width4 = ceil_div(g.size[0], 4), g.size[1] // 4
    tiles = g.batch * tiles_y * width4
    u, new = ctx.packed(f"{weight}/winograd", (36, ceil_div(g.channels, 4), g.depth, 4), "float32", of=weight)
    if new:
        ctx.emit(
            "winograd_weight",
            node=op.name,
            operands=[Operand("x", weight, width=1), Operand("y", u, "read_write")],
            params={"channels": g.channels, "depth": g.depth},
            workgroups=grid(ceil_div(ceil_div(g.channels, 4) * g.depth, _WORKGROUP)),
            workgroup_size=(_WORKGROUP, 1, 1),
            prepare=True,
        )
    v = ctx.scratch(f"{op.output}/patches", (36, g.depth, tiles), "float32")
    m = ctx.scratch(f"{op.output}/products", (36, g.channels, tiles), "float32")
    geometry_params = {"batch": g.batch, "height": g.size[0], "width4": width4, "tiles_y": tiles_y}
    ctx.emit(
        "winograd_input",
        node=op.name,
        operands=[Operand("x", op.sources()[0]), Operand("v", v, "read_write", width=1)],
        params=geometry_params | {"depth": g.depth},
        workgroups=(ceil_div(tiles_y * width4, _WORKGROUP), g.depth, g.batch),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=g.depth * tiles * 12 * 12,
        upsample=op.enlarged,
    )
    emit = emit_tiled if ctx.tier.tiling == "workgroup" else emit_pointwise
    emit(
        ctx,
        op.name,
        sources=[v],
        tail=[Operand("w", u), Operand("y", m, "read_write")],
        shape=ChannelProduct(36, g.depth, g.channels, tiles),
        w_batch=ceil_div(g.channels, 4) * g.depth,
        flops=2 * 36 * g.depth * g.channels * tiles,
        epilogue=Epilogue("", (), 0, {}),
    )
    ctx.emit(
        "winograd_output",
        node=op.name,
        operands=[Operand("m", m, width=1), *epilogue.operands, Operand("y", op.output, "read_write")],
        params=geometry_params | {"channels": g.channels},
        workgroups=(ceil_div(tiles_y * width4, _WORKGROUP), g.channels, g.batch),
        workgroup_size=(_WORKGROUP, 1, 1),
        flops=g.channels * tiles * 10 * 11 + epilogue.flops * ctx.size(op.output),
        epilogue=epilogue,
        scalars=epilogue.scalars,
        guard=g.size[0] % 4 != 0,
    )
