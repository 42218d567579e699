"""The loopback HTTP server through which Python drives a host: files, packages, tensors, commands.

It listens on 127.0.0.1 only and refuses requests whose Host header names anything else (DNS rebinding) or whose Origin
is another site. Responses carry COOP and COEP, so that pages are cross-origin isolated.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

LONG_POLL_S = 20.0
CHUNK_BYTES = 1 << 20
# Fixed here, because a machine's own table may lack .mjs or .wasm, and browsers refuse modules of a wrong type.
MIME = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".wasm": "application/wasm",
    ".wgsl": "text/wgsl; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

Files = Path | Mapping[str, bytes]


@dataclass
class Channel:
    """Commands for one host and what it answered. Answer 0 is the host's greeting."""

    changed: threading.Condition = field(default_factory=threading.Condition)
    commands: deque[dict[str, Any]] = field(default_factory=deque)
    answers: dict[int, dict[str, Any]] = field(default_factory=dict)

    def send(self, command: dict[str, Any]) -> None:
        """Queue a command."""
        with self.changed:
            self.commands.append(command)
            self.changed.notify_all()

    def next_command(self, timeout_s: float) -> dict[str, Any] | None:
        """The oldest command not yet taken, or None after `timeout_s`."""
        with self.changed:
            self.changed.wait_for(lambda: bool(self.commands), timeout_s)
            return self.commands.popleft() if self.commands else None

    def answer(self, message: dict[str, Any]) -> None:
        """Store what the host answered."""
        with self.changed:
            self.answers[int(message["id"])] = message
            self.changed.notify_all()

    def wait(self, command_id: int, timeout_s: float) -> dict[str, Any] | None:
        """The answer to a command, or None after `timeout_s`."""
        with self.changed:
            self.changed.wait_for(lambda: command_id in self.answers, timeout_s)
            return self.answers.pop(command_id, None)


