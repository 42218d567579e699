"""Golden inputs and answers of packages: what is compared, how far a device may be off, which answers are kept."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from tests.unit.graphs import prepared
from webinfer import manifest
from webinfer.compile import back_stages, compile_model, front_stages
from webinfer.golden import golden_feeds, probed
from webinfer.package import MANIFEST
from webinfer.quality import BARS
from webinfer.reference import Reference
from webinfer.tiers import tiers_for

MODEL = """
    tested (float[1,4,40,40] x, int64[3] index) => (float[1,4,40,40] y, int64[3] next, float[3] broken) {
        c = Conv <pads = [1, 1, 1, 1]> (x, w)
        s = Softmax <axis = 1> (c)
        y = Conv <pads = [1, 1, 1, 1]> (s, w)
        next = Add(index, index)
        real = Cast <to = 1> (index)
        zero = Sub(real, real)
        broken = Div(zero, zero)
    }
"""


def packaged(error: float) -> tuple[manifest.Component, dict[str, bytes], Reference]:
    weight = np.random.default_rng(0).normal(size=(4, 4, 3, 3)).astype(np.float32)
    model = prepared(MODEL, {"w": weight})
    for stage in (*front_stages({}), *back_stages("fp32")):
        stage.run(model)
    quality = {"fp32": manifest.Quality(metric="max_abs_error", value=error, runs=1)}
    files = compile_model(model, tiers_for("webgpu-all", "fp32"), quality=quality)
    component = manifest.Manifest.model_validate_json(files[MANIFEST]).components[0]
    return component, files, Reference(ir.to_proto(model))


def answers(value: manifest.GoldenValue, data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.float64, value.count, value.offset)


def test_answers_are_those_of_the_reference_and_nan_is_none() -> None:
    component, files, reference = packaged(1e-6)
    golden = component.golden
    assert golden is not None
    values = {v.name: v for v in golden.values}
    assert {"y", "next"} <= values.keys()
    assert "broken" not in values
    found = reference.run(golden_feeds(golden, component.inputs))
    data = files[golden.file]
    assert values["y"].count == 512
    np.testing.assert_allclose(answers(values["y"], data), found["y"].ravel()[probed(6400, 512)], atol=1e-5)
    assert answers(values["next"], data).tolist() == found["next"].tolist()


@pytest.mark.parametrize(("error", "expected"), [(0.0, 1e-4), (1e-5, 3.2e-4), (1.0, BARS["fp32"])])
def test_tolerance_follows_the_measured_error_up_to_the_bar(error: float, expected: float) -> None:
    component, _, _ = packaged(error)
    assert component.golden is not None
    (y,) = (v for v in component.golden.values if v.name == "y")
    assert y.tolerance == pytest.approx(expected)


def test_all_programs_have_what_is_compared() -> None:
    component, _, _ = packaged(0.0)
    assert component.golden is not None
    assert len(component.programs) == 2
    for value in component.golden.values:
        assert all(p.tensors[value.name].producer >= 0 for p in component.programs)
