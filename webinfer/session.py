"""DeviceSession: one long-lived host process on one device, driven over the loopback server."""

from __future__ import annotations

import json
import math
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

import ml_dtypes
import numpy as np

from webinfer.devices import Device, DeviceFacts, browser_path, find_device, host_dir, icd_path, node_modules, problems
from webinfer.errors import DeviceError
from webinfer.server import Channel, Files, HostServer

START_TIMEOUT_S = 120.0
COMMAND_TIMEOUT_S = 900.0
STOP_TIMEOUT_S = 15.0
POLL_S = 0.25
LOG_TAIL_LINES = 5
# Element types as their bytes travel; those below 8 bits take a byte each.
DTYPES: dict[str, np.dtype[Any]] = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
    "int64": np.dtype("<i8"),
    "uint64": np.dtype("<u8"),
    "int32": np.dtype("<i4"),
    "uint32": np.dtype("<u4"),
    "int16": np.dtype("<i2"),
    "uint16": np.dtype("<u2"),
    **dict.fromkeys(("int8", "int4", "int2"), np.dtype("i1")),
    **dict.fromkeys(("uint8", "uint4", "uint2"), np.dtype("u1")),
    "bool": np.dtype("?"),
}
_BELOW_8_BITS = {n: np.dtype(getattr(ml_dtypes, n)) for n in ("int4", "uint4", "int2", "uint2")}

Array = np.ndarray[Any, np.dtype[Any]]


