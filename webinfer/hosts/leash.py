"""Runs one command and kills it, with its children, when standard input closes: also when the parent crashed.

Run as `python leash.py COMMAND ...`; uses the standard library only, so that it starts in milliseconds.
"""

import os
import signal
import subprocess
import sys
import threading


def main() -> int:
    """Return the command's exit status."""
    process = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)

    def watch_stdin() -> None:
        sys.stdin.buffer.read()
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    threading.Thread(target=watch_stdin, daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
