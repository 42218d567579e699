"""Integer expressions: Python's values are what the runtime's tests compare with, by one shared file."""

from __future__ import annotations

import itertools
import json
import operator
import random
from pathlib import Path
from typing import Any

from webinfer.expressions import parse
from webinfer.symbols import Size, Sym, Symbol, evaluate, maximum, minimum, quotient, remainder

SHARED = Path(__file__).resolve().parents[1] / "golden" / "expressions.json"
SYMBOLS = (Symbol("past", 0, 3), Symbol("seq", 1, 4), Symbol("height", 8, 24, 8))
CASES = 30


def _expression(rng: random.Random, depth: int) -> Size:
    if depth == 0:
        return rng.choice([*(s.size for s in SYMBOLS), rng.randint(-5, 9)])
    fn: Any = rng.choice([operator.add, operator.sub, operator.mul, quotient, remainder, minimum, maximum])
    left, right = _expression(rng, rng.randint(0, depth - 1)), _expression(rng, depth - 1)
    return fn(left, right) if fn not in (quotient, remainder) else fn(left, maximum(right * right, 1))  # type: ignore[no-any-return]


def _shared() -> dict[str, Any]:
    rng = random.Random(0)
    cases: dict[str, Size] = {}
    while len(cases) < CASES:
        value = _expression(rng, 4)
        if isinstance(value, Sym) and len(str(value)) < 200:
            cases[str(value)] = value
    ranges = [range(s.minimum, s.maximum + 1, s.multiple) for s in SYMBOLS]
    points = [list(p) for p in itertools.product(*ranges)]
    names = [s.name for s in SYMBOLS]
    return {
        "symbols": {s.name: {"minimum": s.minimum, "maximum": s.maximum, "multiple": s.multiple} for s in SYMBOLS},
        "cases": [
            {"text": text, "values": [[p, evaluate(value, dict(zip(names, p, strict=True)))] for p in points]}
            for text, value in cases.items()
        ],
    }


def test_the_shared_file_is_current() -> None:
    """`python -m tests.unit.test_expressions` writes it."""
    assert json.loads(SHARED.read_text()) == _shared()


def test_text_reads_back_as_python_wrote_it() -> None:
    shared = json.loads(SHARED.read_text())
    for case in shared["cases"]:
        for point, expected in case["values"]:
            assert parse(case["text"], dict(zip(shared["symbols"], point, strict=True))) == expected


if __name__ == "__main__":
    SHARED.write_text(json.dumps(_shared()) + "\n")
