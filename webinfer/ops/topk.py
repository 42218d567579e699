"""TopK along any axis, sorted, equal values by ascending position; of every numeric type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, grid, lowers
from webinfer.ops.case import Array, Case, Graph
from webinfer.ops.copy import nested_copy, only_step
from webinfer.ops.gather import elements_along
from webinfer.symbols import maximum

_WORKGROUP = 64


@lowers("TopK")
def lower_top_k(op: FusedOp, ctx: Lowering) -> None:
    """A workgroup finds the positions of one row, best first; a gather reads the values there."""
    step = only_step(op)
    values, positions = op.outputs
    data = step.inputs[0]
    shape, kept = ctx.shape(data), ctx.shape(values or positions)
    axis = step.int("axis", -1) % len(shape)
    indices = positions or ctx.scratch(f"{op.name}#positions", kept, "int64")
    rows = math.prod(shape) // maximum(shape[axis], 1)
    dtype = ctx.dtype(data)
    ctx.emit(
        "top_k",
        node=op.name,
        operands=[Operand("x", data, width=1), Operand("indices", indices, "read_write", width=1)],
        workgroups=grid(rows),
        workgroup_size=(_WORKGROUP, 1, 1),
        params={"rows": rows, "size": shape[axis], "kept": kept[axis], "inner": math.prod(shape[axis + 1 :])},
        flops=math.prod(shape) * kept[axis],
        workgroup_storage_bytes=_WORKGROUP * (12 if ctx.element(data) == "vec2<u32>" else 8),
        element=ctx.element(data),
        signed=dtype.startswith("int"),
        largest=step.int("largest", 1) != 0,
    )
    if values:
        nested_copy(ctx, op.name, data, values, elements_along(ctx, data, indices, axis))


def _top_k(data: Sequence[int] | Array, k: int, attributes: dict[str, Any], g: Graph) -> None:
    g.input("x", data)
    g.node("TopK", ["x", g.ints("k", [k])], ["y", "i"], **attributes)
    g.output("y", dtype=None if not isinstance(data, np.ndarray) else TensorProto.INT64)
    g.output("i", dtype=TensorProto.INT64)


_TIES = np.random.default_rng(0).integers(-2, 2, (4, 30)) << 33

CASES = [
    Case("last", partial(_top_k, (3, 70), 5, {})),
    Case("smallest_first", partial(_top_k, (7, 2, 3), 3, {"axis": 0, "largest": 0})),
    Case("all", partial(_top_k, (2, 9), 9, {"axis": 1})),
    Case("ties_of_int64", partial(_top_k, _TIES, 12, {}), precisions=("fp32",)),
    Case("ties_of_int64_smallest", partial(_top_k, _TIES, 7, {"largest": 0}), precisions=("fp32",)),
]
