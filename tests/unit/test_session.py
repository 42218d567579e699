"""Sessions with a host that has no device: results, errors, death, silence, and processes that end with us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from webinfer.errors import DeviceError
from webinfer.session import DeviceSession, HostError

FAKE = Path(__file__).parent / "fake_host.py"
PACKAGE = {"manifest.json": b'{"tier": "fp32-register"}'}


def session(mode: str, start_timeout_s: float = 30.0, command_timeout_s: float = 30.0) -> DeviceSession:
    return DeviceSession(
        "dawn-lavapipe",
        command=[sys.executable, str(FAKE), mode],
        start_timeout_s=start_timeout_s,
        command_timeout_s=command_timeout_s,
    )


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie answers signals; its state says that it ended.
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still alive"
        time.sleep(0.05)


def test_facts_load_run_and_compile() -> None:
    with session("works") as device:
        assert device.facts.adapter.description == "llvmpipe"
        assert "shader-f16" in device.facts.features
        model = device.load(PACKAGE)
        assert (model.tier, model.reasons) == ("fp32-register", ("the only one",))
        array = np.array([1, -2, 3], dtype=np.int32)
        result = model.run({"x": array}, profile=True)
        np.testing.assert_array_equal(result.outputs["x"], [array, array])
        assert result.wall_ms == (1.5,)
        assert (result.kernels[0].kernel, result.kernels[0].ms) == ("k", 0.5)
        message = device.compile({"k": "fn main() { x; }"})[0]
        assert (message.type, message.line) == ("error", 3)


def test_big_endian_and_strided_arrays_arrive_in_order() -> None:
    with session("works") as device:
        model = device.load(PACKAGE)
        array = np.arange(8, dtype=">i4")[::2]
        np.testing.assert_array_equal(model.run({"x": array}).outputs["x"][0], [0, 2, 4, 6])


def test_an_error_answer_carries_its_code() -> None:
    with session("works") as device:
        with pytest.raises(HostError, match="dawn-lavapipe: memory: the device has no room") as caught:
            device.memory()
        assert caught.value.code == "out-of-memory"


def test_no_adapter_leads_to_doctor() -> None:
    with pytest.raises(HostError, match=r"requestAdapter returned null \(no-adapter\).*webinfer doctor"):
        session("no-adapter").start()


def test_another_adapter_than_asked_for_is_an_error() -> None:
    with pytest.raises(DeviceError, match=r"dawn-lavapipe: expected an adapter named llvmpipe; found .*swiftshader"):
        session("other-adapter").start()


def test_a_missing_feature_is_an_error() -> None:
    with pytest.raises(DeviceError, match="expected feature shader-f16; found mesa"):
        session("no-f16").start()


def test_a_host_that_dies_is_reported_with_its_last_words() -> None:
    with (
        session("dies") as device,
        pytest.raises(DeviceError, match=r"ended \(exit status 139\) during 'memory'.*Segmentation fault"),
    ):
        device.memory()


def test_a_host_that_never_starts_is_reported_with_its_last_words() -> None:
    with pytest.raises(DeviceError, match=r"exit status 3.*libvulkan"):
        session("crashes-at-start").start()


def test_a_silent_host_times_out_and_is_killed() -> None:
    started = time.monotonic()
    with pytest.raises(DeviceError, match="no answer to 'start' within 1 s"):
        session("silent", start_timeout_s=1).start()
    assert time.monotonic() - started < 10


def test_a_hanging_command_times_out_and_ends_the_session() -> None:
    with session("hangs", command_timeout_s=1) as device:
        pid = device.facts.limits["pid"]
        with pytest.raises(DeviceError, match="no answer to 'memory' within 1 s"):
            device.memory()
        wait_until_gone(pid)
        with pytest.raises(DeviceError, match="closed"):
            device.memory()


def test_a_result_of_the_wrong_size_is_an_error() -> None:
    with session("truncates") as device:
        model = device.load(PACKAGE)
        with pytest.raises(DeviceError, match=r"tensor x: expected \d+ bytes for int32"):
            model.run({"x": np.zeros(3, np.int32)})


def test_closing_ends_the_host_process() -> None:
    with session("works") as device:
        pid = device.facts.limits["pid"]
        assert is_alive(pid)
    wait_until_gone(pid)


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_host_process_ends_when_its_parent_is_killed(kill: signal.Signals) -> None:
    """With the whole process group, as Ctrl-C and `timeout` do."""
    program = (
        "import sys, time\n"
        "from webinfer.session import DeviceSession\n"
        f"s = DeviceSession('dawn-lavapipe', command=[sys.executable, {str(FAKE)!r}, 'works'])\n"
        "print(s.start().limits['pid'], flush=True)\n"
        # A signal between the interpreter's check and a long sleep would wait for the end of that sleep.
        "while True:\n"
        "    time.sleep(0.05)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert is_alive(pid)
    os.killpg(parent.pid, kill)
    parent.wait()
    parent.stdout.close()
    wait_until_gone(pid)


def test_use_before_start_is_an_error() -> None:
    with pytest.raises(DeviceError, match="not started"):
        _ = session("works").facts
