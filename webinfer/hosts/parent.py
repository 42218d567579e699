"""Notices that the parent process is gone: it holds the other end of this process's standard input."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def when_parent_leaves(act: Callable[[], object]) -> None:
    """Call `act` from a thread once standard input is closed, by will or because the parent died."""

    def watch() -> None:
        # Unbuffered: a daemon thread inside sys.stdin.read() holds a lock that the interpreter needs at its end.
        while os.read(0, 4096):
            pass
        act()

    threading.Thread(target=watch, daemon=True).start()
