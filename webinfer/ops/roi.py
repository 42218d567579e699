"""RoiAlign and MaxRoiPool: regions of images pooled to one size."""

from __future__ import annotations

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.elements import axes, emit_elements


@lowers("RoiAlign")
def lower_roi_align(op: FusedOp, ctx: Lowering) -> None:
    """Average or maximum, any sampling ratio, both coordinate modes."""
    step = op.anchor
    assert step is not None
    x, rois, batch = step.inputs
    half_pixel = step.string("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    ratio = step.int("sampling_ratio", 0)
    params = {"channels": ctx.shape(x)[1]} | axes(size=ctx.shape(x)[2:], out=ctx.shape(op.output)[2:])
    params |= {"scale": step.float("spatial_scale", 1.0), "offset": 0.5 if half_pixel else 0.0}
    if ratio > 0:
        params["ratio:i32"] = ratio
    emit_elements(
        ctx,
        "roi_align",
        op.name,
        op.output,
        [Operand("x", x, width=1), Operand("rois", rois, width=1), Operand("batch", batch, width=1)],
        params,
        flops=30 * max(ratio, 1) ** 2,
        half_pixel=half_pixel,
        sampled=ratio > 0,
        average=step.string("mode", "avg") == "avg",
    )


@lowers("MaxRoiPool")
def lower_max_roi_pool(op: FusedOp, ctx: Lowering) -> None:
    """Regions are rows of (batch index, x1, y1, x2, y2); an empty bin gives 0."""
    step = op.anchor
    assert step is not None
    x, rois = step.inputs
    params = {"channels": ctx.shape(x)[1]} | axes(size=ctx.shape(x)[2:], out=ctx.shape(op.output)[2:])
    emit_elements(
        ctx,
        "max_roi_pool",
        op.name,
        op.output,
        [Operand("x", x, width=1), Operand("rois", rois, width=1)],
        params | {"scale": step.float("spatial_scale", 1.0)},
        flops=4,
    )
