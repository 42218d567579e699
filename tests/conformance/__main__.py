"""`python -m tests.conformance`: onnx.backend.test on WebGPU devices, failures grouped by operator."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict

from tests.conformance import worker
from tests.conformance.suite import Test, all_tests, exclusions, spread
from tests.conformance.worker import Outcome

WHOLE = ("dawn-lavapipe", "dawn-swiftshader")
SPREAD = ("chromium-swiftshader", "chromium-compat", "firefox-lavapipe")
SPREAD_TESTS = 200


def main(words: Sequence[str]) -> int:
    """Exit status: 1 where a test fails, or the list of excluded tests is wrong."""
    options = _parse(words)
    started = time.perf_counter()
    tests = all_tests()
    worker.share(tests)
    excluded = {t.name: e for t in tests for e in exclusions() if e.covers(t.name)}
    stale = [e.pattern for e in exclusions() if not any(e.covers(t.name) for t in tests)]
    chosen = [t for t in tests if re.search(options.k, t.name)]
    counted = [t for t in chosen if t.name not in excluded]
    outcomes = _run(_jobs(counted, options), options.jobs)
    # A test that would pass has no place in the list.
    checked = [t for t in chosen if t.name in excluded]
    left_out = _run([(t.name, [options.device[0] if options.device else WHOLE[0]]) for t in checked], options.jobs)
    needless = [o.name for o in left_out if None in o.faults.values()]
    if options.json:
        print(
            json.dumps(
                {"tests": [asdict(o) for o in outcomes], "excluded": {t.name: excluded[t.name].reason for t in checked}}
            )
        )
        return 1 if stale or needless or any(f for o in outcomes for f in o.faults.values()) else 0
    return _report(outcomes, [t.name for t in checked], stale, needless, time.perf_counter() - started)


def _parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("-k", metavar="REGEX", default="", help="only tests whose name matches, on Dawn devices")
    parser.add_argument("--device", action="append", default=[], metavar="ID", help="repeat for several devices")
    parser.add_argument("--spread", type=int, metavar="N", help="a spread of N tests on each device")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="worker processes (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print every outcome as JSON")
    return parser.parse_args(words)


def _jobs(tests: Sequence[Test], options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Which devices run each test."""
    few = spread(tests, options.spread or SPREAD_TESTS)
    devices: dict[str, list[str]] = {t.name: [] for t in tests}
    for device in options.device or WHOLE:
        for test in few if options.spread else tests:
            devices[test.name].append(device)
    if not options.device and not options.k:
        for test in few:
            devices[test.name].extend(SPREAD)
    return [(name, on) for name, on in devices.items() if on]


def _run(jobs: Sequence[tuple[str, list[str]]], processes: int) -> list[Outcome]:
    if not jobs:
        return []
    outcomes = []
    # Forked workers share the tests; nothing here has started a thread or a device yet.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(min(processes, len(jobs)), mp_context=context) as pool:
        futures: dict[Future[Outcome], str] = {pool.submit(worker.run, name, on): name for name, on in jobs}
        for done in as_completed(futures):
            outcomes.append(done.result())
            if sys.stderr.isatty():
                print(f"\r{len(outcomes)}/{len(jobs)} {futures[done]:70.70}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    return sorted(outcomes, key=lambda outcome: outcome.name)


def _report(
    outcomes: Sequence[Outcome], excluded: Sequence[str], stale: Sequence[str], needless: Sequence[str], seconds: float
) -> int:
    failures: dict[str, list[str]] = defaultdict(list)
    passed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for outcome in outcomes:
        by_fault: dict[str, list[str]] = defaultdict(list)
        for device, fault in outcome.faults.items():
            if fault is None:
                passed[device] += 1
            else:
                failed[device] += 1
                by_fault[fault].append(device)
        for fault, devices in by_fault.items():
            failures[outcome.op].append(f"  {outcome.name} [{', '.join(devices)}] {fault}")
    for op, lines in sorted(failures.items()):
        print(f"{op}: {len(lines)}", *lines, sep="\n")
    for pattern in stale:
        print(f"excluded.txt: {pattern} matches no test")
    for name in needless:
        print(f"excluded.txt: {name} would pass")
    compiling = sum(o.compile_s for o in outcomes)
    for device in {d: None for o in outcomes for d in o.faults}:
        busy = sum(o.device_s.get(device, 0.0) for o in outcomes)
        print(f"{device}: {passed[device]} passed, {failed[device]} failed, {busy:.0f} s on the device")
    print(f"{len(outcomes)} tests, {len(excluded)} excluded, {compiling:.0f} s compiling, {seconds:.0f} s in all")
    print(f"{passed.total()} passed, {failed.total() + len(stale) + len(needless)} failed")
    return 1 if failed or stale or needless else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
