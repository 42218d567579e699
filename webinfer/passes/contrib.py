"""Operators of com.microsoft that fuse standard operators, or lay data out differently, written as these again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from webinfer.errors import UnsupportedError
from webinfer.passes.contract import describe

_DOMAIN = "com.microsoft"
_FIRST, _LAST = [0, 3, 1, 2], [0, 2, 3, 1]  # channels moved to the second axis, and to the last


class _Parts:
    """Standard nodes in front of the one that they replace."""

    def __init__(self, node: ir.Node) -> None:
        self.node = node

    def add(self, op_type: str, inputs: Sequence[ir.Value | None], attributes: Sequence[ir.Attr] = ()) -> ir.Value:
        return self.add_all(op_type, inputs, attributes, 1)[0]

    def add_all(
        self, op_type: str, inputs: Sequence[ir.Value | None], attributes: Sequence[ir.Attr], outputs: int
    ) -> Sequence[ir.Value]:
        name = f"{self.node.name or self.node.op_type}/{op_type}"
        made = ir.Node("", op_type, inputs, attributes, num_outputs=outputs, name=name)
        assert self.node.graph is not None
        self.node.graph.insert_before(self.node, made)
        return made.outputs

    def transpose(self, value: ir.Value | None, order: Sequence[int]) -> ir.Value:
        return self.add("Transpose", [value], [ir.AttrInt64s("perm", order)])

    def number(self, value: float) -> ir.Value:
        return self.add("Constant", [], [ir.AttrTensor("value", ir.tensor(np.array(value, np.float32)))])


def _fused_conv(parts: _Parts) -> ir.Value:
    """FusedConv: activation(Conv(x, w, b) + z)."""
    node = parts.node
    x, w, b, z = (*node.inputs, None, None)[:4]
    own = ("activation", "activation_params")
    result = parts.add("Conv", [x, w, b], [a for n, a in node.attributes.items() if n not in own])
    if z is not None:
        result = parts.add("Add", [result, z])
    if "activation" not in node.attributes:
        return result
    activation = node.attributes["activation"].as_string()
    given = node.attributes.get("activation_params")
    params = [] if given is None else list(given.as_floats())
    match activation:
        case "Relu" | "Sigmoid" | "Tanh" | "HardSwish":
            return parts.add(activation, [result])
        case "LeakyRelu" | "HardSigmoid":
            names = ("alpha", "beta")[: len(params)]
            return parts.add(activation, [result], [ir.AttrFloat32(n, p) for n, p in zip(names, params, strict=True)])
        case "Clip":
            return parts.add("Clip", [result, *map(parts.number, params)])
    raise UnsupportedError(f"{describe(node)}: activation {activation}: leave it to a node of its own")


def _nhwc_conv(parts: _Parts) -> ir.Value:
    """NhwcConv: channels last in the image and in the weight."""
    x, w, *rest = parts.node.inputs
    inputs = [parts.transpose(x, _FIRST), parts.transpose(w, _FIRST), *rest]
    return parts.transpose(parts.add("Conv", inputs, list(parts.node.attributes.values())), _LAST)


def _matmul_integer_to_float(parts: _Parts) -> ir.Value:
    """MatMulIntegerToFloat: MatMulInteger(x, w) * (x scale * w scale) + bias."""
    x, w, x_scale, w_scale, x_zero, w_zero, bias = (*parts.node.inputs, *(None,) * 5)[:7]
    return _scaled_product(parts, [x, w, x_zero, w_zero], x_scale, w_scale, bias)


def _dynamic_quantize_matmul(parts: _Parts) -> ir.Value:
    """DynamicQuantizeMatMul: the same on x as DynamicQuantizeLinear gives it."""
    x, w, w_scale, w_zero, bias = (*parts.node.inputs, *(None,) * 3)[:5]
    quantized, x_scale, x_zero = parts.add_all("DynamicQuantizeLinear", [x], [], 3)
    return _scaled_product(parts, [quantized, w, x_zero, w_zero], x_scale, w_scale, bias)


def _scaled_product(
    parts: _Parts,
    integers: Sequence[ir.Value | None],
    x_scale: ir.Value | None,
    w_scale: ir.Value | None,
    bias: ir.Value | None,
) -> ir.Value:
    assert w_scale is not None
    to = ir.AttrInt64("to", int(w_scale.dtype or ir.DataType.FLOAT))
    sums = parts.add("Cast", [parts.add("MatMulInteger", integers)], [to])
    result = parts.add("Mul", [sums, parts.add("Mul", [x_scale, w_scale])])
    return result if bias is None else parts.add("Add", [result, bias])


def _bias_split_gelu(parts: _Parts) -> ir.Value:
    """BiasSplitGelu: the first half of x + bias, times Gelu of the second half."""
    two = [ir.AttrInt64("axis", -1), ir.AttrInt64("num_outputs", 2)]
    plain, gate = parts.add_all("Split", [parts.add("Add", list(parts.node.inputs))], two, 2)
    return parts.add("Mul", [plain, parts.add("Gelu", [gate])])


_STANDARD: dict[str, Callable[[_Parts], ir.Value]] = {
    "BiasSplitGelu": _bias_split_gelu,
    "DynamicQuantizeMatMul": _dynamic_quantize_matmul,
    "FusedConv": _fused_conv,
    "MatMulIntegerToFloat": _matmul_integer_to_float,
    "NhwcConv": _nhwc_conv,
}


def standardise(graph: ir.Graph) -> int:
    """Replace such nodes, those of subgraphs too; returns how many. Raises UnsupportedError for unknown activations."""
    count = 0
    for node in list(ir.traversal.RecursiveGraphIterator(graph)):
        rewrite = _STANDARD.get(node.op_type) if node.domain == _DOMAIN else None
        if rewrite is None:
            continue
        result = rewrite(_Parts(node))
        (output,) = node.outputs
        result.name, result.type, result.shape = output.name, output.type, output.shape
        ir.convenience.replace_all_uses_with(output, result, replace_graph_outputs=True)
        assert node.graph is not None
        node.graph.remove(node, safe=True)
        count += 1
    return count
