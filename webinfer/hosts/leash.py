"""Runs one command and kills it, with its children, when standard input closes: also when the parent crashed.

Run as `python -m webinfer.hosts.leash COMMAND ...`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

from webinfer.hosts.parent import when_parent_leaves


def main() -> int:
    """Return the command's exit status."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    when_parent_leaves(kill)
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
