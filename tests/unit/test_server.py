"""The loopback server: contained paths, local requests only, ranges, isolation headers, commands and tensors."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from webinfer.server import HostServer

Reply = tuple[int, dict[str, str], bytes]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HostServer]:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "files"
    (folder / "sub").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html>")
    (folder / "sub" / "code.mjs").write_text("export {}")
    (folder / "shader.wgsl").write_text("fn main() {}")
    (folder / "digits.bin").write_bytes(b"0123456789")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    with HostServer() as running:
        running.mount("host", folder)
        running.mount("pkg/a", {"manifest.json": b"{}", "sub/w.bin": b"abc"})
        yield running


def ask(server: HostServer, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Reply:
    connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=10)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    data = reply.read()
    connection.close()
    return reply.status, {k.lower(): v for k, v in reply.getheaders()}, data


@pytest.mark.parametrize(
    "path",
    [
        "/host/../secret.txt",
        "/host/%2e%2e/secret.txt",
        "/host/sub/../../secret.txt",
        "/host/..%5csecret.txt",
        "/host//etc/passwd",
        "/host/%2fetc/passwd",
        "/host/link",
        "/host/%00",
        "/host/sub",
        "/host/missing.js",
        "/pkg/a/../../secret.txt",
        "/pkg/b/manifest.json",
        "/secret.txt",
        "/data/unknown",
        "/",
    ],
)
def test_paths_outside_a_mount_are_not_found(server: HostServer, path: str) -> None:
    status, _, body = ask(server, path)
    assert status == 404
    assert body == b""


@pytest.mark.parametrize(
    ("path", "mime", "body"),
    [
        ("/host/", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/host/index.html?session=1", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/host/sub/code.mjs", "text/javascript; charset=utf-8", b"export {}"),
        ("/host/shader.wgsl", "text/wgsl; charset=utf-8", b"fn main() {}"),
        ("/host/digits.bin", "application/octet-stream", b"0123456789"),
        ("/pkg/a/manifest.json", "application/json", b"{}"),
        ("/pkg/a/sub/w.bin", "application/octet-stream", b"abc"),
    ],
)
def test_files_come_with_their_type_and_isolated(server: HostServer, path: str, mime: str, body: bytes) -> None:
    status, headers, found = ask(server, path)
    assert (status, headers["content-type"], found) == (200, mime, body)
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-embedder-policy"] == "require-corp"


@pytest.mark.parametrize(
    ("wanted", "status", "content_range", "body"),
    [
        ("bytes=0-3", 206, "bytes 0-3/10", b"0123"),
        ("bytes=7-", 206, "bytes 7-9/10", b"789"),
        ("bytes=-2", 206, "bytes 8-9/10", b"89"),
        ("bytes=8-99", 206, "bytes 8-9/10", b"89"),
        ("bytes=10-", 416, "bytes */10", b""),
        ("bytes=5-2", 416, "bytes */10", b""),
        ("lines=1-2", 416, "bytes */10", b""),
    ],
)
def test_ranges(server: HostServer, wanted: str, status: int, content_range: str, body: bytes) -> None:
    found, headers, data = ask(server, "/host/digits.bin", Range=wanted)
    assert (found, headers["content-range"], data) == (status, content_range, body)


def test_head_has_the_length_and_no_body(server: HostServer) -> None:
    status, headers, body = ask(server, "/host/digits.bin", "HEAD")
    assert (status, headers["content-length"], body) == (200, "10", b"")


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_sites_are_refused(server: HostServer, headers: dict[str, str], method: str) -> None:
    server.channel("s")
    assert ask(server, "/result?session=s", method, b'{"id": 0}', **headers)[0] == 403
    assert server.channel("s").wait(0, 0.0) is None


def test_a_stranger_cannot_open_a_session(server: HostServer) -> None:
    assert ask(server, "/next?session=guess")[0] == 404
    assert ask(server, "/result?session=guess", "POST", b'{"id": 0}')[0] == 404


def test_a_malformed_answer_is_refused(server: HostServer) -> None:
    server.channel("s")
    assert ask(server, "/result?session=s", "POST", b"not json")[0] == 400


def test_a_waiting_host_gets_the_command_and_answers(server: HostServer) -> None:
    channel = server.channel("s")
    replies: list[Reply] = []
    host = threading.Thread(target=lambda: replies.append(ask(server, "/next?session=s")))
    host.start()
    channel.send({"id": 1, "op": "memory"})
    host.join(10)
    assert json.loads(replies[0][2]) == {"id": 1, "op": "memory"}
    assert ask(server, "/result?session=s", "POST", b'{"id": 1, "ok": true, "value": {}}')[0] == 204
    assert channel.wait(1, 0.0) == {"id": 1, "ok": True, "value": {}}


def test_tensors_go_both_ways(server: HostServer) -> None:
    name = server.put(b"\x00\x01")
    assert ask(server, f"/data/{name}")[2] == b"\x00\x01"
    assert ask(server, "/data/result-1", "POST", b"\x02")[0] == 204
    assert server.take("result-1") == b"\x02"
    assert server.take("result-1") is None


def test_an_unmounted_package_is_gone(server: HostServer) -> None:
    server.unmount("/pkg/a/")
    assert ask(server, "/pkg/a/manifest.json")[0] == 404


def test_the_root_can_lead_to_a_page(server: HostServer) -> None:
    server.redirect_root("/host/index.html")
    status, headers, _ = ask(server, "/")
    assert (status, headers["location"]) == (302, "/host/index.html")


def test_a_taken_port_raises(server: HostServer) -> None:
    with pytest.raises(OSError, match="in use"):
        HostServer(int(server.url.rpartition(":")[2]))
