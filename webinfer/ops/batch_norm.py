"""BatchNormalization, at inference and in training: the elements of a channel are a row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from webinfer.fused import FusedOp
from webinfer.lowering import Lowering, Operand, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import aligned_output, finish
from webinfer.ops.rows import Pass, emit_rows, rows_of
from webinfer.symbols import maximum

_MEAN = Pass("sum", "x", then=("let mean = sum / f32(P.length);",))
_VARIANCE = Pass("square", "(x - U(mean)) * (x - U(mean))", then=("let variance = square / f32(P.length);",))
_RUNNING = "load_{0}(row) * P.momentum + {1} * (1.0f - P.momentum)"


@lowers("BatchNormalization")
def lower_batch_norm(op: FusedOp, ctx: Lowering) -> None:
    """X [N, C, ...] or [N]; scale, bias, mean and variance [C]. Training outputs Y and the running statistics."""
    step = op.anchor
    assert step is not None
    x, scale, bias, old_mean, old_variance = step.inputs
    shape = ctx.shape(x)
    training = step.int("training_mode", 0) == 1
    rows = rows_of(shape, [d for d in range(len(shape)) if d != 1])
    mean, variance = ("mean", "variance") if training else ("load_old_mean(row)", "load_old_variance(row)")
    slope = f"(inverseSqrt({variance} + P.epsilon) * load_scale(row))"
    results = {"mean": _RUNNING.format("old_mean", "mean"), "variance": _RUNNING.format("old_variance", "variance")}
    outputs = {name: value for name, value in zip(results, op.outputs[1:], strict=False) if value and training}
    written = {name: aligned_output(ctx, value) for name, value in outputs.items()}
    target = op.outputs[0] if rows.width == 4 else aligned_output(ctx, op.outputs[0])
    params: dict[str, int | float] = {"epsilon": step.float("epsilon", 1e-5)}
    if training:
        params |= {"length": maximum(rows.length, 1), "momentum": step.float("momentum", 0.9)}
    factors = {"scale": scale, "bias": bias, "old_mean": old_mean, "old_variance": old_variance}
    read = {n: v for n, v in factors.items() if not n.startswith("old") or n[4:] in outputs or not training}
    emit_rows(
        ctx,
        op.name,
        rows,
        [
            Operand("x", x, width=rows.width),
            *(Operand(name, value, width=1) for name, value in read.items()),
            *(Operand(name, value, "read_write", width=1) for name, value in written.items()),
            Operand("out", target, "read_write", width=rows.width),
        ],
        [_MEAN, _VARIANCE] if training else [],
        results={name: results[name] for name in outputs},
        elements={"out": f"(x - U({mean})) * {slope} + U(load_bias(row))"},
        params=params,
        flops=8 if training else 4,
    )
    finish(ctx, op.name, target, op.outputs[0])
    for name, value in outputs.items():
        finish(ctx, op.name, written[name], value)


def _batch(shape: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    for name in ("scale", "bias", "mean"):
        g.input(name, (shape[1],))
    g.input("variance", (shape[1],), offset=2.0, scale=0.1)
    g.node("BatchNormalization", ["x", "scale", "bias", "mean", "variance"], ["y"])
    g.output("y")


CASES = [
    *(Case(f"batch_{'x'.join(map(str, s))}", partial(_batch, s)) for s in ((5, 3), (2, 3, 7), (2, 3, 2, 4))),
]
