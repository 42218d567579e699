"""Fusions, one file each: every module in this folder that defines FUSION is found here; duplicates raise."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from functools import cache

from webinfer.errors import GraphError
from webinfer.fusions.rewrite import Fusion


@cache
def all_fusions() -> tuple[Fusion, ...]:
    """Every fusion in the order in which it runs. Raises GraphError where two share a name or an order number."""
    modules = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]
    found: list[Fusion] = sorted((m.FUSION for m in modules if hasattr(m, "FUSION")), key=lambda f: f.order)
    for first, second in itertools.pairwise(found):
        if first.order == second.order or first.name == second.name:
            raise GraphError(f"fusions {first.name} and {second.name} share an order number or a name")
    return tuple(found)
