"""`HEADLESS=1 make demo`, set-up aside: the terrain model's package runs in a browser and leaves a picture."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
# Below the sky and above the controls, whatever the terrain.
GROUND = (200, 220, 760, 480)


def test_demo_draws_terrain(tmp_path: Path) -> None:
    picture = tmp_path / "demo.png"
    done = subprocess.run(
        ["bash", ROOT / ".ci" / "demo", "demo_game/terrain.webinfer", picture],
        env=os.environ | {"VENV": str(Path(sys.executable).parents[1])},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Made on" in done.stdout
    colours = Image.open(picture).convert("RGB").crop(GROUND).getcolors(maxcolors=1 << 20)
    assert colours is not None
    assert len(colours) > 500, f"expected shaded ground, found {len(colours)} colours"
