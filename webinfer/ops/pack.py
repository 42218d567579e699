"""Re-packing of weights, at load: 4 rows of a matrix interleaved, so that one vec4 load feeds 4 outputs."""

from __future__ import annotations

from webinfer.lowering import Lowering, Operand, ceil_div, grid

_WORKGROUP = 64


def pack_rows(
    ctx: Lowering,
    weight: str,
    node: str,
    *,
    rows: int,
    depth: int,
    row_stride: int,
    depth_stride: int,
    depth_major: bool = False,
) -> str:
    """Return the packed weight [rows / 4, depth, 4] (or [depth, rows / 4, 4] when depth_major).

    Made once at load; a weight computed at run time is packed at run time. Element (row, d) is read at
    row * row_stride + d * depth_stride; rows are zero-padded to a multiple of 4.
    """
    blocks = ceil_div(rows, 4)
    order = "deep" if depth_major else "rows"
    name, new = ctx.packed(
        f"{weight}/{order}{rows}x{depth}s{row_stride}", (blocks * 4 * depth,), ctx.dtype(weight), of=weight
    )
    if new:
        ctx.emit(
            "pack_rows",
            node=node,
            operands=[Operand("x", weight, width=1), Operand("y", name, "read_write")],
            params={
                "rows": rows,
                "depth": depth,
                "blocks": blocks,
                "row_stride": row_stride,
                "depth_stride": depth_stride,
            },
            workgroups=grid(ceil_div(blocks * depth, _WORKGROUP)),
            workgroup_size=(_WORKGROUP, 1, 1),
            prepare=ctx.is_weight(weight),
            depth_major=depth_major,
        )
    return name
