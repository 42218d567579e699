"""NonMaxSuppression. The model declares how many boxes come out; where fewer are selected, rows of -1 follow."""

from __future__ import annotations

from functools import partial

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, Unsupported, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements
from webinfer.symbols import minimum

_WORKGROUP = 64


@lowers("NonMaxSuppression")
def lower_non_max_suppression(op: FusedOp, ctx: Lowering) -> None:
    """A workgroup per batch and class takes the best box left and drops those that overlap it, again and again."""
    step = only_step(op)
    boxes, scores, limit, overlap, threshold = (*step.inputs, "", "", "")[:5]
    batches, classes, count = ctx.shape(scores)
    most = [0] if not limit else ctx.integers(limit)
    if most is None:
        raise Unsupported(f"{limit} is computed at run time; fold it to a constant")
    groups, kept = batches * classes, minimum(max(most[0], 0), count)
    if kept == 0:
        raise Unsupported("max_output_boxes_per_class is 0: the result is empty")
    picked = ctx.scratch(f"{op.name}#picked", (groups, kept), "int32")
    counts = ctx.scratch(f"{op.name}#counts", (groups,), "int32")
    dropped = ctx.scratch(f"{op.name}#dropped", (groups, count), "uint32")
    ctx.emit(
        "nms",
        node=op.name,
        operands=[
            Operand("boxes", boxes, width=1),
            Operand("scores", scores, width=1),
            *([Operand("overlap", overlap, width=1)] if overlap else []),
            *([Operand("threshold", threshold, width=1)] if threshold else []),
            *(Operand(n, v, "read_write", width=1) for n, v in (("picked", picked), ("counts", counts))),
            Operand("dropped", dropped, "read_write", width=1),
        ],
        workgroups=grid(groups),
        workgroup_size=(_WORKGROUP, 1, 1),
        params={"groups": groups, "classes": classes, "size": count, "kept": kept},
        flops=20 * groups * kept * count,
        workgroup_storage_bytes=_WORKGROUP * 8,
        overlap="load_overlap(0u)" if overlap else "0.0",
        threshold="load_threshold(0u)" if threshold else None,
        centered=step.int("center_point_box", 0) != 0,
    )
    operands = [Operand("picked", picked, width=1), Operand("counts", counts, width=1)]
    params: dict[str, int | float] = {"groups": groups, "classes": classes, "kept": kept}
    emit_elements(ctx, "nms_rows", op.name, op.output, operands, params)


def _case(centered: int, most: int, rows: int, g: Graph) -> None:
    random = np.random.default_rng(0)
    corners = random.random((2, 40, 2), np.float32) * 3
    g.input("boxes", np.concatenate([corners, corners + 1 if not centered else np.ones_like(corners)], axis=2))
    g.input("scores", random.random((2, 3, 40), np.float32))
    names = [g.ints("most", [most]), g.single("overlap", [0.3]), g.single("threshold", [0.4])]
    g.node("NonMaxSuppression", ["boxes", "scores", *names], ["y"], center_point_box=centered)
    g.output("y", dtype=TensorProto.INT64, shape=(rows, 3))


CASES = [
    Case("corners", partial(_case, 0, 5, 30), precisions=("fp32",)),
    Case("centers", partial(_case, 1, 4, 24), precisions=("fp32",)),
]
