"""GatherBlockQuantized (com.microsoft): Gather from block-wise quantized integers, dequantized as they are read."""

from __future__ import annotations

import math
from functools import partial

import ml_dtypes
import numpy as np

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements


@lowers("GatherBlockQuantized", domain="com.microsoft")
def lower_gather_block_quantized(op: FusedOp, ctx: Lowering) -> None:
    """uint8 data holds 8 / bits values per byte along the last axis, its zero points likewise; without these the zero
    is 2^(bits - 1). int4 and uint4 data hold one value per element; without zero points the zero is 0. Positions
    outside the axis give 0.
    """
    step = only_step(op)
    data, index, scales, zeros = (*step.inputs, "")[:4]
    shape, dtype = ctx.shape(data), ctx.dtype(data)
    gather, quantize = step.int("gather_axis", 0) % len(shape), step.int("quantize_axis", 1) % len(shape)
    bits = step.int("bits", 4) if dtype == "uint8" else 4
    if dtype not in ("uint8", "int4", "uint4"):
        raise Unsupported(f"{dtype} data: uint8, int4 and uint4 are supported")
    per = 8 // bits if dtype == "uint8" else 1
    if per > 1 and quantize != len(shape) - 1:
        raise Unsupported(f"quantize_axis {quantize} of packed uint8 data: it is the last axis")
    blocks = ctx.shape(scales)[quantize]
    emit_elements(
        ctx,
        "gather_block_quantized",
        op.name,
        op.output,
        [
            Operand("x", data, width=1),
            Operand("index", index, width=1),
            Operand("scale", scales, width=1),
            *([Operand("zero", zeros, width=1)] if zeros else []),
        ],
        {
            "places": ctx.size(index),
            "gathered:i32": shape[gather],
            "slice": math.prod(shape[gather + 1 :]) * per,
            "quantized": shape[quantize] * per,
            "inner": math.prod(shape[quantize + 1 :]),
            "block": step.int("block_size", 128),
            "blocks": blocks,
            "zero_row": -(-blocks // per),
        },
        flops=2,
        bits_per_value=bits,
        per=per,
        zeros=bool(zeros),
        default_zero=1 << (bits - 1) if dtype == "uint8" else 0,
    )


def _case(dtype: type, bits: int, zeros: bool, gather: int, quantize: int, g: Graph) -> None:
    shape = (5, 3, 48)
    per = 8 // bits if dtype is np.uint8 else 1
    blocks = tuple(-(-n // 16) if d == quantize else n for d, n in enumerate(shape))
    packed = (*shape[:-1], shape[-1] // per)
    low, high = (-8, 8) if dtype is ml_dtypes.int4 else (0, 256 if dtype is np.uint8 else 16)
    random = np.random.default_rng(0)
    g.constant("x", random.integers(low, high, packed).astype(dtype))
    g.constant("scale", blocks)
    names = ["x", g.input("i", np.array([[1, -1], [2, 0]], np.int64)), "scale"]
    if zeros:
        zero_shape = (*blocks[:-1], -(-blocks[-1] // per)) if quantize == 2 else blocks
        names.append(g.constant("zero", random.integers(low, high, zero_shape).astype(dtype)))
    attributes = {"gather_axis": gather, "quantize_axis": quantize, "block_size": 16, "bits": bits}
    g.node("GatherBlockQuantized", names, ["y"], domain="com.microsoft", **attributes)
    g.output("y", shape=(*shape[:gather], 2, 2, *shape[gather + 1 :]))


CASES = [
    Case("uint8_bits4", partial(_case, np.uint8, 4, False, 0, 2)),
    Case("uint8_bits4_zeros", partial(_case, np.uint8, 4, True, 0, 2)),
    Case("uint8_bits2_zeros", partial(_case, np.uint8, 2, True, 0, 2)),
    Case("uint8_bits8_zeros", partial(_case, np.uint8, 8, True, 0, 2)),
    Case("int4", partial(_case, ml_dtypes.int4, 4, False, 1, 2)),
    Case("uint4_zeros", partial(_case, ml_dtypes.uint4, 4, True, 0, 1)),
]
