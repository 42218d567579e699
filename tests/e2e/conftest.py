"""The packages of the two real models, exported once per session through the real command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

from tests.models import fetch

ROOT = Path(__file__).parents[2]
DIMS = {"terrain": "batch=1", "vit": "batch_size=1"}
Precision = Literal["fp32", "fp16"]


class Exported(NamedTuple):
    """A package and the file that it was made from; `record` is what `webinfer export --json` printed."""

    folder: Path
    source: Path
    record: dict[str, Any]


def webinfer(*words: object) -> dict[str, Any]:
    """Run a command as a user does and return its JSON document; a failure shows what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "webinfer", *map(str, words), "--json"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Precision], Exported]:
    """`exported(model, precision)`: the package for every target, made on first use."""
    folder = tmp_path_factory.mktemp("packages")

    @cache
    def make(model: str, precision: Precision) -> Exported:
        source, output = fetch(model), folder / f"{model}-{precision}.webinfer"
        options = ["--target", "webgpu-all", "--precision", precision, "--dim", DIMS[model], "-o", output]
        return Exported(output, source, webinfer("export", source, *options))

    return make