class HostError(DeviceError):
    """The host answered a command with an error; `code` is the runtime's stable error code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class KernelTime:
    """GPU time of one dispatch in milliseconds."""

    kernel: str
    node: str
    ms: float


@dataclass(frozen=True)
class RunResult:
    """Outputs by name. wall_ms: one entry per repeat, from submit to onSubmittedWorkDone, without read-back;
    read_ms: the read-back of all outputs, None where the host does not tell.
    """

    outputs: dict[str, Array]
    captured: dict[str, Array]
    wall_ms: tuple[float, ...]
    kernels: tuple[KernelTime, ...]
    read_ms: float | None


@dataclass(frozen=True)
class ShaderMessage:
    """One entry of a shader's compilation info; `name` is the kernel's, `type` is error, warning or info."""

    name: str
    type: str
    text: str
    line: int


class DeviceSession:
    """Starts a host for a device and sends it commands; use it as a context manager.

    The host process ends with the session, also when this process crashes: it watches its standard input.
    """

    def __init__(
        self,
        device: str | Device,
        *,
        runtime: Path | None = None,
        mounts: Mapping[str, Path] | None = None,
        command: Sequence[str] | None = None,
        any_adapter: bool = False,
        start_timeout_s: float = START_TIMEOUT_S,
        command_timeout_s: float = COMMAND_TIMEOUT_S,
    ) -> None:
        """Prepare a session; `start` (or entering it) starts the host.

        runtime: folder with the host's files, by default the runtime of this installation. mounts: more folders to
        serve, by URL prefix. command: a program that answers the protocol in place of the device's own host; it gets
        the base URL and the session as arguments. any_adapter: take the adapter as it comes, for hosts that hide it.
        """
        self.device = find_device(device) if isinstance(device, str) else device
        self._runtime = runtime or host_dir()
        self._mounts = dict(mounts or {})
        self._host_command = list(command) if command else None
        self._any_adapter = any_adapter
        self._own_host = runtime is None and command is None
        self._start_timeout_s = start_timeout_s
        self._command_timeout_s = command_timeout_s
        self._session = secrets.token_hex(16)
        self._sent = 0
        self._server: HostServer | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self._facts: DeviceFacts | None = None
        self._launched_s = 0.0

    # -- life cycle --------------------------------------------------------------------------------------------------

    def start(self) -> DeviceFacts:
        """Start the host and wait for its greeting.

        Raises DeviceError when something is missing here, when the host does not come up, when it has no adapter, or
        when the adapter is not the one that the device stands for.
        """
        missing = problems(self.device) if self._own_host else []
        if missing:
            raise DeviceError(f"device {self.device.id}: {missing[0].fault}; {missing[0].fix}")
        try:
            self._server = HostServer()
            for prefix, folder in {"host": self._runtime, **self._mounts}.items():
                self._server.mount(prefix, folder)
            self._server.channel(self._session)
            argv, env = self._command_line(self._server.url)
            self._launched_s = time.monotonic()
            self._process = subprocess.Popen(
                argv,
                env={**os.environ, **env},
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                # Signals to our own process group (Ctrl-C, `timeout`) must not end the host before it has cleaned up:
                # it ends when its standard input closes.
                start_new_session=True,
            )
            greeting = self._wait(0, self._start_timeout_s, "start")
            self._facts = DeviceFacts.from_greeting(greeting)
            if not self._any_adapter:
                self._check_adapter(self._facts)
        except BaseException:
            self.close()
            raise
        return self._facts

    def close(self) -> None:
        """End the host process and the server; safe to call twice."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
            self._process = None
        if self._server is not None:
            self._server.close()
            self._server = None
        self._log.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def facts(self) -> DeviceFacts:
        """Adapter, features and limits. Raises DeviceError before `start`."""
        if self._facts is None:
            raise DeviceError(f"device {self.device.id}: not started; use `with DeviceSession(...)`")
        return self._facts

    @property
    def alive(self) -> bool:
        """Whether the host takes commands: false before `start`, after `close` and after a crash."""
        return self._process is not None and self._process.poll() is None

    @property
    def began_s(self) -> float:
        """time.monotonic() of the page's navigation in a browser, of the process's start elsewhere."""
        first = self._open_server().first_request_s
        return self._launched_s if first is None or self.device.kind == "dawn" else first

    # -- commands ----------------------------------------------------------------------------------------------------

    def load(
        self, package: Files, tier: str | None = None, *, shared: bool = False, self_test: bool = False
    ) -> LoadedModel:
        """Load a package from a folder or from memory (path -> bytes); `tier` None lets the runtime choose.

        shared: on one device for all such packages, which keeps compiled kernels; else the package has its own device.
        self_test: run the package's golden inputs first; raises HostError "self-test" where no program is right, and
        `reasons` hold the result.
        """
        chosen = {} if tier is None else {"tier": tier}
        flags = {"shared": shared, "selfTest": self_test}
        return self.load_with(package, **chosen, **{name: True for name, wanted in flags.items() if wanted})

    def load_with(self, package: Files, **arguments: Any) -> LoadedModel:
        """Load with arguments that only a host of another kind takes."""
        server = self._open_server()
        path = server.mount(f"pkg/{secrets.token_hex(4)}", package)
        try:
            value = self.call("load", package=path, **arguments)
        finally:
            server.unmount(path)
        return LoadedModel(
            session=self,
            handle=value["handle"],
            tier=value["tier"],
            reasons=tuple(value.get("reasons", ())),
            timings_ms={k: float(v) for k, v in value.get("timings", {}).items()},
            memory_bytes={k: int(v["bytes"]) for k, v in value.get("memory", {}).get("byKind", {}).items()},
        )

    def compile(self, kernels: Mapping[str, str]) -> list[ShaderMessage]:
        """Compile WGSL sources (name -> source) and return what the device's compiler says about each."""
        value = self.call("compile", kernels=[{"name": n, "wgsl": w} for n, w in kernels.items()])
        return [
            ShaderMessage(m["name"], m["type"], m["text"], int(m.get("line", 0))) for m in value.get("messages", ())
        ]

    def memory(self) -> dict[str, Any]:
        """Live GPU buffers and bytes."""
        return self.call("memory")

    def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Send one command and return its value. Raises HostError on an error answer, DeviceError on a dead host."""
        channel = self._channel()
        self._sent += 1
        channel.send({"id": self._sent, "op": op, **arguments})
        return self._wait(self._sent, self._command_timeout_s, op)

    def upload(self, array: Array) -> str:
        """Offer an array to the host; returns the id of its bytes."""
        wire = DTYPES.get(array.dtype.name, array.dtype.newbyteorder("<"))
        return self._open_server().put(np.ascontiguousarray(array).astype(wire).tobytes())

    def forget(self, data_id: str) -> None:
        """Drop uploaded bytes."""
        self._open_server().take(data_id)

    def download(self, tensor: Mapping[str, Any]) -> Array:
        """The array behind an entry of `outputs` or `captured`."""
        dtype, shape = DTYPES[tensor["dtype"]], tuple(int(d) for d in tensor["shape"])
        data = self._open_server().take(tensor["data"])
        expected = math.prod(shape) * dtype.itemsize
        if data is None or len(data) != expected:
            found = "nothing" if data is None else f"{len(data)} bytes"
            raise DeviceError(
                f"device {self.device.id}: tensor {tensor['name']}: expected {expected} bytes for {tensor['dtype']} "
                f"{list(shape)}, found {found}; rebuild the runtime (npm run build) so that it matches this version"
            )
        array = np.frombuffer(data, dtype).reshape(shape)
        below = _BELOW_8_BITS.get(tensor["dtype"])
        return array if below is None else array.astype(below)

    # -- internals ---------------------------------------------------------------------------------------------------

    def _command_line(self, base: str) -> tuple[list[str], dict[str, str]]:
        """Arguments and environment of the host process."""
        device = self.device
        # The child must find this very package, wherever it was started from.
        paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
        env = {"PYTHONUNBUFFERED": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        icd = icd_path(device.driver) if device.driver else None
        if icd is not None:
            # Old Vulkan loaders read the first name, current ones the second.
            env |= {"VK_ICD_FILENAMES": str(icd), "VK_DRIVER_FILES": str(icd)}
        if device.kind == "dawn":
            modules = node_modules()
            if modules is not None:
                env["WEBINFER_NODE_MODULES"] = str(modules)
        if device.kind == "dawn" or self._host_command is not None:
            host = self._host_command or ["node", str(self._runtime / "host-node.mjs")]
            return [sys.executable, "-m", "webinfer.hosts.leash", *host, base, self._session], env
        url = f"{base}/host/host/index.html?session={self._session}" + ("&compat=1" if device.compat else "")
        options = {"url": url, "executable": browser_path(device.kind), "flags": device.flags, "prefs": device.prefs}
        return [sys.executable, "-m", f"webinfer.hosts.{device.kind}", json.dumps(options)], env

    def _open_server(self) -> HostServer:
        if self._server is None:
            raise DeviceError(f"device {self.device.id}: the session is closed; start a new one")
        return self._server

    def _channel(self) -> Channel:
        return self._open_server().channel(self._session)

    def _wait(self, command_id: int, timeout_s: float, op: str) -> dict[str, Any]:
        deadline = time.monotonic() + timeout_s
        channel, process = self._channel(), self._process
        while True:
            answer = channel.wait(command_id, POLL_S)
            if answer is not None:
                break
            if process is not None and process.poll() is not None:
                # The last answer may have arrived while the process ended.
                answer = channel.wait(command_id, 0.0)
                if answer is not None:
                    break
                self._fail(f"the host ended (exit status {process.returncode}) during {op!r}")
            if time.monotonic() > deadline:
                self._fail(f"no answer to {op!r} within {timeout_s:.0f} s")
        if not answer.get("ok"):
            error = answer.get("error", {})
            code, text = str(error.get("code", "unknown")), str(error.get("message", "no message"))
            hint = "; `webinfer doctor` says what is missing" if code == "no-adapter" else ""
            raise HostError(f"device {self.device.id}: {op}: {text} ({code}){hint}", code)
        value: dict[str, Any] = answer.get("value") or {}
        return value

    def _fail(self, fault: str) -> NoReturn:
        """Close the session and raise DeviceError with the end of the host's log."""
        tail = self._log_tail()
        self.close()
        raise DeviceError(
            f"device {self.device.id}: {fault}; run `webinfer doctor`, then start the session again"
            + (f" (last output: {tail})" if tail else "")
        )

    def _log_tail(self) -> str:
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines()]
        return " | ".join([line for line in lines if line][-LOG_TAIL_LINES:])

    def _check_adapter(self, facts: DeviceFacts) -> None:
        device, adapter = self.device, facts.adapter
        name = adapter.words or "an adapter that hides its name"
        found = f"{name} with {', '.join(sorted(facts.features)) or 'no features'}"
        faults = []
        if device.adapter is not None and device.adapter not in adapter.words.lower():
            faults.append(f"an adapter named {device.adapter}")
        if device.software is not None and device.software != adapter.is_software:
            faults.append("a software adapter" if device.software else "a GPU")
        faults += [f"feature {f}" for f in device.features.present if f not in facts.features]
        faults += [f"no feature {f}" for f in device.features.absent if f in facts.features]
        if faults:
            raise DeviceError(
                f"device {device.id}: expected {', '.join(faults)}; found {found}; "
                "check the driver with `webinfer doctor` or choose another --device"
            )


