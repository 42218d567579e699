"""Generates the TypeScript side of the package format from `webinfer.manifest`: schema and types.

Run `python -m webinfer.manifest_codegen` in a checkout after `npm ci` in js_runtime; `--check` fails on a difference.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from webinfer.errors import CheckFailed, WebinferError
from webinfer.manifest import FORMAT_VERSION, Manifest
from webinfer.resources import data_dir

FILES = ("manifest.schema.json", "manifest.ts", "manifest_schema.ts")


def schema() -> dict[str, Any]:
    """JSON Schema of manifest.json, with the format version under "x-format-version"."""
    document: dict[str, Any] = _without_member_titles(Manifest.model_json_schema())
    document["x-format-version"] = FORMAT_VERSION
    return document


def generate(target: Path) -> None:
    """Write all generated files into `target`. Raises WebinferError when Node's tools are missing or fail."""
    runtime = data_dir("js_runtime")
    target.mkdir(parents=True, exist_ok=True)
    (target / FILES[0]).write_text(json.dumps(schema(), indent=2, sort_keys=True) + "\n")
    command = ["node", str(runtime / "scripts" / "generate_manifest.mjs"), str(target)]
    try:
        done = subprocess.run(command, cwd=runtime, capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise WebinferError("manifest_codegen: node was not found; install Node.js 20.19 or newer") from missing
    if done.returncode:
        raise WebinferError(
            f"manifest_codegen: {' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-400:]} "
            "(run npm ci in js_runtime first)"
        )


def check(committed: Path) -> None:
    """Raise CheckFailed naming the generated files in `committed` that differ from what the models give now."""
    # Inside the runtime folder, so that the formatter finds its configuration.
    with tempfile.TemporaryDirectory(dir=committed.parent) as folder:
        generate(Path(folder))
        stale = [
            name
            for name in FILES
            if not (committed / name).is_file() or (committed / name).read_bytes() != (Path(folder) / name).read_bytes()
        ]
    if stale:
        raise CheckFailed(
            f"{committed}: {', '.join(stale)} do not match webinfer/manifest.py; run python -m "
            "webinfer.manifest_codegen"
        )


def _without_member_titles(node: Any) -> Any:
    """Drop the titles that pydantic gives to members: each would become a type alias of its own."""
    if isinstance(node, list):
        return [_without_member_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    members = {
        key: {name: _without_member_titles(value) for name, value in child.items()}
        if key in ("properties", "$defs")
        else _without_member_titles(child)
        for key, child in node.items()
    }
    if members.get("type") != "object" or "properties" not in members:
        # A member called "title" lives under "properties" and is not touched by this.
        members.pop("title", None)
    return members


def main() -> int:
    """Entry point; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m webinfer.manifest_codegen", description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the committed files differ")
    target = data_dir("js_runtime") / "src" / "generated"
    try:
        check(target) if parser.parse_args().check else generate(target)
    except WebinferError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
