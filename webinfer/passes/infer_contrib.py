"""Shapes and element types that ONNX's own inference leaves open, above all of operators of com.microsoft."""

from __future__ import annotations

import onnx_ir as ir
from onnx_shape_inference import OpUsageError, ShapeInferenceContext, ShapeInferenceError, registry

from webinfer.dims import is_known

_NO_SCALARS = frozenset({"GatherND"})  # ONNX's inference gives a scalar result no shape at all


def infer_contrib(model: ir.Model) -> None:
    """Give the results that are still unknown the shape that their node implies, where that is known."""
    registry.collect()
    context = ShapeInferenceContext(model.opset_imports, policy="override")
    for node in model.graph:
        left_open = node.domain or node.op_type in _NO_SCALARS
        if left_open and any(o.name and (o.dtype is None or not is_known(o.shape)) for o in node.outputs):
            infer = registry.get(node.domain, node.op_type, version=model.opset_imports.get(node.domain, 1))
            if infer is not None:
                try:
                    infer(context, node)
                    _correct_present(context, node)
                except (OpUsageError, ShapeInferenceError):
                    continue


def _gather_block_quantized(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Gather's shape; bytes hold several values along the last axis."""
    data, index, scales = node.inputs[:3]
    if data is None or index is None or scales is None or data.shape is None or index.shape is None:
        return
    shape = list(data.shape)
    if data.dtype == ir.DataType.UINT8 and isinstance(shape[-1], int):
        shape[-1] *= 8 // (node.attributes["bits"].as_int() if "bits" in node.attributes else 4)
    axis = node.attributes["gather_axis"].as_int() if "gather_axis" in node.attributes else 0
    axis %= len(shape)
    context.set_shape_and_dtype(
        node.outputs[0], ir.Shape([*shape[:axis], *index.shape, *shape[axis + 1 :]]), scales.dtype
    )


def _correct_present(context: ShapeInferenceContext, node: ir.Node) -> None:
    """Where the registry's present keys and values of attention have other sizes than ONNX Runtime's."""
    keys, values = (*node.outputs, None, None, None)[1:3]
    if keys is None or values is None or keys.shape is None or node.domain != "com.microsoft":
        return
    shape = list(keys.shape)
    if node.op_type == "MultiHeadAttention":
        value, past = (*node.inputs, *[None] * 8)[2:8:5]
        source = past if past is not None else value
        if source is not None and source.shape is not None:
            width = source.shape[-1]
            split = isinstance(width, int) and source.shape.rank() == 3
            shape[-1] = width // node.attributes["num_heads"].as_int() if split else width
            context.set_shape_and_dtype(values, ir.Shape(shape), keys.dtype)
    elif node.op_type == "GroupQueryAttention":
        past, longest = node.inputs[3], node.inputs[6]
        total = None if longest is None else ir.convenience.get_const_tensor(longest)
        if total is not None:
            before = 0 if past is None or past.shape is None else past.shape[2]
            shape[2] = max(before, int(total.numpy().item())) if isinstance(before, int) else before
            for output in (keys, values):
                context.set_shape_and_dtype(output, ir.Shape(shape), keys.dtype)


registry.register("com.microsoft", "GatherBlockQuantized")(_gather_block_quantized)
