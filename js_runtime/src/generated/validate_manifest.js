// Validator of manifest.json; generated from webinfer/manifest.py, do not edit.
"use strict";
export const validateManifest = validate52;
const schema19 = {
  $defs: {
    Buffer: {
      additionalProperties: false,
      description: "One GPUBuffer. `staging` buffers live only while the load-time dispatches run.",
      properties: {
        kind: { enum: ["weight", "activation", "input", "output", "staging"], type: "string" },
        size_bytes: { minimum: 1, type: "integer" },
      },
      required: ["kind", "size_bytes"],
      title: "Buffer",
      type: "object",
    },
    Component: {
      additionalProperties: false,
      description: "One graph of the package.",
      properties: {
        constraints: { items: { $ref: "#/$defs/Constraint" }, type: "array" },
        golden: { anyOf: [{ $ref: "#/$defs/Golden" }, { type: "null" }] },
        inputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
        model: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
        name: { type: "string" },
        outputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
        programs: { items: { $ref: "#/$defs/Program" }, type: "array" },
        symbols: { additionalProperties: { $ref: "#/$defs/SymbolBounds" }, type: "object" },
        weights: { items: { $ref: "#/$defs/Weight" }, type: "array" },
      },
      required: ["name", "model", "symbols", "constraints", "inputs", "outputs", "weights", "golden", "programs"],
      title: "Component",
      type: "object",
    },
    Constraint: {
      additionalProperties: false,
      description: "What the sizes of a run must meet besides their bounds: `zero` is 0; `text` says it for people.",
      properties: { text: { type: "string" }, zero: { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" } },
      required: ["zero", "text"],
      title: "Constraint",
      type: "object",
    },
    Dispatch: {
      additionalProperties: false,
      description:
        "One compute dispatch: a kernel, its storage spans in binding order, its uniform values, its workgroup counts.\n\n`flops` and `bytes` count at the largest sizes.",
      properties: {
        args: { items: { $ref: "#/$defs/Span" }, type: "array" },
        bytes: { minimum: 0, type: "integer" },
        flops: { minimum: 0, type: "integer" },
        kernel: { type: "string" },
        node: { type: "string" },
        params: {
          items: {
            anyOf: [
              { type: "integer" },
              { type: "number" },
              { enum: ["Infinity", "-Infinity", "NaN"], type: "string" },
              { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
            ],
          },
          type: "array",
        },
        workgroups: {
          items: {
            anyOf: [
              { minimum: 1, type: "integer" },
              { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
            ],
          },
          maxItems: 3,
          minItems: 3,
          type: "array",
        },
      },
      required: ["kernel", "node", "args", "params", "workgroups", "flops", "bytes"],
      title: "Dispatch",
      type: "object",
    },
    FileEntry: {
      additionalProperties: false,
      description: "One file of the package; every file but manifest.json is listed.",
      properties: {
        path: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
        sha256: { pattern: "^[0-9a-f]{64}$", type: "string" },
        size_bytes: { minimum: 0, type: "integer" },
      },
      required: ["path", "size_bytes", "sha256"],
      title: "FileEntry",
      type: "object",
    },
    Golden: {
      additionalProperties: false,
      description:
        "What a component answers to inputs that every side can make; values of the graph in no particular order.",
      properties: {
        file: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
        inputs: { items: { $ref: "#/$defs/GoldenInput" }, type: "array" },
        sizes: { additionalProperties: { minimum: 0, type: "integer" }, type: "object" },
        values: { items: { $ref: "#/$defs/GoldenValue" }, type: "array" },
      },
      required: ["file", "sizes", "inputs", "values"],
      title: "Golden",
      type: "object",
    },
    GoldenInput: {
      additionalProperties: false,
      description:
        "How the golden feed of one input is made: by `webinfer/golden.py` and `js_runtime/src/self_test.ts`, to the bit.\n\nuniform: reals in [low, high). normal: a sum of uniform ones with mean low and deviation high. integer: low to high.",
      properties: {
        high: { type: "number" },
        kind: { enum: ["uniform", "normal", "integer"], type: "string" },
        low: { type: "number" },
        name: { type: "string" },
      },
      required: ["name", "kind", "low", "high"],
      title: "GoldenInput",
      type: "object",
    },
    GoldenValue: {
      additionalProperties: false,
      description:
        "Some elements of a value as ONNX Runtime computes them from the golden feeds: float64 numbers in Golden.file.",
      properties: {
        count: { minimum: 1, type: "integer" },
        name: { type: "string" },
        offset: { minimum: 0, type: "integer" },
        tolerance: { exclusiveMinimum: 0, type: "number" },
      },
      required: ["name", "offset", "count", "tolerance"],
      title: "GoldenValue",
      type: "object",
    },
    Kernel: {
      additionalProperties: false,
      description: "One rendered shader; `name` is the pipeline label, the timestamp label and the telemetry key.",
      properties: {
        bindings: { items: { $ref: "#/$defs/KernelBinding" }, type: "array" },
        features: { items: { type: "string" }, type: "array" },
        file: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
        name: { type: "string" },
        params: { items: { $ref: "#/$defs/KernelParam" }, type: "array" },
        workgroup_size: { items: { minimum: 1, type: "integer" }, maxItems: 3, minItems: 3, type: "array" },
        workgroup_storage_bytes: { minimum: 0, type: "integer" },
      },
      required: ["name", "file", "features", "workgroup_size", "workgroup_storage_bytes", "bindings", "params"],
      title: "Kernel",
      type: "object",
    },
    KernelBinding: {
      additionalProperties: false,
      description: "A storage binding of group 0; its index is its place in the list.",
      properties: { access: { enum: ["read", "read_write"], type: "string" }, name: { type: "string" } },
      required: ["name", "access"],
      title: "KernelBinding",
      type: "object",
    },
    KernelParam: {
      additionalProperties: false,
      description: "One 4-byte member of the kernel's uniform struct, which is bound after the storage bindings.",
      properties: { name: { type: "string" }, type: { enum: ["u32", "i32", "f32"], type: "string" } },
      required: ["name", "type"],
      title: "KernelParam",
      type: "object",
    },
    Plan: {
      additionalProperties: false,
      description: "What the memory plan achieved.",
      properties: {
        activation_lower_bound_bytes: { minimum: 0, type: "integer" },
        activation_peak_bytes: { minimum: 0, type: "integer" },
        gpu_bytes: { minimum: 0, type: "integer" },
        weight_bytes: { minimum: 0, type: "integer" },
      },
      required: ["activation_peak_bytes", "activation_lower_bound_bytes", "weight_bytes", "gpu_bytes"],
      title: "Plan",
      type: "object",
    },
    PlannedTensor: {
      additionalProperties: false,
      description:
        "Where a value of the graph lives. Intermediates are listed so that `verify` can read them.\n\nThe span has room for the largest sizes; elements lie contiguously at the sizes of the run.",
      properties: {
        dtype: {
          enum: [
            "float32",
            "float16",
            "int64",
            "uint64",
            "int32",
            "uint32",
            "int16",
            "uint16",
            "int8",
            "uint8",
            "int4",
            "uint4",
            "int2",
            "uint2",
            "bool",
          ],
          type: "string",
        },
        producer: { minimum: -1, type: "integer" },
        shape: {
          items: {
            anyOf: [
              { minimum: 0, type: "integer" },
              { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
            ],
          },
          type: "array",
        },
        span: { $ref: "#/$defs/Span" },
      },
      required: ["dtype", "shape", "span", "producer"],
      title: "PlannedTensor",
      type: "object",
    },
    Program: {
      additionalProperties: false,
      description: "One component compiled for one tier.",
      properties: {
        buffers: { items: { $ref: "#/$defs/Buffer" }, type: "array" },
        description: { type: "string" },
        dispatches: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
        kernels: { items: { type: "string" }, type: "array" },
        plan: { $ref: "#/$defs/Plan" },
        precision: { enum: ["fp32", "fp16"], type: "string" },
        predicted_ms: { additionalProperties: { minimum: 0, type: "number" }, type: "object" },
        prepare: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
        rank: { minimum: 0, type: "integer" },
        requires: { $ref: "#/$defs/Requirements" },
        tensors: { additionalProperties: { $ref: "#/$defs/PlannedTensor" }, type: "object" },
        tier: { type: "string" },
        tiling: { enum: ["register", "workgroup"], type: "string" },
        uploads: { items: { $ref: "#/$defs/Upload" }, type: "array" },
      },
      required: [
        "tier",
        "description",
        "rank",
        "predicted_ms",
        "precision",
        "tiling",
        "requires",
        "kernels",
        "buffers",
        "uploads",
        "prepare",
        "dispatches",
        "tensors",
        "plan",
      ],
      title: "Program",
      type: "object",
    },
    Provenance: {
      additionalProperties: false,
      description: "What the package was made from and by what.",
      properties: {
        licences: { items: { type: "string" }, type: "array" },
        producer: { type: "string" },
        producer_version: { type: "string" },
        source: { type: "string" },
        source_sha256: { pattern: "^[0-9a-f]{64}$", type: "string" },
      },
      required: ["source", "source_sha256", "producer", "producer_version", "licences"],
      title: "Provenance",
      type: "object",
    },
    Quality: {
      additionalProperties: false,
      description:
        "Largest absolute error of the portable model.onnx against the source model, both on ONNX Runtime CPU.",
      properties: {
        metric: { const: "max_abs_error", type: "string" },
        runs: { minimum: 1, type: "integer" },
        value: { type: "number" },
      },
      required: ["metric", "value", "runs"],
      title: "Quality",
      type: "object",
    },
    Requirements: {
      additionalProperties: false,
      description: "What an adapter must offer for a tier.",
      properties: {
        features: { items: { type: "string" }, type: "array" },
        limits: { additionalProperties: { minimum: 0, type: "integer" }, type: "object" },
      },
      required: ["features", "limits"],
      title: "Requirements",
      type: "object",
    },
    Sku: {
      additionalProperties: false,
      description:
        "A GPU model that players own: the rates that kernels reach there.\n\nA runtime never knows which one it runs on: it takes the one whose predicted time is nearest to a measured one.",
      properties: {
        bandwidth_gb_per_s: { exclusiveMinimum: 0, type: "number" },
        dispatch_us: { exclusiveMinimum: 0, type: "number" },
        f16_gflops: { exclusiveMinimum: 0, type: "number" },
        f32_gflops: { exclusiveMinimum: 0, type: "number" },
        id: { type: "string" },
        kind: { enum: ["mobile", "desktop", "software"], type: "string" },
        memory_mb: { minimum: 1, type: "integer" },
        name: { type: "string" },
      },
      required: ["id", "name", "kind", "f32_gflops", "f16_gflops", "bandwidth_gb_per_s", "dispatch_us", "memory_mb"],
      title: "Sku",
      type: "object",
    },
    Span: {
      additionalProperties: false,
      description: "A byte range of a buffer: `buffer` indexes Program.buffers.",
      properties: {
        buffer: { minimum: 0, type: "integer" },
        offset: { minimum: 0, type: "integer" },
        size_bytes: { minimum: 1, type: "integer" },
      },
      required: ["buffer", "offset", "size_bytes"],
      title: "Span",
      type: "object",
    },
    SymbolBounds: {
      additionalProperties: false,
      description: "A size that the inputs of a run decide: any multiple of `multiple` from `minimum` to `maximum`.",
      properties: {
        maximum: { minimum: 0, type: "integer" },
        minimum: { minimum: 0, type: "integer" },
        multiple: { minimum: 1, type: "integer" },
      },
      required: ["minimum", "maximum", "multiple"],
      title: "SymbolBounds",
      type: "object",
    },
    TensorSpec: {
      additionalProperties: false,
      description: "A model input or output as the caller sees it.",
      properties: {
        dtype: {
          enum: [
            "float32",
            "float16",
            "int64",
            "uint64",
            "int32",
            "uint32",
            "int16",
            "uint16",
            "int8",
            "uint8",
            "int4",
            "uint4",
            "int2",
            "uint2",
            "bool",
          ],
          type: "string",
        },
        name: { type: "string" },
        shape: {
          items: {
            anyOf: [
              { minimum: 0, type: "integer" },
              { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
            ],
          },
          type: "array",
        },
      },
      required: ["name", "dtype", "shape"],
      title: "TensorSpec",
      type: "object",
    },
    Upload: {
      additionalProperties: false,
      description: "Copy of a weight's bytes into a buffer at load.",
      properties: {
        buffer: { minimum: 0, type: "integer" },
        offset: { minimum: 0, type: "integer" },
        weight: { type: "string" },
      },
      required: ["weight", "buffer", "offset"],
      title: "Upload",
      type: "object",
    },
    Weight: {
      additionalProperties: false,
      description:
        "One initializer inside a shard (a valid safetensors file); `offset` counts from the start of the file.\n\nElements below 8 bits are packed as in ONNX's TensorProto.raw_data: several to a byte, the first in the lowest bits.",
      properties: {
        dtype: {
          enum: [
            "float32",
            "float16",
            "int64",
            "uint64",
            "int32",
            "uint32",
            "int16",
            "uint16",
            "int8",
            "uint8",
            "int4",
            "uint4",
            "int2",
            "uint2",
            "bool",
          ],
          type: "string",
        },
        file: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
        name: { type: "string" },
        offset: { minimum: 0, type: "integer" },
        shape: { items: { minimum: 0, type: "integer" }, type: "array" },
        size_bytes: { minimum: 0, type: "integer" },
      },
      required: ["name", "dtype", "shape", "file", "offset", "size_bytes"],
      title: "Weight",
      type: "object",
    },
  },
  additionalProperties: false,
  description: "manifest.json.",
  properties: {
    components: { items: { $ref: "#/$defs/Component" }, type: "array" },
    files: { items: { $ref: "#/$defs/FileEntry" }, type: "array" },
    format_version: { const: 3, type: "integer" },
    kernels: { items: { $ref: "#/$defs/Kernel" }, type: "array" },
    name: { type: "string" },
    provenance: { $ref: "#/$defs/Provenance" },
    quality: { additionalProperties: { $ref: "#/$defs/Quality" }, type: "object" },
    skus: { items: { $ref: "#/$defs/Sku" }, type: "array" },
    target: { type: "string" },
  },
  required: ["format_version", "name", "target", "components", "kernels", "skus", "files", "quality", "provenance"],
  title: "Manifest",
  type: "object",
  "x-format-version": 3,
};
const func1 = Object.prototype.hasOwnProperty;
const schema20 = {
  additionalProperties: false,
  description: "One graph of the package.",
  properties: {
    constraints: { items: { $ref: "#/$defs/Constraint" }, type: "array" },
    golden: { anyOf: [{ $ref: "#/$defs/Golden" }, { type: "null" }] },
    inputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
    model: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
    name: { type: "string" },
    outputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
    programs: { items: { $ref: "#/$defs/Program" }, type: "array" },
    symbols: { additionalProperties: { $ref: "#/$defs/SymbolBounds" }, type: "object" },
    weights: { items: { $ref: "#/$defs/Weight" }, type: "array" },
  },
  required: ["name", "model", "symbols", "constraints", "inputs", "outputs", "weights", "golden", "programs"],
  title: "Component",
  type: "object",
};
const schema21 = {
  additionalProperties: false,
  description: "What the sizes of a run must meet besides their bounds: `zero` is 0; `text` says it for people.",
  properties: { text: { type: "string" }, zero: { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" } },
  required: ["zero", "text"],
  title: "Constraint",
  type: "object",
};
const pattern3 = new RegExp("^[A-Za-z0-9_+*/%(), -]+$", "u");

function validate54(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate54.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if ((data.zero === undefined && (missing0 = "zero")) || (data.text === undefined && (missing0 = "text"))) {
        validate54.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "text" || key0 === "zero")) {
            validate54.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.text !== undefined) {
            const _errs2 = errors;
            if (typeof data.text !== "string") {
              validate54.errors = [{ instancePath: instancePath + "/text", message: "must be string" }];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.zero !== undefined) {
              let data1 = data.zero;
              const _errs4 = errors;
              if (errors === _errs4) {
                if (typeof data1 === "string") {
                  if (!pattern3.test(data1)) {
                    validate54.errors = [
                      {
                        instancePath: instancePath + "/zero",
                        message: 'must match pattern "' + "^[A-Za-z0-9_+*/%(), -]+$" + '"',
                      },
                    ];
                    return false;
                  }
                } else {
                  validate54.errors = [{ instancePath: instancePath + "/zero", message: "must be string" }];
                  return false;
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
          }
        }
      }
    } else {
      validate54.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate54.errors = vErrors;
  return errors === 0;
}
validate54.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema22 = {
  additionalProperties: false,
  description:
    "What a component answers to inputs that every side can make; values of the graph in no particular order.",
  properties: {
    file: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
    inputs: { items: { $ref: "#/$defs/GoldenInput" }, type: "array" },
    sizes: { additionalProperties: { minimum: 0, type: "integer" }, type: "object" },
    values: { items: { $ref: "#/$defs/GoldenValue" }, type: "array" },
  },
  required: ["file", "sizes", "inputs", "values"],
  title: "Golden",
  type: "object",
};
const pattern4 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", "u");
const schema23 = {
  additionalProperties: false,
  description:
    "How the golden feed of one input is made: by `webinfer/golden.py` and `js_runtime/src/self_test.ts`, to the bit.\n\nuniform: reals in [low, high). normal: a sum of uniform ones with mean low and deviation high. integer: low to high.",
  properties: {
    high: { type: "number" },
    kind: { enum: ["uniform", "normal", "integer"], type: "string" },
    low: { type: "number" },
    name: { type: "string" },
  },
  required: ["name", "kind", "low", "high"],
  title: "GoldenInput",
  type: "object",
};

function validate57(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate57.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.kind === undefined && (missing0 = "kind")) ||
        (data.low === undefined && (missing0 = "low")) ||
        (data.high === undefined && (missing0 = "high"))
      ) {
        validate57.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "high" || key0 === "kind" || key0 === "low" || key0 === "name")) {
            validate57.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.high !== undefined) {
            let data0 = data.high;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && isFinite(data0))) {
              validate57.errors = [{ instancePath: instancePath + "/high", message: "must be number" }];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.kind !== undefined) {
              let data1 = data.kind;
              const _errs4 = errors;
              if (typeof data1 !== "string") {
                validate57.errors = [{ instancePath: instancePath + "/kind", message: "must be string" }];
                return false;
              }
              if (!(data1 === "uniform" || data1 === "normal" || data1 === "integer")) {
                validate57.errors = [
                  { instancePath: instancePath + "/kind", message: "must be equal to one of the allowed values" },
                ];
                return false;
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.low !== undefined) {
                let data2 = data.low;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && isFinite(data2))) {
                  validate57.errors = [{ instancePath: instancePath + "/low", message: "must be number" }];
                  return false;
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.name !== undefined) {
                  const _errs8 = errors;
                  if (typeof data.name !== "string") {
                    validate57.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                    return false;
                  }
                  var valid0 = _errs8 === errors;
                } else {
                  var valid0 = true;
                }
              }
            }
          }
        }
      }
    } else {
      validate57.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate57.errors = vErrors;
  return errors === 0;
}
validate57.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema24 = {
  additionalProperties: false,
  description:
    "Some elements of a value as ONNX Runtime computes them from the golden feeds: float64 numbers in Golden.file.",
  properties: {
    count: { minimum: 1, type: "integer" },
    name: { type: "string" },
    offset: { minimum: 0, type: "integer" },
    tolerance: { exclusiveMinimum: 0, type: "number" },
  },
  required: ["name", "offset", "count", "tolerance"],
  title: "GoldenValue",
  type: "object",
};

