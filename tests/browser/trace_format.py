"""What Trace Event Format (Google, 2016) asks of a trace, and what Perfetto's importer of it asks besides.

Perfetto is strict where chrome://tracing forgives: complete events of a thread must nest, a thread id belongs to one
process, and thread 0 is the kernel's.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any

COMMON: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "cat": str,
    "ph": str,
    "ts": (int, float),
    "pid": int,
    "tid": int,
}
METADATA: dict[str, tuple[str, type]] = {
    "process_name": ("name", str),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
}
# Times are decimal texts of microseconds: two ends that are the same nanosecond may differ by less than that.
NANOSECOND = 1e-3


def check_trace(text: str) -> list[dict[str, Any]]:
    """Return the events of a valid trace; raises AssertionError at the first that breaks a rule."""
    document = json.loads(text, parse_constant=_refuse)
    assert document["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = document["traceEvents"]
    for event in events:
        _check_event(event)
    stamps = [event["ts"] for event in events]
    assert stamps == sorted(stamps)
    _check_tracks(events)
    _check_spans([event for event in events if event["ph"] in "be"])
    return events


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


def _check_event(event: dict[str, Any]) -> None:
    for key, kind in COMMON.items():
        assert isinstance(event[key], kind), event
    assert event["name"], event
    assert math.isfinite(event["ts"]), event
    assert event["ts"] >= 0, event
    assert event["pid"] > 0, event
    assert event["tid"] > 0, event
    args = event.get("args", {})
    assert isinstance(args, dict), event
    match event["ph"]:
        case "X":
            assert isinstance(event["dur"], (int, float)), event
            assert event["dur"] >= 0, event
        case "b" | "e":
            assert isinstance(event["id"], str), event
        case "C":
            assert args, event
            assert all(isinstance(value, (int, float)) for value in args.values()), event
        case "i":
            assert event["s"] in ("g", "p", "t"), event
        case "M":
            key, kind = METADATA[event["name"]]
            assert isinstance(args[key], kind), event
        case other:
            raise AssertionError(f"phase {other}: {event}")


def _check_tracks(events: list[dict[str, Any]]) -> None:
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    assert len({tid for _, tid in named}) == len(named)
    assert {pid for pid, _ in named} <= processes
    tracks = defaultdict(list)
    for event in events:
        assert event["ph"] == "M" or (event["pid"], event["tid"]) in named, event
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    for track in tracks.values():
        ends: list[float] = []
        for event in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= event["ts"] + NANOSECOND:
                ends.pop()
            end = event["ts"] + event["dur"]
            assert not ends or end <= ends[-1] + NANOSECOND, event
            ends.append(end)


def _check_spans(events: list[dict[str, Any]]) -> None:
    spans = defaultdict(list)
    for event in events:
        spans[event["pid"], event["cat"], event["id"]].append(event)
    for span in spans.values():
        assert [event["ph"] for event in span] == ["b", "e"], span
        assert span[0]["name"] == span[1]["name"], span
