"""The compiler: from a source file to a package, as one visible list of stages."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import numpy as np
import onnx_ir as ir

from exporters.onnx import Source, open_onnx
from webinfer import __version__, manifest
from webinfer.cost import predictions, sku_hints
from webinfer.dims import constraints_of, sizes_of, symbols_of
from webinfer.errors import SourceError
from webinfer.expressions import extent
from webinfer.feeds import seeded_feeds
from webinfer.golden import make_golden
from webinfer.kernel import Kernel, LoweredProgram
from webinfer.package import MANIFEST, check_destination, file_entries, portable_model, shard_weights, write_package
from webinfer.passes.contract import Stage
from webinfer.passes.finish import Finish
from webinfer.passes.fix_dims import FixDims, FixShapes
from webinfer.passes.float_types import FloatTypes
from webinfer.passes.fold import RANDOM, Fold
from webinfer.passes.fuse import Fuse, Outline
from webinfer.passes.legalize import Legalize
from webinfer.passes.lower import lower
from webinfer.passes.precision import Precision
from webinfer.passes.specialise import Specialise
from webinfer.passes.split_weights import SplitWeights
from webinfer.plan import plan
from webinfer.quality import BARS, compare_all
from webinfer.reference import Reference
from webinfer.samples import sample_sizes
from webinfer.symbols import Symbol
from webinfer.tiers import Tier, smallest_binding, tiers_for

FloatPrecision = Literal["fp32", "fp16"]
PRECISIONS = ("auto", "fp32", "fp16")
_QUALITY_RUNS = 2


class Reporter(Protocol):
    """Where progress goes: a terminal line, a log, JSON events."""

    def begin(self, stage: str, number: int, total: int) -> None:
        """Stage `number` of `total` (from 1) starts."""

    def end(self, summary: str, notes: Sequence[str] = (), warnings: Sequence[str] = ()) -> None:
        """The stage that began last is done: what it changed, how long it took, remarks such as refusals, warnings."""


def front_stages(dims: Mapping[str, int | Symbol]) -> list[Stage]:
    """What every precision shares."""
    return [FixDims(dims), Legalize(), FloatTypes(), Fold(), Fuse()]


def back_stages(precision: FloatPrecision) -> list[Stage]:
    """From the recognised operators to the graph that is lowered."""
    return [Precision(precision), SplitWeights(smallest_binding()), Outline(), Finish()]


def export(
    source: str,
    target: str,
    output: Path,
    *,
    precision: str,
    dims: Mapping[str, int | Symbol],
    licences: Sequence[str],
    overwrite: bool,
    reporter: Reporter,
) -> None:
    """Compile the .onnx file `source` for `target` into the folder `output`.

    precision "auto" takes fp16 where its error stays within the fp16 bar, else fp32. Raises a WebinferError for bad
    input; an older package at `output` stays whole until the new one is complete.
    """
    check_destination(output, overwrite=overwrite)
    precisions = chosen_precisions(precision)
    track = _Track(reporter, total=len(front_stages({})) + len(back_stages("fp32")) + 4)
    track.begin("open")
    opened = open_onnx(Path(source))
    track.end(f"open: {len(opened.model.graph)} nodes, opset {opened.model.opset_imports.get('', 0)}")
    _check_interface(opened)
    original = Reference(opened.path)
    for stage in front_stages(dims):
        track.run(stage, opened.model)
    for chosen in precisions:
        model = opened.model.clone()
        for stage in back_stages(chosen):
            track.run(stage, model)
        track.begin("measure quality")
        error = _quality(original, model)
        found = "not comparable, it draws random numbers" if error is None else f"largest error {error.value:.3g}"
        track.end(f"measure quality: against the source {found} ({chosen})")
        if (error is not None and error.value <= BARS[chosen]) or chosen == precisions[-1]:
            break
    tiers = tiers_for(target, chosen)
    track.begin("lower, plan, package")
    files = compile_model(
        model,
        tiers,
        name=Path(source).stem,
        target=target,
        provenance=_provenance(opened, licences),
        quality={} if error is None else {chosen: error},
    )
    track.end(f"lower, plan, package: {len(tiers)} tiers, {len(files)} files")
    track.begin("write")
    write_package(files, output, overwrite=overwrite)
    track.end(f"write: {sum(map(len, files.values())):,} bytes")


@dataclass(frozen=True)
class PackageFiles:
    """A package in memory: path -> bytes of every file, and the model's inputs as the runtime takes them."""

    files: dict[str, bytes]
    inputs: list[manifest.TensorSpec]