function validate59(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate59.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.offset === undefined && (missing0 = "offset")) ||
        (data.count === undefined && (missing0 = "count")) ||
        (data.tolerance === undefined && (missing0 = "tolerance"))
      ) {
        validate59.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "count" || key0 === "name" || key0 === "offset" || key0 === "tolerance")) {
            validate59.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.count !== undefined) {
            let data0 = data.count;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate59.errors = [{ instancePath: instancePath + "/count", message: "must be integer" }];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 1 || isNaN(data0)) {
                  validate59.errors = [{ instancePath: instancePath + "/count", message: "must be >= 1" }];
                  return false;
                }
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.name !== undefined) {
              const _errs4 = errors;
              if (typeof data.name !== "string") {
                validate59.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                return false;
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.offset !== undefined) {
                let data2 = data.offset;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                  validate59.errors = [{ instancePath: instancePath + "/offset", message: "must be integer" }];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 0 || isNaN(data2)) {
                      validate59.errors = [{ instancePath: instancePath + "/offset", message: "must be >= 0" }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.tolerance !== undefined) {
                  let data3 = data.tolerance;
                  const _errs8 = errors;
                  if (errors === _errs8) {
                    if (typeof data3 == "number" && isFinite(data3)) {
                      if (data3 <= 0 || isNaN(data3)) {
                        validate59.errors = [{ instancePath: instancePath + "/tolerance", message: "must be > 0" }];
                        return false;
                      }
                    } else {
                      validate59.errors = [{ instancePath: instancePath + "/tolerance", message: "must be number" }];
                      return false;
                    }
                  }
                  var valid0 = _errs8 === errors;
                } else {
                  var valid0 = true;
                }
              }
            }
          }
        }
      }
    } else {
      validate59.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate59.errors = vErrors;
  return errors === 0;
}
validate59.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate56(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate56.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.file === undefined && (missing0 = "file")) ||
        (data.sizes === undefined && (missing0 = "sizes")) ||
        (data.inputs === undefined && (missing0 = "inputs")) ||
        (data.values === undefined && (missing0 = "values"))
      ) {
        validate56.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "file" || key0 === "inputs" || key0 === "sizes" || key0 === "values")) {
            validate56.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.file !== undefined) {
            let data0 = data.file;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (typeof data0 === "string") {
                if (!pattern4.test(data0)) {
                  validate56.errors = [
                    {
                      instancePath: instancePath + "/file",
                      message:
                        'must match pattern "' +
                        "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                        '"',
                    },
                  ];
                  return false;
                }
              } else {
                validate56.errors = [{ instancePath: instancePath + "/file", message: "must be string" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.inputs !== undefined) {
              let data1 = data.inputs;
              const _errs4 = errors;
              if (errors === _errs4) {
                if (Array.isArray(data1)) {
                  var valid1 = true;
                  const len0 = data1.length;
                  for (let i0 = 0; i0 < len0; i0++) {
                    const _errs6 = errors;
                    if (
                      !validate57(data1[i0], {
                        instancePath: instancePath + "/inputs/" + i0,
                        parentData: data1,
                        parentDataProperty: i0,
                        rootData,
                        dynamicAnchors,
                      })
                    ) {
                      vErrors = vErrors === null ? validate57.errors : vErrors.concat(validate57.errors);
                      errors = vErrors.length;
                    }
                    var valid1 = _errs6 === errors;
                    if (!valid1) {
                      break;
                    }
                  }
                } else {
                  validate56.errors = [{ instancePath: instancePath + "/inputs", message: "must be array" }];
                  return false;
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.sizes !== undefined) {
                let data3 = data.sizes;
                const _errs7 = errors;
                if (errors === _errs7) {
                  if (data3 && typeof data3 == "object" && !Array.isArray(data3)) {
                    for (const key1 in data3) {
                      let data4 = data3[key1];
                      const _errs10 = errors;
                      if (!(typeof data4 == "number" && !(data4 % 1) && !isNaN(data4) && isFinite(data4))) {
                        validate56.errors = [
                          {
                            instancePath: instancePath + "/sizes/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                            message: "must be integer",
                          },
                        ];
                        return false;
                      }
                      if (errors === _errs10) {
                        if (typeof data4 == "number" && isFinite(data4)) {
                          if (data4 < 0 || isNaN(data4)) {
                            validate56.errors = [
                              {
                                instancePath: instancePath + "/sizes/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                message: "must be >= 0",
                              },
                            ];
                            return false;
                          }
                        }
                      }
                      var valid2 = _errs10 === errors;
                      if (!valid2) {
                        break;
                      }
                    }
                  } else {
                    validate56.errors = [{ instancePath: instancePath + "/sizes", message: "must be object" }];
                    return false;
                  }
                }
                var valid0 = _errs7 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.values !== undefined) {
                  let data5 = data.values;
                  const _errs12 = errors;
                  if (errors === _errs12) {
                    if (Array.isArray(data5)) {
                      var valid3 = true;
                      const len1 = data5.length;
                      for (let i1 = 0; i1 < len1; i1++) {
                        const _errs14 = errors;
                        if (
                          !validate59(data5[i1], {
                            instancePath: instancePath + "/values/" + i1,
                            parentData: data5,
                            parentDataProperty: i1,
                            rootData,
                            dynamicAnchors,
                          })
                        ) {
                          vErrors = vErrors === null ? validate59.errors : vErrors.concat(validate59.errors);
                          errors = vErrors.length;
                        }
                        var valid3 = _errs14 === errors;
                        if (!valid3) {
                          break;
                        }
                      }
                    } else {
                      validate56.errors = [{ instancePath: instancePath + "/values", message: "must be array" }];
                      return false;
                    }
                  }
                  var valid0 = _errs12 === errors;
                } else {
                  var valid0 = true;
                }
              }
            }
          }
        }
      }
    } else {
      validate56.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate56.errors = vErrors;
  return errors === 0;
}
validate56.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema25 = {
  additionalProperties: false,
  description: "A model input or output as the caller sees it.",
  properties: {
    dtype: {
      enum: [
        "float32",
        "float16",
        "int64",
        "uint64",
        "int32",
        "uint32",
        "int16",
        "uint16",
        "int8",
        "uint8",
        "int4",
        "uint4",
        "int2",
        "uint2",
        "bool",
      ],
      type: "string",
    },
    name: { type: "string" },
    shape: {
      items: {
        anyOf: [
          { minimum: 0, type: "integer" },
          { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
        ],
      },
      type: "array",
    },
  },
  required: ["name", "dtype", "shape"],
  title: "TensorSpec",
  type: "object",
};

function validate62(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate62.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.dtype === undefined && (missing0 = "dtype")) ||
        (data.shape === undefined && (missing0 = "shape"))
      ) {
        validate62.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "dtype" || key0 === "name" || key0 === "shape")) {
            validate62.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.dtype !== undefined) {
            let data0 = data.dtype;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate62.errors = [{ instancePath: instancePath + "/dtype", message: "must be string" }];
              return false;
            }
            if (!(
              data0 === "float32" ||
              data0 === "float16" ||
              data0 === "int64" ||
              data0 === "uint64" ||
              data0 === "int32" ||
              data0 === "uint32" ||
              data0 === "int16" ||
              data0 === "uint16" ||
              data0 === "int8" ||
              data0 === "uint8" ||
              data0 === "int4" ||
              data0 === "uint4" ||
              data0 === "int2" ||
              data0 === "uint2" ||
              data0 === "bool"
            )) {
              validate62.errors = [
                { instancePath: instancePath + "/dtype", message: "must be equal to one of the allowed values" },
              ];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.name !== undefined) {
              const _errs4 = errors;
              if (typeof data.name !== "string") {
                validate62.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                return false;
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.shape !== undefined) {
                let data2 = data.shape;
                const _errs6 = errors;
                if (errors === _errs6) {
                  if (Array.isArray(data2)) {
                    var valid1 = true;
                    const len0 = data2.length;
                    for (let i0 = 0; i0 < len0; i0++) {
                      let data3 = data2[i0];
                      const _errs8 = errors;
                      const _errs9 = errors;
                      let valid2 = false;
                      const _errs10 = errors;
                      if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                        const err0 = { instancePath: instancePath + "/shape/" + i0, message: "must be integer" };
                        if (vErrors === null) {
                          vErrors = [err0];
                        } else {
                          vErrors.push(err0);
                        }
                        errors++;
                      }
                      if (errors === _errs10) {
                        if (typeof data3 == "number" && isFinite(data3)) {
                          if (data3 < 0 || isNaN(data3)) {
                            const err1 = { instancePath: instancePath + "/shape/" + i0, message: "must be >= 0" };
                            if (vErrors === null) {
                              vErrors = [err1];
                            } else {
                              vErrors.push(err1);
                            }
                            errors++;
                          }
                        }
                      }
                      var _valid0 = _errs10 === errors;
                      valid2 = valid2 || _valid0;
                      const _errs12 = errors;
                      if (errors === _errs12) {
                        if (typeof data3 === "string") {
                          if (!pattern3.test(data3)) {
                            const err2 = {
                              instancePath: instancePath + "/shape/" + i0,
                              message: 'must match pattern "' + "^[A-Za-z0-9_+*/%(), -]+$" + '"',
                            };
                            if (vErrors === null) {
                              vErrors = [err2];
                            } else {
                              vErrors.push(err2);
                            }
                            errors++;
                          }
                        } else {
                          const err3 = { instancePath: instancePath + "/shape/" + i0, message: "must be string" };
                          if (vErrors === null) {
                            vErrors = [err3];
                          } else {
                            vErrors.push(err3);
                          }
                          errors++;
                        }
                      }
                      var _valid0 = _errs12 === errors;
                      valid2 = valid2 || _valid0;
                      if (!valid2) {
                        const err4 = {
                          instancePath: instancePath + "/shape/" + i0,
                          message: "must match a schema in anyOf",
                        };
                        if (vErrors === null) {
                          vErrors = [err4];
                        } else {
                          vErrors.push(err4);
                        }
                        errors++;
                        validate62.errors = vErrors;
                        return false;
                      } else {
                        errors = _errs9;
                        if (vErrors !== null) {
                          if (_errs9) {
                            vErrors.length = _errs9;
                          } else {
                            vErrors = null;
                          }
                        }
                      }
                      var valid1 = _errs8 === errors;
                      if (!valid1) {
                        break;
                      }
                    }
                  } else {
                    validate62.errors = [{ instancePath: instancePath + "/shape", message: "must be array" }];
                    return false;
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
            }
          }
        }
      }
    } else {
      validate62.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate62.errors = vErrors;
  return errors === 0;
}
validate62.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema26 = {
  additionalProperties: false,
  description: "One component compiled for one tier.",
  properties: {
    buffers: { items: { $ref: "#/$defs/Buffer" }, type: "array" },
    description: { type: "string" },
    dispatches: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
    kernels: { items: { type: "string" }, type: "array" },
    plan: { $ref: "#/$defs/Plan" },
    precision: { enum: ["fp32", "fp16"], type: "string" },
    predicted_ms: { additionalProperties: { minimum: 0, type: "number" }, type: "object" },
    prepare: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
    rank: { minimum: 0, type: "integer" },
    requires: { $ref: "#/$defs/Requirements" },
    tensors: { additionalProperties: { $ref: "#/$defs/PlannedTensor" }, type: "object" },
    tier: { type: "string" },
    tiling: { enum: ["register", "workgroup"], type: "string" },
    uploads: { items: { $ref: "#/$defs/Upload" }, type: "array" },
  },
  required: [
    "tier",
    "description",
    "rank",
    "predicted_ms",
    "precision",
    "tiling",
    "requires",
    "kernels",
    "buffers",
    "uploads",
    "prepare",
    "dispatches",
    "tensors",
    "plan",
  ],
  title: "Program",
  type: "object",
};
const schema27 = {
  additionalProperties: false,
  description: "One GPUBuffer. `staging` buffers live only while the load-time dispatches run.",
  properties: {
    kind: { enum: ["weight", "activation", "input", "output", "staging"], type: "string" },
    size_bytes: { minimum: 1, type: "integer" },
  },
  required: ["kind", "size_bytes"],
  title: "Buffer",
  type: "object",
};

