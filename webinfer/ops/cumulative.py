"""CumSum and CumProd along any axis, of every element type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import onnx

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, ceil_div, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.numbers import constant, numbers
from webinfer.ops.rows import rows_of
from webinfer.symbols import largest

LANES = 32
LONG = 256  # elements from which several invocations share a row


@lowers("CumSum", "CumProd")
def lower_cumulative(op: FusedOp, ctx: Lowering) -> None:
    """One dispatch; the axis is a constant, int32 or int64."""
    step = op.anchor
    assert step is not None
    source, axis = step.inputs[:2]
    axes = ctx.integers(axis)
    if axes is None:
        raise Unsupported(f"the axis {axis} is computed at run time; fold it to a constant")
    shape, dtype = ctx.shape(source), ctx.dtype(source)
    element = numbers(dtype)
    rows = rows_of(shape, [axes[0] % len(shape)] if shape else [], vector=False)
    written = aligned_output(ctx, op.output)
    lanes = LANES if largest(rows.size) >= LONG else 1
    workgroup = (lanes, max(64 // lanes, 1), 1)
    (sizes, strides), (_, (stride,)) = rows.kept, rows.reduced
    ctx.emit(
        "running",
        node=op.name,
        operands=[Operand("x", source, width=1), Operand("out", written, "read_write", width=1)],
        workgroups=grid(ceil_div(rows.count, workgroup[1])),
        workgroup_size=workgroup,
        params={
            **{f"k{d}": size for d, size in enumerate(sizes)},
            **{f"k_s{d}": step for d, step in enumerate(strides)},
            "rows": rows.count,
            "size": rows.size,
            "stride": stride,
            "chunk": ceil_div(rows.size, lanes),
        },
        flops=2 * rows.count * rows.size,
        workgroup_storage_bytes=8 * 64,
        kept_rank=len(sizes),
        word=element.word,
        initial=constant("float32" if element.word == "f32" else dtype, int(step.op_type == "CumProd")),
        combine=element.multiply if step.op_type == "CumProd" else element.add,
        libraries=element.declarations,
        exclusive=step.int("exclusive", 0) == 1,
        reverse=step.int("reverse", 0) == 1,
    )
    finish(ctx, op.name, written, op.output)


def _floats(x: Sequence[int], axis: int, attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", x)
    g.constant("axis", np.array(axis, np.int32))
    g.node("CumSum", ["x", "axis"], ["y"], **attributes)
    g.output("y")


def _integers(axis: int, attributes: dict[str, Any], g: Graph) -> None:
    """Sums that leave 32 bits."""
    g.input("x", np.arange(-7, 17, dtype=np.int64).reshape(2, 3, 4) * (3 << 30))
    g.constant("axis", np.array(axis, np.int64))
    g.node("CumSum", ["x", "axis"], ["y"], **attributes)
    g.output("y", dtype=onnx.TensorProto.INT64)


CASES = [
    Case("last", partial(_floats, (2, 3, 5), -1, {})),
    Case("middle_exclusive", partial(_floats, (2, 3, 4), 1, {"exclusive": 1})),
    Case("long_reverse", partial(_floats, (2, 1001), 1, {"reverse": 1})),
    Case("int64", partial(_integers, 0, {})),
    Case("int64_both", partial(_integers, 2, {"exclusive": 1, "reverse": 1})),
]
