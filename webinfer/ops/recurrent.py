"""RNN, LSTM and GRU: one product for the inputs of all time steps, then a workgroup per sequence walks over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from webinfer.errors import GraphError
from webinfer.fused import FusedOp, Step
from webinfer.lowering import Lowering, Operand, grid, lowers
from webinfer.ops.case import Case, Graph
from webinfer.ops.contraction import Axis, contract
from webinfer.ops.copy import aligned_output, finish, only_step, strided_copy

_WORKGROUPS = {"workgroup": 256, "register": 32}
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_DEFAULTS = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
# WGSL over x, a (alpha) and b (beta), and the defaults of these; exponents are clamped, so that nothing gets infinite.
_ACTIVATIONS = {
    "affine": ("{a} * x + {b}", 1.0, 0.0),
    "elu": ("select({a} * (exp(min(x, 0.0)) - 1.0), x, x >= 0.0)", 1.0, None),
    "hardsigmoid": ("clamp({a} * x + {b}, 0.0, 1.0)", 0.2, 0.5),
    "leakyrelu": ("select({a} * x, x, x >= 0.0)", 0.01, None),
    "relu": ("max(x, 0.0)", None, None),
    "scaledtanh": ("{a} * tanh(clamp({b} * x, -20.0, 20.0))", 1.0, 1.0),
    "sigmoid": ("1.0 / (1.0 + exp(-clamp(x, -80.0, 80.0)))", None, None),
    "softplus": ("max(x, 0.0) + log(1.0 + exp(-abs(x)))", None, None),
    "softsign": ("x / (1.0 + abs(x))", None, None),
    "tanh": ("tanh(clamp(x, -20.0, 20.0))", None, None),
    "thresholdedrelu": ("select(0.0, x, x > {a})", 1.0, None),
}


@dataclass(frozen=True)
class _Sizes:
    """Time steps, batch, directions, hidden units, and strides in elements; layout 1 has the batch first."""

    time: int
    batch: int
    directions: int
    hidden: int
    layout: int

    @property
    def y(self) -> tuple[int, int, int]:
        """Strides of Y along time, direction, batch."""
        row = self.directions * self.hidden
        if self.layout:
            return row, self.hidden, self.time * row
        return self.batch * row, self.batch * self.hidden, self.hidden

    @property
    def state(self) -> tuple[int, int]:
        """Strides of a state along direction, batch."""
        if self.layout:
            return self.hidden, self.directions * self.hidden
        return self.batch * self.hidden, self.hidden

    @property
    def states(self) -> tuple[int, int, int]:
        """Shape of a state."""
        outer = (self.batch, self.directions) if self.layout else (self.directions, self.batch)
        return (*outer, self.hidden)


def activations(op_type: str, step: Step, directions: int) -> list[list[str]]:
    """WGSL expressions over x, by direction and function (f, g, h). Raises GraphError for an unknown name.

    Attributes activation_alpha and activation_beta are consumed by the functions that take one, in order.
    """
    names = step.attributes["activations"].as_strings() if "activations" in step.attributes else ()
    alphas, betas = (
        list(step.attributes[n].as_floats()) if n in step.attributes else []
        for n in ("activation_alpha", "activation_beta")
    )
    rows = []
    defaults = _DEFAULTS[op_type]
    listed = list(names) or list(defaults) * directions
    for name in listed:
        if name.lower() not in _ACTIVATIONS:
            raise GraphError(f"{op_type}: activation {name}; expected one of {', '.join(_ACTIVATIONS)}")
        expression, a, b = _ACTIVATIONS[name.lower()]
        if a is not None and alphas:
            a = alphas.pop(0)
        if b is not None and betas:
            b = betas.pop(0)
        rows.append(expression.format(a=f"f32({a})", b=f"f32({b})"))
    return [rows[d * len(defaults) : (d + 1) * len(defaults)] for d in range(directions)]


@lowers("RNN", "GRU", "LSTM")
def lower_recurrent(op: FusedOp, ctx: Lowering) -> None:
    """All outputs of one to two directions. Y is 0 past a sequence's length, and reverse starts at that length."""
    step = only_step(op)
    kind = step.op_type
    x, w, r, b, lengths, h0, c0, peepholes = (*step.inputs, *("",) * 8)[:8]
    y, y_h, y_c = (*op.outputs, *("",) * 3)[:3]
    layout, direction = step.int("layout", 0), step.string("direction", "forward")
    outer, depth = ctx.shape(x)[:2], ctx.shape(x)[2]
    time, batch = reversed(outer) if layout else outer
    directions, gated = ctx.shape(w)[:2]
    s = _Sizes(time, batch, directions, gated // _GATES[kind], layout)
    projected = ctx.scratch(f"{op.name}#inputs", (*outer, directions * gated), "float32")
    contract(
        ctx,
        op.name,
        (x, w),
        projected,
        output=[Axis(time * batch, depth, 0), Axis(directions * gated, 0, depth)],
        depth=[Axis(depth, 1, 1)],
    )
    y_shape = (batch, time, directions, s.hidden) if layout else (time, directions, batch, s.hidden)
    written = aligned_output(ctx, y) if y else ctx.scratch(f"{op.name}#y", y_shape, "float32")
    hidden = _state(ctx, op.name, y_h, h0, s, "hidden")
    states = [Operand("hidden", hidden, "read_write", width=1)]
    cell = ""
    linear = step.int("linear_before_reset", 0)
    if kind == "LSTM":
        cell = _state(ctx, op.name, y_c, c0, s, "cell")
        states.append(Operand("cell", cell, "read_write", width=1))
    elif kind == "GRU" and not linear:
        gated_state = ctx.scratch(f"{op.name}#gated", s.states, "float32")
        states.append(Operand("gated", gated_state, "read_write", width=1))
    optional = {"b": b, "lengths": lengths, "peepholes": peepholes}
    strides = {"x_time": 1, "x_batch": time} if layout else {"x_time": batch, "x_batch": 1}
    strides |= dict(zip(("y_time", "y_direction", "y_batch"), s.y, strict=True))
    strides |= dict(zip(("s_direction", "s_batch"), s.state, strict=True))
    size = _WORKGROUPS[ctx.tier.tiling]
    clip = step.float("clip", 0.0)
    ctx.emit(
        kind.lower(),
        node=op.name,
        operands=[
            Operand("x", projected, width=1),
            Operand("r", r, width=1),
            *(Operand(n, v, width=1) for n, v in optional.items() if v),
            Operand("y", written, "read_write", width=1),
            *states,
        ],
        params={"time": time, "batch": batch, "directions": directions, "size": s.hidden, **strides}
        | {"reverse": int(direction == "reverse"), "clip": clip},
        workgroups=grid(batch * directions),
        workgroup_size=(size, 1, 1),
        flops=2 * time * batch * directions * gated * s.hidden,
        functions=list(zip("fgh", zip(*activations(kind, step, directions), strict=True), strict=False)),
        has={n for n, v in {**optional, "h0": h0, "c0": c0}.items() if v} | ({"clip"} if clip else set()),
        gates=_GATES[kind],
        linear=bool(linear),
        input_forget=bool(step.int("input_forget", 0)),
    )
    for made, output in ((written, y), (hidden, y_h), (cell, y_c)):
        if output:
            finish(ctx, op.name, made, output)


def _state(ctx: Lowering, node: str, output: str, initial: str, s: _Sizes, name: str) -> str:
    """A state that the kernel updates in place, in 32 bits; it starts as `initial` where that is given."""
    state = aligned_output(ctx, output) if output else ctx.scratch(f"{node}#{name}", s.states, "float32")
    if initial:
        strided_copy(ctx, node, initial, state, (ctx.size(initial),), (1,))
    return state


def _recurrent(
    op_type: str,
    sizes: Sequence[int],
    direction: str,
    optional: str,
    attributes: dict[str, Any],
    g: Graph,
) -> None:
    """sizes: time, batch, inputs, hidden. optional: letters of b(ias), l(engths), s(tates), p(eepholes)."""
    time, batch, depth, hidden = sizes
    directions = 2 if direction == "bidirectional" else 1
    gates = _GATES[op_type]
    g.input("x", (time, batch, depth))
    g.constant("w", (directions, gates * hidden, depth), scale=0.5)
    g.constant("r", (directions, gates * hidden, hidden), scale=0.5)
    inputs = ["x", "w", "r", *[""] * 5]
    if "b" in optional:
        inputs[3] = g.constant("b", (directions, 2 * gates * hidden), scale=0.5)
    if "l" in optional:
        inputs[4] = g.input("lengths", np.array([max(time - k, 1) for k in range(batch)], np.int32))
    if "s" in optional:
        inputs[5] = g.input("h0", (directions, batch, hidden))
        if op_type == "LSTM":
            inputs[6] = g.input("c0", (directions, batch, hidden))
    if "p" in optional:
        inputs[7] = g.constant("p", (directions, 3 * hidden), scale=0.5)
    while not inputs[-1]:
        inputs.pop()
    outputs = ["y", "y_h", "y_c"][: 3 if op_type == "LSTM" else 2]
    g.node(op_type, inputs, outputs, hidden_size=hidden, direction=direction, **attributes)
    g.output(*outputs)


_NAMES = {
    "activations": ["HardSigmoid", "Softsign", "ScaledTanh"],
    "activation_alpha": [0.3, 0.7],
    "activation_beta": [0.4, 1.2],
    "input_forget": 1,
}
CASES = [
    Case("rnn", partial(_recurrent, "RNN", (5, 2, 3, 7), "bidirectional", "bls", {"clip": 0.9})),
    Case("lstm", partial(_recurrent, "LSTM", (4, 3, 5, 6), "bidirectional", "blsp", {})),
    Case("lstm_names", partial(_recurrent, "LSTM", (3, 1, 8, 40), "reverse", "", _NAMES)),
    Case("gru", partial(_recurrent, "GRU", (4, 3, 5, 6), "bidirectional", "bls", {})),
    Case("gru_linear", partial(_recurrent, "GRU", (4, 3, 5, 36), "forward", "", {"linear_before_reset": 1})),
]
