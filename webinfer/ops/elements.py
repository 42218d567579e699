"""Kernels that compute their output element by element, from any number of inputs: one way to launch them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from webinfer.kernel import ITEMSIZE, word_type, words
from webinfer.lowering import Lowering, Operand, ceil_div, grid
from webinfer.ops.epilogue import Epilogue

WORKGROUP = 64
NO_EPILOGUE = Epilogue("", (), 0, {})


def axes(**values: Sequence[int]) -> dict[str, int | float]:
    """Uniforms of values per axis: size=(4, 5) gives size0 = 4 and size1 = 5."""
    params: dict[str, int | float] = {}
    for name, row in values.items():
        params |= {f"{name}{d}": v for d, v in enumerate(row)}
    return params


def emit_elements(
    ctx: Lowering,
    template: str,
    node: str,
    output: str,
    operands: Sequence[Operand],
    params: Mapping[str, int | float],
    *,
    flops: int = 0,
    epilogue: Epilogue = NO_EPILOGUE,
    bits: bool = False,
    **variables: Any,
) -> None:
    """Emit a kernel over lib/elements.wgsl.j2 that writes `output` as binding y.

    operands: inputs, and further outputs that single invocations may write. flops counts per output element. bits: the
    output is moved, not computed, and its elements are words (kernel.MOVED_AS). The template sees `type`, the WGSL type
    of an output element.
    """
    shape, dtype = ctx.shape(output), ctx.dtype(output)
    count = math.prod(shape) * (words(dtype) if bits else 1)
    width = 1 if ITEMSIZE[dtype] == 8 and not bits else 4
    if epilogue.present:
        params = {**params, "plane": math.prod(shape[2:]), "features": shape[1] if len(shape) > 1 else 1}
    ctx.emit(
        template,
        node=node,
        operands=[*operands, *epilogue.operands, Operand("y", output, "read_write", 1 if width == 1 else 4, bits)],
        workgroups=grid(ceil_div(ceil_div(count, width), WORKGROUP)),
        workgroup_size=(WORKGROUP, 1, 1),
        params={**params, "elements": count},
        scalars=epilogue.scalars,
        flops=(flops + epilogue.flops) * count,
        type=word_type(dtype) if bits else ctx.element(output),
        epilogue=epilogue,
        **variables,
    )