def compile_in_memory(
    model: ir.Model,
    shapes: Mapping[str, Sequence[int]],
    values: Mapping[str, np.ndarray[Any, np.dtype[Any]]],
    *,
    fusions: bool = True,
) -> PackageFiles:
    """Compile `model`, which changes, for inputs of `shapes` and with the inputs `values` made constant, in fp32.

    The package fits every device. Without `fusions` every node keeps a kernel of its own. Raises a WebinferError for a
    model that cannot be compiled.
    """
    stages = [FixShapes(shapes), Specialise(values), *front_stages({}), *back_stages("fp32")]
    for stage in stages:
        if fusions or not isinstance(stage, Fuse | Outline):
            stage.run(model)
    files = compile_model(model, _register_tiers(model))
    return PackageFiles(files, [_spec(v) for v in model.graph.inputs])


def _register_tiers(model: ir.Model) -> list[Tier]:
    """Tiers with tiles in registers: fp32, or those that hold 16-bit floats where the model has any."""
    values = [*model.graph.inputs, *model.graph.initializers.values(), *(o for n in model.graph for o in n.outputs)]
    precision = "fp16" if any(v.dtype == ir.DataType.FLOAT16 for v in values) else "fp32"
    return [tier for tier in tiers_for("webgpu-all", precision) if tier.tiling == "register"]


class _Track:
    """Numbers the stages for the reporter."""

    def __init__(self, reporter: Reporter, total: int) -> None:
        self._reporter = reporter
        self._total = total
        self._number = 0
        self.end = reporter.end

    def begin(self, name: str) -> None:
        self._number += 1
        self._reporter.begin(name, self._number, max(self._total, self._number))

    def run(self, stage: Stage, model: ir.Model) -> None:
        self.begin(stage.name)
        report = stage.run(model)
        self._reporter.end(str(report), report.changes.notes, report.changes.warnings)


def chosen_precisions(name: str) -> Sequence[FloatPrecision]:
    """What `--precision` asks for, in the order in which it is tried. Raises SourceError for another word."""
    if name == "auto":
        return ("fp16", "fp32")
    if name == "fp32":
        return ("fp32",)
    if name == "fp16":
        return ("fp16",)
    raise SourceError(f"--precision {name}: expected one of {', '.join(PRECISIONS)}")


def _provenance(opened: Source, licences: Sequence[str]) -> manifest.Provenance:
    return manifest.Provenance(
        source=opened.path.name,
        source_sha256=opened.sha256[opened.path.name],
        producer="webinfer",
        producer_version=__version__,
        licences=list(licences),
    )


def _check_interface(opened: Source) -> None:
    """Raise SourceError where an input or an output has a type that no package can carry."""
    for role, values in (("input", opened.model.graph.inputs), ("output", opened.model.graph.outputs)):
        for value in values:
            found = "no tensor" if value.dtype is None else _dtype(value.dtype)
            if found not in (*get_args(manifest.DType), "float64", "bfloat16"):  # these two are read as float32
                raise SourceError(
                    f"{opened.path}: {role} {value.name!r} is {found}; expected one of "
                    f"{', '.join(get_args(manifest.DType))}: cast it inside the model and export it again"
                )


def _dtype(dtype: ir.DataType) -> str:
    """The element type in numpy's spelling, which manifests use."""
    return {"FLOAT": "float32", "DOUBLE": "float64"}.get(dtype.name, dtype.name.lower())


def _quality(original: Reference, model: ir.Model) -> manifest.Quality | None:
    """Largest absolute error of `model` against the untouched source file, on ONNX Runtime CPU.

    None for a model that draws random numbers: no two runtimes draw the same.
    """
    if any(node.op_type in RANDOM for node in model.graph.all_nodes()):
        return None
    worst = 0.0
    specs = [_spec(v) for v in model.graph.inputs]
    compiled = Reference(ir.to_proto(model))
    choices = sample_sizes(symbols_of(model.graph.inputs).values(), (c.zero for c in constraints_of(model)))
    for seed, sizes in itertools.islice(enumerate(itertools.cycle(choices)), max(_QUALITY_RUNS, len(choices))):
        feeds = seeded_feeds(specs, seed, sizes)
        for difference in compare_all(original.run(feeds), compiled.run(feeds)):
            worst = max(worst, difference.max_abs if difference.mismatched == 0 else float("inf"))
    if not np.isfinite(worst):
        raise SourceError(
            f"{original.origin}: expected finite outputs on random inputs, found others in the source or in "
            "the compiled model; export with --precision fp32, or correct the model"
        )
    return manifest.Quality(metric="max_abs_error", value=worst, runs=max(_QUALITY_RUNS, len(choices)))


