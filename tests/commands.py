"""Runs commands inside the test process and reads what they print."""

from __future__ import annotations

import pytest

from webinfer import cli


def call(*words: object) -> int:
    """Exit status of a command."""
    with pytest.raises(SystemExit) as ended:
        cli.main([str(w) for w in words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def error(capsys: pytest.CaptureFixture[str]) -> str:
    """Standard error, which must be one line."""
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert text.startswith("webinfer: ")
    return text
