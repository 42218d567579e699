"""ONNX Runtime's native WebGPU execution provider behind the protocol that webinfer's own host answers.

Run as `python ort_native.py BASE_URL SESSION` in an environment that has onnxruntime-webgpu instead of onnxruntime.
"""

# ruff: noqa: INP001 (a program of another environment, not a module of a package)

import json
import sys
import time
import urllib.error
import urllib.request
import uuid

import numpy as np
import onnxruntime as ort

BASE, SESSION = sys.argv[1:3]
# A proxy from the environment must not see loopback traffic.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PROVIDER = "WebGpuExecutionProvider"


def get(path: str) -> tuple[int, bytes]:
    """Status and body of a GET."""
    with OPENER.open(f"{BASE}{path}") as response:
        return response.status, response.read()


def post(path: str, body: bytes) -> None:
    """POST raw bytes."""
    # The address is this session's own loopback server.
    OPENER.open(urllib.request.Request(f"{BASE}{path}", data=body, method="POST")).close()  # noqa: S310


def answer(message: dict) -> None:
    """Send one answer."""
    post(f"/result?session={SESSION}", json.dumps(message).encode())


class Host:
    """Loaded models and the two commands that bench sends."""

    def __init__(self) -> None:
        self.models: list[ort.InferenceSession] = []

    def load(self, *, package: str, file: str, dims: dict) -> dict:
        """Create a session. Raises RuntimeError where the provider is not the one that runs."""
        start = time.perf_counter()
        options = ort.SessionOptions()
        options.log_severity_level = 3
        for name, value in dims.items():
            options.add_free_dimension_override_by_name(name, value)
        _, model = get(f"{package}{file}")
        session = ort.InferenceSession(model, options, providers=[PROVIDER, "CPUExecutionProvider"])
        if session.get_providers()[0] != PROVIDER:
            raise RuntimeError(f"expected {PROVIDER}, found {session.get_providers()}")
        self.models.append(session)
        elapsed = (time.perf_counter() - start) * 1e3
        return {
            "handle": len(self.models) - 1,
            "tier": f"onnxruntime-webgpu {ort.__version__}",
            "reasons": [],
            "timings": {"load": elapsed},
        }

    def run(
        self, *, handle: int, feeds: list, dtypes: dict, shapes: dict, warmup: int, repeat: int, **_: object
    ) -> dict:
        """Run with host arrays in and out: the provider offers no completion event, so wallMs includes read-back."""
        session = self.models[handle]
        inputs = {
            f["name"]: np.frombuffer(get(f"/data/{f['data']}")[1], dtypes[f["name"]]).reshape(shapes[f["name"]])
            for f in feeds
        }
        wall = []
        values: list = []
        for i in range(warmup + repeat):
            start = time.perf_counter()
            values = session.run(None, inputs)
            if i >= warmup:
                wall.append((time.perf_counter() - start) * 1e3)
        outputs = []
        for spec, value in zip(session.get_outputs(), values, strict=True):
            data = uuid.uuid4().hex
            post(f"/data/{data}", np.ascontiguousarray(value).tobytes())
            outputs.append({"name": spec.name, "dtype": value.dtype.name, "shape": list(value.shape), "data": data})
        return {"outputs": outputs, "captured": [], "wallMs": wall, "readMs": None}


def main() -> None:
    """Greet, then answer commands until the server goes away."""
    host = Host()
    if PROVIDER not in ort.get_available_providers():
        answer({"id": 0, "ok": False, "error": {"code": "no-adapter", "message": f"{PROVIDER} is not available"}})
        return
    # ONNX Runtime does not say which adapter its Dawn took: the driver selection in the environment decides it.
    info = {"vendor": "", "architecture": "", "device": "", "description": "", "isFallbackAdapter": None}
    answer({"id": 0, "ok": True, "value": {"adapter": info, "features": [], "limits": {}, "userAgent": "onnxruntime"}})
    while True:
        try:
            status, body = get(f"/next?session={SESSION}")
        except (urllib.error.URLError, ConnectionError):
            return
        if status == 204:
            continue
        command = json.loads(body)
        number, op = command.pop("id"), command.pop("op")
        try:
            answer({"id": number, "ok": True, "value": getattr(host, op)(**command)})
        except Exception as fault:  # noqa: BLE001 (whatever ONNX Runtime raises is the answer)
            answer({"id": number, "ok": False, "error": {"code": "peer", "message": str(fault).splitlines()[0]}})


if __name__ == "__main__":
    main()
