"""Runs one command and kills it, with its children, when standard input closes: also when the parent crashed.

Run as `python -m webinfer.hosts.leash COMMAND ...`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from webinfer.hosts.parent import when_parent_leaves


def main() -> int:
    """Return the command's exit status."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    # The session started this program as the leader of a process group of its own: the group is all that it runs.
    when_parent_leaves(lambda: os.killpg(0, signal.SIGKILL))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
