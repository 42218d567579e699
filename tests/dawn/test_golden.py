"""The golden package through the device protocol: the same numbers in Python as in the runtime's own tests."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.golden import make_golden
from webinfer.session import DeviceSession

REFERENCE = json.loads((make_golden.HERE / "reference.json").read_text())


@pytest.mark.parametrize("device", ["dawn-lavapipe", "dawn-swiftshader"])
def test_golden_package_on_dawn(device: str) -> None:
    feeds = make_golden.feeds()
    with DeviceSession(device) as session:
        for tier in ("fp32-register", "fp32-workgroup"):
            model = session.load(make_golden.HERE / "package", tier)
            result = model.run(feeds, capture=["h"], repeat=2)
            assert len(result.wall_ms) == 2
            for name, expected in REFERENCE["outputs"].items():
                np.testing.assert_allclose(result.outputs[name], expected, rtol=1e-6, atol=1e-5)
            hidden = result.captured["h"] * feeds["gain"] + feeds["offset"]
            np.testing.assert_allclose(hidden, REFERENCE["outputs"]["y"], rtol=1e-6, atol=1e-5)
            model.dispose()
        assert session.memory()["buffers"] == 0
