"""The on-disk package format: the only definition of it.

`js_runtime/src/generated/` (types, JSON Schema) is generated from these models; a test fails on a difference. All sizes
and offsets are bytes. Everything a runtime needs to replay a model is here: it knows no ops.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT_VERSION: Literal[3] = 3

DType = Literal[
    "float32", "float16", "int64", "uint64", "int32", "uint32", "int16", "uint16", "int8", "uint8",
    "int4", "uint4", "int2", "uint2", "bool",
]  # fmt: skip
NonFinite = Literal["Infinity", "-Infinity", "NaN"]  # JSON has no numbers for them
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
# A path inside the package: no absolute path, no "..", no backslash (contained on every platform).
RelativePath = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\-]*)*$")]
# A number that depends on the component's symbols: + - * // % min max over their names (webinfer/expressions.py).
Expression = Annotated[str, Field(pattern=r"^[A-Za-z0-9_+*/%(), -]+$")]
Shape = list[Natural | Expression]
Triple = Annotated[list[Positive], Field(min_length=3, max_length=3)]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileEntry(Model):
    """One file of the package; every file but manifest.json is listed."""

    path: RelativePath
    size_bytes: Natural
    sha256: Sha256


class SymbolBounds(Model):
    """A size that the inputs of a run decide: any multiple of `multiple` from `minimum` to `maximum`."""

    minimum: Natural
    maximum: Natural
    multiple: Positive


class Constraint(Model):
    """What the sizes of a run must meet besides their bounds: `zero` is 0; `text` says it for people."""

    zero: Expression
    text: str


class TensorSpec(Model):
    """A model input or output as the caller sees it."""

    name: str
    dtype: DType
    shape: Shape


class Weight(Model):
    """One initializer inside a shard (a valid safetensors file); `offset` counts from the start of the file.

    Elements below 8 bits are packed as in ONNX's TensorProto.raw_data: several to a byte, the first in the lowest bits.
    """

    name: str
    dtype: DType
    shape: list[Natural]
    file: RelativePath
    offset: Natural
    size_bytes: Natural


class KernelBinding(Model):
    """A storage binding of group 0; its index is its place in the list."""

    name: str
    access: Literal["read", "read_write"]


class KernelParam(Model):
    """One 4-byte member of the kernel's uniform struct, which is bound after the storage bindings."""

    name: str
    type: Literal["u32", "i32", "f32"]


class Kernel(Model):
    """One rendered shader; `name` is the pipeline label, the timestamp label and the telemetry key."""

    name: str
    file: RelativePath
    features: list[str]
    workgroup_size: Triple
    workgroup_storage_bytes: Natural
    bindings: list[KernelBinding]
    params: list[KernelParam]


class Buffer(Model):
    """One GPUBuffer. `staging` buffers live only while the load-time dispatches run."""

    kind: Literal["weight", "activation", "input", "output", "staging"]
    size_bytes: Positive


class Span(Model):
    """A byte range of a buffer: `buffer` indexes Program.buffers."""

    buffer: Natural
    offset: Natural
    size_bytes: Positive


class Upload(Model):
    """Copy of a weight's bytes into a buffer at load."""

    weight: str
    buffer: Natural
    offset: Natural


class Dispatch(Model):
    """One compute dispatch: a kernel, its storage spans in binding order, its uniform values, its workgroup counts.

    `flops` and `bytes` count at the largest sizes.
    """

    kernel: str
    node: str
    args: list[Span]
    params: list[int | float | NonFinite | Expression]
    workgroups: Annotated[list[Positive | Expression], Field(min_length=3, max_length=3)]
    flops: Natural
    bytes: Natural


class PlannedTensor(Model):
    """Where a value of the graph lives. Intermediates are listed so that `verify` can read them.

    The span has room for the largest sizes; elements lie contiguously at the sizes of the run.
    """

    dtype: DType
    shape: Shape
    span: Span
    producer: Annotated[int, Field(ge=-1)]  # index of the dispatch that completes it, -1 for inputs


class Plan(Model):
    """What the memory plan achieved."""

    activation_peak_bytes: Natural
    activation_lower_bound_bytes: Natural
    weight_bytes: Natural
    gpu_bytes: Natural


class Requirements(Model):
    """What an adapter must offer for a tier."""

    features: list[str]
    limits: dict[str, Natural]


class Sku(Model):
    """A GPU model that players own: the rates that kernels reach there.

    A runtime never knows which one it runs on: it takes the one whose predicted time is nearest to a measured one.
    """

    id: str
    name: str
    kind: Literal["mobile", "desktop", "software"]
    f32_gflops: Rate
    f16_gflops: Rate
    bandwidth_gb_per_s: Rate
    dispatch_us: Rate
    memory_mb: Positive  # GPU memory that a page can count on


class Program(Model):
    """One component compiled for one tier."""

    tier: str
    description: str
    # Order of the tiers: a lower rank asks less of an adapter and its driver, and is what comes after a crash.
    rank: Natural
    predicted_ms: dict[str, NotNegative]  # one run at the largest sizes by the roofline of each SKU
    precision: Literal["fp32", "fp16"]
    # register: an invocation keeps its tile in registers (CPU adapters); workgroup: tiles lie in workgroup memory.
    tiling: Literal["register", "workgroup"]
    requires: Requirements
    kernels: list[str]
    buffers: list[Buffer]
    uploads: list[Upload]
    prepare: list[Dispatch]
    dispatches: list[Dispatch]
    tensors: dict[str, PlannedTensor]
    plan: Plan


class GoldenInput(Model):
    """How the golden feed of one input is made: by `webinfer/golden.py` and `js_runtime/src/self_test.ts`, to the bit.

    uniform: reals in [low, high). normal: a sum of uniform ones with mean low and deviation high. integer: low to high.
    """

    name: str
    kind: Literal["uniform", "normal", "integer"]
    low: float
    high: float


class GoldenValue(Model):
    """Some elements of a value as ONNX Runtime computes them from the golden feeds: float64 numbers in Golden.file."""

    name: str
    offset: Natural
    count: Positive
    tolerance: Rate  # largest absolute error


class Golden(Model):
    """What a component answers to inputs that every side can make; values of the graph in no particular order."""

    file: RelativePath
    sizes: dict[str, Natural]
    inputs: list[GoldenInput]
    values: list[GoldenValue]


class Component(Model):
    """One graph of the package."""

    name: str
    model: RelativePath
    symbols: dict[str, SymbolBounds]
    constraints: list[Constraint]
    inputs: list[TensorSpec]
    outputs: list[TensorSpec]
    weights: list[Weight]
    golden: Golden | None  # none where runs differ by design: random operators
    programs: list[Program]


class Quality(Model):
    """Largest absolute error of the portable model.onnx against the source model, both on ONNX Runtime CPU."""

    metric: Literal["max_abs_error"]
    value: float
    runs: Positive


class Provenance(Model):
    """What the package was made from and by what."""

    source: str
    source_sha256: Sha256
    producer: str
    producer_version: str
    licences: list[str]


class Manifest(Model):
    """manifest.json."""

    format_version: Literal[3]
    name: str
    target: str
    components: list[Component]
    kernels: list[Kernel]
    skus: list[Sku]
    files: list[FileEntry]
    quality: dict[str, Quality]
    provenance: Provenance
