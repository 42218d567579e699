"""Writes the golden package: a few hand-written kernels that exercise the whole format, read by pytest and by vitest.

    y = (x @ w^T + b) * gain + float(offset),  z = offset + offset

Run `python -m tests.golden.make_golden` to write `tests/golden/package/` and `tests/golden/reference.json`, which holds
feeds and what ONNX Runtime's CPU provider answers on the package's own model. The tensors cover what tends to go wrong:
a 24-byte input, a scalar, 64-bit integers, a bool weight, and a weight that a load-time dispatch re-packs.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx_ir as ir

from webinfer import manifest
from webinfer.golden import golden_feed, make_golden
from webinfer.package import file_entries, portable_model, sha256, shard_weights, write_package
from webinfer.reference import run_reference

HERE = Path(__file__).resolve().parent
ROWS, INNER, COLUMNS = 2, 3, 4
NAME = "golden"

TRANSPOSE = """\
struct Params { rows: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> packed: array<f32>;
@group(0) @binding(2) var<uniform> P: Params;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= P.rows * P.columns) { return; }
  packed[(id.x % P.columns) * P.rows + id.x / P.columns] = source[id.x];
}
"""

MATMUL_REGISTER = """\
struct Params { rows: u32, inner: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> keep: array<u32>;
@group(0) @binding(4) var<storage, read_write> h: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> P: Params;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let wide = P.columns / 4u;
  if (id.x >= P.rows * wide) { return; }
  let row = id.x / wide;
  let column = id.x % wide;
  let kept = (vec4<u32>(keep[column]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(1u);
  var sum = select(vec4<f32>(0.0), b[column], kept != vec4<u32>(0u));
  for (var k = 0u; k < P.inner; k++) { sum += x[row * P.inner + k] * w[k * wide + column]; }
  h[id.x] = sum;
}
"""

MATMUL_WORKGROUP = """\
struct Params { rows: u32, inner: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> keep: array<u32>;
@group(0) @binding(4) var<storage, read_write> h: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> P: Params;

var<workgroup> tile: array<vec4<f32>, 16>;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let wide = P.columns / 4u;
  let column = group.x;
  let kept = (vec4<u32>(keep[column]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(1u);
  var sum = select(vec4<f32>(0.0), b[column], kept != vec4<u32>(0u));
  for (var start = 0u; start < P.inner; start += 16u) {
    if (start + local < P.inner) { tile[local] = w[(start + local) * wide + column]; }
    workgroupBarrier();
    for (var k = start; k < min(start + 16u, P.inner); k++) { sum += x[local * P.inner + k] * tile[k - start]; }
    workgroupBarrier();
  }
  if (local < P.rows) { h[local * wide + column] = sum; }
}
"""

SCALE_SHIFT = """\
struct Params { count: u32, columns: u32, factor: f32, sign: i32 }
@group(0) @binding(0) var<storage, read> h: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read> offset: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> P: Params;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= P.count) { return; }
  y[id.x] = h[id.x] * gain[0] * P.factor - f32(P.sign * bitcast<i32>(offset[id.x % P.columns].x));
}
"""

# Without a uniform struct on purpose: a kernel may have no parameters.
DOUBLE = """\
@group(0) @binding(0) var<storage, read> offset: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> z: array<vec2<u32>>;

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let v = offset[id.x];
  z[id.x] = vec2<u32>(v.x << 1u, (v.y << 1u) | (v.x >> 31u));
}
"""

KERNELS: dict[str, tuple[str, int, list[tuple[str, str]], list[tuple[str, str]]]] = {
    "transpose": (TRANSPOSE, 16, [("source", "read"), ("packed", "read_write")], [("rows", "u32"), ("columns", "u32")]),
    "double": (DOUBLE, 4, [("offset", "read"), ("z", "read_write")], []),
    "scale_shift": (
        SCALE_SHIFT,
        16,
        [("h", "read"), ("gain", "read"), ("offset", "read"), ("y", "read_write")],
        [("count", "u32"), ("columns", "u32"), ("factor", "f32"), ("sign", "i32")],
    ),
    **{
        f"matmul_{tiling}": (
            source,
            16,
            [("x", "read"), ("w", "read"), ("b", "read"), ("keep", "read"), ("h", "read_write")],
            [("rows", "u32"), ("inner", "u32"), ("columns", "u32")],
        )
        for tiling, source in (("register", MATMUL_REGISTER), ("workgroup", MATMUL_WORKGROUP))
    },
}


def arrays() -> dict[str, np.ndarray]:
    """The weights, drawn from a fixed seed."""
    random = np.random.default_rng(1)
    return {
        "w": random.standard_normal((COLUMNS, INNER)).astype(np.float32),
        "b": random.standard_normal(COLUMNS).astype(np.float32),
        "keep": np.array([True, False, True, True]),
    }


def feeds() -> dict[str, np.ndarray]:
    """The inputs, drawn from a fixed seed; twice an offset is beyond 32 bits, and one is negative."""
    random = np.random.default_rng(2)
    return {
        "x": random.standard_normal((ROWS, INNER)).astype(np.float32),
        "gain": np.array(1.5, np.float32),
        "offset": np.array([3, -7, 2_000_000_000, 0], np.int64),
    }


def model() -> ir.Model:
    """The same computation as ONNX."""
    text = f"""
        <ir_version: 10, opset_import: ["" : 20]>
        golden (float[{ROWS},{INNER}] x, float gain, int64[{COLUMNS}] offset,
                float[{COLUMNS},{INNER}] w, float[{COLUMNS}] b, bool[{COLUMNS}] keep)
            => (float[{ROWS},{COLUMNS}] y, int64[{COLUMNS}] z)
            <float zero = {{0}}> {{
            bias = Where(keep, b, zero)
            h = Gemm<transB = 1>(x, w, bias)
            scaled = Mul(h, gain)
            shift = Cast<to = 1>(offset)
            y = Add(scaled, shift)
            z = Add(offset, offset)
        }}
    """
    parsed = ir.from_onnx_text(text)
    for name, array in arrays().items():
        value = next(v for v in parsed.graph.inputs if v.name == name)
        parsed.graph.inputs.remove(value)
        value.const_value = ir.tensor(array, name=name)
        parsed.graph.register_initializer(value)
    return parsed


def program(tiling: Literal["register", "workgroup"]) -> manifest.Program:
    """One tier of the package."""
    buffers: list[manifest.Buffer] = []

    def span(kind: str, size: int) -> manifest.Span:
        buffers.append(manifest.Buffer(kind=kind, size_bytes=size))  # type: ignore[arg-type]
        return manifest.Span(buffer=len(buffers) - 1, offset=0, size_bytes=size)

    hidden = span("activation", ROWS * COLUMNS * 4)
    # Two weights share a buffer; the re-packed one starts at the alignment of storage bindings.
    arena = span("weight", 512 + 16)
    b = arena.model_copy(update={"size_bytes": COLUMNS * 4})
    packed = arena.model_copy(update={"offset": 256, "size_bytes": INNER * COLUMNS * 4})
    keep = arena.model_copy(update={"offset": 512, "size_bytes": 16})
    source = span("staging", COLUMNS * INNER * 4)
    x, gain, offset = span("input", 32), span("input", 16), span("input", COLUMNS * 8)
    y, z = span("output", ROWS * COLUMNS * 4), span("output", COLUMNS * 8)

    def dispatch(
        kernel: str,
        node: str,
        args: list[manifest.Span],
        params: list[int | float | manifest.NonFinite | str],
        flops: int,
    ) -> manifest.Dispatch:
        moved = sum(a.size_bytes for a in args)
        return manifest.Dispatch(
            kernel=kernel, node=node, args=args, params=params, workgroups=[1, 1, 1], flops=flops, bytes=moved
        )

    def tensor(dtype: str, shape: list[int], where: manifest.Span, producer: int) -> manifest.PlannedTensor:
        return manifest.PlannedTensor(dtype=dtype, shape=shape, span=where, producer=producer)  # type: ignore[arg-type]

    matmul = f"matmul_{tiling}"
    kinds: dict[str, int] = {}
    for buffer in buffers:
        kinds[buffer.kind] = kinds.get(buffer.kind, 0) + buffer.size_bytes
    dispatches = [
        dispatch(matmul, "Gemm_0", [x, packed, b, keep, hidden], [ROWS, INNER, COLUMNS], 2 * ROWS * INNER * COLUMNS),
        dispatch("scale_shift", "Add_1", [hidden, gain, offset, y], [ROWS * COLUMNS, COLUMNS, 1.0, -1], 0),
        dispatch("double", "Add_2", [offset, z], [], 0),
    ]
    return manifest.Program(
        tier=f"fp32-{tiling}",
        description=f"tiles in {tiling} memory",
        rank=1 if tiling == "register" else 2,
        predicted_ms={"slow": 2.0, "fast": 0.2},
        precision="fp32",
        tiling=tiling,
        requires=manifest.Requirements(features=[], limits={"maxComputeInvocationsPerWorkgroup": 16}),
        kernels=sorted({"transpose", "double", "scale_shift", matmul}),
        buffers=buffers,
        uploads=[
            manifest.Upload(weight="w", buffer=source.buffer, offset=0),
            manifest.Upload(weight="b", buffer=b.buffer, offset=b.offset),
            manifest.Upload(weight="keep", buffer=keep.buffer, offset=keep.offset),
        ],
        prepare=[dispatch("transpose", "Gemm_0", [source, packed], [COLUMNS, INNER], 0)],
        dispatches=dispatches,
        tensors={
            "x": tensor("float32", [ROWS, INNER], x.model_copy(update={"size_bytes": 24}), -1),
            "gain": tensor("float32", [], gain.model_copy(update={"size_bytes": 4}), -1),
            "offset": tensor("int64", [COLUMNS], offset, -1),
            "h": tensor("float32", [ROWS, COLUMNS], hidden, 0),
            "y": tensor("float32", [ROWS, COLUMNS], y, 1),
            "z": tensor("int64", [COLUMNS], z, 2),
        },
        plan=manifest.Plan(
            activation_peak_bytes=kinds["activation"],
            activation_lower_bound_bytes=kinds["activation"],
            weight_bytes=kinds["weight"],
            gpu_bytes=sum(v for k, v in kinds.items() if k != "staging") + 256 * len(dispatches),
        ),
    )


def sku(name: str, speed: float) -> manifest.Sku:
    """A GPU model that is `speed` times as fast as the slowest."""
    return manifest.Sku(
        id=name,
        name=f"a {name} GPU",
        kind="mobile",
        f32_gflops=100 * speed,
        f16_gflops=200 * speed,
        bandwidth_gb_per_s=10 * speed,
        dispatch_us=50 / speed,
        memory_mb=1000,
    )


def files() -> dict[str, bytes]:
    """All files of the package by path."""
    shards, weights = shard_weights(arrays())
    portable = model()
    data = portable_model(portable, weights)
    programs = [program("register"), program("workgroup")]
    quality = {"fp32": manifest.Quality(metric="max_abs_error", value=1e-6, runs=1)}
    spec = manifest.TensorSpec
    inputs = [
        spec(name="x", dtype="float32", shape=[ROWS, INNER]),
        spec(name="gain", dtype="float32", shape=[]),
        spec(name="offset", dtype="int64", shape=[COLUMNS]),
    ]
    outputs = [
        spec(name="y", dtype="float32", shape=[ROWS, COLUMNS]),
        spec(name="z", dtype="int64", shape=[COLUMNS]),
    ]
    golden, answers = make_golden(portable, NAME, inputs, outputs, programs, quality)
    content = {**shards, f"{NAME}.onnx": data, golden.file: answers}
    content |= {f"kernels/{name}.wgsl": source.encode() for name, (source, *_) in KERNELS.items()}
    document = manifest.Manifest(
        format_version=manifest.FORMAT_VERSION,
        name=NAME,
        target="webgpu-all",
        components=[
            manifest.Component(
                name=NAME,
                model=f"{NAME}.onnx",
                symbols={},
                constraints=[],
                inputs=inputs,
                outputs=outputs,
                weights=list(weights.values()),
                golden=golden,
                programs=programs,
            )
        ],
        kernels=[
            manifest.Kernel(
                name=name,
                file=f"kernels/{name}.wgsl",
                features=[],
                workgroup_size=[threads, 1, 1],
                workgroup_storage_bytes=256 if name == "matmul_workgroup" else 0,
                bindings=[manifest.KernelBinding(name=n, access=a) for n, a in bindings],  # type: ignore[arg-type]
                params=[manifest.KernelParam(name=n, type=t) for n, t in params],  # type: ignore[arg-type]
            )
            for name, (_, threads, bindings, params) in KERNELS.items()
        ],
        skus=[sku("slow", 1.0), sku("fast", 10.0)],
        files=file_entries(content),
        quality={},
        provenance=manifest.Provenance(
            source="tests/golden/make_golden.py",
            source_sha256=sha256(data),
            producer="webinfer",
            producer_version="golden",
            licences=["Apache-2.0"],
        ),
    )
    content["manifest.json"] = (document.model_dump_json(indent=1) + "\n").encode()
    return content


def reference(package: Path) -> dict[str, Any]:
    """Feeds and outputs as nested lists, computed by ONNX Runtime's CPU provider from the package's own model."""
    given = feeds()
    outputs = run_reference(package / f"{NAME}.onnx", given)
    return {
        "feeds": {name: array.tolist() for name, array in given.items()},
        "outputs": {name: array.tolist() for name, array in outputs.items()},
        "golden_feeds": golden_bits(),
    }


def golden_bits() -> list[dict[str, Any]]:
    """Golden feeds of every kind as bytes, which the runtime must make to the bit."""
    recipe = manifest.GoldenInput
    cases = [
        (recipe(name="normal", kind="normal", low=0, high=1), "float32"),
        (recipe(name="wide", kind="normal", low=-3.7, high=81.3), "float32"),
        (recipe(name="uniform", kind="uniform", low=0.05, high=1), "float32"),
        (recipe(name="half", kind="uniform", low=-1e-3, high=1e3), "float16"),
        (recipe(name="id", kind="integer", low=0, high=49151), "int64"),
        (recipe(name="below", kind="integer", low=-5, high=4), "int8"),
        (recipe(name="mask", kind="integer", low=0, high=1), "bool"),
    ]
    return [
        {
            **made.model_dump(),
            "dtype": dtype,
            "stream": stream,
            "bytes": golden_feed(made, stream, [100], dtype).tobytes().hex(),
        }
        for stream, (made, dtype) in enumerate(cases)
    ]


def write(folder: Path) -> None:
    """Write `package/` and `reference.json` into `folder`."""
    write_package(files(), folder / "package", overwrite=True)
    (folder / "reference.json").write_text(json.dumps(reference(folder / "package"), indent=1) + "\n")


def differences(folder: Path) -> list[str]:
    """Paths below `folder` that differ from what this script writes now."""
    with tempfile.TemporaryDirectory() as scratch:
        write(Path(scratch))
        found = [p.relative_to(scratch) for p in sorted(Path(scratch).rglob("*")) if p.is_file()]
        return [
            str(p)
            for p in found
            if not (folder / p).is_file() or (folder / p).read_bytes() != (Path(scratch) / p).read_bytes()
        ]


if __name__ == "__main__":
    write(HERE)
