"""com.microsoft::MatMulNBits: x times a weight of 2, 4 or 8 bits per element, which stays packed in memory."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.symbols import largest

# GPUs: 32 invocations share a column, so that they read consecutive words. CPU adapters: an invocation per 4 columns.
_WORKGROUPS = {"workgroup": (32, 2, 1), "register": (1, 32, 1)}
_ROWS = 4


@lowers("MatMulNBits", domain="com.microsoft")
def lower_matmul_nbits(op: FusedOp, ctx: Lowering) -> None:
    """Column n of the weight is n_blocks runs of block_size elements, each with a scale and a zero point.

    Without zero points they are 2^(bits - 1). Raises Unsupported for g_idx, which reorders the depth.
    """
    assert op.anchor is not None
    step = op.anchor
    x, w, scales, zeros, order, bias = (*step.inputs, *("",) * 6)[:6]
    if order:
        raise Unsupported("g_idx: order the weight's depth by group when quantizing (no act-order)")
    bits, block, depth, columns = (step.int(n, d) for n, d in (("bits", 4), ("block_size", 32), ("K", 0), ("N", 0)))
    if bits not in (2, 4, 8) or block % 16:
        raise Unsupported(f"{bits} bits in blocks of {block}: 2, 4 or 8 bits in blocks of a multiple of 16")
    if not ctx.is_weight(w):
        raise Unsupported(f"weight {w} computed at run time: make it an initializer")
    blocks = ceil_div(depth, block)
    rows = math.prod(ctx.shape(x)[:-1])
    lanes: Literal[1, 4] = 4 if columns % 4 == 0 else 1
    written = op.output if lanes == 4 else aligned_output(ctx, op.output)
    packed_zeros = bool(zeros) and ctx.dtype(zeros) == "uint8"
    size = _WORKGROUPS[ctx.tier.tiling]
    tile = min(_ROWS, largest(rows))
    column_groups = ceil_div(columns, 4 * size[1])
    optional = [Operand(n, v, width=1) for n, v in (("zeros", zeros), ("bias", bias)) if v]
    ctx.emit(
        "matmul_nbits",
        node=op.name,
        operands=[
            Operand("x", x, width=4 if depth % 4 == 0 else 1),
            Operand("w", w),
            Operand("scales", scales, width=1),
            *optional,
            Operand("y", written, "read_write", width=lanes),
        ],
        params={
            "rows": rows,
            "depth": depth,
            "columns": columns,
            "blocks": blocks,
            "block_words": block * bits // 32,
            "zero_bytes": ceil_div(blocks * bits, 8),
            "column_groups": column_groups,
            "team": size[0],  # a loop over a constant would be unrolled
        },
        workgroups=grid(column_groups * ceil_div(rows, max(tile, 1))),
        workgroup_size=size,
        flops=2 * rows * depth * columns,
        workgroup_storage_bytes=16 * math.prod(size) * tile if size[0] > 1 else 0,
        bits=bits,
        zeros="packed" if packed_zeros else "float" if zeros else "",
        bias=bool(bias),
        rows=tile,
        lanes=lanes,
        wide=depth % 4 == 0,
    )
    finish(ctx, op.name, written, op.output)


def _nbits(
    rows: tuple[int, ...], depth: int, columns: int, block: int, bits: int, zeros: str, bias: bool, g: Graph
) -> None:
    random = np.random.default_rng(0)
    blocks = ceil_div(depth, block)
    g.input("x", (*rows, depth))
    g.constant("w", random.integers(0, 256, (columns, blocks, block * bits // 8)).astype(np.uint8))
    g.constant("s", (columns, blocks), scale=0.02)
    inputs = ["x", "w", "s"]
    if zeros == "packed":
        size = ceil_div(blocks * bits, 8)
        inputs.append(g.constant("z", random.integers(0, 256, (columns, size)).astype(np.uint8)))
    elif zeros == "float":
        inputs.append(g.constant("z", (columns, blocks), scale=2.0, offset=2.0 ** (bits - 1)))
    if bias:
        inputs += [""] * (5 - len(inputs)) + [g.constant("b", (columns,))]
    g.node("MatMulNBits", inputs, ["y"], domain="com.microsoft", K=depth, N=columns, bits=bits, block_size=block)
    g.output("y", shape=(*rows, columns))


CASES = [
    Case("vector_4bit", partial(_nbits, (1, 1), 256, 64, 32, 4, "", False)),
    Case("rows_4bit_packed", partial(_nbits, (2, 3), 96, 20, 32, 4, "packed", True)),
    Case("part_block", partial(_nbits, (5,), 70, 7, 16, 4, "packed", False)),
    Case("float_zeros", partial(_nbits, (3,), 128, 12, 64, 4, "float", True)),
    Case("vector_8bit", partial(_nbits, (1,), 160, 10, 32, 8, "", True)),
]
