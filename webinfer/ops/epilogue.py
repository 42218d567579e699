"""Renders the elementwise tail of a fused op as one WGSL function over the anchor's accumulators.

The kernel calls `epilogue(v, i, c)`: v is the anchor's result, i its index in the output, c its channel. Over lanes=4,
v is vec4<f32> of 4 consecutive elements and i counts vec4s; over lanes=1, v is f32 and i counts elements. For anchors
whose channel is axis 1, c is that channel (all 4 lanes share it); where it is the last axis, c is the column, in units
of `lanes`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from webinfer.fused import Step
from webinfer.lowering import Lowering, Operand, Unsupported
from webinfer.ops.chain import Layout, Scalars, Term, constant_term, render_chain
from webinfer.ops.lanes import aliases, loaded

Kind = Literal["scalar", "same", "channel", "last"]
LAST_AXIS_ANCHORS = frozenset({"Gemm", "MatMul", "LayerNormalization", "RMSNormalization", "Softmax", "Attention"})


def operand_kind(shape: tuple[int, ...], output: tuple[int, ...], anchor: str) -> Kind | None:
    """How an operand of `shape` meets an output of shape `output` after op type `anchor`; None: no kernel can."""
    if math.prod(shape) == 1 and len(shape) <= max(len(output), 1):
        return "scalar"
    padded = (1,) * (len(output) - len(shape)) + tuple(shape)
    if padded == tuple(output):
        return "same"
    if anchor in LAST_AXIS_ANCHORS:
        return "last" if padded == (1,) * (len(output) - 1) + output[-1:] else None
    if len(output) >= 2 and padded == (1, output[1]) + (1,) * (len(output) - 2):
        return "channel"
    return None


@dataclass(frozen=True)
class Epilogue:
    """`code` declares the WGSL function (empty where there is none), `operands` are its extra bindings."""

    code: str
    operands: tuple[Operand, ...]
    flops: int  # per output element
    scalars: Mapping[str, float]  # one-element constants, which become uniforms: equal structures share a pipeline

    @property
    def present(self) -> bool:
        """Whether the kernel has to call it."""
        return bool(self.code)


def _load(binding: str, kind: Kind, lanes: Literal[1, 4]) -> tuple[str, Literal[1, 4]]:
    """Expression that reads an operand of `kind`, and how many elements one load of it moves."""
    if kind in ("scalar", "channel"):
        return f"load_{binding}({'0u' if kind == 'scalar' else 'c'})", 1
    return f"load_{binding}({'i' if kind == 'same' else 'c'})", lanes


def render_epilogue(
    ctx: Lowering,
    steps: tuple[Step, ...],
    anchor: Step,
    output: str,
    lanes: Literal[1, 4],
    *,
    bias: str | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> Epilogue:
    """Build the epilogue of `anchor` writing value `output`, from alpha v + beta bias on; the bias is per channel.

    Raises Unsupported where an operand has a shape that no kernel takes.
    """
    if not steps and bias is None and alpha == 1.0:
        return Epilogue("", (), 0, {})
    operands: list[Operand] = []
    scalars = Scalars()
    start = "v" if alpha == 1.0 else f"{scalars.add(alpha)} * v"
    if bias is not None:
        last = anchor.op_type in LAST_AXIS_ANCHORS
        met = operand_kind(ctx.shape(bias), ctx.shape(output), anchor.op_type) if last else "channel"
        assert met is not None
        addend, width = _load("e0", met, lanes)
        operands.append(Operand("e0", bias, width=width))
        start += f" + {addend}" if beta == 1.0 else f" + {scalars.add(beta)} * {addend}"
    bound: dict[str, Term] = {}

    def bind(name: str, layout: Layout) -> Term:
        """The loaded operand; the kernel knows where it lies against the output."""
        if name not in bound:
            bound[name] = constant_term(ctx, name, scalars) or load(name, layout)
        return bound[name]

    def load(name: str, layout: Layout) -> Term:
        kind = operand_kind(layout.shape, ctx.shape(output), anchor.op_type)
        if kind is None or layout.block:
            raise Unsupported(
                f"epilogue operand {name} {list(layout.shape)} on output "
                f"{list(ctx.shape(output))} of {anchor.op_type}: do not fuse it"
            )
        binding = f"e{len(operands)}"
        text, width = _load(binding, kind, lanes)
        operands.append(Operand(binding, name, width=width))
        return Term(loaded(text, ctx.dtype(name)), ctx.dtype(name), layout.shape)

    body = [f"let start = {start};"]
    result, functions, flops = "start", "", 0
    if steps:
        first = Term("start", "float32", ctx.shape(output))
        chain = render_chain(ctx, steps, {anchor.outputs[0]: first}, bind)
        body += chain.lines
        result, functions, flops = chain.result.text, chain.functions, chain.flops
    code = f"{aliases(lanes)}\n{functions}fn epilogue(v: V, i: u32, c: u32) -> V {{\n  "
    code += "\n  ".join([*body, f"return {result};"]) + "\n}\n"
    return Epilogue(code, tuple(operands), flops, scalars.params)
