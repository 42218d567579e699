"""Writes small image models as packages, with pictures and what ONNX Runtime's CPU provider makes of them.

`python -m tests.images.make_images FOLDER` writes `FOLDER/<model>.webinfer/` and `FOLDER/images.json`, for vitest and
for browsers. Pictures are bytes; how they become tensors is plain arithmetic here: the runtime does not check itself.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from PIL import Image

from tests.commands import call

Array = np.ndarray[Any, np.dtype[Any]]

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
WEIGHTS = ", ".join(str(((7 * i) % 11 - 5) / 8) for i in range(4 * 3 * 9))

MODELS = {
    # One dispatch that reads the input and writes the output, four elements at a time.
    "curve": """
        curve (float[1, 1, 6, 8] x) => (float[1, 1, 6, 8] y) <float[1] a = {1.5}, float[1] b = {0.25}>
        { scaled = Mul(x, a) shifted = Add(scaled, b) y = Tanh(shifted) }""",
    # The same with 16-bit elements.
    "half": """
        half (float16[1, 1, 6, 8] x) => (float16[1, 1, 6, 8] y) <float[1] a = {1.5}>
        { factor = Cast <to = 10> (a) scaled = Mul(x, factor) y = Relu(scaled) }""",
    # Odd sizes, a convolution that reads each element often, whole texels of four channels side by side.
    "photo": f"""
        photo (float[1, 3, 5, 7] image) => (float[1, 5, 7, 4] features, float[1, 3, 5, 7] negative)
        <float[4, 3, 3, 3] w = {{{WEIGHTS}}}, float[1] one = {{1.0}}>
        {{
          convolved = Conv <pads = [1, 1, 1, 1]> (image, w)
          rectified = Relu(convolved)
          features = Transpose <perm = [0, 2, 3, 1]> (rectified)
          negative = Sub(one, image)
        }}""",
    # Bytes side by side, as many exported detectors take them.
    "bytes": """
        bytes (uint8[1, 5, 7, 3] image) => (uint8[1, 5, 7, 3] brighter) <uint8[1] step = {9}>
        { brighter = Add(image, step) }""",
    # Any size.
    "any": """
        any (float[1, 3, h, w] image) => (float[1, 3, h, w] doubled) <float[1] two = {2.0}>
        { doubled = Mul(image, two) }""",
}
DIMS = {"any": ["h=1..32", "w=1..32"]}


@dataclass(frozen=True)
class Case:
    """A picture of height x width RGBA bytes, the tensor that it becomes, and how."""

    model: str
    tensor: Array
    options: dict[str, Any]
    size: tuple[int, int]


def picture(height: int, width: int) -> Array:
    """RGBA bytes that differ everywhere; no texel is transparent, which browsers may round."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(4), indexing="ij")
    values = (x * 37 + y * 91 + c * 53 + (x * y) % 7 * 29) % 256
    values[..., 3] = 255
    return values.astype(np.uint8)


def planes(height: int, width: int) -> Array:
    """The picture as float32 [1, 4, height, width] in 0 to 1."""
    return (picture(height, width).astype(np.float32) / np.float32(255)).transpose(2, 0, 1)[None]


def resized(image: Array, height: int, width: int) -> Array:
    """Bilinear with half-pixel centres and antialiasing, by Pillow."""
    resize = [Image.fromarray(plane, "F").resize((width, height), Image.Resampling.BILINEAR) for plane in image[0]]
    return np.stack([np.asarray(plane) for plane in resize])[None]


def normalised(image: Array) -> Array:
    """ImageNet's mean and deviation, on the first three channels."""
    return np.asarray((image[:, :3] - MEAN[:, None, None]) / STD[:, None, None])


def cases() -> dict[str, Case]:
    """Pictures by name."""
    imagenet = {"mean": MEAN.tolist(), "std": STD.tolist()}
    gray = np.tensordot(LUMA, planes(6, 8)[0, :3], 1)[None, None]
    rgb = planes(5, 7)
    return {
        "gray": Case("curve", gray, {}, (6, 8)),
        "half": Case("half", gray.astype(np.float16), {}, (6, 8)),
        "photo": Case("photo", normalised(rgb), imagenet, (5, 7)),
        "bgr": Case("photo", rgb[:, [2, 1, 0]], {"channels": "bgr"}, (5, 7)),
        "shrunk": Case("photo", normalised(resized(planes(19, 23), 5, 7)), imagenet, (19, 23)),
        "grown": Case("photo", resized(planes(3, 4), 5, 7)[:, :3], {}, (3, 4)),
        "bytes": Case("bytes", picture(5, 7)[None, ..., :3], {"layout": "nhwc"}, (5, 7)),
        "any": Case("any", planes(9, 10)[:, :3], {}, (9, 10)),
    }


def write(folder: Path) -> None:
    """Write packages and `images.json`."""
    sessions = {}
    for name, graph in MODELS.items():
        model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 18]> {graph}')
        path = folder / f"{name}.onnx"
        onnx.save(model, path)
        dims = [word for dim in DIMS.get(name, []) for word in ("--dim", dim)]
        status = call(
            "export",
            path,
            "-o",
            folder / f"{name}.webinfer",
            "--target",
            "webgpu-all",
            "--precision",
            "fp32",
            "--overwrite",
            *dims,
        )
        if status != 0:
            raise SystemExit(status)
        sessions[name] = ort.InferenceSession(path)
    document = {}
    for name, case in cases().items():
        session = sessions[case.model]
        results = session.run(None, {session.get_inputs()[0].name: case.tensor})
        outputs = {o.name: np.asarray(r) for o, r in zip(session.get_outputs(), results, strict=True)}
        document[name] = {
            "model": case.model,
            "size": case.size,
            "pixels": picture(*case.size).ravel().tolist(),
            "options": case.options,
            "outputs": {
                k: {"shape": v.shape, "values": v.astype(np.float64).ravel().tolist()} for k, v in outputs.items()
            },
        }
    (folder / "images.json").write_text(json.dumps(document))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
