"""Golden inputs and answers: what a player's device is tested with, without a download of inputs.

Feeds come from an integer hash, so that `js_runtime/src/golden.ts` makes the same bits; answers are a few elements of
values of the graph, computed by ONNX Runtime's CPU provider from the portable model.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import safetensors.numpy

from webinfer import manifest
from webinfer.dims import constraints_of, symbols_of
from webinfer.feeds import shape_at
from webinfer.quality import BARS
from webinfer.reference import Reference
from webinfer.samples import sample_sizes

Array = np.ndarray[Any, np.dtype[Any]]

OUTPUT_PROBES = 512
INNER_PROBES = 8
_SCALE_PROBES = 256  # tell how large a value in between is; only the first ones are kept
_SMALLEST_SCALE = 1e-2
# A device may differ from the reference by this many times what the package differs from its source.
_MARGIN = 32
_NARROW = ("int4", "uint4", "int2", "uint2")  # ONNX Runtime converts them to no type that numpy knows
_NORMAL_SCALE = 1.7320508075688772 / 65536  # sqrt(3): four uniform numbers have a deviation of 1 / sqrt(3)


def hashed(index: Array, stream: int) -> Array:
    """32 random bits per index and stream (C. Wellons, hash-prospector: lowbias32)."""
    h = index.astype(np.uint32) * np.uint32(0x9E3779B1) + np.uint32(stream * 0x85EBCA6B & 0xFFFFFFFF)
    h = (h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    return h ^ (h >> np.uint32(16))


def golden_feed(recipe: manifest.GoldenInput, stream: int, shape: Sequence[int], dtype: str) -> Array:
    """The feed of input number `stream`. Reals are computed in float64 and rounded to float32, then to `dtype`."""
    index = np.arange(int(np.prod(shape)), dtype=np.uint32)
    low, high = recipe.low, recipe.high
    values: Array
    if recipe.kind == "integer":
        values = low + (hashed(index, stream) % np.uint32(high - low + 1)).astype(np.float64)
        return values.astype(dtype).reshape(shape)
    if recipe.kind == "uniform":
        values = low + (high - low) * ((hashed(index, stream) >> np.uint32(8)) / 2.0**24)
    else:
        first, second = (hashed(index * np.uint32(2) + np.uint32(k), stream) for k in (0, 1))
        total = (first & 0xFFFF) + (first >> 16) + (second & 0xFFFF) + (second >> 16)
        values = low + high * ((total - 131070.0) * _NORMAL_SCALE)
    return values.astype(np.float32).astype(dtype).reshape(shape)


def golden_feeds(recipe: manifest.Golden, inputs: Sequence[manifest.TensorSpec]) -> dict[str, Array]:
    """The golden feeds of a component by name."""
    specs = {spec.name: spec for spec in inputs}
    return {
        made.name: golden_feed(
            made, stream, shape_at(specs[made.name].shape, recipe.sizes), str(specs[made.name].dtype)
        )
        for stream, made in enumerate(recipe.inputs)
    }


def probed(elements: int, count: int) -> Array:
    """Which elements of a value are compared: all where there are no more than `count`, else hashed ones."""
    if elements <= count:
        return np.arange(elements)
    return hashed(np.arange(count), count).astype(np.int64) % elements


def make_golden(
    model: ir.Model,
    name: str,
    inputs: Sequence[manifest.TensorSpec],
    outputs: Sequence[manifest.TensorSpec],
    programs: Sequence[manifest.Program],
    quality: Mapping[str, manifest.Quality],
) -> tuple[manifest.Golden, bytes]:
    """Golden feeds of `model` and the answers that all `programs` can be asked for; the bytes belong into the file.

    quality: per precision the error of the package, which scales what is tolerated, up to the bar of `verify`.
    """
    sizes = sample_sizes(symbols_of(model.graph.inputs).values(), (c.zero for c in constraints_of(model)))[0]
    recipes = [_recipe(spec) for spec in inputs]
    bare = manifest.Golden(file=f"golden/{name}.safetensors", sizes=sizes, inputs=recipes, values=[])
    counts, elements = _elements(model, outputs, programs, sizes)
    answers = _answers(model, golden_feeds(bare, inputs), elements)
    # NaN is no result that a device could be held to.
    answers = {value: expected for value, expected in answers.items() if not np.isnan(expected).any()}
    tolerance = max(_tolerance(precision, error.value) for precision, error in quality.items())
    interface = {spec.name for spec in outputs}
    values = []
    kept = []
    offset = 0
    for value, found in answers.items():
        kept.append(found[: counts[value]])
        # Like `verify`: absolute for outputs; values in between only serve to find the first wrong kernel.
        largest = np.abs(found[np.isfinite(found)]).max(initial=_SMALLEST_SCALE)
        scale = 1.0 if value in interface else largest
        values.append(
            manifest.GoldenValue(
                name=value, offset=offset, count=counts[value], tolerance=float(f"{tolerance * scale:.3g}")
            )
        )
        offset += kept[-1].nbytes
    data = safetensors.numpy.save({"expected": np.concatenate([*kept, np.zeros(0)])})
    start = 8 + struct.unpack("<Q", data[:8])[0]
    placed = [value.model_copy(update={"offset": start + value.offset}) for value in values]
    return bare.model_copy(update={"values": placed}), data


def _tolerance(precision: str, error: float) -> float:
    bar = BARS[precision]
    return min(max(_MARGIN * error, bar / 10), bar)


def _recipe(spec: manifest.TensorSpec) -> manifest.GoldenInput:
    """Noise for images, positive numbers for noise levels and labels; integers are valid ids, masks and indices."""
    if not spec.dtype.startswith("float"):
        return manifest.GoldenInput(name=spec.name, kind="integer", low=0, high=1)
    if len(spec.shape) > 2:
        return manifest.GoldenInput(name=spec.name, kind="normal", low=0, high=1)
    return manifest.GoldenInput(name=spec.name, kind="uniform", low=0.05, high=1)


def _elements(
    model: ir.Model,
    outputs: Sequence[manifest.TensorSpec],
    programs: Sequence[manifest.Program],
    sizes: Mapping[str, int],
) -> tuple[dict[str, int], dict[str, Array]]:
    """Per value that the graph and all programs have: how many elements are compared; these, then some for scale."""
    interface = {spec.name for spec in outputs}
    made = [o.name for node in model.graph for o in node.outputs if o.name]
    counts: dict[str, int] = {}
    elements: dict[str, Array] = {}
    for value in made:
        planned = [p.tensors[value] for p in programs if value in p.tensors]
        if len(planned) < len(programs) or planned[0].producer < 0 or planned[0].dtype in _NARROW:
            continue
        total = int(np.prod(shape_at(planned[0].shape, sizes)))
        if total:
            counts[value] = min(total, OUTPUT_PROBES if value in interface else INNER_PROBES)
            elements[value] = np.concatenate([probed(total, counts[value]), probed(total, _SCALE_PROBES)])
    return counts, elements


def _answers(model: ir.Model, feeds: Mapping[str, Array], elements: Mapping[str, Array]) -> dict[str, Array]:
    """The wanted elements of each value, as float64. Only these leave ONNX Runtime, so that it needs no memory."""
    proto = ir.to_proto(model)
    graph, make = proto.graph, onnx.helper.make_node
    del graph.output[:]
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1]), "golden/flat"))
    for n, (value, wanted) in enumerate(elements.items()):
        flat, index, some, result = (f"golden/{n}/{step}" for step in ("flat", "index", "some", "result"))
        graph.initializer.append(onnx.numpy_helper.from_array(wanted.astype(np.int64), index))
        graph.node.extend(
            [
                make("Reshape", [value, "golden/flat"], [flat], flat),
                make("Gather", [flat, index], [some], some),
                make("Cast", [some], [result], result, to=onnx.TensorProto.DOUBLE),
            ]
        )
        graph.output.append(onnx.helper.make_tensor_value_info(result, onnx.TensorProto.DOUBLE, [len(wanted)]))
    found = Reference(proto, plain=True).run(feeds) if elements else {}
    return {value: found[f"golden/{n}/result"] for n, value in enumerate(elements)}
