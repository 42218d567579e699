"""What commands print: text for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any


def print_result(data: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print one of the two forms on standard output."""
    sys.stdout.write((json.dumps(data, indent=2) if as_json else text.rstrip("\n")) + "\n")
    sys.stdout.flush()


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns padded to their widest cell; numbers lean right."""
    cells = [list(header), *[[format_cell(c) for c in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    right = [all(isinstance(row[i], (int, float)) for row in rows) and bool(rows) for i in range(len(header))]
    lines = [
        "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)).rstrip()
        for row in cells
    ]
    return "\n".join(lines) + "\n"


def format_cell(value: object) -> str:
    """Thousands separated, floats with three digits, None as a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1 else f"{value:,.2f}"
    return str(value)
