"""The golden package and the generated TypeScript are what their generators write now."""

from __future__ import annotations

from pathlib import Path

from tests.golden import make_golden
from webinfer import manifest_codegen
from webinfer.package import read_package, verify_hashes
from webinfer.resources import data_dir


def test_golden_package_is_current() -> None:
    assert make_golden.differences(make_golden.HERE) == []


def test_golden_package_is_valid() -> None:
    folder = Path(make_golden.HERE) / "package"
    package = read_package(folder)
    verify_hashes(folder, package)
    assert [p.tier for p in package.components[0].programs] == ["fp32-register", "fp32-workgroup"]


def test_generated_types_match_the_models() -> None:
    manifest_codegen.check(data_dir("js_runtime") / "src" / "generated")