def compile_model(
    model: ir.Model,
    tiers: Sequence[Tier],
    *,
    name: str = "model",
    target: str = "webgpu-all",
    provenance: manifest.Provenance | None = None,
    quality: dict[str, manifest.Quality] | None = None,
) -> dict[str, bytes]:
    """Lower, plan and package a fused model whose shapes are known: path -> bytes of every file of the package.

    A package whose `quality` is known gets golden inputs for the self-test.
    """
    lowered = {tier.id: lower(model, tier) for tier in tiers}
    files, weights = shard_weights(_weights(model, lowered.values()))
    programs = [
        plan(program, tier, weights, predictions(program.dispatches, tier.arithmetic))
        for tier, program in zip(tiers, lowered.values(), strict=True)
    ]
    kernels: dict[str, Kernel] = {}
    for program in lowered.values():
        for dispatch in [*program.prepare, *program.dispatches]:
            kernels[dispatch.kernel.name] = dispatch.kernel
    files |= {f"kernels/{k.name}.wgsl": k.wgsl.encode() for k in kernels.values()}
    files[f"{name}.onnx"] = portable_model(model, weights)
    inputs, outputs = [_spec(v) for v in model.graph.inputs], [_spec(v) for v in model.graph.outputs]
    golden = None
    if quality:
        golden, answers = make_golden(model, name, inputs, outputs, programs, quality)
        files[golden.file] = answers
    document = manifest.Manifest(
        format_version=manifest.FORMAT_VERSION,
        name=name,
        target=target,
        components=[
            manifest.Component(
                name=name,
                model=f"{name}.onnx",
                symbols={n: _bounds(s) for n, s in symbols_of(model.graph.inputs).items()},
                constraints=[manifest.Constraint(zero=str(c.zero), text=c.text) for c in constraints_of(model)],
                inputs=inputs,
                outputs=outputs,
                weights=list(weights.values()),
                golden=golden,
                programs=programs,
            )
        ],
        kernels=[_kernel(k) for k in sorted(kernels.values(), key=lambda k: k.name)],
        skus=sku_hints(),
        files=file_entries(files),
        quality=quality or {},
        provenance=provenance
        or manifest.Provenance(
            source="memory", source_sha256="0" * 64, producer="webinfer", producer_version=__version__, licences=[]
        ),
    )
    files[MANIFEST] = document.model_dump_json().encode()
    return files


def _weights(model: ir.Model, programs: Iterable[LoweredProgram]) -> dict[str, np.ndarray]:
    """Initializers that kernels read or that are large, in order of first use; small shape data stays in the model."""
    order: dict[str, None] = {}
    for program in programs:
        for dispatch in [*program.prepare, *program.dispatches]:
            order |= dict.fromkeys(n for n in dispatch.args if n in model.graph.initializers)
    for name, value in model.graph.initializers.items():
        if value.const_value is not None and value.const_value.nbytes > 1024:
            order[name] = None
    return {n: model.graph.initializers[n].const_value.numpy() for n in order}  # type: ignore[union-attr]


def _spec(value: ir.Value) -> manifest.TensorSpec:
    assert value.shape is not None
    assert value.dtype is not None
    shape = [extent(d) for d in sizes_of(value.shape)]
    return manifest.TensorSpec(name=value.name or "", dtype=_dtype(value.dtype), shape=shape)  # type: ignore[arg-type]


def _bounds(symbol: Symbol) -> manifest.SymbolBounds:
    return manifest.SymbolBounds(minimum=symbol.minimum, maximum=symbol.maximum, multiple=symbol.multiple)


def _kernel(k: Kernel) -> manifest.Kernel:
    return manifest.Kernel(
        name=k.name,
        file=f"kernels/{k.name}.wgsl",
        features=sorted(k.features),
        workgroup_size=list(k.workgroup_size),
        workgroup_storage_bytes=k.workgroup_storage_bytes,
        bindings=[manifest.KernelBinding(name=b.name, access=b.access) for b in k.bindings],
        params=[manifest.KernelParam(name=p.name, type=p.type) for p in k.params],
    )
