"""Writes landscape.onnx, the model of the examples: it turns noise into the heights of a landscape, and has no weights.

    height = fill(sum over octaves of roughness^octave * (0.45 - |smooth(noise at the octave's resolution)|))

The absolute value makes ridges (F. K. Musgrave's ridged noise); filling the pits between them makes valleys.

Run `python js_runtime/examples/landscape.py landscape.onnx`, then `webinfer export` (see README.md beside this file).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx

SIZE = 128
"""Of the noise and of the heights, in texels."""

_OCTAVES = (4, 8, 16, 32, 64)
_FILLINGS = 8
_BLUR = np.outer([1, 2, 1], [1, 2, 1]).reshape(1, 1, 3, 3).astype(np.float32) / 16


def landscape() -> onnx.ModelProto:
    """Inputs: noise [1,1,SIZE,SIZE], standard normal; roughness [], 0 to 1. Output: height [1,1,SIZE,SIZE], -1 to 1."""
    lines = ["gain0 = Identity(one)", "sum0 = Mul(noise, zero)"]
    for number, size in enumerate(_OCTAVES):
        window = SIZE // size
        lines += [
            # The mean of n normal numbers times sqrt(n) is a normal number again.
            f"mean{number} = AveragePool<kernel_shape=[{window},{window}], strides=[{window},{window}]>(noise)",
            f"octave{number} = Mul(mean{number}, scale{number})",
            f'wide{number} = Resize<mode="linear">(octave{number}, , , full_size)',
            f"smooth{number} = Conv<pads=[1,1,1,1]>(wide{number}, blur)",
            f"ridge{number} = Abs(smooth{number})",
            f"shape{number} = Sub(top, ridge{number})",
            f"part{number} = Mul(shape{number}, gain{number})",
            f"sum{number + 1} = Add(sum{number}, part{number})",
            f"gain{number + 1} = Mul(gain{number}, roughness)",
        ]
    lines.append(f"land0 = Identity(sum{len(_OCTAVES)})")
    for number in range(_FILLINGS):
        lines += [
            f"around{number} = Conv<pads=[1,1,1,1]>(land{number}, blur)",
            f"land{number + 1} = Max(land{number}, around{number})",
        ]
    lines.append(f"height = Tanh(land{_FILLINGS})")
    model: onnx.ModelProto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]>'
        f" landscape (float[1,1,{SIZE},{SIZE}] noise, float roughness) => (float[1,1,{SIZE},{SIZE}] height)"
        " { " + "\n".join(lines) + " }"
    )
    scales = {f"scale{number}": np.float32(SIZE / size) for number, size in enumerate(_OCTAVES)}
    constants = {"zero": np.float32(0), "one": np.float32(1), "top": np.float32(0.45), "blur": _BLUR, **scales}
    constants["full_size"] = np.array([1, 1, SIZE, SIZE], np.int64)
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    onnx.save(landscape(), Path(sys.argv[1]))
