"""Ops that only rename a shape: the output is a view of the input, or a plain copy where a view is not possible."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from onnx import TensorProto

from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Unsupported, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.copy import only_step, rearrange
from webinfer.ops.generate import fill


@lowers("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Dropout")
def lower_view(op: FusedOp, ctx: Lowering) -> None:
    """The output's shape is known, so shape and axes inputs are not read. Dropout does nothing at inference."""
    step = only_step(op)
    output, *mask = (name for name in op.outputs if name)
    if step.op_type == "Dropout" and _drops(step, ctx):
        raise Unsupported("Dropout in training mode: export the model for inference")
    rearrange(ctx, op.name, step.inputs[0], output, (ctx.size(output),), (1,))
    for name in mask:
        fill(ctx, op.name, name, 1)


def _drops(step: Step, ctx: Lowering) -> bool:
    ratio, training = (ctx.constant(name) for name in (*step.inputs, "", "")[1:3])
    return training is not None and bool(training) and (ratio is None or float(ratio) > 0)


def _reshape(shape: Sequence[int], to: Sequence[int], g: Graph) -> None:
    g.input("x", shape)
    g.ints("to", to)
    g.node("Reshape", ["x", "to"], ["r"])
    g.node("Neg", ["r"], ["n"])
    g.node("Reshape", ["n", "to"], ["y"])
    g.output("y")


def _squeeze(g: Graph) -> None:
    g.input("x", (1, 3, 1, 5))
    g.ints("axes", (0, -2))
    g.node("Squeeze", ["x", "axes"], ["s"])
    g.constant("axis", np.array(1, np.int64))  # a scalar where the operator's text wants a list: exporters write it
    g.node("Unsqueeze", ["s", "axis"], ["y"])
    g.output("y")


def _flatten(g: Graph) -> None:
    g.input("x", (2, 3, 5))
    g.node("Flatten", ["x"], ["f"], axis=2)
    g.node("Dropout", ["f"], ["d"])
    g.node("Abs", ["d"], ["y"])
    g.output("y")


def _mask(g: Graph) -> None:
    g.input("x", (2, 5))
    g.node("Dropout", ["x"], ["y", "mask"])
    g.output("y")
    g.output("mask", dtype=TensorProto.BOOL)


def _weight(g: Graph) -> None:
    g.constant("w", (3, 4))
    g.input("x", (12,))
    g.ints("to", (12,))
    g.node("Reshape", ["w", "to"], ["r"])
    g.node("Add", ["x", "r"], ["y"])
    g.output("y")


CASES = [
    *(Case(f"reshape_w{w}", partial(_reshape, (2, 3, w), (3, -1))) for w in range(1, 10)),
    Case("squeeze_unsqueeze", _squeeze),
    Case("flatten_dropout", _flatten),
    Case("reshape_of_weight", _weight),
    Case("dropout_mask", _mask, precisions=("fp32",)),
]
