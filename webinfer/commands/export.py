"""`webinfer export`: compile a model into a package, with progress that suits a terminal, a log or a program."""

from __future__ import annotations

import json
import keyword
import re
import resource
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from webinfer.commands.printing import print_result
from webinfer.errors import InputError
from webinfer.package import MANIFEST, read_package
from webinfer.symbols import Symbol

# Linux counts ru_maxrss in KiB, macOS in bytes.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def parse_dims(pairs: Sequence[str]) -> dict[str, int | Symbol]:
    """`NAME=N`, `NAME=MIN..MAX` or `NAME=MIN..MAX:MULTIPLE` as name -> size or bounds.

    Raises InputError naming the pair.
    """
    dims: dict[str, int | Symbol] = {}
    for pair in pairs:
        match = re.fullmatch(r"([^=]+)=(\d+)(?:\.\.(\d+)(?::(\d+))?)?", pair)
        if match is None:
            raise InputError(
                f"--dim {pair!r}: expected NAME=N or NAME=MIN..MAX[:MULTIPLE], for example --dim seq=1..128"
            )
        name, low, high, multiple = match[1], int(match[2]), int(match[3] or match[2]), int(match[4] or 1)
        if name in dims:
            raise InputError(f"--dim {name}: given twice; give each dimension once")
        if low == high:
            if low < 1:
                raise InputError(f"--dim {pair!r}: a fixed size is at least 1")
            dims[name] = low
        elif low > high or multiple < 1 or low % multiple or high % multiple:
            raise InputError(f"--dim {pair!r}: expected MIN <= MAX, both of them multiples of MULTIPLE")
        else:
            dims[name] = Symbol(symbol_name(name, dims), low, high, multiple)
    return dims


def symbol_name(name: str, taken: Mapping[str, object]) -> str:
    """`name` as expressions can spell it: letters, digits and underscores, no name twice."""
    stem = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not stem.isidentifier() or stem in ("min", "max") or keyword.iskeyword(stem):
        stem = f"size_{stem}"
    used = {d.name for d in taken.values() if isinstance(d, Symbol)}
    return next(s for s in (stem, *(f"{stem}_{n}" for n in range(2, len(used) + 3))) if s not in used)


class Progress:
    """Writes stages to standard error: a progress bar in a terminal, plain lines elsewhere, JSON lines with --json.

    verbose: also print each stage's remarks.
    """

    def __init__(self, *, verbose: bool, as_json: bool) -> None:
        self._verbose = verbose
        self._as_json = as_json
        self._stage = ""
        self._bar: Bar | None = None
        if sys.stderr.isatty() and not as_json:
            columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("starting", total=None)
            self._bar.start()

    def begin(self, stage: str, number: int, total: int) -> None:
        """Show the stage that starts."""
        self._stage = stage
        label = f"[{number}/{total}] {stage}"
        if self._bar is not None:
            self._bar.update(self._task, description=stage, completed=number - 1, total=total)
        elif self._as_json:
            self._line(json.dumps({"event": "begin", "stage": stage, "number": number, "total": total}))
        else:
            self._line(label)

    def end(self, summary: str, notes: Sequence[str] = (), warnings: Sequence[str] = ()) -> None:
        """Show what the stage did."""
        if self._as_json:
            event = {"event": "end", "stage": self._stage, "summary": summary, "notes": notes, "warnings": warnings}
            self._line(json.dumps(event))
            return
        for warning in warnings:
            self._line(f"warning: {warning}")
        if self._verbose:
            self._line(f"  {summary}")
            for note in notes:
                self._line(f"    {note}")

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def _line(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


def export(
    source: str,
    target: str,
    output: Path,
    *,
    precision: str,
    dims: Sequence[str],
    licences: Sequence[str],
    overwrite: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Export, then print where the package is, its size, the time and the peak memory that it took."""
    sizes = parse_dims(dims)
    # The compiler brings onnxscript, which takes longer to import than most commands run.
    from webinfer.compile import export as compile_source  # noqa: PLC0415

    start = time.monotonic()
    progress = Progress(verbose=verbose, as_json=as_json)
    try:
        compile_source(
            source,
            target,
            output,
            precision=precision,
            dims=sizes,
            licences=list(licences),
            overwrite=overwrite,
            reporter=progress,
        )
    finally:
        progress.close()
    package = read_package(output)
    size = sum(f.size_bytes for f in package.files) + (output / MANIFEST).stat().st_size
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT
    tiers = [p.tier for c in package.components for p in c.programs]
    data = {
        "package": str(output),
        "package_bytes": size,
        "tiers": tiers,
        "quality": {k: q.model_dump() for k, q in package.quality.items()},
        "seconds": seconds,
        "peak_memory_bytes": peak,
    }
    errors = "".join(f", {k}: {q.metric} {q.value:.3g}" for k, q in package.quality.items())
    print_result(
        data,
        f"wrote {output}: {size / 1e6:.1f} MB, tiers {', '.join(dict.fromkeys(tiers))}{errors}; "
        f"{seconds:.1f} s, peak memory {peak / 1e6:.0f} MB",
        as_json=as_json,
    )