class HostServer:
    """Serves mounted folders, packages and tensors, and carries commands; one thread per request."""

    def __init__(self, port: int = 0) -> None:
        """Bind 127.0.0.1:`port` (0: any free port). Raises OSError where the port is taken."""
        self._mounts: dict[str, Files] = {}
        self._data: dict[str, bytes] = {}
        self._channels: dict[str, Channel] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._home: str | None = None
        self.first_request_s: float | None = None
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = _QuietServer(("127.0.0.1", port), handler)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.05,), name="webinfer-server", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Base URL without a trailing slash."""
        return f"http://127.0.0.1:{self._http.server_port}"

    def mount(self, prefix: str, files: Files) -> str:
        """Serve `files` under `/<prefix>/`; returns that path."""
        path = f"/{prefix.strip('/')}/"
        with self._lock:
            self._mounts[path] = files.resolve() if isinstance(files, Path) else dict(files)
        return path

    def redirect_root(self, path: str) -> None:
        """Send visitors of `/` to a page."""
        self._home = path

    @property
    def home(self) -> str | None:
        """Where `/` leads, if anywhere."""
        return self._home

    def note_request(self) -> None:
        """Remember when the first request came: for a page, its navigation."""
        if self.first_request_s is None:
            self.first_request_s = time.monotonic()

    def unmount(self, path: str) -> None:
        """Stop serving a path that `mount` returned."""
        with self._lock:
            self._mounts.pop(path, None)

    def channel(self, session: str) -> Channel:
        """The channel of a session; made at the first call."""
        with self._lock:
            return self._channels.setdefault(session, Channel())

    def known_channel(self, session: str) -> Channel | None:
        """The channel of a session that Python opened, or None: a stranger cannot open one."""
        with self._lock:
            return self._channels.get(session)

    def put(self, data: bytes) -> str:
        """Offer tensor bytes under `/data/<id>`; returns the id."""
        name = secrets.token_hex(8)
        self.store(name, data)
        return name

    def store(self, name: str, data: bytes) -> None:
        """Keep bytes that a host uploaded."""
        with self._lock:
            self._data[name] = data

    def peek(self, name: str) -> bytes | None:
        """The bytes of an id, kept."""
        with self._lock:
            return self._data.get(name)

    def take(self, name: str) -> bytes | None:
        """The bytes of an id, dropped from the server."""
        with self._lock:
            return self._data.pop(name, None)

    def find(self, path: str) -> Path | bytes | None:
        """The file behind a URL path, contained in its mount after resolving symlinks; None if there is none."""
        with self._lock:
            mounts = sorted(self._mounts.items(), key=lambda item: -len(item[0]))
        for prefix, files in mounts:
            if not path.startswith(prefix):
                continue
            rest = path[len(prefix) :] or "index.html"
            if not isinstance(files, Path):
                return files.get(rest)
            if "\\" in rest or "\0" in rest:
                return None
            target = (files / rest).resolve()
            return target if target.is_relative_to(files) and target.is_file() else None
        return None

    @property
    def closing(self) -> bool:
        """True once `close` began: long polls end early."""
        return self._closing.is_set()

    def close(self) -> None:
        """Stop serving and free the port."""
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # A host fetches all kernels at once; beyond socketserver's backlog of 5 a connection waits a second for its retry.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A host that was killed mid-request is the session's news, not the server's."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two writes: Nagle's algorithm would hold the second for the client's delayed ACK.
    disable_nagle_algorithm = True
    owner: HostServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it)
        """No access log: it would mix with the command's own output."""

    def do_GET(self) -> None:
        if not self._is_local():
            return self._send(HTTPStatus.FORBIDDEN)
        url = urlsplit(self.path)
        path = unquote(url.path)
        self.owner.note_request()
        if path == "/" and self.owner.home:
            self.send_response(HTTPStatus.FOUND)
            return self._end_headers(0, {"Location": self.owner.home})
        if path == "/next":
            return self._next(url.query)
        if path.startswith("/data/"):
            data = self.owner.peek(path.removeprefix("/data/"))
            return self._send(HTTPStatus.NOT_FOUND) if data is None else self._send(HTTPStatus.OK, data)
        found = self.owner.find(path)
        if found is None:
            return self._send(HTTPStatus.NOT_FOUND)
        mime = MIME.get(Path(path if not path.endswith("/") else "index.html").suffix, "application/octet-stream")
        return self._send_file(found, mime)

    do_HEAD = do_GET  # noqa: N815 (the base class calls it by this name)

    def do_POST(self) -> None:
        if not self._is_local():
            return self._send(HTTPStatus.FORBIDDEN)
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if url.path.startswith("/data/"):
            self.owner.store(url.path.removeprefix("/data/"), body)
            return self._send(HTTPStatus.NO_CONTENT)
        channel = self._channel(url.query)
        if url.path != "/result" or channel is None:
            return self._send(HTTPStatus.NOT_FOUND)
        try:
            channel.answer(json.loads(body))
        except (ValueError, KeyError, TypeError):
            return self._send(HTTPStatus.BAD_REQUEST)
        return self._send(HTTPStatus.NO_CONTENT)

    def _next(self, query: str) -> None:
        channel = self._channel(query)
        if channel is None:
            return self._send(HTTPStatus.NOT_FOUND)
        waited = 0.0
        while waited < LONG_POLL_S and not self.owner.closing:
            command = channel.next_command(1.0)
            if command is not None:
                return self._send(HTTPStatus.OK, json.dumps(command).encode(), "application/json")
            waited += 1.0
        return self._send(HTTPStatus.NO_CONTENT)

    def _channel(self, query: str) -> Channel | None:
        return self.owner.known_channel(parse_qs(query).get("session", [""])[0])

    def _is_local(self) -> bool:
        port = self.owner.url.rpartition(":")[2]
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in hosts and (origin is None or origin.removeprefix("http://") in hosts)

    def _send_file(self, found: Path | bytes, mime: str) -> None:
        size = len(found) if isinstance(found, bytes) else found.stat().st_size
        span = _range(self.headers.get("Range"), size)
        if span is None:
            self.send_response(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            self._end_headers(0, {"Content-Range": f"bytes */{size}"})
            return
        start, stop = span
        extra = {"Content-Type": mime, "Accept-Ranges": "bytes"}
        if self.headers.get("Range"):
            extra["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        self.send_response(HTTPStatus.PARTIAL_CONTENT if self.headers.get("Range") else HTTPStatus.OK)
        self._end_headers(stop - start, extra)
        if self.command == "HEAD":
            return
        if isinstance(found, bytes):
            self.wfile.write(found[start:stop])
            return
        with found.open("rb") as file:
            file.seek(start)
            left = stop - start
            while left > 0 and (chunk := file.read(min(CHUNK_BYTES, left))):
                self.wfile.write(chunk)
                left -= len(chunk)

    def _send(self, status: HTTPStatus, body: bytes = b"", mime: str = "application/octet-stream") -> None:
        self.send_response(status)
        self._end_headers(len(body), {"Content-Type": mime} if body else {})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _end_headers(self, length: int, extra: Mapping[str, str]) -> None:
        for name, value in {**HEADERS, **extra}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()


def _range(header: str | None, size: int) -> tuple[int, int] | None:
    """Start and end (exclusive) of a `Range: bytes=a-b` request; the whole file without one; None if unsatisfiable."""
    if not header:
        return 0, size
    unit, _, span = header.partition("=")
    first, dash, last = span.partition("-")
    if unit != "bytes" or not dash or not (first or last) or not (first + last).isdecimal():
        return None
    start = int(first) if first else max(size - int(last), 0)
    stop = min(int(last) + 1, size) if first and last else size
    return (start, stop) if start < stop else None
