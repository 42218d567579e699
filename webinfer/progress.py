"""How a long operation tells what it is doing: the interface that stages call, and the silent default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reporter(Protocol):
    """Receives the stages of an operation in order."""

    def begin(self, stage: str, number: int, total: int) -> None:
        """Stage `number` of `total` (from 1) starts."""

    def end(self, summary: str, notes: Sequence[str] = ()) -> None:
        """The stage that began last is done: what it changed and how long it took, and remarks such as refusals."""


class Silent:
    """Reports nothing."""

    def begin(self, stage: str, number: int, total: int) -> None:
        """Ignored."""

    def end(self, summary: str, notes: Sequence[str] = ()) -> None:
        """Ignored."""
