"""Build hook: a wheel carries the data folders as `webinfer/_data`, where webinfer/resources.py looks first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = ("wgsl", "device_matrix", "js_runtime/dist")
# Left by runs in the checkout.
SKIPPED = {"node_modules", "__pycache__", ".venv"}


class WheelData(BuildHookInterface[Any]):
    """Adds DATA to a standard wheel; an editable install reads the folders of the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Extend `force_include`; raises FileNotFoundError where js_runtime was not built yet."""
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / "js_runtime" / "dist").is_dir():
            raise FileNotFoundError("js_runtime/dist: expected the built runtime, found nothing; run `make setup`")
        for file in (f for name in DATA for f in (root / name).rglob("*") if f.is_file()):
            relative = file.relative_to(root)
            if not SKIPPED.intersection(relative.parts):
                build_data["force_include"][str(file)] = f"webinfer/_data/{relative.as_posix()}"
