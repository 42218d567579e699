"""Op lowerings, one file per family; every module in this folder is found and imported by `load_all`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


@cache
def load_all() -> None:
    """Import every op module, which registers its lowerings; duplicates raise GraphError."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