function validate66(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate66.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.kind === undefined && (missing0 = "kind")) ||
        (data.size_bytes === undefined && (missing0 = "size_bytes"))
      ) {
        validate66.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "kind" || key0 === "size_bytes")) {
            validate66.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.kind !== undefined) {
            let data0 = data.kind;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate66.errors = [{ instancePath: instancePath + "/kind", message: "must be string" }];
              return false;
            }
            if (!(
              data0 === "weight" ||
              data0 === "activation" ||
              data0 === "input" ||
              data0 === "output" ||
              data0 === "staging"
            )) {
              validate66.errors = [
                { instancePath: instancePath + "/kind", message: "must be equal to one of the allowed values" },
              ];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.size_bytes !== undefined) {
              let data1 = data.size_bytes;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate66.errors = [{ instancePath: instancePath + "/size_bytes", message: "must be integer" }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 1 || isNaN(data1)) {
                    validate66.errors = [{ instancePath: instancePath + "/size_bytes", message: "must be >= 1" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
          }
        }
      }
    } else {
      validate66.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate66.errors = vErrors;
  return errors === 0;
}
validate66.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema28 = {
  additionalProperties: false,
  description:
    "One compute dispatch: a kernel, its storage spans in binding order, its uniform values, its workgroup counts.\n\n`flops` and `bytes` count at the largest sizes.",
  properties: {
    args: { items: { $ref: "#/$defs/Span" }, type: "array" },
    bytes: { minimum: 0, type: "integer" },
    flops: { minimum: 0, type: "integer" },
    kernel: { type: "string" },
    node: { type: "string" },
    params: {
      items: {
        anyOf: [
          { type: "integer" },
          { type: "number" },
          { enum: ["Infinity", "-Infinity", "NaN"], type: "string" },
          { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
        ],
      },
      type: "array",
    },
    workgroups: {
      items: {
        anyOf: [
          { minimum: 1, type: "integer" },
          { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
        ],
      },
      maxItems: 3,
      minItems: 3,
      type: "array",
    },
  },
  required: ["kernel", "node", "args", "params", "workgroups", "flops", "bytes"],
  title: "Dispatch",
  type: "object",
};
const schema29 = {
  additionalProperties: false,
  description: "A byte range of a buffer: `buffer` indexes Program.buffers.",
  properties: {
    buffer: { minimum: 0, type: "integer" },
    offset: { minimum: 0, type: "integer" },
    size_bytes: { minimum: 1, type: "integer" },
  },
  required: ["buffer", "offset", "size_bytes"],
  title: "Span",
  type: "object",
};

function validate69(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate69.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.buffer === undefined && (missing0 = "buffer")) ||
        (data.offset === undefined && (missing0 = "offset")) ||
        (data.size_bytes === undefined && (missing0 = "size_bytes"))
      ) {
        validate69.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "buffer" || key0 === "offset" || key0 === "size_bytes")) {
            validate69.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.buffer !== undefined) {
            let data0 = data.buffer;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate69.errors = [{ instancePath: instancePath + "/buffer", message: "must be integer" }];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate69.errors = [{ instancePath: instancePath + "/buffer", message: "must be >= 0" }];
                  return false;
                }
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.offset !== undefined) {
              let data1 = data.offset;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate69.errors = [{ instancePath: instancePath + "/offset", message: "must be integer" }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate69.errors = [{ instancePath: instancePath + "/offset", message: "must be >= 0" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.size_bytes !== undefined) {
                let data2 = data.size_bytes;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                  validate69.errors = [{ instancePath: instancePath + "/size_bytes", message: "must be integer" }];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 1 || isNaN(data2)) {
                      validate69.errors = [{ instancePath: instancePath + "/size_bytes", message: "must be >= 1" }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
            }
          }
        }
      }
    } else {
      validate69.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate69.errors = vErrors;
  return errors === 0;
}
validate69.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate68(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate68.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.kernel === undefined && (missing0 = "kernel")) ||
        (data.node === undefined && (missing0 = "node")) ||
        (data.args === undefined && (missing0 = "args")) ||
        (data.params === undefined && (missing0 = "params")) ||
        (data.workgroups === undefined && (missing0 = "workgroups")) ||
        (data.flops === undefined && (missing0 = "flops")) ||
        (data.bytes === undefined && (missing0 = "bytes"))
      ) {
        validate68.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "args" ||
            key0 === "bytes" ||
            key0 === "flops" ||
            key0 === "kernel" ||
            key0 === "node" ||
            key0 === "params" ||
            key0 === "workgroups"
          )) {
            validate68.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.args !== undefined) {
            let data0 = data.args;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (
                    !validate69(data0[i0], {
                      instancePath: instancePath + "/args/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate69.errors : vErrors.concat(validate69.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate68.errors = [{ instancePath: instancePath + "/args", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.bytes !== undefined) {
              let data2 = data.bytes;
              const _errs5 = errors;
              if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                validate68.errors = [{ instancePath: instancePath + "/bytes", message: "must be integer" }];
                return false;
              }
              if (errors === _errs5) {
                if (typeof data2 == "number" && isFinite(data2)) {
                  if (data2 < 0 || isNaN(data2)) {
                    validate68.errors = [{ instancePath: instancePath + "/bytes", message: "must be >= 0" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.flops !== undefined) {
                let data3 = data.flops;
                const _errs7 = errors;
                if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                  validate68.errors = [{ instancePath: instancePath + "/flops", message: "must be integer" }];
                  return false;
                }
                if (errors === _errs7) {
                  if (typeof data3 == "number" && isFinite(data3)) {
                    if (data3 < 0 || isNaN(data3)) {
                      validate68.errors = [{ instancePath: instancePath + "/flops", message: "must be >= 0" }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs7 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.kernel !== undefined) {
                  const _errs9 = errors;
                  if (typeof data.kernel !== "string") {
                    validate68.errors = [{ instancePath: instancePath + "/kernel", message: "must be string" }];
                    return false;
                  }
                  var valid0 = _errs9 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.node !== undefined) {
                    const _errs11 = errors;
                    if (typeof data.node !== "string") {
                      validate68.errors = [{ instancePath: instancePath + "/node", message: "must be string" }];
                      return false;
                    }
                    var valid0 = _errs11 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.params !== undefined) {
                      let data6 = data.params;
                      const _errs13 = errors;
                      if (errors === _errs13) {
                        if (Array.isArray(data6)) {
                          var valid2 = true;
                          const len1 = data6.length;
                          for (let i1 = 0; i1 < len1; i1++) {
                            let data7 = data6[i1];
                            const _errs15 = errors;
                            const _errs16 = errors;
                            let valid3 = false;
                            const _errs17 = errors;
                            if (!(typeof data7 == "number" && !(data7 % 1) && !isNaN(data7) && isFinite(data7))) {
                              const err0 = { instancePath: instancePath + "/params/" + i1, message: "must be integer" };
                              if (vErrors === null) {
                                vErrors = [err0];
                              } else {
                                vErrors.push(err0);
                              }
                              errors++;
                            }
                            var _valid0 = _errs17 === errors;
                            valid3 = valid3 || _valid0;
                            const _errs19 = errors;
                            if (!(typeof data7 == "number" && isFinite(data7))) {
                              const err1 = { instancePath: instancePath + "/params/" + i1, message: "must be number" };
                              if (vErrors === null) {
                                vErrors = [err1];
                              } else {
                                vErrors.push(err1);
                              }
                              errors++;
                            }
                            var _valid0 = _errs19 === errors;
                            valid3 = valid3 || _valid0;
                            const _errs21 = errors;
                            if (typeof data7 !== "string") {
                              const err2 = { instancePath: instancePath + "/params/" + i1, message: "must be string" };
                              if (vErrors === null) {
                                vErrors = [err2];
                              } else {
                                vErrors.push(err2);
                              }
                              errors++;
                            }
                            if (!(data7 === "Infinity" || data7 === "-Infinity" || data7 === "NaN")) {
                              const err3 = {
                                instancePath: instancePath + "/params/" + i1,
                                message: "must be equal to one of the allowed values",
                              };
                              if (vErrors === null) {
                                vErrors = [err3];
                              } else {
                                vErrors.push(err3);
                              }
                              errors++;
                            }
                            var _valid0 = _errs21 === errors;
                            valid3 = valid3 || _valid0;
                            const _errs23 = errors;
                            if (errors === _errs23) {
                              if (typeof data7 === "string") {
                                if (!pattern3.test(data7)) {
                                  const err4 = {
                                    instancePath: instancePath + "/params/" + i1,
                                    message: 'must match pattern "' + "^[A-Za-z0-9_+*/%(), -]+$" + '"',
                                  };
                                  if (vErrors === null) {
                                    vErrors = [err4];
                                  } else {
                                    vErrors.push(err4);
                                  }
                                  errors++;
                                }
                              } else {
                                const err5 = {
                                  instancePath: instancePath + "/params/" + i1,
                                  message: "must be string",
                                };
                                if (vErrors === null) {
                                  vErrors = [err5];
                                } else {
                                  vErrors.push(err5);
                                }
                                errors++;
                              }
                            }
                            var _valid0 = _errs23 === errors;
                            valid3 = valid3 || _valid0;
                            if (!valid3) {
                              const err6 = {
                                instancePath: instancePath + "/params/" + i1,
                                message: "must match a schema in anyOf",
                              };
                              if (vErrors === null) {
                                vErrors = [err6];
                              } else {
                                vErrors.push(err6);
                              }
                              errors++;
                              validate68.errors = vErrors;
                              return false;
                            } else {
                              errors = _errs16;
                              if (vErrors !== null) {
                                if (_errs16) {
                                  vErrors.length = _errs16;
                                } else {
                                  vErrors = null;
                                }
                              }
                            }
                            var valid2 = _errs15 === errors;
                            if (!valid2) {
                              break;
                            }
                          }
                        } else {
                          validate68.errors = [{ instancePath: instancePath + "/params", message: "must be array" }];
                          return false;
                        }
                      }
                      var valid0 = _errs13 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.workgroups !== undefined) {
                        let data8 = data.workgroups;
                        const _errs25 = errors;
                        if (errors === _errs25) {
                          if (Array.isArray(data8)) {
                            if (data8.length > 3) {
                              validate68.errors = [
                                {
                                  instancePath: instancePath + "/workgroups",
                                  message: "must NOT have more than 3 items",
                                },
                              ];
                              return false;
                            } else {
                              if (data8.length < 3) {
                                validate68.errors = [
                                  {
                                    instancePath: instancePath + "/workgroups",
                                    message: "must NOT have fewer than 3 items",
                                  },
                                ];
                                return false;
                              } else {
                                var valid4 = true;
                                const len2 = data8.length;
                                for (let i2 = 0; i2 < len2; i2++) {
                                  let data9 = data8[i2];
                                  const _errs27 = errors;
                                  const _errs28 = errors;
                                  let valid5 = false;
                                  const _errs29 = errors;
                                  if (!(typeof data9 == "number" && !(data9 % 1) && !isNaN(data9) && isFinite(data9))) {
                                    const err7 = {
                                      instancePath: instancePath + "/workgroups/" + i2,
                                      message: "must be integer",
                                    };
                                    if (vErrors === null) {
                                      vErrors = [err7];
                                    } else {
                                      vErrors.push(err7);
                                    }
                                    errors++;
                                  }
                                  if (errors === _errs29) {
                                    if (typeof data9 == "number" && isFinite(data9)) {
                                      if (data9 < 1 || isNaN(data9)) {
                                        const err8 = {
                                          instancePath: instancePath + "/workgroups/" + i2,
                                          message: "must be >= 1",
                                        };
                                        if (vErrors === null) {
                                          vErrors = [err8];
                                        } else {
                                          vErrors.push(err8);
                                        }
                                        errors++;
                                      }
                                    }
                                  }
                                  var _valid1 = _errs29 === errors;
                                  valid5 = valid5 || _valid1;
                                  const _errs31 = errors;
                                  if (errors === _errs31) {
                                    if (typeof data9 === "string") {
                                      if (!pattern3.test(data9)) {
                                        const err9 = {
                                          instancePath: instancePath + "/workgroups/" + i2,
                                          message: 'must match pattern "' + "^[A-Za-z0-9_+*/%(), -]+$" + '"',
                                        };
                                        if (vErrors === null) {
                                          vErrors = [err9];
                                        } else {
                                          vErrors.push(err9);
                                        }
                                        errors++;
                                      }
                                    } else {
                                      const err10 = {
                                        instancePath: instancePath + "/workgroups/" + i2,
                                        message: "must be string",
                                      };
                                      if (vErrors === null) {
                                        vErrors = [err10];
                                      } else {
                                        vErrors.push(err10);
                                      }
                                      errors++;
                                    }
                                  }
                                  var _valid1 = _errs31 === errors;
                                  valid5 = valid5 || _valid1;
                                  if (!valid5) {
                                    const err11 = {
                                      instancePath: instancePath + "/workgroups/" + i2,
                                      message: "must match a schema in anyOf",
                                    };
                                    if (vErrors === null) {
                                      vErrors = [err11];
                                    } else {
                                      vErrors.push(err11);
                                    }
                                    errors++;
                                    validate68.errors = vErrors;
                                    return false;
                                  } else {
                                    errors = _errs28;
                                    if (vErrors !== null) {
                                      if (_errs28) {
                                        vErrors.length = _errs28;
                                      } else {
                                        vErrors = null;
                                      }
                                    }
                                  }
                                  var valid4 = _errs27 === errors;
                                  if (!valid4) {
                                    break;
                                  }
                                }
                              }
                            }
                          } else {
                            validate68.errors = [
                              { instancePath: instancePath + "/workgroups", message: "must be array" },
                            ];
                            return false;
                          }
                        }
                        var valid0 = _errs25 === errors;
                      } else {
                        var valid0 = true;
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate68.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate68.errors = vErrors;
  return errors === 0;
}
validate68.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema30 = {
  additionalProperties: false,
  description: "What the memory plan achieved.",
  properties: {
    activation_lower_bound_bytes: { minimum: 0, type: "integer" },
    activation_peak_bytes: { minimum: 0, type: "integer" },
    gpu_bytes: { minimum: 0, type: "integer" },
    weight_bytes: { minimum: 0, type: "integer" },
  },
  required: ["activation_peak_bytes", "activation_lower_bound_bytes", "weight_bytes", "gpu_bytes"],
  title: "Plan",
  type: "object",
};

function validate72(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate72.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.activation_peak_bytes === undefined && (missing0 = "activation_peak_bytes")) ||
        (data.activation_lower_bound_bytes === undefined && (missing0 = "activation_lower_bound_bytes")) ||
        (data.weight_bytes === undefined && (missing0 = "weight_bytes")) ||
        (data.gpu_bytes === undefined && (missing0 = "gpu_bytes"))
      ) {
        validate72.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "activation_lower_bound_bytes" ||
            key0 === "activation_peak_bytes" ||
            key0 === "gpu_bytes" ||
            key0 === "weight_bytes"
          )) {
            validate72.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.activation_lower_bound_bytes !== undefined) {
            let data0 = data.activation_lower_bound_bytes;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate72.errors = [
                { instancePath: instancePath + "/activation_lower_bound_bytes", message: "must be integer" },
              ];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate72.errors = [
                    { instancePath: instancePath + "/activation_lower_bound_bytes", message: "must be >= 0" },
                  ];
                  return false;
                }
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.activation_peak_bytes !== undefined) {
              let data1 = data.activation_peak_bytes;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate72.errors = [
                  { instancePath: instancePath + "/activation_peak_bytes", message: "must be integer" },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate72.errors = [
                      { instancePath: instancePath + "/activation_peak_bytes", message: "must be >= 0" },
                    ];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.gpu_bytes !== undefined) {
                let data2 = data.gpu_bytes;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                  validate72.errors = [{ instancePath: instancePath + "/gpu_bytes", message: "must be integer" }];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 0 || isNaN(data2)) {
                      validate72.errors = [{ instancePath: instancePath + "/gpu_bytes", message: "must be >= 0" }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.weight_bytes !== undefined) {
                  let data3 = data.weight_bytes;
                  const _errs8 = errors;
                  if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                    validate72.errors = [{ instancePath: instancePath + "/weight_bytes", message: "must be integer" }];
                    return false;
                  }
                  if (errors === _errs8) {
                    if (typeof data3 == "number" && isFinite(data3)) {
                      if (data3 < 0 || isNaN(data3)) {
                        validate72.errors = [{ instancePath: instancePath + "/weight_bytes", message: "must be >= 0" }];
                        return false;
                      }
                    }
                  }
                  var valid0 = _errs8 === errors;
                } else {
                  var valid0 = true;
                }
              }
            }
          }
        }
      }
    } else {
      validate72.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate72.errors = vErrors;
  return errors === 0;
}
validate72.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema31 = {
  additionalProperties: false,
  description: "What an adapter must offer for a tier.",
  properties: {
    features: { items: { type: "string" }, type: "array" },
    limits: { additionalProperties: { minimum: 0, type: "integer" }, type: "object" },
  },
  required: ["features", "limits"],
  title: "Requirements",
  type: "object",
};

function validate75(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate75.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.features === undefined && (missing0 = "features")) ||
        (data.limits === undefined && (missing0 = "limits"))
      ) {
        validate75.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "features" || key0 === "limits")) {
            validate75.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.features !== undefined) {
            let data0 = data.features;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (typeof data0[i0] !== "string") {
                    validate75.errors = [{ instancePath: instancePath + "/features/" + i0, message: "must be string" }];
                    return false;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate75.errors = [{ instancePath: instancePath + "/features", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.limits !== undefined) {
              let data2 = data.limits;
              const _errs6 = errors;
              if (errors === _errs6) {
                if (data2 && typeof data2 == "object" && !Array.isArray(data2)) {
                  for (const key1 in data2) {
                    let data3 = data2[key1];
                    const _errs9 = errors;
                    if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                      validate75.errors = [
                        {
                          instancePath: instancePath + "/limits/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                          message: "must be integer",
                        },
                      ];
                      return false;
                    }
                    if (errors === _errs9) {
                      if (typeof data3 == "number" && isFinite(data3)) {
                        if (data3 < 0 || isNaN(data3)) {
                          validate75.errors = [
                            {
                              instancePath: instancePath + "/limits/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                              message: "must be >= 0",
                            },
                          ];
                          return false;
                        }
                      }
                    }
                    var valid2 = _errs9 === errors;
                    if (!valid2) {
                      break;
                    }
                  }
                } else {
                  validate75.errors = [{ instancePath: instancePath + "/limits", message: "must be object" }];
                  return false;
                }
              }
              var valid0 = _errs6 === errors;
            } else {
              var valid0 = true;
            }
          }
        }
      }
    } else {
      validate75.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate75.errors = vErrors;
  return errors === 0;
}
validate75.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema32 = {
  additionalProperties: false,
  description:
    "Where a value of the graph lives. Intermediates are listed so that `verify` can read them.\n\nThe span has room for the largest sizes; elements lie contiguously at the sizes of the run.",
  properties: {
    dtype: {
      enum: [
        "float32",
        "float16",
        "int64",
        "uint64",
        "int32",
        "uint32",
        "int16",
        "uint16",
        "int8",
        "uint8",
        "int4",
        "uint4",
        "int2",
        "uint2",
        "bool",
      ],
      type: "string",
    },
    producer: { minimum: -1, type: "integer" },
    shape: {
      items: {
        anyOf: [
          { minimum: 0, type: "integer" },
          { pattern: "^[A-Za-z0-9_+*/%(), -]+$", type: "string" },
        ],
      },
      type: "array",
    },
    span: { $ref: "#/$defs/Span" },
  },
  required: ["dtype", "shape", "span", "producer"],
  title: "PlannedTensor",
  type: "object",
};

