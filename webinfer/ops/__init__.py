"""Op lowerings, one file per family; every module in this folder is found and imported by `load_all`.

A module may have ADVICE: kernel template -> how a model avoids that slow form (`webinfer lint` says it).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache


@cache
def load_all() -> Mapping[str, str]:
    """Import every op module, which registers its lowerings; duplicates raise GraphError. Returns all ADVICE."""
    modules = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
    return {kernel: text for m in modules for kernel, text in getattr(m, "ADVICE", {}).items()}
