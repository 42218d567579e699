"""The compiler pipeline, as one visible list of stages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from webinfer import __version__, manifest
from webinfer.kernel import Kernel, LoweredProgram
from webinfer.package import MANIFEST, file_entries, portable_model, shard_weights
from webinfer.passes.lower import lower
from webinfer.plan import plan
from webinfer.tiers import Tier


def compile_model(
    model: ir.Model,
    tiers: Sequence[Tier],
    *,
    name: str = "model",
    target: str = "webgpu-all",
    provenance: manifest.Provenance | None = None,
    quality: dict[str, manifest.Quality] | None = None,
) -> dict[str, bytes]:
    """Lower, plan and package a fused model with static shapes: path -> bytes of every file of the package."""
    lowered = {tier.id: lower(model, tier) for tier in tiers}
    files, weights = shard_weights(_weights(model, lowered.values()))
    programs = [plan(lowered[tier.id], tier, weights) for tier in tiers]
    kernels: dict[str, Kernel] = {}
    for program in lowered.values():
        for dispatch in [*program.prepare, *program.dispatches]:
            kernels[dispatch.kernel.name] = dispatch.kernel
    files |= {f"kernels/{k.name}.wgsl": k.wgsl.encode() for k in kernels.values()}
    files[f"{name}.onnx"] = portable_model(model, weights)
    document = manifest.Manifest(
        format_version=1,
        name=name,
        target=target,
        components=[
            manifest.Component(
                name=name,
                model=f"{name}.onnx",
                inputs=[_spec(v) for v in model.graph.inputs],
                outputs=[_spec(v) for v in model.graph.outputs],
                weights=list(weights.values()),
                programs=programs,
            )
        ],
        kernels=[_kernel(k) for k in sorted(kernels.values(), key=lambda k: k.name)],
        files=file_entries(files),
        quality=quality or {},
        provenance=provenance
        or manifest.Provenance(source="memory", source_sha256="0" * 64, producer="webinfer",
                               producer_version=__version__, licences=[]),
    )
    files[MANIFEST] = document.model_dump_json().encode()
    return files


def _weights(model: ir.Model, programs: Sequence[LoweredProgram] | object) -> dict[str, np.ndarray]:
    """Initializers that kernels read or that are large, in order of first use; small shape data stays in the model."""
    order: dict[str, None] = {}
    for program in programs:  # type: ignore[attr-defined]
        for dispatch in [*program.prepare, *program.dispatches]:
            order |= dict.fromkeys(n for n in dispatch.args if n in model.graph.initializers)
    for name, value in model.graph.initializers.items():
        if value.const_value is not None and value.const_value.nbytes > 1024:
            order[name] = None
    return {n: model.graph.initializers[n].const_value.numpy() for n in order}  # type: ignore[union-attr]


def _spec(value: ir.Value) -> manifest.TensorSpec:
    assert value.shape is not None and value.dtype is not None
    dtype = {"FLOAT": "float32", "FLOAT16": "float16"}.get(value.dtype.name, value.dtype.name.lower())
    return manifest.TensorSpec(name=value.name or "", dtype=dtype, shape=[int(d) for d in value.shape])  # type: ignore[arg-type]


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