function validate77(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate77.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.dtype === undefined && (missing0 = "dtype")) ||
        (data.shape === undefined && (missing0 = "shape")) ||
        (data.span === undefined && (missing0 = "span")) ||
        (data.producer === undefined && (missing0 = "producer"))
      ) {
        validate77.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "dtype" || key0 === "producer" || key0 === "shape" || key0 === "span")) {
            validate77.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.dtype !== undefined) {
            let data0 = data.dtype;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate77.errors = [{ instancePath: instancePath + "/dtype", message: "must be string" }];
              return false;
            }
            if (!(
              data0 === "float32" ||
              data0 === "float16" ||
              data0 === "int64" ||
              data0 === "uint64" ||
              data0 === "int32" ||
              data0 === "uint32" ||
              data0 === "int16" ||
              data0 === "uint16" ||
              data0 === "int8" ||
              data0 === "uint8" ||
              data0 === "int4" ||
              data0 === "uint4" ||
              data0 === "int2" ||
              data0 === "uint2" ||
              data0 === "bool"
            )) {
              validate77.errors = [
                { instancePath: instancePath + "/dtype", message: "must be equal to one of the allowed values" },
              ];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.producer !== undefined) {
              let data1 = data.producer;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate77.errors = [{ instancePath: instancePath + "/producer", message: "must be integer" }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < -1 || isNaN(data1)) {
                    validate77.errors = [{ instancePath: instancePath + "/producer", message: "must be >= -1" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.shape !== undefined) {
                let data2 = data.shape;
                const _errs6 = errors;
                if (errors === _errs6) {
                  if (Array.isArray(data2)) {
                    var valid1 = true;
                    const len0 = data2.length;
                    for (let i0 = 0; i0 < len0; i0++) {
                      let data3 = data2[i0];
                      const _errs8 = errors;
                      const _errs9 = errors;
                      let valid2 = false;
                      const _errs10 = errors;
                      if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                        const err0 = { instancePath: instancePath + "/shape/" + i0, message: "must be integer" };
                        if (vErrors === null) {
                          vErrors = [err0];
                        } else {
                          vErrors.push(err0);
                        }
                        errors++;
                      }
                      if (errors === _errs10) {
                        if (typeof data3 == "number" && isFinite(data3)) {
                          if (data3 < 0 || isNaN(data3)) {
                            const err1 = { instancePath: instancePath + "/shape/" + i0, message: "must be >= 0" };
                            if (vErrors === null) {
                              vErrors = [err1];
                            } else {
                              vErrors.push(err1);
                            }
                            errors++;
                          }
                        }
                      }
                      var _valid0 = _errs10 === errors;
                      valid2 = valid2 || _valid0;
                      const _errs12 = errors;
                      if (errors === _errs12) {
                        if (typeof data3 === "string") {
                          if (!pattern3.test(data3)) {
                            const err2 = {
                              instancePath: instancePath + "/shape/" + i0,
                              message: 'must match pattern "' + "^[A-Za-z0-9_+*/%(), -]+$" + '"',
                            };
                            if (vErrors === null) {
                              vErrors = [err2];
                            } else {
                              vErrors.push(err2);
                            }
                            errors++;
                          }
                        } else {
                          const err3 = { instancePath: instancePath + "/shape/" + i0, message: "must be string" };
                          if (vErrors === null) {
                            vErrors = [err3];
                          } else {
                            vErrors.push(err3);
                          }
                          errors++;
                        }
                      }
                      var _valid0 = _errs12 === errors;
                      valid2 = valid2 || _valid0;
                      if (!valid2) {
                        const err4 = {
                          instancePath: instancePath + "/shape/" + i0,
                          message: "must match a schema in anyOf",
                        };
                        if (vErrors === null) {
                          vErrors = [err4];
                        } else {
                          vErrors.push(err4);
                        }
                        errors++;
                        validate77.errors = vErrors;
                        return false;
                      } else {
                        errors = _errs9;
                        if (vErrors !== null) {
                          if (_errs9) {
                            vErrors.length = _errs9;
                          } else {
                            vErrors = null;
                          }
                        }
                      }
                      var valid1 = _errs8 === errors;
                      if (!valid1) {
                        break;
                      }
                    }
                  } else {
                    validate77.errors = [{ instancePath: instancePath + "/shape", message: "must be array" }];
                    return false;
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.span !== undefined) {
                  const _errs14 = errors;
                  if (
                    !validate69(data.span, {
                      instancePath: instancePath + "/span",
                      parentData: data,
                      parentDataProperty: "span",
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate69.errors : vErrors.concat(validate69.errors);
                    errors = vErrors.length;
                  }
                  var valid0 = _errs14 === errors;
                } else {
                  var valid0 = true;
                }
              }
            }
          }
        }
      }
    } else {
      validate77.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate77.errors = vErrors;
  return errors === 0;
}
validate77.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema33 = {
  additionalProperties: false,
  description: "Copy of a weight's bytes into a buffer at load.",
  properties: {
    buffer: { minimum: 0, type: "integer" },
    offset: { minimum: 0, type: "integer" },
    weight: { type: "string" },
  },
  required: ["weight", "buffer", "offset"],
  title: "Upload",
  type: "object",
};

