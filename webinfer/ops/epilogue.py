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
from webinfer.ops.elementwise import ELEMENTWISE, finite, literal

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


def constant_scalar(ctx: Lowering, name: str) -> float | None:
    """The value of a one-element constant, or None."""
    array = ctx.constant(name)
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def add_scalar(scalars: dict[str, float], value: float) -> str:
    """The WGSL expression of a uniform that holds `value`, kept finite; equal values share one."""
    number = finite(value)
    name = next((n for n, v in scalars.items() if v == number), f"scalar{len(scalars)}")
    scalars[name] = number
    return f"P.{name}"


def chain(steps: tuple[Step, ...], known: dict[str, str]) -> tuple[list[str], list[str], int]:
    """WGSL statements for elementwise steps. `known` maps value names to expressions and is extended in place.

    Returns statements, helper functions and flops per element.
    """
    lines: list[str] = []
    functions: dict[str, None] = {}
    flops = 0
    for n, step in enumerate(steps):
        op = ELEMENTWISE[step.op_type]
        template = op.expression(step.attributes)
        args = [known[i] if i else literal(math.inf if k == 2 else -math.inf) for k, i in enumerate(step.inputs)]
        if step.op_type == "Clip":
            args += [literal(-math.inf), literal(math.inf)][len(args) - 1 :]
        if step.op_type in ("Clip", "Min", "Max", "Pow"):
            args = [f"V({a})" for a in args]
        if step.op_type in ("Min", "Max") and len(args) != 2:
            raise Unsupported(f"{step.op_type} with {len(args)} inputs: chain binary {step.op_type} nodes instead")
        lines.append(f"let t{n} = V({template.format(*args)});")
        known[step.outputs[0]] = f"t{n}"
        flops += op.flops
        functions |= dict.fromkeys(op.functions)
    return lines, list(functions), flops


def _load(binding: str, kind: Kind, lanes: Literal[1, 4]) -> tuple[str, Literal[1, 4]]:
    """Expression that reads an operand of `kind`, and how many elements one load of it moves."""
    if kind in ("scalar", "channel"):
        return f"f32(load_{binding}({'0u' if kind == 'scalar' else 'c'}))", 1
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
    made = {anchor.outputs[0]} | {s.outputs[0] for s in steps}
    known = {anchor.outputs[0]: "v"}
    operands: list[Operand] = []
    scalars: dict[str, float] = {}
    start = "v" if alpha == 1.0 else f"{add_scalar(scalars, alpha)} * v"
    if bias is not None:
        last = anchor.op_type in LAST_AXIS_ANCHORS
        met = operand_kind(ctx.shape(bias), ctx.shape(output), anchor.op_type) if last else "channel"
        assert met is not None
        addend, width = _load("e0", met, lanes)
        operands.append(Operand("e0", bias, width=width))
        start += f" + {addend}" if beta == 1.0 else f" + {add_scalar(scalars, beta)} * {addend}"
    if start != "v":
        known[anchor.outputs[0]] = f"({start})"
    for step in steps:
        for name in step.inputs:
            if not name or name in known or name in made:
                continue
            scalar = constant_scalar(ctx, name)
            if scalar is not None:
                known[name] = add_scalar(scalars, scalar)
                continue
            kind = operand_kind(ctx.shape(name), ctx.shape(output), anchor.op_type)
            binding = f"e{len(operands)}"
            if kind is None:
                raise Unsupported(
                    f"epilogue operand {name} {list(ctx.shape(name))} on output "
                    f"{list(ctx.shape(output))} of {anchor.op_type}: do not fuse it"
                )
            loaded, width = _load(binding, kind, lanes)
            operands.append(Operand(binding, name, width=width))
            known[name] = f"V({loaded})"
    lines, functions, flops = chain(steps, known)
    result = known[steps[-1].outputs[0] if steps else anchor.outputs[0]]
    body = "\n  ".join([*lines, f"return {result};"])
    value = "vec4<f32>" if lanes == 4 else "f32"
    code = f"alias V = {value};\n" + "".join(functions)
    code += f"fn epilogue(v: V, i: u32, c: u32) -> V {{\n  {body}\n}}\n"
    return Epilogue(code, tuple(operands), flops, scalars)
