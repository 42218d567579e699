"""The command line: argument parsing only; every command is a module of webinfer.commands.

Exit status: 0 done, 1 a check failed, 2 usage or bad input, 130 interrupted. Errors that a user can act on are one line
on standard error (and one JSON document on standard output with --json); any other error keeps its traceback.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

from webinfer import __version__
from webinfer.commands.bench import bench as bench_package
from webinfer.commands.devices import devices as list_devices
from webinfer.commands.doctor import doctor as check_machine
from webinfer.commands.export import export as export_model
from webinfer.commands.inspect import inspect as inspect_package
from webinfer.commands.lint import lint as lint_model
from webinfer.commands.run import run as run_package
from webinfer.commands.serve import serve as serve_package
from webinfer.commands.verify import verify as verify_package
from webinfer.errors import UnsupportedError, WebinferError

app = typer.Typer(
    name="webinfer",
    help="Compile models for WebGPU inside games, and run, check and measure the packages.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Target(StrEnum):
    """Where a package shall run."""

    MOBILE = "webgpu-mobile"
    DESKTOP = "webgpu-desktop"
    ALL = "webgpu-all"


class Precision(StrEnum):
    """Element type of weights and activations."""

    AUTO = "auto"
    FP32 = "fp32"
    FP16 = "fp16"


Package = Annotated[Path, typer.Argument(metavar="PKG", help="Folder that `webinfer export -o` wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
DeviceId = Annotated[str | None, typer.Option("--device", metavar="ID", help="See `webinfer devices`.")]
Tier = Annotated[
    str | None, typer.Option("--tier", metavar="ID", help="Use this tier instead of the runtime's choice.")
]
Inputs = Annotated[list[str] | None, typer.Option("--input", metavar="NAME=FILE.npy", help="One per model input.")]
Dims = Annotated[list[str] | None, typer.Option("--dim", metavar="NAME=MIN..MAX", help="Size of a dimension.")]
Source = Annotated[Path | None, typer.Option("--source", metavar="FILE.onnx", help="The original model.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the inputs that are made here.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def export(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="An .onnx file.")],
    target: Annotated[Target, typer.Option("--target")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the package.")],
    precision: Annotated[Precision, typer.Option("--precision")] = Precision.AUTO,
    dim: Dims = None,
    licence: Annotated[
        list[str] | None, typer.Option("--licence", metavar="SPDX", help="Licence of the model.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older package.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say what each stage changed.")] = False,
    as_json: Json = False,
) -> None:
    """Compile a model into a package."""
    export_model(
        source,
        target.value,
        output,
        precision=precision.value,
        dims=dim or [],
        licences=licence or [],
        overwrite=overwrite,
        verbose=verbose,
        as_json=as_json,
    )


@app.command()
def run(
    package: Package,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT.npz", help="Outputs under their names.")],
    inputs: Inputs = None,
    device: DeviceId = None,
    tier: Tier = None,
    as_json: Json = False,
) -> None:
    """Run a package once on a WebGPU device."""
    run_package(package, inputs or [], output, device, tier, as_json)


@app.command()
def verify(
    package: Package,
    device: Annotated[list[str] | None, typer.Option("--device", metavar="ID", help="May be repeated.")] = None,
    source: Source = None,
    inputs: Inputs = None,
    tier: Tier = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Check hashes, then numbers against ONNX Runtime CPU; names the first kernel that differs."""
    verify_package(package, device or [], source=source, inputs=inputs or [], tier=tier, seed=seed, as_json=as_json)


@app.command()
def inspect(
    package: Package,
    top: Annotated[int, typer.Option("--top", min=0, help="Kernels to list per tier.")] = 8,
    as_json: Json = False,
) -> None:
    """Print tiers, kernels and the memory plan."""
    inspect_package(package, top, as_json)


@app.command()
def lint(
    source: Annotated[Path, typer.Argument(metavar="MODEL.onnx", help="The model, before it is exported.")],
    target: Annotated[Target, typer.Option("--target")] = Target.ALL,
    precision: Annotated[Precision, typer.Option("--precision")] = Precision.AUTO,
    dim: Dims = None,
    top: Annotated[int, typer.Option("--top", min=0, help="Slow nodes to list.")] = 10,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page.")] = None,
    as_json: Json = False,
) -> None:
    """Say which nodes run on which tier, what they cost on which GPU, and what to change in the model."""
    lint_model(source, target.value, precision=precision.value, dims=dim or [], top=top, html=html, as_json=as_json)


@app.command()
def bench(
    package: Package,
    device: DeviceId = None,
    against: Annotated[str, typer.Option("--against", metavar="NAME,...", help="ort-web, ort-webgpu-native.")] = "",
    source: Source = None,
    tier: Tier = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Turns that the runtimes take.")] = 5,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Runs per turn.")] = 1,
    seed: Seed = 0,
    frames: Annotated[
        float | None,
        typer.Option("--frames", metavar="SECONDS", min=1, help="Measure a rendering page's frames, this long a turn."),
    ] = None,
    scene: Annotated[
        Path | None,
        typer.Option("--scene", metavar="FOLDER", help="With --frames: a built page, like demo_game/dist."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Time a package, and other runtimes on the same adapter in alternating runs."""
    peers = [name for name in against.split(",") if name]
    bench_package(
        package,
        device,
        against=peers,
        source=source,
        tier=tier,
        rounds=rounds,
        repeat=repeat,
        seed=seed,
        frames_s=frames,
        scene=scene,
        as_json=as_json,
    )


@app.command()
def devices(
    start: Annotated[bool, typer.Option("--start", help="Start each device and ask its adapter.")] = False,
    as_json: Json = False,
) -> None:
    """List what this machine can run on."""
    list_devices(start, as_json)


@app.command()
def serve(
    package: Package,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes any free port.")] = 8000,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the default browser.")] = False,
    as_json: Json = False,
) -> None:
    """Serve a page that runs the package in a browser."""
    serve_package(package, port, open_browser, as_json)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check this machine, with the fix for each fault."""
    check_machine(as_json)


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse, run, and exit with the command's status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(words, standalone_mode=False)
    except WebinferError as fault:
        sys.exit(_fail(fault.exit_code, str(fault), type(fault).__name__, words))
    except TyperException as fault:
        # Usage errors: a wrong option, a missing argument.
        sys.exit(_fail(2, fault.format_message(), "UsageError", words))
    except OSError as fault:
        # The machine refused: no permission, no space, a file that went away.
        where = f"{fault.filename}: " if fault.filename else ""
        advice = "check the path, its permissions and the free space"
        sys.exit(_fail(2, f"{where}{fault.strerror or fault}; {advice}", type(fault).__name__, words))
    except (KeyboardInterrupt, Abort):
        status = 130
    if status == 130:
        # Typer turns an interrupt into this status without a word.
        _fail(130, "interrupted", "Interrupted", words)
    sys.exit(status if isinstance(status, int) else 0)


def _fail(status: int, message: str, kind: str, words: Sequence[str]) -> int:
    # The one error that is a list keeps its lines: one per node that no kernel covers.
    line = message.strip() if kind == UnsupportedError.__name__ else " ".join(message.split())
    if "--json" in words and kind != "CheckFailed":
        # A failed check has printed its own document already.
        print(json.dumps({"error": {"type": kind, "message": line}}))
    print(f"webinfer: {line}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
