"""The tests of onnx.backend.test that need no download, which of them are excluded and why, and a spread over them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.runner import Runner

EXCLUDED = Path(__file__).with_name("excluded.txt")
# Their models and data lie inside the onnx package.
_STORED = ("simple", "pytorch-operator", "pytorch-converted")

Array = np.ndarray[Any, np.dtype[Any]]
DataSet = tuple[list[Any], list[Any]]


@dataclass(frozen=True)
class Test:
    """One test: `read` gives its model and data sets, outputs are held to `rtol` and `atol`."""

    name: str
    op: str
    rtol: float
    atol: float
    read: Callable[[], tuple[onnx.ModelProto, list[DataSet]]]

    def compare(self, expected: Sequence[Array], found: Sequence[Array]) -> None:
        """ONNX's own comparison. Raises AssertionError."""
        Runner.assert_similar_outputs(expected, found, self.rtol, self.atol)


@dataclass(frozen=True)
class Exclusion:
    """A pattern for whole names of tests, and why they are not ours to pass."""

    pattern: str
    reason: str

    def covers(self, name: str) -> bool:
        """Whether the test of that name is excluded by this."""
        return self._compiled.fullmatch(name) is not None

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


def all_tests() -> list[Test]:
    """Every test, in order of name."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = list(loader.load_model_tests(kind="node"))
    ops = {case.name: _operator(case.model) for case in cases}
    found = [
        Test(c.name, ops.get(c.name.partition("_expanded")[0], ops[c.name]), c.rtol, c.atol, _in_memory(c))
        for c in cases
    ]
    for kind in (*_STORED, "real"):
        read = _light if kind == "real" else _stored
        cases = loader.load_model_tests(kind=kind)
        found += [Test(f"{kind}/{case.name}", kind, case.rtol, case.atol, read(case)) for case in cases]
    return sorted(found, key=lambda test: test.name)


def exclusions() -> list[Exclusion]:
    """The list: lines `PATTERN: REASON`, `#` starts a comment."""
    lines = [line.strip() for line in EXCLUDED.read_text().splitlines()]
    parts = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    return [Exclusion(pattern.strip(), reason.strip()) for pattern, _, reason in parts]


def spread(tests: Sequence[Test], count: int) -> list[Test]:
    """At most `count` tests: one of each operator first, then evenly over the rest. The same at every call."""
    first: dict[str, Test] = {}
    for test in tests:
        first.setdefault(test.op, test)
    chosen = list(first.values())[:count]
    rest = [test for test in tests if test not in chosen]
    wanted = min(count - len(chosen), len(rest))
    chosen += [rest[k * len(rest) // wanted] for k in range(wanted)]
    return sorted(chosen, key=lambda test: test.name)


def _operator(model: onnx.ModelProto | None) -> str:
    """The operator that a test is about: the first that no shape arithmetic uses."""
    assert model is not None
    types = [node.op_type for node in model.graph.node]
    plain = ("Constant", "Identity", "Cast", "CastLike", "Shape", "Size", "Reshape", "Unsqueeze", "Squeeze", "Concat")
    return next((t for t in types if t not in plain), types[0] if types else "none")


def _in_memory(case: TestCase) -> Callable[[], tuple[onnx.ModelProto, list[DataSet]]]:
    def read() -> tuple[onnx.ModelProto, list[DataSet]]:
        assert case.model is not None
        assert case.data_sets is not None
        return case.model, [(_arrays(inputs), _arrays(outputs)) for inputs, outputs in case.data_sets]

    return read


def _stored(case: TestCase) -> Callable[[], tuple[onnx.ModelProto, list[DataSet]]]:
    def read() -> tuple[onnx.ModelProto, list[DataSet]]:
        folder = Path(case.model_dir or "")
        model = onnx.load(str(folder / "model.onnx"))
        sets = []
        for data in sorted(folder.glob("test_data_set*")):
            given = [_tensor(data / f"input_{k}.pb", v) for k, v in _files(data, "input", model.graph.input)]
            expected = [_tensor(data / f"output_{k}.pb", v) for k, v in _files(data, "output", model.graph.output)]
            sets.append((given, expected))
        return model, sets

    return read


def _light(case: TestCase) -> Callable[[], tuple[onnx.ModelProto, list[DataSet]]]:
    def read() -> tuple[onnx.ModelProto, list[DataSet]]:
        path = Path(onnx.__file__).parent.parent / (case.url or "")
        model = onnx.load(str(path))
        weights = {t.name for t in model.graph.initializer}
        given = [Runner.generate_dummy_data(v) for v in model.graph.input if v.name not in weights]
        expected = path.with_name(f"{path.stem}_output_0.pb")
        return model, [(given, [_tensor(expected, model.graph.output[0])])]

    return read


def _files(folder: Path, role: str, values: Sequence[onnx.ValueInfoProto]) -> Iterable[tuple[int, onnx.ValueInfoProto]]:
    count = len(list(folder.glob(f"{role}_*.pb")))
    return enumerate(list(values)[:count])


def _tensor(file: Path, value: onnx.ValueInfoProto) -> Any:
    if not value.type.HasField("tensor_type"):
        return None
    return numpy_helper.to_array(onnx.TensorProto.FromString(file.read_bytes()))


def _arrays(values: Iterable[Any]) -> list[Any]:
    return [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in values]