function validate80(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate80.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.weight === undefined && (missing0 = "weight")) ||
        (data.buffer === undefined && (missing0 = "buffer")) ||
        (data.offset === undefined && (missing0 = "offset"))
      ) {
        validate80.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "buffer" || key0 === "offset" || key0 === "weight")) {
            validate80.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.buffer !== undefined) {
            let data0 = data.buffer;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate80.errors = [{ instancePath: instancePath + "/buffer", message: "must be integer" }];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate80.errors = [{ instancePath: instancePath + "/buffer", message: "must be >= 0" }];
                  return false;
                }
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.offset !== undefined) {
              let data1 = data.offset;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate80.errors = [{ instancePath: instancePath + "/offset", message: "must be integer" }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate80.errors = [{ instancePath: instancePath + "/offset", message: "must be >= 0" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.weight !== undefined) {
                const _errs6 = errors;
                if (typeof data.weight !== "string") {
                  validate80.errors = [{ instancePath: instancePath + "/weight", message: "must be string" }];
                  return false;
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
            }
          }
        }
      }
    } else {
      validate80.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate80.errors = vErrors;
  return errors === 0;
}
validate80.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate65(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate65.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.tier === undefined && (missing0 = "tier")) ||
        (data.description === undefined && (missing0 = "description")) ||
        (data.rank === undefined && (missing0 = "rank")) ||
        (data.predicted_ms === undefined && (missing0 = "predicted_ms")) ||
        (data.precision === undefined && (missing0 = "precision")) ||
        (data.tiling === undefined && (missing0 = "tiling")) ||
        (data.requires === undefined && (missing0 = "requires")) ||
        (data.kernels === undefined && (missing0 = "kernels")) ||
        (data.buffers === undefined && (missing0 = "buffers")) ||
        (data.uploads === undefined && (missing0 = "uploads")) ||
        (data.prepare === undefined && (missing0 = "prepare")) ||
        (data.dispatches === undefined && (missing0 = "dispatches")) ||
        (data.tensors === undefined && (missing0 = "tensors")) ||
        (data.plan === undefined && (missing0 = "plan"))
      ) {
        validate65.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!func1.call(schema26.properties, key0)) {
            validate65.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.buffers !== undefined) {
            let data0 = data.buffers;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (
                    !validate66(data0[i0], {
                      instancePath: instancePath + "/buffers/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate66.errors : vErrors.concat(validate66.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate65.errors = [{ instancePath: instancePath + "/buffers", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.description !== undefined) {
              const _errs5 = errors;
              if (typeof data.description !== "string") {
                validate65.errors = [{ instancePath: instancePath + "/description", message: "must be string" }];
                return false;
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.dispatches !== undefined) {
                let data3 = data.dispatches;
                const _errs7 = errors;
                if (errors === _errs7) {
                  if (Array.isArray(data3)) {
                    var valid2 = true;
                    const len1 = data3.length;
                    for (let i1 = 0; i1 < len1; i1++) {
                      const _errs9 = errors;
                      if (
                        !validate68(data3[i1], {
                          instancePath: instancePath + "/dispatches/" + i1,
                          parentData: data3,
                          parentDataProperty: i1,
                          rootData,
                          dynamicAnchors,
                        })
                      ) {
                        vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
                        errors = vErrors.length;
                      }
                      var valid2 = _errs9 === errors;
                      if (!valid2) {
                        break;
                      }
                    }
                  } else {
                    validate65.errors = [{ instancePath: instancePath + "/dispatches", message: "must be array" }];
                    return false;
                  }
                }
                var valid0 = _errs7 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.kernels !== undefined) {
                  let data5 = data.kernels;
                  const _errs10 = errors;
                  if (errors === _errs10) {
                    if (Array.isArray(data5)) {
                      var valid3 = true;
                      const len2 = data5.length;
                      for (let i2 = 0; i2 < len2; i2++) {
                        const _errs12 = errors;
                        if (typeof data5[i2] !== "string") {
                          validate65.errors = [
                            { instancePath: instancePath + "/kernels/" + i2, message: "must be string" },
                          ];
                          return false;
                        }
                        var valid3 = _errs12 === errors;
                        if (!valid3) {
                          break;
                        }
                      }
                    } else {
                      validate65.errors = [{ instancePath: instancePath + "/kernels", message: "must be array" }];
                      return false;
                    }
                  }
                  var valid0 = _errs10 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.plan !== undefined) {
                    const _errs14 = errors;
                    if (
                      !validate72(data.plan, {
                        instancePath: instancePath + "/plan",
                        parentData: data,
                        parentDataProperty: "plan",
                        rootData,
                        dynamicAnchors,
                      })
                    ) {
                      vErrors = vErrors === null ? validate72.errors : vErrors.concat(validate72.errors);
                      errors = vErrors.length;
                    }
                    var valid0 = _errs14 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.precision !== undefined) {
                      let data8 = data.precision;
                      const _errs15 = errors;
                      if (typeof data8 !== "string") {
                        validate65.errors = [{ instancePath: instancePath + "/precision", message: "must be string" }];
                        return false;
                      }
                      if (!(data8 === "fp32" || data8 === "fp16")) {
                        validate65.errors = [
                          {
                            instancePath: instancePath + "/precision",
                            message: "must be equal to one of the allowed values",
                          },
                        ];
                        return false;
                      }
                      var valid0 = _errs15 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.predicted_ms !== undefined) {
                        let data9 = data.predicted_ms;
                        const _errs17 = errors;
                        if (errors === _errs17) {
                          if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
                            for (const key1 in data9) {
                              let data10 = data9[key1];
                              const _errs20 = errors;
                              if (errors === _errs20) {
                                if (typeof data10 == "number" && isFinite(data10)) {
                                  if (data10 < 0 || isNaN(data10)) {
                                    validate65.errors = [
                                      {
                                        instancePath:
                                          instancePath +
                                          "/predicted_ms/" +
                                          key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                        message: "must be >= 0",
                                      },
                                    ];
                                    return false;
                                  }
                                } else {
                                  validate65.errors = [
                                    {
                                      instancePath:
                                        instancePath + "/predicted_ms/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                      message: "must be number",
                                    },
                                  ];
                                  return false;
                                }
                              }
                              var valid4 = _errs20 === errors;
                              if (!valid4) {
                                break;
                              }
                            }
                          } else {
                            validate65.errors = [
                              { instancePath: instancePath + "/predicted_ms", message: "must be object" },
                            ];
                            return false;
                          }
                        }
                        var valid0 = _errs17 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.prepare !== undefined) {
                          let data11 = data.prepare;
                          const _errs22 = errors;
                          if (errors === _errs22) {
                            if (Array.isArray(data11)) {
                              var valid5 = true;
                              const len3 = data11.length;
                              for (let i3 = 0; i3 < len3; i3++) {
                                const _errs24 = errors;
                                if (
                                  !validate68(data11[i3], {
                                    instancePath: instancePath + "/prepare/" + i3,
                                    parentData: data11,
                                    parentDataProperty: i3,
                                    rootData,
                                    dynamicAnchors,
                                  })
                                ) {
                                  vErrors = vErrors === null ? validate68.errors : vErrors.concat(validate68.errors);
                                  errors = vErrors.length;
                                }
                                var valid5 = _errs24 === errors;
                                if (!valid5) {
                                  break;
                                }
                              }
                            } else {
                              validate65.errors = [
                                { instancePath: instancePath + "/prepare", message: "must be array" },
                              ];
                              return false;
                            }
                          }
                          var valid0 = _errs22 === errors;
                        } else {
                          var valid0 = true;
                        }
                        if (valid0) {
                          if (data.rank !== undefined) {
                            let data13 = data.rank;
                            const _errs25 = errors;
                            if (!(typeof data13 == "number" && !(data13 % 1) && !isNaN(data13) && isFinite(data13))) {
                              validate65.errors = [
                                { instancePath: instancePath + "/rank", message: "must be integer" },
                              ];
                              return false;
                            }
                            if (errors === _errs25) {
                              if (typeof data13 == "number" && isFinite(data13)) {
                                if (data13 < 0 || isNaN(data13)) {
                                  validate65.errors = [
                                    { instancePath: instancePath + "/rank", message: "must be >= 0" },
                                  ];
                                  return false;
                                }
                              }
                            }
                            var valid0 = _errs25 === errors;
                          } else {
                            var valid0 = true;
                          }
                          if (valid0) {
                            if (data.requires !== undefined) {
                              const _errs27 = errors;
                              if (
                                !validate75(data.requires, {
                                  instancePath: instancePath + "/requires",
                                  parentData: data,
                                  parentDataProperty: "requires",
                                  rootData,
                                  dynamicAnchors,
                                })
                              ) {
                                vErrors = vErrors === null ? validate75.errors : vErrors.concat(validate75.errors);
                                errors = vErrors.length;
                              }
                              var valid0 = _errs27 === errors;
                            } else {
                              var valid0 = true;
                            }
                            if (valid0) {
                              if (data.tensors !== undefined) {
                                let data15 = data.tensors;
                                const _errs28 = errors;
                                if (errors === _errs28) {
                                  if (data15 && typeof data15 == "object" && !Array.isArray(data15)) {
                                    for (const key2 in data15) {
                                      const _errs31 = errors;
                                      if (
                                        !validate77(data15[key2], {
                                          instancePath:
                                            instancePath + "/tensors/" + key2.replace(/~/g, "~0").replace(/\//g, "~1"),
                                          parentData: data15,
                                          parentDataProperty: key2,
                                          rootData,
                                          dynamicAnchors,
                                        })
                                      ) {
                                        vErrors =
                                          vErrors === null ? validate77.errors : vErrors.concat(validate77.errors);
                                        errors = vErrors.length;
                                      }
                                      var valid6 = _errs31 === errors;
                                      if (!valid6) {
                                        break;
                                      }
                                    }
                                  } else {
                                    validate65.errors = [
                                      { instancePath: instancePath + "/tensors", message: "must be object" },
                                    ];
                                    return false;
                                  }
                                }
                                var valid0 = _errs28 === errors;
                              } else {
                                var valid0 = true;
                              }
                              if (valid0) {
                                if (data.tier !== undefined) {
                                  const _errs32 = errors;
                                  if (typeof data.tier !== "string") {
                                    validate65.errors = [
                                      { instancePath: instancePath + "/tier", message: "must be string" },
                                    ];
                                    return false;
                                  }
                                  var valid0 = _errs32 === errors;
                                } else {
                                  var valid0 = true;
                                }
                                if (valid0) {
                                  if (data.tiling !== undefined) {
                                    let data18 = data.tiling;
                                    const _errs34 = errors;
                                    if (typeof data18 !== "string") {
                                      validate65.errors = [
                                        { instancePath: instancePath + "/tiling", message: "must be string" },
                                      ];
                                      return false;
                                    }
                                    if (!(data18 === "register" || data18 === "workgroup")) {
                                      validate65.errors = [
                                        {
                                          instancePath: instancePath + "/tiling",
                                          message: "must be equal to one of the allowed values",
                                        },
                                      ];
                                      return false;
                                    }
                                    var valid0 = _errs34 === errors;
                                  } else {
                                    var valid0 = true;
                                  }
                                  if (valid0) {
                                    if (data.uploads !== undefined) {
                                      let data19 = data.uploads;
                                      const _errs36 = errors;
                                      if (errors === _errs36) {
                                        if (Array.isArray(data19)) {
                                          var valid7 = true;
                                          const len4 = data19.length;
                                          for (let i4 = 0; i4 < len4; i4++) {
                                            const _errs38 = errors;
                                            if (
                                              !validate80(data19[i4], {
                                                instancePath: instancePath + "/uploads/" + i4,
                                                parentData: data19,
                                                parentDataProperty: i4,
                                                rootData,
                                                dynamicAnchors,
                                              })
                                            ) {
                                              vErrors =
                                                vErrors === null
                                                  ? validate80.errors
                                                  : vErrors.concat(validate80.errors);
                                              errors = vErrors.length;
                                            }
                                            var valid7 = _errs38 === errors;
                                            if (!valid7) {
                                              break;
                                            }
                                          }
                                        } else {
                                          validate65.errors = [
                                            { instancePath: instancePath + "/uploads", message: "must be array" },
                                          ];
                                          return false;
                                        }
                                      }
                                      var valid0 = _errs36 === errors;
                                    } else {
                                      var valid0 = true;
                                    }
                                  }
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate65.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate65.errors = vErrors;
  return errors === 0;
}
validate65.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema34 = {
  additionalProperties: false,
  description: "A size that the inputs of a run decide: any multiple of `multiple` from `minimum` to `maximum`.",
  properties: {
    maximum: { minimum: 0, type: "integer" },
    minimum: { minimum: 0, type: "integer" },
    multiple: { minimum: 1, type: "integer" },
  },
  required: ["minimum", "maximum", "multiple"],
  title: "SymbolBounds",
  type: "object",
};

function validate83(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate83.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.minimum === undefined && (missing0 = "minimum")) ||
        (data.maximum === undefined && (missing0 = "maximum")) ||
        (data.multiple === undefined && (missing0 = "multiple"))
      ) {
        validate83.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "maximum" || key0 === "minimum" || key0 === "multiple")) {
            validate83.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.maximum !== undefined) {
            let data0 = data.maximum;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate83.errors = [{ instancePath: instancePath + "/maximum", message: "must be integer" }];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate83.errors = [{ instancePath: instancePath + "/maximum", message: "must be >= 0" }];
                  return false;
                }
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.minimum !== undefined) {
              let data1 = data.minimum;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate83.errors = [{ instancePath: instancePath + "/minimum", message: "must be integer" }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate83.errors = [{ instancePath: instancePath + "/minimum", message: "must be >= 0" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.multiple !== undefined) {
                let data2 = data.multiple;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                  validate83.errors = [{ instancePath: instancePath + "/multiple", message: "must be integer" }];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 1 || isNaN(data2)) {
                      validate83.errors = [{ instancePath: instancePath + "/multiple", message: "must be >= 1" }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
            }
          }
        }
      }
    } else {
      validate83.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate83.errors = vErrors;
  return errors === 0;
}
validate83.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema35 = {
  additionalProperties: false,
  description:
    "One initializer inside a shard (a valid safetensors file); `offset` counts from the start of the file.\n\nElements below 8 bits are packed as in ONNX's TensorProto.raw_data: several to a byte, the first in the lowest bits.",
  properties: {
    dtype: {
      enum: [
        "float32",
        "float16",
        "int64",
        "uint64",
        "int32",
        "uint32",
        "int16",
        "uint16",
        "int8",
        "uint8",
        "int4",
        "uint4",
        "int2",
        "uint2",
        "bool",
      ],
      type: "string",
    },
    file: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
    name: { type: "string" },
    offset: { minimum: 0, type: "integer" },
    shape: { items: { minimum: 0, type: "integer" }, type: "array" },
    size_bytes: { minimum: 0, type: "integer" },
  },
  required: ["name", "dtype", "shape", "file", "offset", "size_bytes"],
  title: "Weight",
  type: "object",
};

function validate85(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate85.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.dtype === undefined && (missing0 = "dtype")) ||
        (data.shape === undefined && (missing0 = "shape")) ||
        (data.file === undefined && (missing0 = "file")) ||
        (data.offset === undefined && (missing0 = "offset")) ||
        (data.size_bytes === undefined && (missing0 = "size_bytes"))
      ) {
        validate85.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "dtype" ||
            key0 === "file" ||
            key0 === "name" ||
            key0 === "offset" ||
            key0 === "shape" ||
            key0 === "size_bytes"
          )) {
            validate85.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.dtype !== undefined) {
            let data0 = data.dtype;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate85.errors = [{ instancePath: instancePath + "/dtype", message: "must be string" }];
              return false;
            }
            if (!(
              data0 === "float32" ||
              data0 === "float16" ||
              data0 === "int64" ||
              data0 === "uint64" ||
              data0 === "int32" ||
              data0 === "uint32" ||
              data0 === "int16" ||
              data0 === "uint16" ||
              data0 === "int8" ||
              data0 === "uint8" ||
              data0 === "int4" ||
              data0 === "uint4" ||
              data0 === "int2" ||
              data0 === "uint2" ||
              data0 === "bool"
            )) {
              validate85.errors = [
                { instancePath: instancePath + "/dtype", message: "must be equal to one of the allowed values" },
              ];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.file !== undefined) {
              let data1 = data.file;
              const _errs4 = errors;
              if (errors === _errs4) {
                if (typeof data1 === "string") {
                  if (!pattern4.test(data1)) {
                    validate85.errors = [
                      {
                        instancePath: instancePath + "/file",
                        message:
                          'must match pattern "' +
                          "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                          '"',
                      },
                    ];
                    return false;
                  }
                } else {
                  validate85.errors = [{ instancePath: instancePath + "/file", message: "must be string" }];
                  return false;
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.name !== undefined) {
                const _errs6 = errors;
                if (typeof data.name !== "string") {
                  validate85.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                  return false;
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.offset !== undefined) {
                  let data3 = data.offset;
                  const _errs8 = errors;
                  if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                    validate85.errors = [{ instancePath: instancePath + "/offset", message: "must be integer" }];
                    return false;
                  }
                  if (errors === _errs8) {
                    if (typeof data3 == "number" && isFinite(data3)) {
                      if (data3 < 0 || isNaN(data3)) {
                        validate85.errors = [{ instancePath: instancePath + "/offset", message: "must be >= 0" }];
                        return false;
                      }
                    }
                  }
                  var valid0 = _errs8 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.shape !== undefined) {
                    let data4 = data.shape;
                    const _errs10 = errors;
                    if (errors === _errs10) {
                      if (Array.isArray(data4)) {
                        var valid1 = true;
                        const len0 = data4.length;
                        for (let i0 = 0; i0 < len0; i0++) {
                          let data5 = data4[i0];
                          const _errs12 = errors;
                          if (!(typeof data5 == "number" && !(data5 % 1) && !isNaN(data5) && isFinite(data5))) {
                            validate85.errors = [
                              { instancePath: instancePath + "/shape/" + i0, message: "must be integer" },
                            ];
                            return false;
                          }
                          if (errors === _errs12) {
                            if (typeof data5 == "number" && isFinite(data5)) {
                              if (data5 < 0 || isNaN(data5)) {
                                validate85.errors = [
                                  { instancePath: instancePath + "/shape/" + i0, message: "must be >= 0" },
                                ];
                                return false;
                              }
                            }
                          }
                          var valid1 = _errs12 === errors;
                          if (!valid1) {
                            break;
                          }
                        }
                      } else {
                        validate85.errors = [{ instancePath: instancePath + "/shape", message: "must be array" }];
                        return false;
                      }
                    }
                    var valid0 = _errs10 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.size_bytes !== undefined) {
                      let data6 = data.size_bytes;
                      const _errs14 = errors;
                      if (!(typeof data6 == "number" && !(data6 % 1) && !isNaN(data6) && isFinite(data6))) {
                        validate85.errors = [
                          { instancePath: instancePath + "/size_bytes", message: "must be integer" },
                        ];
                        return false;
                      }
                      if (errors === _errs14) {
                        if (typeof data6 == "number" && isFinite(data6)) {
                          if (data6 < 0 || isNaN(data6)) {
                            validate85.errors = [
                              { instancePath: instancePath + "/size_bytes", message: "must be >= 0" },
                            ];
                            return false;
                          }
                        }
                      }
                      var valid0 = _errs14 === errors;
                    } else {
                      var valid0 = true;
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate85.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate85.errors = vErrors;
  return errors === 0;
}
validate85.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate53(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate53.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.model === undefined && (missing0 = "model")) ||
        (data.symbols === undefined && (missing0 = "symbols")) ||
        (data.constraints === undefined && (missing0 = "constraints")) ||
        (data.inputs === undefined && (missing0 = "inputs")) ||
        (data.outputs === undefined && (missing0 = "outputs")) ||
        (data.weights === undefined && (missing0 = "weights")) ||
        (data.golden === undefined && (missing0 = "golden")) ||
        (data.programs === undefined && (missing0 = "programs"))
      ) {
        validate53.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!func1.call(schema20.properties, key0)) {
            validate53.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.constraints !== undefined) {
            let data0 = data.constraints;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (
                    !validate54(data0[i0], {
                      instancePath: instancePath + "/constraints/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate53.errors = [{ instancePath: instancePath + "/constraints", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.golden !== undefined) {
              let data2 = data.golden;
              const _errs5 = errors;
              const _errs6 = errors;
              let valid2 = false;
              const _errs7 = errors;
              if (
                !validate56(data2, {
                  instancePath: instancePath + "/golden",
                  parentData: data,
                  parentDataProperty: "golden",
                  rootData,
                  dynamicAnchors,
                })
              ) {
                vErrors = vErrors === null ? validate56.errors : vErrors.concat(validate56.errors);
                errors = vErrors.length;
              }
              var _valid0 = _errs7 === errors;
              valid2 = valid2 || _valid0;
              const _errs8 = errors;
              if (data2 !== null) {
                const err0 = { instancePath: instancePath + "/golden", message: "must be null" };
                if (vErrors === null) {
                  vErrors = [err0];
                } else {
                  vErrors.push(err0);
                }
                errors++;
              }
              var _valid0 = _errs8 === errors;
              valid2 = valid2 || _valid0;
              if (!valid2) {
                const err1 = { instancePath: instancePath + "/golden", message: "must match a schema in anyOf" };
                if (vErrors === null) {
                  vErrors = [err1];
                } else {
                  vErrors.push(err1);
                }
                errors++;
                validate53.errors = vErrors;
                return false;
              } else {
                errors = _errs6;
                if (vErrors !== null) {
                  if (_errs6) {
                    vErrors.length = _errs6;
                  } else {
                    vErrors = null;
                  }
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.inputs !== undefined) {
                let data3 = data.inputs;
                const _errs10 = errors;
                if (errors === _errs10) {
                  if (Array.isArray(data3)) {
                    var valid3 = true;
                    const len1 = data3.length;
                    for (let i1 = 0; i1 < len1; i1++) {
                      const _errs12 = errors;
                      if (
                        !validate62(data3[i1], {
                          instancePath: instancePath + "/inputs/" + i1,
                          parentData: data3,
                          parentDataProperty: i1,
                          rootData,
                          dynamicAnchors,
                        })
                      ) {
                        vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
                        errors = vErrors.length;
                      }
                      var valid3 = _errs12 === errors;
                      if (!valid3) {
                        break;
                      }
                    }
                  } else {
                    validate53.errors = [{ instancePath: instancePath + "/inputs", message: "must be array" }];
                    return false;
                  }
                }
                var valid0 = _errs10 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.model !== undefined) {
                  let data5 = data.model;
                  const _errs13 = errors;
                  if (errors === _errs13) {
                    if (typeof data5 === "string") {
                      if (!pattern4.test(data5)) {
                        validate53.errors = [
                          {
                            instancePath: instancePath + "/model",
                            message:
                              'must match pattern "' +
                              "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                              '"',
                          },
                        ];
                        return false;
                      }
                    } else {
                      validate53.errors = [{ instancePath: instancePath + "/model", message: "must be string" }];
                      return false;
                    }
                  }
                  var valid0 = _errs13 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.name !== undefined) {
                    const _errs15 = errors;
                    if (typeof data.name !== "string") {
                      validate53.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                      return false;
                    }
                    var valid0 = _errs15 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.outputs !== undefined) {
                      let data7 = data.outputs;
                      const _errs17 = errors;
                      if (errors === _errs17) {
                        if (Array.isArray(data7)) {
                          var valid4 = true;
                          const len2 = data7.length;
                          for (let i2 = 0; i2 < len2; i2++) {
                            const _errs19 = errors;
                            if (
                              !validate62(data7[i2], {
                                instancePath: instancePath + "/outputs/" + i2,
                                parentData: data7,
                                parentDataProperty: i2,
                                rootData,
                                dynamicAnchors,
                              })
                            ) {
                              vErrors = vErrors === null ? validate62.errors : vErrors.concat(validate62.errors);
                              errors = vErrors.length;
                            }
                            var valid4 = _errs19 === errors;
                            if (!valid4) {
                              break;
                            }
                          }
                        } else {
                          validate53.errors = [{ instancePath: instancePath + "/outputs", message: "must be array" }];
                          return false;
                        }
                      }
                      var valid0 = _errs17 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.programs !== undefined) {
                        let data9 = data.programs;
                        const _errs20 = errors;
                        if (errors === _errs20) {
                          if (Array.isArray(data9)) {
                            var valid5 = true;
                            const len3 = data9.length;
                            for (let i3 = 0; i3 < len3; i3++) {
                              const _errs22 = errors;
                              if (
                                !validate65(data9[i3], {
                                  instancePath: instancePath + "/programs/" + i3,
                                  parentData: data9,
                                  parentDataProperty: i3,
                                  rootData,
                                  dynamicAnchors,
                                })
                              ) {
                                vErrors = vErrors === null ? validate65.errors : vErrors.concat(validate65.errors);
                                errors = vErrors.length;
                              }
                              var valid5 = _errs22 === errors;
                              if (!valid5) {
                                break;
                              }
                            }
                          } else {
                            validate53.errors = [
                              { instancePath: instancePath + "/programs", message: "must be array" },
                            ];
                            return false;
                          }
                        }
                        var valid0 = _errs20 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.symbols !== undefined) {
                          let data11 = data.symbols;
                          const _errs23 = errors;
                          if (errors === _errs23) {
                            if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
                              for (const key1 in data11) {
                                const _errs26 = errors;
                                if (
                                  !validate83(data11[key1], {
                                    instancePath:
                                      instancePath + "/symbols/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                    parentData: data11,
                                    parentDataProperty: key1,
                                    rootData,
                                    dynamicAnchors,
                                  })
                                ) {
                                  vErrors = vErrors === null ? validate83.errors : vErrors.concat(validate83.errors);
                                  errors = vErrors.length;
                                }
                                var valid6 = _errs26 === errors;
                                if (!valid6) {
                                  break;
                                }
                              }
                            } else {
                              validate53.errors = [
                                { instancePath: instancePath + "/symbols", message: "must be object" },
                              ];
                              return false;
                            }
                          }
                          var valid0 = _errs23 === errors;
                        } else {
                          var valid0 = true;
                        }
                        if (valid0) {
                          if (data.weights !== undefined) {
                            let data13 = data.weights;
                            const _errs27 = errors;
                            if (errors === _errs27) {
                              if (Array.isArray(data13)) {
                                var valid7 = true;
                                const len4 = data13.length;
                                for (let i4 = 0; i4 < len4; i4++) {
                                  const _errs29 = errors;
                                  if (
                                    !validate85(data13[i4], {
                                      instancePath: instancePath + "/weights/" + i4,
                                      parentData: data13,
                                      parentDataProperty: i4,
                                      rootData,
                                      dynamicAnchors,
                                    })
                                  ) {
                                    vErrors = vErrors === null ? validate85.errors : vErrors.concat(validate85.errors);
                                    errors = vErrors.length;
                                  }
                                  var valid7 = _errs29 === errors;
                                  if (!valid7) {
                                    break;
                                  }
                                }
                              } else {
                                validate53.errors = [
                                  { instancePath: instancePath + "/weights", message: "must be array" },
                                ];
                                return false;
                              }
                            }
                            var valid0 = _errs27 === errors;
                          } else {
                            var valid0 = true;
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate53.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate53.errors = vErrors;
  return errors === 0;
}
validate53.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema36 = {
  additionalProperties: false,
  description: "One file of the package; every file but manifest.json is listed.",
  properties: {
    path: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
    sha256: { pattern: "^[0-9a-f]{64}$", type: "string" },
    size_bytes: { minimum: 0, type: "integer" },
  },
  required: ["path", "size_bytes", "sha256"],
  title: "FileEntry",
  type: "object",
};
const pattern12 = new RegExp("^[0-9a-f]{64}$", "u");

function validate88(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate88.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.path === undefined && (missing0 = "path")) ||
        (data.size_bytes === undefined && (missing0 = "size_bytes")) ||
        (data.sha256 === undefined && (missing0 = "sha256"))
      ) {
        validate88.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "path" || key0 === "sha256" || key0 === "size_bytes")) {
            validate88.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.path !== undefined) {
            let data0 = data.path;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (typeof data0 === "string") {
                if (!pattern4.test(data0)) {
                  validate88.errors = [
                    {
                      instancePath: instancePath + "/path",
                      message:
                        'must match pattern "' +
                        "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                        '"',
                    },
                  ];
                  return false;
                }
              } else {
                validate88.errors = [{ instancePath: instancePath + "/path", message: "must be string" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.sha256 !== undefined) {
              let data1 = data.sha256;
              const _errs4 = errors;
              if (errors === _errs4) {
                if (typeof data1 === "string") {
                  if (!pattern12.test(data1)) {
                    validate88.errors = [
                      {
                        instancePath: instancePath + "/sha256",
                        schemaPath: "#/properties/sha256/pattern",
                        keyword: "pattern",
                        params: { pattern: "^[0-9a-f]{64}$" },
                        message: 'must match pattern "' + "^[0-9a-f]{64}$" + '"',
                      },
                    ];
                    return false;
                  }
                } else {
                  validate88.errors = [{ instancePath: instancePath + "/sha256", message: "must be string" }];
                  return false;
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.size_bytes !== undefined) {
                let data2 = data.size_bytes;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                  validate88.errors = [{ instancePath: instancePath + "/size_bytes", message: "must be integer" }];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 0 || isNaN(data2)) {
                      validate88.errors = [{ instancePath: instancePath + "/size_bytes", message: "must be >= 0" }];
                      return false;
                    }
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
            }
          }
        }
      }
    } else {
      validate88.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate88.errors = vErrors;
  return errors === 0;
}
validate88.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema37 = {
  additionalProperties: false,
  description: "One rendered shader; `name` is the pipeline label, the timestamp label and the telemetry key.",
  properties: {
    bindings: { items: { $ref: "#/$defs/KernelBinding" }, type: "array" },
    features: { items: { type: "string" }, type: "array" },
    file: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
    name: { type: "string" },
    params: { items: { $ref: "#/$defs/KernelParam" }, type: "array" },
    workgroup_size: { items: { minimum: 1, type: "integer" }, maxItems: 3, minItems: 3, type: "array" },
    workgroup_storage_bytes: { minimum: 0, type: "integer" },
  },
  required: ["name", "file", "features", "workgroup_size", "workgroup_storage_bytes", "bindings", "params"],
  title: "Kernel",
  type: "object",
};
const schema38 = {
  additionalProperties: false,
  description: "A storage binding of group 0; its index is its place in the list.",
  properties: { access: { enum: ["read", "read_write"], type: "string" }, name: { type: "string" } },
  required: ["name", "access"],
  title: "KernelBinding",
  type: "object",
};

function validate91(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate91.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if ((data.name === undefined && (missing0 = "name")) || (data.access === undefined && (missing0 = "access"))) {
        validate91.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "access" || key0 === "name")) {
            validate91.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.access !== undefined) {
            let data0 = data.access;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate91.errors = [{ instancePath: instancePath + "/access", message: "must be string" }];
              return false;
            }
            if (!(data0 === "read" || data0 === "read_write")) {
              validate91.errors = [
                { instancePath: instancePath + "/access", message: "must be equal to one of the allowed values" },
              ];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.name !== undefined) {
              const _errs4 = errors;
              if (typeof data.name !== "string") {
                validate91.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                return false;
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
          }
        }
      }
    } else {
      validate91.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate91.errors = vErrors;
  return errors === 0;
}
validate91.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema39 = {
  additionalProperties: false,
  description: "One 4-byte member of the kernel's uniform struct, which is bound after the storage bindings.",
  properties: { name: { type: "string" }, type: { enum: ["u32", "i32", "f32"], type: "string" } },
  required: ["name", "type"],
  title: "KernelParam",
  type: "object",
};

function validate93(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate93.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if ((data.name === undefined && (missing0 = "name")) || (data.type === undefined && (missing0 = "type"))) {
        validate93.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "name" || key0 === "type")) {
            validate93.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.name !== undefined) {
            const _errs2 = errors;
            if (typeof data.name !== "string") {
              validate93.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.type !== undefined) {
              let data1 = data.type;
              const _errs4 = errors;
              if (typeof data1 !== "string") {
                validate93.errors = [{ instancePath: instancePath + "/type", message: "must be string" }];
                return false;
              }
              if (!(data1 === "u32" || data1 === "i32" || data1 === "f32")) {
                validate93.errors = [
                  { instancePath: instancePath + "/type", message: "must be equal to one of the allowed values" },
                ];
                return false;
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
          }
        }
      }
    } else {
      validate93.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate93.errors = vErrors;
  return errors === 0;
}
validate93.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate90(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate90.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.file === undefined && (missing0 = "file")) ||
        (data.features === undefined && (missing0 = "features")) ||
        (data.workgroup_size === undefined && (missing0 = "workgroup_size")) ||
        (data.workgroup_storage_bytes === undefined && (missing0 = "workgroup_storage_bytes")) ||
        (data.bindings === undefined && (missing0 = "bindings")) ||
        (data.params === undefined && (missing0 = "params"))
      ) {
        validate90.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "bindings" ||
            key0 === "features" ||
            key0 === "file" ||
            key0 === "name" ||
            key0 === "params" ||
            key0 === "workgroup_size" ||
            key0 === "workgroup_storage_bytes"
          )) {
            validate90.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.bindings !== undefined) {
            let data0 = data.bindings;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (
                    !validate91(data0[i0], {
                      instancePath: instancePath + "/bindings/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate91.errors : vErrors.concat(validate91.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate90.errors = [{ instancePath: instancePath + "/bindings", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.features !== undefined) {
              let data2 = data.features;
              const _errs5 = errors;
              if (errors === _errs5) {
                if (Array.isArray(data2)) {
                  var valid2 = true;
                  const len1 = data2.length;
                  for (let i1 = 0; i1 < len1; i1++) {
                    const _errs7 = errors;
                    if (typeof data2[i1] !== "string") {
                      validate90.errors = [
                        { instancePath: instancePath + "/features/" + i1, message: "must be string" },
                      ];
                      return false;
                    }
                    var valid2 = _errs7 === errors;
                    if (!valid2) {
                      break;
                    }
                  }
                } else {
                  validate90.errors = [{ instancePath: instancePath + "/features", message: "must be array" }];
                  return false;
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.file !== undefined) {
                let data4 = data.file;
                const _errs9 = errors;
                if (errors === _errs9) {
                  if (typeof data4 === "string") {
                    if (!pattern4.test(data4)) {
                      validate90.errors = [
                        {
                          instancePath: instancePath + "/file",
                          message:
                            'must match pattern "' +
                            "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                            '"',
                        },
                      ];
                      return false;
                    }
                  } else {
                    validate90.errors = [{ instancePath: instancePath + "/file", message: "must be string" }];
                    return false;
                  }
                }
                var valid0 = _errs9 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.name !== undefined) {
                  const _errs11 = errors;
                  if (typeof data.name !== "string") {
                    validate90.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                    return false;
                  }
                  var valid0 = _errs11 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.params !== undefined) {
                    let data6 = data.params;
                    const _errs13 = errors;
                    if (errors === _errs13) {
                      if (Array.isArray(data6)) {
                        var valid3 = true;
                        const len2 = data6.length;
                        for (let i2 = 0; i2 < len2; i2++) {
                          const _errs15 = errors;
                          if (
                            !validate93(data6[i2], {
                              instancePath: instancePath + "/params/" + i2,
                              parentData: data6,
                              parentDataProperty: i2,
                              rootData,
                              dynamicAnchors,
                            })
                          ) {
                            vErrors = vErrors === null ? validate93.errors : vErrors.concat(validate93.errors);
                            errors = vErrors.length;
                          }
                          var valid3 = _errs15 === errors;
                          if (!valid3) {
                            break;
                          }
                        }
                      } else {
                        validate90.errors = [{ instancePath: instancePath + "/params", message: "must be array" }];
                        return false;
                      }
                    }
                    var valid0 = _errs13 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.workgroup_size !== undefined) {
                      let data8 = data.workgroup_size;
                      const _errs16 = errors;
                      if (errors === _errs16) {
                        if (Array.isArray(data8)) {
                          if (data8.length > 3) {
                            validate90.errors = [
                              {
                                instancePath: instancePath + "/workgroup_size",
                                message: "must NOT have more than 3 items",
                              },
                            ];
                            return false;
                          } else {
                            if (data8.length < 3) {
                              validate90.errors = [
                                {
                                  instancePath: instancePath + "/workgroup_size",
                                  message: "must NOT have fewer than 3 items",
                                },
                              ];
                              return false;
                            } else {
                              var valid4 = true;
                              const len3 = data8.length;
                              for (let i3 = 0; i3 < len3; i3++) {
                                let data9 = data8[i3];
                                const _errs18 = errors;
                                if (!(typeof data9 == "number" && !(data9 % 1) && !isNaN(data9) && isFinite(data9))) {
                                  validate90.errors = [
                                    {
                                      instancePath: instancePath + "/workgroup_size/" + i3,
                                      message: "must be integer",
                                    },
                                  ];
                                  return false;
                                }
                                if (errors === _errs18) {
                                  if (typeof data9 == "number" && isFinite(data9)) {
                                    if (data9 < 1 || isNaN(data9)) {
                                      validate90.errors = [
                                        {
                                          instancePath: instancePath + "/workgroup_size/" + i3,
                                          message: "must be >= 1",
                                        },
                                      ];
                                      return false;
                                    }
                                  }
                                }
                                var valid4 = _errs18 === errors;
                                if (!valid4) {
                                  break;
                                }
                              }
                            }
                          }
                        } else {
                          validate90.errors = [
                            { instancePath: instancePath + "/workgroup_size", message: "must be array" },
                          ];
                          return false;
                        }
                      }
                      var valid0 = _errs16 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.workgroup_storage_bytes !== undefined) {
                        let data10 = data.workgroup_storage_bytes;
                        const _errs20 = errors;
                        if (!(typeof data10 == "number" && !(data10 % 1) && !isNaN(data10) && isFinite(data10))) {
                          validate90.errors = [
                            { instancePath: instancePath + "/workgroup_storage_bytes", message: "must be integer" },
                          ];
                          return false;
                        }
                        if (errors === _errs20) {
                          if (typeof data10 == "number" && isFinite(data10)) {
                            if (data10 < 0 || isNaN(data10)) {
                              validate90.errors = [
                                { instancePath: instancePath + "/workgroup_storage_bytes", message: "must be >= 0" },
                              ];
                              return false;
                            }
                          }
                        }
                        var valid0 = _errs20 === errors;
                      } else {
                        var valid0 = true;
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate90.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate90.errors = vErrors;
  return errors === 0;
}
validate90.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema40 = {
  additionalProperties: false,
  description: "What the package was made from and by what.",
  properties: {
    licences: { items: { type: "string" }, type: "array" },
    producer: { type: "string" },
    producer_version: { type: "string" },
    source: { type: "string" },
    source_sha256: { pattern: "^[0-9a-f]{64}$", type: "string" },
  },
  required: ["source", "source_sha256", "producer", "producer_version", "licences"],
  title: "Provenance",
  type: "object",
};

function validate96(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate96.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.source === undefined && (missing0 = "source")) ||
        (data.source_sha256 === undefined && (missing0 = "source_sha256")) ||
        (data.producer === undefined && (missing0 = "producer")) ||
        (data.producer_version === undefined && (missing0 = "producer_version")) ||
        (data.licences === undefined && (missing0 = "licences"))
      ) {
        validate96.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "licences" ||
            key0 === "producer" ||
            key0 === "producer_version" ||
            key0 === "source" ||
            key0 === "source_sha256"
          )) {
            validate96.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.licences !== undefined) {
            let data0 = data.licences;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (typeof data0[i0] !== "string") {
                    validate96.errors = [{ instancePath: instancePath + "/licences/" + i0, message: "must be string" }];
                    return false;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate96.errors = [{ instancePath: instancePath + "/licences", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.producer !== undefined) {
              const _errs6 = errors;
              if (typeof data.producer !== "string") {
                validate96.errors = [{ instancePath: instancePath + "/producer", message: "must be string" }];
                return false;
              }
              var valid0 = _errs6 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.producer_version !== undefined) {
                const _errs8 = errors;
                if (typeof data.producer_version !== "string") {
                  validate96.errors = [{ instancePath: instancePath + "/producer_version", message: "must be string" }];
                  return false;
                }
                var valid0 = _errs8 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.source !== undefined) {
                  const _errs10 = errors;
                  if (typeof data.source !== "string") {
                    validate96.errors = [{ instancePath: instancePath + "/source", message: "must be string" }];
                    return false;
                  }
                  var valid0 = _errs10 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.source_sha256 !== undefined) {
                    let data5 = data.source_sha256;
                    const _errs12 = errors;
                    if (errors === _errs12) {
                      if (typeof data5 === "string") {
                        if (!pattern12.test(data5)) {
                          validate96.errors = [
                            {
                              instancePath: instancePath + "/source_sha256",
                              schemaPath: "#/properties/source_sha256/pattern",
                              keyword: "pattern",
                              params: { pattern: "^[0-9a-f]{64}$" },
                              message: 'must match pattern "' + "^[0-9a-f]{64}$" + '"',
                            },
                          ];
                          return false;
                        }
                      } else {
                        validate96.errors = [
                          { instancePath: instancePath + "/source_sha256", message: "must be string" },
                        ];
                        return false;
                      }
                    }
                    var valid0 = _errs12 === errors;
                  } else {
                    var valid0 = true;
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate96.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate96.errors = vErrors;
  return errors === 0;
}
validate96.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema41 = {
  additionalProperties: false,
  description: "Largest absolute error of the portable model.onnx against the source model, both on ONNX Runtime CPU.",
  properties: {
    metric: { const: "max_abs_error", type: "string" },
    runs: { minimum: 1, type: "integer" },
    value: { type: "number" },
  },
  required: ["metric", "value", "runs"],
  title: "Quality",
  type: "object",
};

function validate98(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate98.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.metric === undefined && (missing0 = "metric")) ||
        (data.value === undefined && (missing0 = "value")) ||
        (data.runs === undefined && (missing0 = "runs"))
      ) {
        validate98.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "metric" || key0 === "runs" || key0 === "value")) {
            validate98.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.metric !== undefined) {
            let data0 = data.metric;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate98.errors = [{ instancePath: instancePath + "/metric", message: "must be string" }];
              return false;
            }
            if ("max_abs_error" !== data0) {
              validate98.errors = [{ instancePath: instancePath + "/metric", message: "must be equal to constant" }];
              return false;
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.runs !== undefined) {
              let data1 = data.runs;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate98.errors = [{ instancePath: instancePath + "/runs", message: "must be integer" }];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 1 || isNaN(data1)) {
                    validate98.errors = [{ instancePath: instancePath + "/runs", message: "must be >= 1" }];
                    return false;
                  }
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.value !== undefined) {
                let data2 = data.value;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && isFinite(data2))) {
                  validate98.errors = [{ instancePath: instancePath + "/value", message: "must be number" }];
                  return false;
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
            }
          }
        }
      }
    } else {
      validate98.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate98.errors = vErrors;
  return errors === 0;
}
validate98.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema42 = {
  additionalProperties: false,
  description:
    "A GPU model that players own: the rates that kernels reach there.\n\nA runtime never knows which one it runs on: it takes the one whose predicted time is nearest to a measured one.",
  properties: {
    bandwidth_gb_per_s: { exclusiveMinimum: 0, type: "number" },
    dispatch_us: { exclusiveMinimum: 0, type: "number" },
    f16_gflops: { exclusiveMinimum: 0, type: "number" },
    f32_gflops: { exclusiveMinimum: 0, type: "number" },
    id: { type: "string" },
    kind: { enum: ["mobile", "desktop", "software"], type: "string" },
    memory_mb: { minimum: 1, type: "integer" },
    name: { type: "string" },
  },
  required: ["id", "name", "kind", "f32_gflops", "f16_gflops", "bandwidth_gb_per_s", "dispatch_us", "memory_mb"],
  title: "Sku",
  type: "object",
};

