"""Opens one page in headless Chromium through Playwright and keeps it until standard input closes.

Run as `python -m webinfer.hosts.chromium JSON`: {"url", "executable", "flags"}. Console messages and failures go to
standard output; the exit status is 1 when the page or the browser died by itself.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from playwright.sync_api import sync_playwright

from webinfer.hosts.parent import when_parent_leaves

QUIET_FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-pings",
    "--no-first-run",
    "--metrics-recording-only",
    "--disable-domain-reliability",
]
POLL_MS = 200


def main() -> int:
    """Return 0 when the parent closed standard input, 1 when the page or the browser died."""
    options = json.loads(sys.argv[1])
    closed, died = threading.Event(), threading.Event()

    when_parent_leaves(closed.set)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options["executable"],
            headless=True,
            args=[*QUIET_FLAGS, *options["flags"]],
            # Chromium's sandbox does not start as root.
            chromium_sandbox=os.geteuid() != 0,
        )
        page = browser.new_page()
        page.on("console", lambda message: print(f"console {message.type}: {message.text}", flush=True))
        page.on("pageerror", lambda error: print(f"page error: {error}", flush=True))
        page.on("crash", lambda _: died.set())
        browser.on("disconnected", lambda _: died.set())
        page.goto(options["url"])
        while not closed.is_set() and not died.is_set():
            page.wait_for_timeout(POLL_MS)
        if died.is_set():
            print("the page or the browser crashed", flush=True)
            return 1
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
