"""Random operators: their numbers have the distributions that ONNX names. What the values are is nobody's reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
import pytest

from webinfer import onnx_backend

Array = np.ndarray[Any, np.dtype[Any]]
COUNT = 101 * 203  # not a multiple of 4
TEXT = """
    <ir_version: 10, opset_import: ["" : 22]>
    g (float[101, 203] x, float[4, 5] weights)
        => (float[101, 203] normal, float[101, 203] other, float16[101, 203] uniform, float[101, 203] seeded,
            float[101, 203] again, bool[101, 203] coins, int64[4, 4001] classes) {
        normal = RandomNormal <mean = 1.5, scale = 2.0, shape = [101, 203]> ()
        other = RandomNormal <mean = 1.5, scale = 2.0, shape = [101, 203]> ()
        uniform = RandomUniform <dtype = 10, low = -2.0, high = 3.0, shape = [101, 203]> ()
        seeded = RandomUniformLike <seed = 7.0> (x)
        again = RandomUniformLike <seed = 7.0> (x)
        coins = Bernoulli <dtype = 9> (x)
        classes = Multinomial <dtype = 7, sample_size = 4001> (weights)
    }
"""


def _farthest(numbers: Array, cumulative: Array) -> float:
    """Largest distance between the empirical distribution and the wanted one at the sorted numbers (Kolmogorov)."""
    steps = np.arange(1, numbers.size + 1) / numbers.size
    return float(np.abs(steps - cumulative).max())


def _normal_cumulative(sorted_numbers: Array) -> Array:
    return np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in sorted_numbers])


@pytest.mark.parametrize("device", ["dawn-lavapipe", "dawn-swiftshader"])
def test_distributions(device: str) -> None:
    weights = np.log(np.array([[1, 2, 3, 4, 0]] * 4, np.float32) + np.float32(1e-30))
    feeds = [np.full((101, 203), 0.3, np.float32), weights]
    model = onnx_backend.prepare(onnx.parser.parse_model(TEXT), device)
    normal, other, uniform, seeded, again, coins, classes = (np.asarray(a) for a in model.run(feeds))
    # The Kolmogorov-Smirnov statistic of right numbers is beyond 1.95 / sqrt(n) once in a thousand seeds.
    limit = 1.95 / math.sqrt(COUNT)
    for numbers in (normal, other):
        ordered = np.sort((numbers.astype(np.float64).reshape(-1) - 1.5) / 2)
        assert _farthest(ordered, _normal_cumulative(ordered)) < limit
    assert abs(np.corrcoef(normal.reshape(-1), other.reshape(-1))[0, 1]) < 4 / math.sqrt(COUNT)
    assert abs(np.corrcoef(normal.reshape(-1)[1:], normal.reshape(-1)[:-1])[0, 1]) < 4 / math.sqrt(COUNT)
    assert uniform.dtype == np.float16
    ordered = (np.sort(uniform.astype(np.float64).reshape(-1)) + 2) / 5
    assert -1e-9 <= ordered[0] <= ordered[-1] <= 1
    assert _farthest(ordered, ordered) < limit + 1e-3  # a step of float16 at 3 is 0.002 of 5
    assert (seeded == again).all()
    assert 0 <= seeded.min() <= seeded.max() < 1
    assert coins.mean() == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / COUNT))
    for row in classes:
        shares = np.bincount(row, minlength=5) / row.size
        assert shares == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.0], abs=4 * 0.5 / math.sqrt(row.size))
        assert shares[4] == 0
    for first, second in zip((normal, other, classes), np.asarray(model.run(feeds), object)[[0, 1, 6]], strict=True):
        assert (first == second).all()
