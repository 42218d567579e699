"""Fixtures that tests of every folder share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models import fetch


@pytest.fixture(scope="session")
def terrain_path() -> Path:
    """The terrain diffusion UNet, as published."""
    return fetch("terrain")


@pytest.fixture(scope="session")
def vit_path() -> Path:
    """The ViT-S focus detector, as published."""
    return fetch("vit")
