"""The matrix product tiled in workgroup memory that MatMul, Gemm and convolutions share (gemm_workgroup.wgsl.j2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from webinfer.lowering import Lowering, Operand, ceil_div
from webinfer.ops.epilogue import Epilogue

# A workgroup of 128 invocations makes 32 rows x 64 columns, in steps of 16 along the depth.
_INVOCATIONS, _ROWS, _COLUMNS4, _TILE_VECTORS = 128, 32, 16, 384


def emit_gemm(
    ctx: Lowering,
    node: str,
    kind: Literal["conv", "matmul"],
    *,
    operands: Sequence[Operand],
    params: Mapping[str, int | float],
    batch: int,
    rows: int,
    columns4: int,
    half: bool,
    flops: int,
    epilogue: Epilogue,
    **variables: Any,
) -> None:
    """Emit y [batch, rows, 4 columns4]. half: the operands are float16 and the tier has f16 math."""
    ctx.emit(
        "gemm_workgroup",
        node=node,
        operands=operands,
        params=params,
        workgroups=(ceil_div(columns4, _COLUMNS4), ceil_div(rows, _ROWS), batch),
        workgroup_size=(_INVOCATIONS, 1, 1),
        flops=flops,
        f16_arithmetic=half,
        workgroup_storage_bytes=_TILE_VECTORS * 4 * (2 if half else 4),
        epilogue=epilogue,
        scalars=epilogue.scalars,
        kind=kind,
        **variables,
    )
