"""RandomNormal, RandomUniform, their Like forms, Bernoulli and Multinomial: a hash of seed and element, no state.

A node gives the same numbers at every run and on every device; feed what shall change from run to run as an input. The
seed is the attribute's, so equal seeds give equal streams, as ONNX Runtime has it; without one it comes from the node's
name.
"""

from __future__ import annotations

import hashlib

import numpy as np

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.copy import only_step
from webinfer.ops.elements import emit_elements


def _seed(op: FusedOp, step: Step) -> int:
    if "seed" in step.attributes:
        return int(np.float32(step.float("seed", 0.0)).view(np.uint32))
    return int.from_bytes(hashlib.sha256(op.name.encode()).digest()[:4], "little")


@lowers("RandomNormal", "RandomNormalLike")
def lower_random_normal(op: FusedOp, ctx: Lowering) -> None:
    """Normal with the attributes' mean and scale (Box and Muller, 1958)."""
    step = only_step(op)
    _emit(op, ctx, step, "random_normal(e)", step.float("mean", 0.0), step.float("scale", 1.0))


@lowers("RandomUniform", "RandomUniformLike")
def lower_random_uniform(op: FusedOp, ctx: Lowering) -> None:
    """Uniform from the attribute low up to high, without high."""
    step = only_step(op)
    low, high = step.float("low", 0.0), step.float("high", 1.0)
    _emit(op, ctx, step, "random_uniform(e)", low, high - low)


def _emit(op: FusedOp, ctx: Lowering, step: Step, number: str, start: float, scale: float) -> None:
    params: dict[str, int | float] = {"seed": _seed(op, step), "start": start, "scale": scale}
    value = f"P.start + P.scale * {number}"
    emit_elements(ctx, "random_numbers", op.name, op.output, [], params, flops=20, value=value)


@lowers("Bernoulli")
def lower_bernoulli(op: FusedOp, ctx: Lowering) -> None:
    """1 with the probability that the input gives, else 0; the function body that ONNX gives has it the other way."""
    step = only_step(op)
    kind = ctx.element(op.output)
    one = "vec2<u32>(1u, 0u)" if kind == "vec2<u32>" else f"{kind}(1)"
    emit_elements(
        ctx,
        "random_numbers",
        op.name,
        op.output,
        [Operand("x", step.inputs[0], width=1)],
        {"seed": _seed(op, step)},
        flops=20,
        value=f"select({kind}(), {one}, random_uniform(e) < load_x(e))",
    )


@lowers("Multinomial")
def lower_multinomial(op: FusedOp, ctx: Lowering) -> None:
    """Per row of unnormalized log-probabilities [batch, classes]: `sample_size` classes, drawn with replacement."""
    step = only_step(op)
    x = step.inputs[0]
    classes = ctx.shape(x)[1]
    params: dict[str, int | float] = {
        "seed": _seed(op, step),
        "classes": classes,
        "samples": ctx.shape(op.output)[1],
    }
    emit_elements(
        ctx, "multinomial", op.name, op.output, [Operand("x", x, width=1)], params, flops=12 * ctx.shape(x)[1]
    )