@dataclass(frozen=True)
class LoadedModel:
    """A package on a device. timings_ms: stages of loading; memory_bytes: GPU bytes by kind."""

    session: DeviceSession
    handle: int | str
    tier: str
    reasons: tuple[str, ...]
    timings_ms: dict[str, float]
    memory_bytes: dict[str, int]

    def run(
        self,
        feeds: Mapping[str, Array],
        *,
        outputs: Sequence[str] | None = None,
        capture: Sequence[str] = (),
        profile: bool = False,
        warmup: int = 0,
        repeat: int = 1,
        read: bool = True,
        **arguments: Any,
    ) -> RunResult:
        """Run with arrays by input name, already of the model's shape and dtype.

        outputs: which to read (None: all); capture: intermediate values to read too; read False skips read-back;
        arguments: what only a host of another kind takes.
        """
        session = self.session
        sent: list[dict[str, Any]] = [
            {"name": n, "data": session.upload(a), "shape": list(a.shape)} for n, a in feeds.items()
        ]
        command: dict[str, Any] = {"warmup": warmup, "repeat": repeat, "profile": profile, "read": read, **arguments}
        if outputs is not None:
            command["outputs"] = list(outputs)
        if capture:
            command["capture"] = list(capture)
        try:
            value = session.call("run", handle=self.handle, feeds=sent, **command)
        finally:
            for feed in sent:
                session.forget(feed["data"])
        return RunResult(
            outputs={t["name"]: session.download(t) for t in value.get("outputs", ())},
            captured={t["name"]: session.download(t) for t in value.get("captured", ())},
            wall_ms=tuple(float(ms) for ms in value.get("wallMs", ())),
            kernels=tuple(KernelTime(k["kernel"], k["node"], float(k["ms"])) for k in value.get("kernels") or ()),
            read_ms=None if value.get("readMs") is None else float(value["readMs"]),
        )

    def dispose(self) -> None:
        """Free everything that the model holds on the device."""
        self.session.call("dispose", handle=self.handle)
