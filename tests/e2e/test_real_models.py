"""The two real models as packages: figures that do not depend on time, and numbers on every device.

The reference is ONNX Runtime CPU on the original file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.e2e.conftest import Exported, Precision, webinfer
from webinfer.devices import find_device
from webinfer.package import read_package
from webinfer.reference import Reference
from webinfer.session import DeviceSession

BARS = {"fp32": 1e-3, "fp16": 2e-2}
MODELS: list[tuple[str, Precision]] = [("terrain", "fp32"), ("terrain", "fp16"), ("vit", "fp32"), ("vit", "fp16")]
# Every package on the fastest device; elsewhere each model once and each precision once, as a run takes up to a minute.
PACKAGES: dict[str, list[tuple[str, Precision]]] = {
    "dawn-lavapipe": MODELS,
    "dawn-swiftshader": [("terrain", "fp16"), ("vit", "fp32")],
    "chromium-swiftshader": [("terrain", "fp32"), ("vit", "fp16")],
    "chromium-compat": [("terrain", "fp16"), ("vit", "fp32")],
    "firefox-lavapipe": [("terrain", "fp32"), ("vit", "fp16")],
}
Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]
Export = Callable[[str, Precision], Exported]


def realistic(model: str) -> Arrays:
    """Inputs as the models' own packages make them.

    Terrain: standard normal noise times sigma 80, the start of one-step sampling, and label 50 of 1 to 100 as
    (50 - 1) / 99. ViT: a picture of soft shapes, normalised with ImageNet's mean and standard deviation.
    """
    if model == "terrain":
        noise = np.random.default_rng(7).standard_normal((1, 1, 128, 128), dtype=np.float32)
        return {
            "noisy": noise * np.float32(80),
            "sigma": np.array([80], np.float32),
            "difficulty": np.array([49 / 99], np.float32),
        }
    y, x = np.mgrid[0:224, 0:224].astype(np.float32) / 224
    disc = ((x - 0.6) ** 2 + (y - 0.4) ** 2 < 0.04).astype(np.float32)
    picture = np.stack([x * 0.8 + disc * 0.2, y * 0.7, 0.5 + 0.4 * np.sin(12 * x) * np.cos(9 * y)])
    mean = np.array([0.485, 0.456, 0.406], np.float32)[:, None, None]
    deviation = np.array([0.229, 0.224, 0.225], np.float32)[:, None, None]
    return {"input_image": ((picture - mean) / deviation)[None].astype(np.float32)}


def input_words(folder: Path, feeds: Mapping[str, np.ndarray[Any, np.dtype[Any]]]) -> list[str]:
    words = []
    for name, array in feeds.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--input", f"{name}={folder / name}.npy"]
    return words


@pytest.mark.parametrize(
    ("precision", "gpu_bytes", "package_bytes"), [("fp32", 70_000_000, 46_000_000), ("fp16", 40_000_000, 24_000_000)]
)
def test_terrain_figures(precision: Precision, gpu_bytes: int, package_bytes: int, exported: Export) -> None:
    """ONNX Runtime Web takes 1,802 dispatches and 216 MB for this model."""
    package = exported("terrain", precision)
    (component,) = webinfer("inspect", package.folder)["components"]
    assert {t["precision"] for t in component["tiers"]} == {precision}
    for tier in component["tiers"]:
        assert tier["dispatches"] <= 414
        assert tier["activation_peak_bytes"] <= 1.15 * tier["activation_lower_bound_bytes"]
        assert tier["gpu_bytes"] <= gpu_bytes
        assert tier["package_bytes"] <= package_bytes
    assert sum(f.stat().st_size for f in package.folder.rglob("*") if f.is_file()) == package.record["package_bytes"]


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_vit_figures(precision: Precision, exported: Export) -> None:
    (component,) = webinfer("inspect", exported("vit", precision).folder)["components"]
    for tier in component["tiers"]:
        assert tier["dispatches"] <= 120
        assert tier["activation_peak_bytes"] <= 1.15 * tier["activation_lower_bound_bytes"]


@pytest.mark.parametrize(
    ("device", "model", "precision"), [(device, *package) for device in PACKAGES for package in PACKAGES[device]]
)
def test_numbers(device: str, model: str, precision: Precision, exported: Export, tmp_path: Path) -> None:
    package = exported(model, precision)
    inputs = input_words(tmp_path, realistic(model))
    found = webinfer("verify", package.folder, "--device", device, "--source", package.source, *inputs)
    assert found["holds"] is True
    assert {c["against"] for c in found["checks"]} == {"model", "source"}
    for check in found["checks"]:
        assert check["device"] == device
        assert check["tier"].startswith(precision)
        assert check["non_finite_mismatches"] == 0
        assert check["max_abs_error"] <= BARS[precision]


@pytest.mark.parametrize("model", ["terrain", "vit"])
def test_self_test(model: str, exported: Export) -> None:
    """Three runs of the golden inputs; the drift is far below what is tolerated."""
    with DeviceSession(find_device("dawn-lavapipe")) as session:
        reasons = session.load(exported(model, "fp16").folder, self_test=True).reasons
    found = [re.fullmatch(r"self-test: \S+ passed 3 runs, drift (\S+) of what is tolerated", r) for r in reasons]
    (drift,) = (float(match[1]) for match in found if match)
    assert drift < 0.1


def test_run_writes_the_terrain(exported: Export, tmp_path: Path) -> None:
    """Compared here, not by `verify`: heights within the range to which the model clips, and no constant."""
    package = exported("terrain", "fp32")
    feeds = realistic("terrain")
    output = tmp_path / "out.npz"
    inputs = input_words(tmp_path, feeds)
    webinfer("run", package.folder, "-o", output, "--device", "dawn-lavapipe", *inputs)
    with np.load(output) as arrays:
        found = arrays["denoised"]
    expected = Reference(package.source).run(feeds)["denoised"]
    assert found.shape == expected.shape == (1, 1, 128, 128)
    assert np.isfinite(found).all()
    assert np.abs(found - expected).max() <= BARS["fp32"]
    assert np.abs(found).max() <= 1
    assert found.std() > 0.1


@pytest.mark.parametrize("device", ["dawn-lavapipe", "firefox-lavapipe"])
def test_every_shader_compiles(device: str, exported: Export) -> None:
    """Every kernel of every tier under Tint (Dawn) and naga (Firefox); lavapipe has all features that kernels use."""
    with DeviceSession(device) as session:
        for model, precision in MODELS:
            folder = exported(model, precision).folder
            kernels = read_package(folder).kernels
            assert {f for k in kernels for f in k.features} <= session.facts.features
            sources = {k.name: (folder / k.file).read_text() for k in kernels}
            faults = [m for m in session.compile(sources) if m.type == "error"]
            assert not faults, faults
