"""A device host without a device: greets as lavapipe, doubles feeds, and misbehaves on request.

Run as `python fake_host.py MODE BASE_URL SESSION`.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.request
from typing import Any

MODE, BASE, SESSION = sys.argv[1:4]
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
FEATURES = ["core-features-and-limits", "shader-f16", "subgroups", "timestamp-query"]
ADAPTER = {
    "vendor": "mesa",
    "architecture": "software",
    "device": "",
    "description": "llvmpipe",
    "isFallbackAdapter": True,
}


def post(path: str, body: bytes) -> None:
    OPENER.open(urllib.request.Request(f"{BASE}{path}", data=body, method="POST")).close()


def answer(number: int, value: dict[str, Any]) -> None:
    post(f"/result?session={SESSION}", json.dumps({"id": number, "ok": True, "value": value}).encode())


def fail(number: int, code: str, message: str) -> None:
    error = {"code": code, "message": message}
    post(f"/result?session={SESSION}", json.dumps({"id": number, "ok": False, "error": error}).encode())


def double(feeds: list[dict[str, str]]) -> dict[str, Any]:
    outputs = []
    for feed in feeds:
        data = OPENER.open(f"{BASE}/data/{feed['data']}").read()
        name = f"result-{feed['name']}"
        if MODE == "truncates":
            data = data[:-1]
        post(f"/data/{name}", data + data)
        outputs.append({"name": feed["name"], "dtype": "int32", "shape": [2, len(data) // 4], "data": name})
    return {"outputs": outputs, "captured": [], "wallMs": [1.5], "kernels": [{"kernel": "k", "node": "n", "ms": 0.5}]}


def main() -> None:
    if MODE == "silent":
        time.sleep(600)
    if MODE == "crashes-at-start":
        print("libvulkan.so.1: cannot open shared object file", file=sys.stderr)
        sys.exit(3)
    if MODE == "no-adapter":
        fail(0, "no-adapter", "requestAdapter returned null")
        time.sleep(600)
    adapter = ADAPTER | ({"description": "swiftshader"} if MODE == "other-adapter" else {})
    features = [f for f in FEATURES if MODE != "no-f16" or f != "shader-f16"]
    limits = {"maxBufferSize": 4, "pid": os.getpid()}
    answer(0, {"adapter": adapter, "features": features, "limits": limits, "userAgent": "fake"})
    while True:
        with OPENER.open(f"{BASE}/next?session={SESSION}") as response:
            body = response.read()
        if not body:
            continue
        command = json.loads(body)
        if command["op"] == "load":
            manifest = OPENER.open(f"{BASE}{command['package']}manifest.json").read()
            answer(command["id"], {"handle": 7, "tier": json.loads(manifest)["tier"], "reasons": ["the only one"]})
        elif command["op"] == "run":
            answer(command["id"], double(command["feeds"]))
        elif command["op"] == "compile":
            message = {"name": "k", "type": "error", "text": "unresolved value 'x'", "line": 3}
            answer(command["id"], {"messages": [message]})
        elif command["op"] == "memory" and MODE == "dies":
            print("Segmentation fault", file=sys.stderr)
            os._exit(139)
        elif command["op"] == "memory" and MODE == "hangs":
            time.sleep(600)
        else:
            fail(command["id"], "out-of-memory", "the device has no room")


if __name__ == "__main__":
    main()
