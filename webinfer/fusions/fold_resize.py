"""An image doubled (nearest) before 3x3 convolutions is never written: the convolution reads each pixel 2 x 2 times."""

from __future__ import annotations

import onnx_ir as ir

from webinfer.fusions.outline import with_prologue
from webinfer.fusions.rewrite import Fusion, Refusal, Rewrite, shape_of

# With a scale of exactly 2, all of these map output pixel i to input pixel i // 2 (ONNX Resize, opset 19).
_HALVING = {("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil")}


class _FoldResize(Fusion):
    """Starts at the convolution; each gets its own copy of the Resize in its function."""

    name, order, stage = "resize into convolution", 115, "outline"

    def match(self, node: ir.Node, model: ir.Model) -> Rewrite | Refusal | None:
        """A Resize that doubles rows and columns, read by a 3x3 convolution with stride 1 and padding 1."""
        data = node.inputs[0] if node.op_type == "Conv" and not node.domain else None
        resize = data.producer() if data is not None else None
        if data is None or resize is None or resize.op_type != "Resize" or resize.domain:
            return None
        fault = _fault(resize, node, data)
        return with_prologue(resize, node) if fault is None else Refusal(node, fault)


FUSION = _FoldResize()


def _fault(resize: ir.Node, conv: ir.Node, data: ir.Value) -> str | None:
    def text(name: str, default: str) -> str:
        return resize.attributes[name].as_string() if name in resize.attributes else default

    def ints(name: str, default: list[int]) -> list[int]:
        return list(conv.attributes[name].as_ints()) if name in conv.attributes else default

    source, large = shape_of(resize.inputs[0]), shape_of(data)
    if len(source) != 4 or large != (*source[:2], 2 * source[2], 2 * source[3]) or source[3] % 4:
        return f"Resize of {list(source)} to {list(large)}; images enlarged twice, width a multiple of 4, fold"
    modes = (text("coordinate_transformation_mode", "half_pixel"), text("nearest_mode", "round_prefer_floor"))
    if text("mode", "nearest") != "nearest" or modes not in _HALVING:
        return f"Resize mode {text('mode', 'nearest')}, {', '.join(modes)} is no repetition of pixels"
    if data.is_graph_output():
        return "the enlarged image is a graph output"
    group = conv.attributes["group"].as_int() if "group" in conv.attributes else 1
    window = (shape_of(conv.inputs[1])[2:], ints("strides", [1, 1]), ints("pads", [0] * 4), ints("dilations", [1, 1]))
    if group != 1 or window != ((3, 3), [1, 1], [1] * 4, [1, 1]):
        return "only a 3x3 convolution with stride 1, padding 1 and one group reads an enlarged image"
    return None
