// Types of the package format; generated from webinfer/manifest.py, do not edit.

/**
 * manifest.json.
 */
export interface Manifest {
  components: Component[];
  files: FileEntry[];
  format_version: 3;
  kernels: Kernel[];
  name: string;
  provenance: Provenance;
  quality: {
    [k: string]: Quality;
  };
  skus: Sku[];
  target: string;
}
/**
 * One graph of the package.
 */
export interface Component {
  constraints: Constraint[];
  golden: Golden | null;
  inputs: TensorSpec[];
  model: string;
  name: string;
  outputs: TensorSpec[];
  programs: Program[];
  symbols: {
    [k: string]: SymbolBounds;
  };
  weights: Weight[];
}
/**
 * What the sizes of a run must meet besides their bounds: `zero` is 0; `text` says it for people.
 */
export interface Constraint {
  text: string;
  zero: string;
}
/**
 * What a component answers to inputs that every side can make; values of the graph in no particular order.
 */
export interface Golden {
  file: string;
  inputs: GoldenInput[];
  sizes: {
    [k: string]: number;
  };
  values: GoldenValue[];
}
/**
 * How the golden feed of one input is made: by `webinfer/golden.py` and `js_runtime/src/self_test.ts`, to the bit.
 *
 * uniform: reals in [low, high). normal: a sum of uniform ones with mean low and deviation high. integer: low to high.
 */
export interface GoldenInput {
  high: number;
  kind: "uniform" | "normal" | "integer";
  low: number;
  name: string;
}
/**
 * Some elements of a value as ONNX Runtime computes them from the golden feeds: float64 numbers in Golden.file.
 */
export interface GoldenValue {
  count: number;
  name: string;
  offset: number;
  tolerance: number;
}
/**
 * A model input or output as the caller sees it.
 */
export interface TensorSpec {
  dtype:
    | "float32"
    | "float16"
    | "int64"
    | "uint64"
    | "int32"
    | "uint32"
    | "int16"
    | "uint16"
    | "int8"
    | "uint8"
    | "int4"
    | "uint4"
    | "int2"
    | "uint2"
    | "bool";
  name: string;
  shape: (number | string)[];
}
/**
 * One component compiled for one tier.
 */
export interface Program {
  buffers: Buffer[];
  description: string;
  dispatches: Dispatch[];
  kernels: string[];
  plan: Plan;
  precision: "fp32" | "fp16";
  predicted_ms: {
    [k: string]: number;
  };
  prepare: Dispatch[];
  rank: number;
  requires: Requirements;
  tensors: {
    [k: string]: PlannedTensor;
  };
  tier: string;
  tiling: "register" | "workgroup";
  uploads: Upload[];
}
/**
 * One GPUBuffer. `staging` buffers live only while the load-time dispatches run.
 */
export interface Buffer {
  kind: "weight" | "activation" | "input" | "output" | "staging";
  size_bytes: number;
}
/**
 * One compute dispatch: a kernel, its storage spans in binding order, its uniform values, its workgroup counts.
 *
 * `flops` and `bytes` count at the largest sizes.
 */
export interface Dispatch {
  args: Span[];
  bytes: number;
  flops: number;
  kernel: string;
  node: string;
  params: (number | ("Infinity" | "-Infinity" | "NaN") | string)[];
  /**
   * @minItems 3
   * @maxItems 3
   */
  workgroups: [number | string, number | string, number | string];
}
/**
 * A byte range of a buffer: `buffer` indexes Program.buffers.
 */
export interface Span {
  buffer: number;
  offset: number;
  size_bytes: number;
}
/**
 * What the memory plan achieved.
 */
export interface Plan {
  activation_lower_bound_bytes: number;
  activation_peak_bytes: number;
  gpu_bytes: number;
  weight_bytes: number;
}
/**
 * What an adapter must offer for a tier.
 */
export interface Requirements {
  features: string[];
  limits: {
    [k: string]: number;
  };
}
/**
 * Where a value of the graph lives. Intermediates are listed so that `verify` can read them.
 *
 * The span has room for the largest sizes; elements lie contiguously at the sizes of the run.
 */
export interface PlannedTensor {
  dtype:
    | "float32"
    | "float16"
    | "int64"
    | "uint64"
    | "int32"
    | "uint32"
    | "int16"
    | "uint16"
    | "int8"
    | "uint8"
    | "int4"
    | "uint4"
    | "int2"
    | "uint2"
    | "bool";
  producer: number;
  shape: (number | string)[];
  span: Span;
}
/**
 * Copy of a weight's bytes into a buffer at load.
 */
export interface Upload {
  buffer: number;
  offset: number;
  weight: string;
}
/**
 * A size that the inputs of a run decide: any multiple of `multiple` from `minimum` to `maximum`.
 */
export interface SymbolBounds {
  maximum: number;
  minimum: number;
  multiple: number;
}
/**
 * One initializer inside a shard (a valid safetensors file); `offset` counts from the start of the file.
 *
 * Elements below 8 bits are packed as in ONNX's TensorProto.raw_data: several to a byte, the first in the lowest bits.
 */
export interface Weight {
  dtype:
    | "float32"
    | "float16"
    | "int64"
    | "uint64"
    | "int32"
    | "uint32"
    | "int16"
    | "uint16"
    | "int8"
    | "uint8"
    | "int4"
    | "uint4"
    | "int2"
    | "uint2"
    | "bool";
  file: string;
  name: string;
  offset: number;
  shape: number[];
  size_bytes: number;
}
/**
 * One file of the package; every file but manifest.json is listed.
 */
export interface FileEntry {
  path: string;
  sha256: string;
  size_bytes: number;
}
/**
 * One rendered shader; `name` is the pipeline label, the timestamp label and the telemetry key.
 */
export interface Kernel {
  bindings: KernelBinding[];
  features: string[];
  file: string;
  name: string;
  params: KernelParam[];
  /**
   * @minItems 3
   * @maxItems 3
   */
  workgroup_size: [number, number, number];
  workgroup_storage_bytes: number;
}
/**
 * A storage binding of group 0; its index is its place in the list.
 */
export interface KernelBinding {
  access: "read" | "read_write";
  name: string;
}
/**
 * One 4-byte member of the kernel's uniform struct, which is bound after the storage bindings.
 */
export interface KernelParam {
  name: string;
  type: "u32" | "i32" | "f32";
}
/**
 * What the package was made from and by what.
 */
export interface Provenance {
  licences: string[];
  producer: string;
  producer_version: string;
  source: string;
  source_sha256: string;
}
/**
 * Largest absolute error of the portable model.onnx against the source model, both on ONNX Runtime CPU.
 */
export interface Quality {
  metric: "max_abs_error";
  runs: number;
  value: number;
}
/**
 * A GPU model that players own: the rates that kernels reach there.
 *
 * A runtime never knows which one it runs on: it takes the one whose predicted time is nearest to a measured one.
 */
export interface Sku {
  bandwidth_gb_per_s: number;
  dispatch_us: number;
  f16_gflops: number;
  f32_gflops: number;
  id: string;
  kind: "mobile" | "desktop" | "software";
  memory_mb: number;
  name: string;
}

/** The only format version that this runtime reads. */
export const FORMAT_VERSION = 3;
