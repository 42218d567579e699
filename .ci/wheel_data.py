"""Build hook: a wheel carries the data folders as `webinfer/_data`, where webinfer/resources.py looks first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = ("wgsl", "device_matrix/tiers", "device_matrix/skus", "device_matrix/devices", "js_runtime/dist")


class WheelData(BuildHookInterface[Any]):
    """Adds DATA to a standard wheel; an editable install reads the folders of the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Extend `force_include`; raises FileNotFoundError where js_runtime was not built yet."""
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / "js_runtime" / "dist").is_dir():
            raise FileNotFoundError("js_runtime/dist: expected the built runtime, found nothing; run `make setup`")
        for name in DATA:
            if _files(root / name):
                build_data["force_include"][str(root / name)] = f"webinfer/_data/{name}"


def _files(folder: Path) -> bool:
    return folder.is_dir() and any(p.is_file() for p in folder.rglob("*"))
