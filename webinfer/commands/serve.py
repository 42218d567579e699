"""`webinfer serve`: the page that runs a package in a visitor's browser."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from urllib.parse import quote

from webinfer.commands.printing import print_result
from webinfer.devices import host_dir
from webinfer.errors import DeviceError, InputError
from webinfer.package import read_package, verify_hashes
from webinfer.server import HostServer


def serve(folder: Path, port: int, open_browser: bool, as_json: bool) -> None:
    """Serve until interrupted. Raises InputError where the port is taken, DeviceError where the page is not built."""
    package = read_package(folder)
    verify_hashes(folder, package)
    if not (host_dir() / "page" / "index.html").is_file():
        raise DeviceError(f"{host_dir() / 'page'}: the page is not built; cd js_runtime && npm ci && npm run build")
    try:
        server = HostServer(port)
    except OSError as fault:
        raise InputError(f"port {port}: {fault.strerror}; choose another with --port") from fault
    with server:
        server.mount("host", host_dir())
        path = server.mount(f"pkg/{quote(package.name, safe='')}", folder)
        page = f"/host/page/index.html?package={quote(path, safe='/')}"
        server.redirect_root(page)
        url = server.url + page
        print_result(
            {"url": url, "package": package.name}, f"{package.name}: {url}  (stop with Ctrl-C)", as_json=as_json
        )
        if open_browser:
            webbrowser.open(url)
        # Nothing sets this event: only an interrupt ends the wait.
        threading.Event().wait()