function validate100(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate100.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.id === undefined && (missing0 = "id")) ||
        (data.name === undefined && (missing0 = "name")) ||
        (data.kind === undefined && (missing0 = "kind")) ||
        (data.f32_gflops === undefined && (missing0 = "f32_gflops")) ||
        (data.f16_gflops === undefined && (missing0 = "f16_gflops")) ||
        (data.bandwidth_gb_per_s === undefined && (missing0 = "bandwidth_gb_per_s")) ||
        (data.dispatch_us === undefined && (missing0 = "dispatch_us")) ||
        (data.memory_mb === undefined && (missing0 = "memory_mb"))
      ) {
        validate100.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "bandwidth_gb_per_s" ||
            key0 === "dispatch_us" ||
            key0 === "f16_gflops" ||
            key0 === "f32_gflops" ||
            key0 === "id" ||
            key0 === "kind" ||
            key0 === "memory_mb" ||
            key0 === "name"
          )) {
            validate100.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.bandwidth_gb_per_s !== undefined) {
            let data0 = data.bandwidth_gb_per_s;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 <= 0 || isNaN(data0)) {
                  validate100.errors = [{ instancePath: instancePath + "/bandwidth_gb_per_s", message: "must be > 0" }];
                  return false;
                }
              } else {
                validate100.errors = [
                  { instancePath: instancePath + "/bandwidth_gb_per_s", message: "must be number" },
                ];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.dispatch_us !== undefined) {
              let data1 = data.dispatch_us;
              const _errs4 = errors;
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 <= 0 || isNaN(data1)) {
                    validate100.errors = [{ instancePath: instancePath + "/dispatch_us", message: "must be > 0" }];
                    return false;
                  }
                } else {
                  validate100.errors = [{ instancePath: instancePath + "/dispatch_us", message: "must be number" }];
                  return false;
                }
              }
              var valid0 = _errs4 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.f16_gflops !== undefined) {
                let data2 = data.f16_gflops;
                const _errs6 = errors;
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 <= 0 || isNaN(data2)) {
                      validate100.errors = [{ instancePath: instancePath + "/f16_gflops", message: "must be > 0" }];
                      return false;
                    }
                  } else {
                    validate100.errors = [{ instancePath: instancePath + "/f16_gflops", message: "must be number" }];
                    return false;
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.f32_gflops !== undefined) {
                  let data3 = data.f32_gflops;
                  const _errs8 = errors;
                  if (errors === _errs8) {
                    if (typeof data3 == "number" && isFinite(data3)) {
                      if (data3 <= 0 || isNaN(data3)) {
                        validate100.errors = [{ instancePath: instancePath + "/f32_gflops", message: "must be > 0" }];
                        return false;
                      }
                    } else {
                      validate100.errors = [{ instancePath: instancePath + "/f32_gflops", message: "must be number" }];
                      return false;
                    }
                  }
                  var valid0 = _errs8 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.id !== undefined) {
                    const _errs10 = errors;
                    if (typeof data.id !== "string") {
                      validate100.errors = [{ instancePath: instancePath + "/id", message: "must be string" }];
                      return false;
                    }
                    var valid0 = _errs10 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.kind !== undefined) {
                      let data5 = data.kind;
                      const _errs12 = errors;
                      if (typeof data5 !== "string") {
                        validate100.errors = [{ instancePath: instancePath + "/kind", message: "must be string" }];
                        return false;
                      }
                      if (!(data5 === "mobile" || data5 === "desktop" || data5 === "software")) {
                        validate100.errors = [
                          {
                            instancePath: instancePath + "/kind",
                            message: "must be equal to one of the allowed values",
                          },
                        ];
                        return false;
                      }
                      var valid0 = _errs12 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.memory_mb !== undefined) {
                        let data6 = data.memory_mb;
                        const _errs14 = errors;
                        if (!(typeof data6 == "number" && !(data6 % 1) && !isNaN(data6) && isFinite(data6))) {
                          validate100.errors = [
                            { instancePath: instancePath + "/memory_mb", message: "must be integer" },
                          ];
                          return false;
                        }
                        if (errors === _errs14) {
                          if (typeof data6 == "number" && isFinite(data6)) {
                            if (data6 < 1 || isNaN(data6)) {
                              validate100.errors = [
                                { instancePath: instancePath + "/memory_mb", message: "must be >= 1" },
                              ];
                              return false;
                            }
                          }
                        }
                        var valid0 = _errs14 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.name !== undefined) {
                          const _errs16 = errors;
                          if (typeof data.name !== "string") {
                            validate100.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                            return false;
                          }
                          var valid0 = _errs16 === errors;
                        } else {
                          var valid0 = true;
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate100.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate100.errors = vErrors;
  return errors === 0;
}
validate100.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate52(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate52.evaluated;
  if (evaluated0.dynamicProps) {
    evaluated0.props = undefined;
  }
  if (evaluated0.dynamicItems) {
    evaluated0.items = undefined;
  }
  if (errors === 0) {
    if (data && typeof data == "object" && !Array.isArray(data)) {
      let missing0;
      if (
        (data.format_version === undefined && (missing0 = "format_version")) ||
        (data.name === undefined && (missing0 = "name")) ||
        (data.target === undefined && (missing0 = "target")) ||
        (data.components === undefined && (missing0 = "components")) ||
        (data.kernels === undefined && (missing0 = "kernels")) ||
        (data.skus === undefined && (missing0 = "skus")) ||
        (data.files === undefined && (missing0 = "files")) ||
        (data.quality === undefined && (missing0 = "quality")) ||
        (data.provenance === undefined && (missing0 = "provenance"))
      ) {
        validate52.errors = [{ instancePath, message: "must have required property '" + missing0 + "'" }];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!func1.call(schema19.properties, key0)) {
            validate52.errors = [{ instancePath, message: "must NOT have additional properties" }];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.components !== undefined) {
            let data0 = data.components;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (
                    !validate53(data0[i0], {
                      instancePath: instancePath + "/components/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate53.errors : vErrors.concat(validate53.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate52.errors = [{ instancePath: instancePath + "/components", message: "must be array" }];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.files !== undefined) {
              let data2 = data.files;
              const _errs5 = errors;
              if (errors === _errs5) {
                if (Array.isArray(data2)) {
                  var valid2 = true;
                  const len1 = data2.length;
                  for (let i1 = 0; i1 < len1; i1++) {
                    const _errs7 = errors;
                    if (
                      !validate88(data2[i1], {
                        instancePath: instancePath + "/files/" + i1,
                        parentData: data2,
                        parentDataProperty: i1,
                        rootData,
                        dynamicAnchors,
                      })
                    ) {
                      vErrors = vErrors === null ? validate88.errors : vErrors.concat(validate88.errors);
                      errors = vErrors.length;
                    }
                    var valid2 = _errs7 === errors;
                    if (!valid2) {
                      break;
                    }
                  }
                } else {
                  validate52.errors = [{ instancePath: instancePath + "/files", message: "must be array" }];
                  return false;
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.format_version !== undefined) {
                let data4 = data.format_version;
                const _errs8 = errors;
                if (!(typeof data4 == "number" && !(data4 % 1) && !isNaN(data4) && isFinite(data4))) {
                  validate52.errors = [{ instancePath: instancePath + "/format_version", message: "must be integer" }];
                  return false;
                }
                if (3 !== data4) {
                  validate52.errors = [
                    { instancePath: instancePath + "/format_version", message: "must be equal to constant" },
                  ];
                  return false;
                }
                var valid0 = _errs8 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.kernels !== undefined) {
                  let data5 = data.kernels;
                  const _errs10 = errors;
                  if (errors === _errs10) {
                    if (Array.isArray(data5)) {
                      var valid3 = true;
                      const len2 = data5.length;
                      for (let i2 = 0; i2 < len2; i2++) {
                        const _errs12 = errors;
                        if (
                          !validate90(data5[i2], {
                            instancePath: instancePath + "/kernels/" + i2,
                            parentData: data5,
                            parentDataProperty: i2,
                            rootData,
                            dynamicAnchors,
                          })
                        ) {
                          vErrors = vErrors === null ? validate90.errors : vErrors.concat(validate90.errors);
                          errors = vErrors.length;
                        }
                        var valid3 = _errs12 === errors;
                        if (!valid3) {
                          break;
                        }
                      }
                    } else {
                      validate52.errors = [{ instancePath: instancePath + "/kernels", message: "must be array" }];
                      return false;
                    }
                  }
                  var valid0 = _errs10 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.name !== undefined) {
                    const _errs13 = errors;
                    if (typeof data.name !== "string") {
                      validate52.errors = [{ instancePath: instancePath + "/name", message: "must be string" }];
                      return false;
                    }
                    var valid0 = _errs13 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.provenance !== undefined) {
                      const _errs15 = errors;
                      if (
                        !validate96(data.provenance, {
                          instancePath: instancePath + "/provenance",
                          parentData: data,
                          parentDataProperty: "provenance",
                          rootData,
                          dynamicAnchors,
                        })
                      ) {
                        vErrors = vErrors === null ? validate96.errors : vErrors.concat(validate96.errors);
                        errors = vErrors.length;
                      }
                      var valid0 = _errs15 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.quality !== undefined) {
                        let data9 = data.quality;
                        const _errs16 = errors;
                        if (errors === _errs16) {
                          if (data9 && typeof data9 == "object" && !Array.isArray(data9)) {
                            for (const key1 in data9) {
                              const _errs19 = errors;
                              if (
                                !validate98(data9[key1], {
                                  instancePath:
                                    instancePath + "/quality/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                  parentData: data9,
                                  parentDataProperty: key1,
                                  rootData,
                                  dynamicAnchors,
                                })
                              ) {
                                vErrors = vErrors === null ? validate98.errors : vErrors.concat(validate98.errors);
                                errors = vErrors.length;
                              }
                              var valid4 = _errs19 === errors;
                              if (!valid4) {
                                break;
                              }
                            }
                          } else {
                            validate52.errors = [
                              { instancePath: instancePath + "/quality", message: "must be object" },
                            ];
                            return false;
                          }
                        }
                        var valid0 = _errs16 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.skus !== undefined) {
                          let data11 = data.skus;
                          const _errs20 = errors;
                          if (errors === _errs20) {
                            if (Array.isArray(data11)) {
                              var valid5 = true;
                              const len3 = data11.length;
                              for (let i3 = 0; i3 < len3; i3++) {
                                const _errs22 = errors;
                                if (
                                  !validate100(data11[i3], {
                                    instancePath: instancePath + "/skus/" + i3,
                                    parentData: data11,
                                    parentDataProperty: i3,
                                    rootData,
                                    dynamicAnchors,
                                  })
                                ) {
                                  vErrors = vErrors === null ? validate100.errors : vErrors.concat(validate100.errors);
                                  errors = vErrors.length;
                                }
                                var valid5 = _errs22 === errors;
                                if (!valid5) {
                                  break;
                                }
                              }
                            } else {
                              validate52.errors = [{ instancePath: instancePath + "/skus", message: "must be array" }];
                              return false;
                            }
                          }
                          var valid0 = _errs20 === errors;
                        } else {
                          var valid0 = true;
                        }
                        if (valid0) {
                          if (data.target !== undefined) {
                            const _errs23 = errors;
                            if (typeof data.target !== "string") {
                              validate52.errors = [
                                { instancePath: instancePath + "/target", message: "must be string" },
                              ];
                              return false;
                            }
                            var valid0 = _errs23 === errors;
                          } else {
                            var valid0 = true;
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    } else {
      validate52.errors = [{ instancePath, message: "must be object" }];
      return false;
    }
  }
  validate52.errors = vErrors;
  return errors === 0;
}
validate52.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
