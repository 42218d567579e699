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
        inputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
        model: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
        name: { type: "string" },
        outputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
        programs: { items: { $ref: "#/$defs/Program" }, type: "array" },
        weights: { items: { $ref: "#/$defs/Weight" }, type: "array" },
      },
      required: ["name", "model", "inputs", "outputs", "weights", "programs"],
      title: "Component",
      type: "object",
    },
    Dispatch: {
      additionalProperties: false,
      description:
        "One compute dispatch: a kernel, its storage spans in binding order, its uniform values, its workgroup counts.",
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
            ],
          },
          type: "array",
        },
        workgroups: { items: { minimum: 1, type: "integer" }, maxItems: 3, minItems: 3, type: "array" },
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
      description: "Where a value of the graph lives. Intermediates are listed so that `verify` can read them.",
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
        shape: { items: { minimum: 0, type: "integer" }, type: "array" },
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
        dispatches: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
        kernels: { items: { type: "string" }, type: "array" },
        plan: { $ref: "#/$defs/Plan" },
        precision: { enum: ["fp32", "fp16"], type: "string" },
        prepare: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
        requires: { $ref: "#/$defs/Requirements" },
        tensors: { additionalProperties: { $ref: "#/$defs/PlannedTensor" }, type: "object" },
        tier: { type: "string" },
        tiling: { enum: ["register", "workgroup"], type: "string" },
        uploads: { items: { $ref: "#/$defs/Upload" }, type: "array" },
      },
      required: [
        "tier",
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
        shape: { items: { minimum: 0, type: "integer" }, type: "array" },
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
    format_version: { const: 1, type: "integer" },
    kernels: { items: { $ref: "#/$defs/Kernel" }, type: "array" },
    name: { type: "string" },
    provenance: { $ref: "#/$defs/Provenance" },
    quality: { additionalProperties: { $ref: "#/$defs/Quality" }, type: "object" },
    target: { type: "string" },
  },
  required: ["format_version", "name", "target", "components", "kernels", "files", "quality", "provenance"],
  title: "Manifest",
  type: "object",
  "x-format-version": 1,
};
const schema20 = {
  additionalProperties: false,
  description: "One graph of the package.",
  properties: {
    inputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
    model: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", type: "string" },
    name: { type: "string" },
    outputs: { items: { $ref: "#/$defs/TensorSpec" }, type: "array" },
    programs: { items: { $ref: "#/$defs/Program" }, type: "array" },
    weights: { items: { $ref: "#/$defs/Weight" }, type: "array" },
  },
  required: ["name", "model", "inputs", "outputs", "weights", "programs"],
  title: "Component",
  type: "object",
};
const schema21 = {
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
    shape: { items: { minimum: 0, type: "integer" }, type: "array" },
  },
  required: ["name", "dtype", "shape"],
  title: "TensorSpec",
  type: "object",
};

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
      if (
        (data.name === undefined && (missing0 = "name")) ||
        (data.dtype === undefined && (missing0 = "dtype")) ||
        (data.shape === undefined && (missing0 = "shape"))
      ) {
        validate54.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "dtype" || key0 === "name" || key0 === "shape")) {
            validate54.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.dtype !== undefined) {
            let data0 = data.dtype;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate54.errors = [
                {
                  instancePath: instancePath + "/dtype",
                  schemaPath: "#/properties/dtype/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
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
              validate54.errors = [
                {
                  instancePath: instancePath + "/dtype",
                  schemaPath: "#/properties/dtype/enum",
                  keyword: "enum",
                  params: { allowedValues: schema21.properties.dtype.enum },
                  message: "must be equal to one of the allowed values",
                },
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
                validate54.errors = [
                  {
                    instancePath: instancePath + "/name",
                    schemaPath: "#/properties/name/type",
                    keyword: "type",
                    params: { type: "string" },
                    message: "must be string",
                  },
                ];
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
                      if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                        validate54.errors = [
                          {
                            instancePath: instancePath + "/shape/" + i0,
                            schemaPath: "#/properties/shape/items/type",
                            keyword: "type",
                            params: { type: "integer" },
                            message: "must be integer",
                          },
                        ];
                        return false;
                      }
                      if (errors === _errs8) {
                        if (typeof data3 == "number" && isFinite(data3)) {
                          if (data3 < 0 || isNaN(data3)) {
                            validate54.errors = [
                              {
                                instancePath: instancePath + "/shape/" + i0,
                                schemaPath: "#/properties/shape/items/minimum",
                                keyword: "minimum",
                                params: { comparison: ">=", limit: 0 },
                                message: "must be >= 0",
                              },
                            ];
                            return false;
                          }
                        }
                      }
                      var valid1 = _errs8 === errors;
                      if (!valid1) {
                        break;
                      }
                    }
                  } else {
                    validate54.errors = [
                      {
                        instancePath: instancePath + "/shape",
                        schemaPath: "#/properties/shape/type",
                        keyword: "type",
                        params: { type: "array" },
                        message: "must be array",
                      },
                    ];
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
      validate54.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate54.errors = vErrors;
  return errors === 0;
}
validate54.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema22 = {
  additionalProperties: false,
  description: "One component compiled for one tier.",
  properties: {
    buffers: { items: { $ref: "#/$defs/Buffer" }, type: "array" },
    dispatches: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
    kernels: { items: { type: "string" }, type: "array" },
    plan: { $ref: "#/$defs/Plan" },
    precision: { enum: ["fp32", "fp16"], type: "string" },
    prepare: { items: { $ref: "#/$defs/Dispatch" }, type: "array" },
    requires: { $ref: "#/$defs/Requirements" },
    tensors: { additionalProperties: { $ref: "#/$defs/PlannedTensor" }, type: "object" },
    tier: { type: "string" },
    tiling: { enum: ["register", "workgroup"], type: "string" },
    uploads: { items: { $ref: "#/$defs/Upload" }, type: "array" },
  },
  required: [
    "tier",
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
const func1 = Object.prototype.hasOwnProperty;
const schema23 = {
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

function validate58(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate58.evaluated;
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
        validate58.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "kind" || key0 === "size_bytes")) {
            validate58.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.kind !== undefined) {
            let data0 = data.kind;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate58.errors = [
                {
                  instancePath: instancePath + "/kind",
                  schemaPath: "#/properties/kind/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
              return false;
            }
            if (!(
              data0 === "weight" ||
              data0 === "activation" ||
              data0 === "input" ||
              data0 === "output" ||
              data0 === "staging"
            )) {
              validate58.errors = [
                {
                  instancePath: instancePath + "/kind",
                  schemaPath: "#/properties/kind/enum",
                  keyword: "enum",
                  params: { allowedValues: schema23.properties.kind.enum },
                  message: "must be equal to one of the allowed values",
                },
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
                validate58.errors = [
                  {
                    instancePath: instancePath + "/size_bytes",
                    schemaPath: "#/properties/size_bytes/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 1 || isNaN(data1)) {
                    validate58.errors = [
                      {
                        instancePath: instancePath + "/size_bytes",
                        schemaPath: "#/properties/size_bytes/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: 1 },
                        message: "must be >= 1",
                      },
                    ];
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
      validate58.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate58.errors = vErrors;
  return errors === 0;
}
validate58.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema24 = {
  additionalProperties: false,
  description:
    "One compute dispatch: a kernel, its storage spans in binding order, its uniform values, its workgroup counts.",
  properties: {
    args: { items: { $ref: "#/$defs/Span" }, type: "array" },
    bytes: { minimum: 0, type: "integer" },
    flops: { minimum: 0, type: "integer" },
    kernel: { type: "string" },
    node: { type: "string" },
    params: {
      items: {
        anyOf: [{ type: "integer" }, { type: "number" }, { enum: ["Infinity", "-Infinity", "NaN"], type: "string" }],
      },
      type: "array",
    },
    workgroups: { items: { minimum: 1, type: "integer" }, maxItems: 3, minItems: 3, type: "array" },
  },
  required: ["kernel", "node", "args", "params", "workgroups", "flops", "bytes"],
  title: "Dispatch",
  type: "object",
};
const schema25 = {
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

function validate61(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate61.evaluated;
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
        validate61.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "buffer" || key0 === "offset" || key0 === "size_bytes")) {
            validate61.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.buffer !== undefined) {
            let data0 = data.buffer;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate61.errors = [
                {
                  instancePath: instancePath + "/buffer",
                  schemaPath: "#/properties/buffer/type",
                  keyword: "type",
                  params: { type: "integer" },
                  message: "must be integer",
                },
              ];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate61.errors = [
                    {
                      instancePath: instancePath + "/buffer",
                      schemaPath: "#/properties/buffer/minimum",
                      keyword: "minimum",
                      params: { comparison: ">=", limit: 0 },
                      message: "must be >= 0",
                    },
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
            if (data.offset !== undefined) {
              let data1 = data.offset;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate61.errors = [
                  {
                    instancePath: instancePath + "/offset",
                    schemaPath: "#/properties/offset/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate61.errors = [
                      {
                        instancePath: instancePath + "/offset",
                        schemaPath: "#/properties/offset/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: 0 },
                        message: "must be >= 0",
                      },
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
              if (data.size_bytes !== undefined) {
                let data2 = data.size_bytes;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && !(data2 % 1) && !isNaN(data2) && isFinite(data2))) {
                  validate61.errors = [
                    {
                      instancePath: instancePath + "/size_bytes",
                      schemaPath: "#/properties/size_bytes/type",
                      keyword: "type",
                      params: { type: "integer" },
                      message: "must be integer",
                    },
                  ];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 1 || isNaN(data2)) {
                      validate61.errors = [
                        {
                          instancePath: instancePath + "/size_bytes",
                          schemaPath: "#/properties/size_bytes/minimum",
                          keyword: "minimum",
                          params: { comparison: ">=", limit: 1 },
                          message: "must be >= 1",
                        },
                      ];
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
      validate61.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate61.errors = vErrors;
  return errors === 0;
}
validate61.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

function validate60(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate60.evaluated;
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
        validate60.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
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
            validate60.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                    !validate61(data0[i0], {
                      instancePath: instancePath + "/args/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate61.errors : vErrors.concat(validate61.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate60.errors = [
                  {
                    instancePath: instancePath + "/args",
                    schemaPath: "#/properties/args/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
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
                validate60.errors = [
                  {
                    instancePath: instancePath + "/bytes",
                    schemaPath: "#/properties/bytes/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs5) {
                if (typeof data2 == "number" && isFinite(data2)) {
                  if (data2 < 0 || isNaN(data2)) {
                    validate60.errors = [
                      {
                        instancePath: instancePath + "/bytes",
                        schemaPath: "#/properties/bytes/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: 0 },
                        message: "must be >= 0",
                      },
                    ];
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
                  validate60.errors = [
                    {
                      instancePath: instancePath + "/flops",
                      schemaPath: "#/properties/flops/type",
                      keyword: "type",
                      params: { type: "integer" },
                      message: "must be integer",
                    },
                  ];
                  return false;
                }
                if (errors === _errs7) {
                  if (typeof data3 == "number" && isFinite(data3)) {
                    if (data3 < 0 || isNaN(data3)) {
                      validate60.errors = [
                        {
                          instancePath: instancePath + "/flops",
                          schemaPath: "#/properties/flops/minimum",
                          keyword: "minimum",
                          params: { comparison: ">=", limit: 0 },
                          message: "must be >= 0",
                        },
                      ];
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
                    validate60.errors = [
                      {
                        instancePath: instancePath + "/kernel",
                        schemaPath: "#/properties/kernel/type",
                        keyword: "type",
                        params: { type: "string" },
                        message: "must be string",
                      },
                    ];
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
                      validate60.errors = [
                        {
                          instancePath: instancePath + "/node",
                          schemaPath: "#/properties/node/type",
                          keyword: "type",
                          params: { type: "string" },
                          message: "must be string",
                        },
                      ];
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
                              const err0 = {
                                instancePath: instancePath + "/params/" + i1,
                                schemaPath: "#/properties/params/items/anyOf/0/type",
                                keyword: "type",
                                params: { type: "integer" },
                                message: "must be integer",
                              };
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
                              const err1 = {
                                instancePath: instancePath + "/params/" + i1,
                                schemaPath: "#/properties/params/items/anyOf/1/type",
                                keyword: "type",
                                params: { type: "number" },
                                message: "must be number",
                              };
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
                              const err2 = {
                                instancePath: instancePath + "/params/" + i1,
                                schemaPath: "#/properties/params/items/anyOf/2/type",
                                keyword: "type",
                                params: { type: "string" },
                                message: "must be string",
                              };
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
                                schemaPath: "#/properties/params/items/anyOf/2/enum",
                                keyword: "enum",
                                params: { allowedValues: schema24.properties.params.items.anyOf[2].enum },
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
                            if (!valid3) {
                              const err4 = {
                                instancePath: instancePath + "/params/" + i1,
                                schemaPath: "#/properties/params/items/anyOf",
                                keyword: "anyOf",
                                params: {},
                                message: "must match a schema in anyOf",
                              };
                              if (vErrors === null) {
                                vErrors = [err4];
                              } else {
                                vErrors.push(err4);
                              }
                              errors++;
                              validate60.errors = vErrors;
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
                          validate60.errors = [
                            {
                              instancePath: instancePath + "/params",
                              schemaPath: "#/properties/params/type",
                              keyword: "type",
                              params: { type: "array" },
                              message: "must be array",
                            },
                          ];
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
                        const _errs23 = errors;
                        if (errors === _errs23) {
                          if (Array.isArray(data8)) {
                            if (data8.length > 3) {
                              validate60.errors = [
                                {
                                  instancePath: instancePath + "/workgroups",
                                  schemaPath: "#/properties/workgroups/maxItems",
                                  keyword: "maxItems",
                                  params: { limit: 3 },
                                  message: "must NOT have more than 3 items",
                                },
                              ];
                              return false;
                            } else {
                              if (data8.length < 3) {
                                validate60.errors = [
                                  {
                                    instancePath: instancePath + "/workgroups",
                                    schemaPath: "#/properties/workgroups/minItems",
                                    keyword: "minItems",
                                    params: { limit: 3 },
                                    message: "must NOT have fewer than 3 items",
                                  },
                                ];
                                return false;
                              } else {
                                var valid4 = true;
                                const len2 = data8.length;
                                for (let i2 = 0; i2 < len2; i2++) {
                                  let data9 = data8[i2];
                                  const _errs25 = errors;
                                  if (!(typeof data9 == "number" && !(data9 % 1) && !isNaN(data9) && isFinite(data9))) {
                                    validate60.errors = [
                                      {
                                        instancePath: instancePath + "/workgroups/" + i2,
                                        schemaPath: "#/properties/workgroups/items/type",
                                        keyword: "type",
                                        params: { type: "integer" },
                                        message: "must be integer",
                                      },
                                    ];
                                    return false;
                                  }
                                  if (errors === _errs25) {
                                    if (typeof data9 == "number" && isFinite(data9)) {
                                      if (data9 < 1 || isNaN(data9)) {
                                        validate60.errors = [
                                          {
                                            instancePath: instancePath + "/workgroups/" + i2,
                                            schemaPath: "#/properties/workgroups/items/minimum",
                                            keyword: "minimum",
                                            params: { comparison: ">=", limit: 1 },
                                            message: "must be >= 1",
                                          },
                                        ];
                                        return false;
                                      }
                                    }
                                  }
                                  var valid4 = _errs25 === errors;
                                  if (!valid4) {
                                    break;
                                  }
                                }
                              }
                            }
                          } else {
                            validate60.errors = [
                              {
                                instancePath: instancePath + "/workgroups",
                                schemaPath: "#/properties/workgroups/type",
                                keyword: "type",
                                params: { type: "array" },
                                message: "must be array",
                              },
                            ];
                            return false;
                          }
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
    } else {
      validate60.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate60.errors = vErrors;
  return errors === 0;
}
validate60.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema26 = {
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

function validate64(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate64.evaluated;
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
        validate64.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
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
            validate64.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.activation_lower_bound_bytes !== undefined) {
            let data0 = data.activation_lower_bound_bytes;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate64.errors = [
                {
                  instancePath: instancePath + "/activation_lower_bound_bytes",
                  schemaPath: "#/properties/activation_lower_bound_bytes/type",
                  keyword: "type",
                  params: { type: "integer" },
                  message: "must be integer",
                },
              ];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate64.errors = [
                    {
                      instancePath: instancePath + "/activation_lower_bound_bytes",
                      schemaPath: "#/properties/activation_lower_bound_bytes/minimum",
                      keyword: "minimum",
                      params: { comparison: ">=", limit: 0 },
                      message: "must be >= 0",
                    },
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
                validate64.errors = [
                  {
                    instancePath: instancePath + "/activation_peak_bytes",
                    schemaPath: "#/properties/activation_peak_bytes/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate64.errors = [
                      {
                        instancePath: instancePath + "/activation_peak_bytes",
                        schemaPath: "#/properties/activation_peak_bytes/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: 0 },
                        message: "must be >= 0",
                      },
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
                  validate64.errors = [
                    {
                      instancePath: instancePath + "/gpu_bytes",
                      schemaPath: "#/properties/gpu_bytes/type",
                      keyword: "type",
                      params: { type: "integer" },
                      message: "must be integer",
                    },
                  ];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 0 || isNaN(data2)) {
                      validate64.errors = [
                        {
                          instancePath: instancePath + "/gpu_bytes",
                          schemaPath: "#/properties/gpu_bytes/minimum",
                          keyword: "minimum",
                          params: { comparison: ">=", limit: 0 },
                          message: "must be >= 0",
                        },
                      ];
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
                    validate64.errors = [
                      {
                        instancePath: instancePath + "/weight_bytes",
                        schemaPath: "#/properties/weight_bytes/type",
                        keyword: "type",
                        params: { type: "integer" },
                        message: "must be integer",
                      },
                    ];
                    return false;
                  }
                  if (errors === _errs8) {
                    if (typeof data3 == "number" && isFinite(data3)) {
                      if (data3 < 0 || isNaN(data3)) {
                        validate64.errors = [
                          {
                            instancePath: instancePath + "/weight_bytes",
                            schemaPath: "#/properties/weight_bytes/minimum",
                            keyword: "minimum",
                            params: { comparison: ">=", limit: 0 },
                            message: "must be >= 0",
                          },
                        ];
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
      validate64.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate64.errors = vErrors;
  return errors === 0;
}
validate64.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema27 = {
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

function validate67(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate67.evaluated;
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
        validate67.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "features" || key0 === "limits")) {
            validate67.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                    validate67.errors = [
                      {
                        instancePath: instancePath + "/features/" + i0,
                        schemaPath: "#/properties/features/items/type",
                        keyword: "type",
                        params: { type: "string" },
                        message: "must be string",
                      },
                    ];
                    return false;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate67.errors = [
                  {
                    instancePath: instancePath + "/features",
                    schemaPath: "#/properties/features/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
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
                      validate67.errors = [
                        {
                          instancePath: instancePath + "/limits/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                          schemaPath: "#/properties/limits/additionalProperties/type",
                          keyword: "type",
                          params: { type: "integer" },
                          message: "must be integer",
                        },
                      ];
                      return false;
                    }
                    if (errors === _errs9) {
                      if (typeof data3 == "number" && isFinite(data3)) {
                        if (data3 < 0 || isNaN(data3)) {
                          validate67.errors = [
                            {
                              instancePath: instancePath + "/limits/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                              schemaPath: "#/properties/limits/additionalProperties/minimum",
                              keyword: "minimum",
                              params: { comparison: ">=", limit: 0 },
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
                  validate67.errors = [
                    {
                      instancePath: instancePath + "/limits",
                      schemaPath: "#/properties/limits/type",
                      keyword: "type",
                      params: { type: "object" },
                      message: "must be object",
                    },
                  ];
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
      validate67.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate67.errors = vErrors;
  return errors === 0;
}
validate67.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema28 = {
  additionalProperties: false,
  description: "Where a value of the graph lives. Intermediates are listed so that `verify` can read them.",
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
    shape: { items: { minimum: 0, type: "integer" }, type: "array" },
    span: { $ref: "#/$defs/Span" },
  },
  required: ["dtype", "shape", "span", "producer"],
  title: "PlannedTensor",
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
        (data.dtype === undefined && (missing0 = "dtype")) ||
        (data.shape === undefined && (missing0 = "shape")) ||
        (data.span === undefined && (missing0 = "span")) ||
        (data.producer === undefined && (missing0 = "producer"))
      ) {
        validate69.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "dtype" || key0 === "producer" || key0 === "shape" || key0 === "span")) {
            validate69.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.dtype !== undefined) {
            let data0 = data.dtype;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate69.errors = [
                {
                  instancePath: instancePath + "/dtype",
                  schemaPath: "#/properties/dtype/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
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
              validate69.errors = [
                {
                  instancePath: instancePath + "/dtype",
                  schemaPath: "#/properties/dtype/enum",
                  keyword: "enum",
                  params: { allowedValues: schema28.properties.dtype.enum },
                  message: "must be equal to one of the allowed values",
                },
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
                validate69.errors = [
                  {
                    instancePath: instancePath + "/producer",
                    schemaPath: "#/properties/producer/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < -1 || isNaN(data1)) {
                    validate69.errors = [
                      {
                        instancePath: instancePath + "/producer",
                        schemaPath: "#/properties/producer/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: -1 },
                        message: "must be >= -1",
                      },
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
                      if (!(typeof data3 == "number" && !(data3 % 1) && !isNaN(data3) && isFinite(data3))) {
                        validate69.errors = [
                          {
                            instancePath: instancePath + "/shape/" + i0,
                            schemaPath: "#/properties/shape/items/type",
                            keyword: "type",
                            params: { type: "integer" },
                            message: "must be integer",
                          },
                        ];
                        return false;
                      }
                      if (errors === _errs8) {
                        if (typeof data3 == "number" && isFinite(data3)) {
                          if (data3 < 0 || isNaN(data3)) {
                            validate69.errors = [
                              {
                                instancePath: instancePath + "/shape/" + i0,
                                schemaPath: "#/properties/shape/items/minimum",
                                keyword: "minimum",
                                params: { comparison: ">=", limit: 0 },
                                message: "must be >= 0",
                              },
                            ];
                            return false;
                          }
                        }
                      }
                      var valid1 = _errs8 === errors;
                      if (!valid1) {
                        break;
                      }
                    }
                  } else {
                    validate69.errors = [
                      {
                        instancePath: instancePath + "/shape",
                        schemaPath: "#/properties/shape/type",
                        keyword: "type",
                        params: { type: "array" },
                        message: "must be array",
                      },
                    ];
                    return false;
                  }
                }
                var valid0 = _errs6 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.span !== undefined) {
                  const _errs10 = errors;
                  if (
                    !validate61(data.span, {
                      instancePath: instancePath + "/span",
                      parentData: data,
                      parentDataProperty: "span",
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate61.errors : vErrors.concat(validate61.errors);
                    errors = vErrors.length;
                  }
                  var valid0 = _errs10 === errors;
                } else {
                  var valid0 = true;
                }
              }
            }
          }
        }
      }
    } else {
      validate69.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate69.errors = vErrors;
  return errors === 0;
}
validate69.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema29 = {
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
        (data.weight === undefined && (missing0 = "weight")) ||
        (data.buffer === undefined && (missing0 = "buffer")) ||
        (data.offset === undefined && (missing0 = "offset"))
      ) {
        validate72.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "buffer" || key0 === "offset" || key0 === "weight")) {
            validate72.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.buffer !== undefined) {
            let data0 = data.buffer;
            const _errs2 = errors;
            if (!(typeof data0 == "number" && !(data0 % 1) && !isNaN(data0) && isFinite(data0))) {
              validate72.errors = [
                {
                  instancePath: instancePath + "/buffer",
                  schemaPath: "#/properties/buffer/type",
                  keyword: "type",
                  params: { type: "integer" },
                  message: "must be integer",
                },
              ];
              return false;
            }
            if (errors === _errs2) {
              if (typeof data0 == "number" && isFinite(data0)) {
                if (data0 < 0 || isNaN(data0)) {
                  validate72.errors = [
                    {
                      instancePath: instancePath + "/buffer",
                      schemaPath: "#/properties/buffer/minimum",
                      keyword: "minimum",
                      params: { comparison: ">=", limit: 0 },
                      message: "must be >= 0",
                    },
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
            if (data.offset !== undefined) {
              let data1 = data.offset;
              const _errs4 = errors;
              if (!(typeof data1 == "number" && !(data1 % 1) && !isNaN(data1) && isFinite(data1))) {
                validate72.errors = [
                  {
                    instancePath: instancePath + "/offset",
                    schemaPath: "#/properties/offset/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 0 || isNaN(data1)) {
                    validate72.errors = [
                      {
                        instancePath: instancePath + "/offset",
                        schemaPath: "#/properties/offset/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: 0 },
                        message: "must be >= 0",
                      },
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
              if (data.weight !== undefined) {
                const _errs6 = errors;
                if (typeof data.weight !== "string") {
                  validate72.errors = [
                    {
                      instancePath: instancePath + "/weight",
                      schemaPath: "#/properties/weight/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
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
      validate72.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate72.errors = vErrors;
  return errors === 0;
}
validate72.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

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
        (data.tier === undefined && (missing0 = "tier")) ||
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
        validate57.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!func1.call(schema22.properties, key0)) {
            validate57.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                    !validate58(data0[i0], {
                      instancePath: instancePath + "/buffers/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate58.errors : vErrors.concat(validate58.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate57.errors = [
                  {
                    instancePath: instancePath + "/buffers",
                    schemaPath: "#/properties/buffers/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.dispatches !== undefined) {
              let data2 = data.dispatches;
              const _errs5 = errors;
              if (errors === _errs5) {
                if (Array.isArray(data2)) {
                  var valid2 = true;
                  const len1 = data2.length;
                  for (let i1 = 0; i1 < len1; i1++) {
                    const _errs7 = errors;
                    if (
                      !validate60(data2[i1], {
                        instancePath: instancePath + "/dispatches/" + i1,
                        parentData: data2,
                        parentDataProperty: i1,
                        rootData,
                        dynamicAnchors,
                      })
                    ) {
                      vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
                      errors = vErrors.length;
                    }
                    var valid2 = _errs7 === errors;
                    if (!valid2) {
                      break;
                    }
                  }
                } else {
                  validate57.errors = [
                    {
                      instancePath: instancePath + "/dispatches",
                      schemaPath: "#/properties/dispatches/type",
                      keyword: "type",
                      params: { type: "array" },
                      message: "must be array",
                    },
                  ];
                  return false;
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.kernels !== undefined) {
                let data4 = data.kernels;
                const _errs8 = errors;
                if (errors === _errs8) {
                  if (Array.isArray(data4)) {
                    var valid3 = true;
                    const len2 = data4.length;
                    for (let i2 = 0; i2 < len2; i2++) {
                      const _errs10 = errors;
                      if (typeof data4[i2] !== "string") {
                        validate57.errors = [
                          {
                            instancePath: instancePath + "/kernels/" + i2,
                            schemaPath: "#/properties/kernels/items/type",
                            keyword: "type",
                            params: { type: "string" },
                            message: "must be string",
                          },
                        ];
                        return false;
                      }
                      var valid3 = _errs10 === errors;
                      if (!valid3) {
                        break;
                      }
                    }
                  } else {
                    validate57.errors = [
                      {
                        instancePath: instancePath + "/kernels",
                        schemaPath: "#/properties/kernels/type",
                        keyword: "type",
                        params: { type: "array" },
                        message: "must be array",
                      },
                    ];
                    return false;
                  }
                }
                var valid0 = _errs8 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.plan !== undefined) {
                  const _errs12 = errors;
                  if (
                    !validate64(data.plan, {
                      instancePath: instancePath + "/plan",
                      parentData: data,
                      parentDataProperty: "plan",
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate64.errors : vErrors.concat(validate64.errors);
                    errors = vErrors.length;
                  }
                  var valid0 = _errs12 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.precision !== undefined) {
                    let data7 = data.precision;
                    const _errs13 = errors;
                    if (typeof data7 !== "string") {
                      validate57.errors = [
                        {
                          instancePath: instancePath + "/precision",
                          schemaPath: "#/properties/precision/type",
                          keyword: "type",
                          params: { type: "string" },
                          message: "must be string",
                        },
                      ];
                      return false;
                    }
                    if (!(data7 === "fp32" || data7 === "fp16")) {
                      validate57.errors = [
                        {
                          instancePath: instancePath + "/precision",
                          schemaPath: "#/properties/precision/enum",
                          keyword: "enum",
                          params: { allowedValues: schema22.properties.precision.enum },
                          message: "must be equal to one of the allowed values",
                        },
                      ];
                      return false;
                    }
                    var valid0 = _errs13 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.prepare !== undefined) {
                      let data8 = data.prepare;
                      const _errs15 = errors;
                      if (errors === _errs15) {
                        if (Array.isArray(data8)) {
                          var valid4 = true;
                          const len3 = data8.length;
                          for (let i3 = 0; i3 < len3; i3++) {
                            const _errs17 = errors;
                            if (
                              !validate60(data8[i3], {
                                instancePath: instancePath + "/prepare/" + i3,
                                parentData: data8,
                                parentDataProperty: i3,
                                rootData,
                                dynamicAnchors,
                              })
                            ) {
                              vErrors = vErrors === null ? validate60.errors : vErrors.concat(validate60.errors);
                              errors = vErrors.length;
                            }
                            var valid4 = _errs17 === errors;
                            if (!valid4) {
                              break;
                            }
                          }
                        } else {
                          validate57.errors = [
                            {
                              instancePath: instancePath + "/prepare",
                              schemaPath: "#/properties/prepare/type",
                              keyword: "type",
                              params: { type: "array" },
                              message: "must be array",
                            },
                          ];
                          return false;
                        }
                      }
                      var valid0 = _errs15 === errors;
                    } else {
                      var valid0 = true;
                    }
                    if (valid0) {
                      if (data.requires !== undefined) {
                        const _errs18 = errors;
                        if (
                          !validate67(data.requires, {
                            instancePath: instancePath + "/requires",
                            parentData: data,
                            parentDataProperty: "requires",
                            rootData,
                            dynamicAnchors,
                          })
                        ) {
                          vErrors = vErrors === null ? validate67.errors : vErrors.concat(validate67.errors);
                          errors = vErrors.length;
                        }
                        var valid0 = _errs18 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.tensors !== undefined) {
                          let data11 = data.tensors;
                          const _errs19 = errors;
                          if (errors === _errs19) {
                            if (data11 && typeof data11 == "object" && !Array.isArray(data11)) {
                              for (const key1 in data11) {
                                const _errs22 = errors;
                                if (
                                  !validate69(data11[key1], {
                                    instancePath:
                                      instancePath + "/tensors/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                    parentData: data11,
                                    parentDataProperty: key1,
                                    rootData,
                                    dynamicAnchors,
                                  })
                                ) {
                                  vErrors = vErrors === null ? validate69.errors : vErrors.concat(validate69.errors);
                                  errors = vErrors.length;
                                }
                                var valid5 = _errs22 === errors;
                                if (!valid5) {
                                  break;
                                }
                              }
                            } else {
                              validate57.errors = [
                                {
                                  instancePath: instancePath + "/tensors",
                                  schemaPath: "#/properties/tensors/type",
                                  keyword: "type",
                                  params: { type: "object" },
                                  message: "must be object",
                                },
                              ];
                              return false;
                            }
                          }
                          var valid0 = _errs19 === errors;
                        } else {
                          var valid0 = true;
                        }
                        if (valid0) {
                          if (data.tier !== undefined) {
                            const _errs23 = errors;
                            if (typeof data.tier !== "string") {
                              validate57.errors = [
                                {
                                  instancePath: instancePath + "/tier",
                                  schemaPath: "#/properties/tier/type",
                                  keyword: "type",
                                  params: { type: "string" },
                                  message: "must be string",
                                },
                              ];
                              return false;
                            }
                            var valid0 = _errs23 === errors;
                          } else {
                            var valid0 = true;
                          }
                          if (valid0) {
                            if (data.tiling !== undefined) {
                              let data14 = data.tiling;
                              const _errs25 = errors;
                              if (typeof data14 !== "string") {
                                validate57.errors = [
                                  {
                                    instancePath: instancePath + "/tiling",
                                    schemaPath: "#/properties/tiling/type",
                                    keyword: "type",
                                    params: { type: "string" },
                                    message: "must be string",
                                  },
                                ];
                                return false;
                              }
                              if (!(data14 === "register" || data14 === "workgroup")) {
                                validate57.errors = [
                                  {
                                    instancePath: instancePath + "/tiling",
                                    schemaPath: "#/properties/tiling/enum",
                                    keyword: "enum",
                                    params: { allowedValues: schema22.properties.tiling.enum },
                                    message: "must be equal to one of the allowed values",
                                  },
                                ];
                                return false;
                              }
                              var valid0 = _errs25 === errors;
                            } else {
                              var valid0 = true;
                            }
                            if (valid0) {
                              if (data.uploads !== undefined) {
                                let data15 = data.uploads;
                                const _errs27 = errors;
                                if (errors === _errs27) {
                                  if (Array.isArray(data15)) {
                                    var valid6 = true;
                                    const len4 = data15.length;
                                    for (let i4 = 0; i4 < len4; i4++) {
                                      const _errs29 = errors;
                                      if (
                                        !validate72(data15[i4], {
                                          instancePath: instancePath + "/uploads/" + i4,
                                          parentData: data15,
                                          parentDataProperty: i4,
                                          rootData,
                                          dynamicAnchors,
                                        })
                                      ) {
                                        vErrors =
                                          vErrors === null ? validate72.errors : vErrors.concat(validate72.errors);
                                        errors = vErrors.length;
                                      }
                                      var valid6 = _errs29 === errors;
                                      if (!valid6) {
                                        break;
                                      }
                                    }
                                  } else {
                                    validate57.errors = [
                                      {
                                        instancePath: instancePath + "/uploads",
                                        schemaPath: "#/properties/uploads/type",
                                        keyword: "type",
                                        params: { type: "array" },
                                        message: "must be array",
                                      },
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
        }
      }
    } else {
      validate57.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate57.errors = vErrors;
  return errors === 0;
}
validate57.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema30 = {
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
const pattern3 = new RegExp("^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$", "u");

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
        (data.name === undefined && (missing0 = "name")) ||
        (data.dtype === undefined && (missing0 = "dtype")) ||
        (data.shape === undefined && (missing0 = "shape")) ||
        (data.file === undefined && (missing0 = "file")) ||
        (data.offset === undefined && (missing0 = "offset")) ||
        (data.size_bytes === undefined && (missing0 = "size_bytes"))
      ) {
        validate75.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
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
            validate75.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.dtype !== undefined) {
            let data0 = data.dtype;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate75.errors = [
                {
                  instancePath: instancePath + "/dtype",
                  schemaPath: "#/properties/dtype/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
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
              validate75.errors = [
                {
                  instancePath: instancePath + "/dtype",
                  schemaPath: "#/properties/dtype/enum",
                  keyword: "enum",
                  params: { allowedValues: schema30.properties.dtype.enum },
                  message: "must be equal to one of the allowed values",
                },
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
                  if (!pattern3.test(data1)) {
                    validate75.errors = [
                      {
                        instancePath: instancePath + "/file",
                        schemaPath: "#/properties/file/pattern",
                        keyword: "pattern",
                        params: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" },
                        message:
                          'must match pattern "' +
                          "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                          '"',
                      },
                    ];
                    return false;
                  }
                } else {
                  validate75.errors = [
                    {
                      instancePath: instancePath + "/file",
                      schemaPath: "#/properties/file/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
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
                  validate75.errors = [
                    {
                      instancePath: instancePath + "/name",
                      schemaPath: "#/properties/name/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
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
                    validate75.errors = [
                      {
                        instancePath: instancePath + "/offset",
                        schemaPath: "#/properties/offset/type",
                        keyword: "type",
                        params: { type: "integer" },
                        message: "must be integer",
                      },
                    ];
                    return false;
                  }
                  if (errors === _errs8) {
                    if (typeof data3 == "number" && isFinite(data3)) {
                      if (data3 < 0 || isNaN(data3)) {
                        validate75.errors = [
                          {
                            instancePath: instancePath + "/offset",
                            schemaPath: "#/properties/offset/minimum",
                            keyword: "minimum",
                            params: { comparison: ">=", limit: 0 },
                            message: "must be >= 0",
                          },
                        ];
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
                            validate75.errors = [
                              {
                                instancePath: instancePath + "/shape/" + i0,
                                schemaPath: "#/properties/shape/items/type",
                                keyword: "type",
                                params: { type: "integer" },
                                message: "must be integer",
                              },
                            ];
                            return false;
                          }
                          if (errors === _errs12) {
                            if (typeof data5 == "number" && isFinite(data5)) {
                              if (data5 < 0 || isNaN(data5)) {
                                validate75.errors = [
                                  {
                                    instancePath: instancePath + "/shape/" + i0,
                                    schemaPath: "#/properties/shape/items/minimum",
                                    keyword: "minimum",
                                    params: { comparison: ">=", limit: 0 },
                                    message: "must be >= 0",
                                  },
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
                        validate75.errors = [
                          {
                            instancePath: instancePath + "/shape",
                            schemaPath: "#/properties/shape/type",
                            keyword: "type",
                            params: { type: "array" },
                            message: "must be array",
                          },
                        ];
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
                        validate75.errors = [
                          {
                            instancePath: instancePath + "/size_bytes",
                            schemaPath: "#/properties/size_bytes/type",
                            keyword: "type",
                            params: { type: "integer" },
                            message: "must be integer",
                          },
                        ];
                        return false;
                      }
                      if (errors === _errs14) {
                        if (typeof data6 == "number" && isFinite(data6)) {
                          if (data6 < 0 || isNaN(data6)) {
                            validate75.errors = [
                              {
                                instancePath: instancePath + "/size_bytes",
                                schemaPath: "#/properties/size_bytes/minimum",
                                keyword: "minimum",
                                params: { comparison: ">=", limit: 0 },
                                message: "must be >= 0",
                              },
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
      validate75.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate75.errors = vErrors;
  return errors === 0;
}
validate75.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

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
        (data.inputs === undefined && (missing0 = "inputs")) ||
        (data.outputs === undefined && (missing0 = "outputs")) ||
        (data.weights === undefined && (missing0 = "weights")) ||
        (data.programs === undefined && (missing0 = "programs"))
      ) {
        validate53.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "inputs" ||
            key0 === "model" ||
            key0 === "name" ||
            key0 === "outputs" ||
            key0 === "programs" ||
            key0 === "weights"
          )) {
            validate53.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.inputs !== undefined) {
            let data0 = data.inputs;
            const _errs2 = errors;
            if (errors === _errs2) {
              if (Array.isArray(data0)) {
                var valid1 = true;
                const len0 = data0.length;
                for (let i0 = 0; i0 < len0; i0++) {
                  const _errs4 = errors;
                  if (
                    !validate54(data0[i0], {
                      instancePath: instancePath + "/inputs/" + i0,
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
                validate53.errors = [
                  {
                    instancePath: instancePath + "/inputs",
                    schemaPath: "#/properties/inputs/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
                return false;
              }
            }
            var valid0 = _errs2 === errors;
          } else {
            var valid0 = true;
          }
          if (valid0) {
            if (data.model !== undefined) {
              let data2 = data.model;
              const _errs5 = errors;
              if (errors === _errs5) {
                if (typeof data2 === "string") {
                  if (!pattern3.test(data2)) {
                    validate53.errors = [
                      {
                        instancePath: instancePath + "/model",
                        schemaPath: "#/properties/model/pattern",
                        keyword: "pattern",
                        params: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" },
                        message:
                          'must match pattern "' +
                          "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                          '"',
                      },
                    ];
                    return false;
                  }
                } else {
                  validate53.errors = [
                    {
                      instancePath: instancePath + "/model",
                      schemaPath: "#/properties/model/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
                  return false;
                }
              }
              var valid0 = _errs5 === errors;
            } else {
              var valid0 = true;
            }
            if (valid0) {
              if (data.name !== undefined) {
                const _errs7 = errors;
                if (typeof data.name !== "string") {
                  validate53.errors = [
                    {
                      instancePath: instancePath + "/name",
                      schemaPath: "#/properties/name/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
                  return false;
                }
                var valid0 = _errs7 === errors;
              } else {
                var valid0 = true;
              }
              if (valid0) {
                if (data.outputs !== undefined) {
                  let data4 = data.outputs;
                  const _errs9 = errors;
                  if (errors === _errs9) {
                    if (Array.isArray(data4)) {
                      var valid2 = true;
                      const len1 = data4.length;
                      for (let i1 = 0; i1 < len1; i1++) {
                        const _errs11 = errors;
                        if (
                          !validate54(data4[i1], {
                            instancePath: instancePath + "/outputs/" + i1,
                            parentData: data4,
                            parentDataProperty: i1,
                            rootData,
                            dynamicAnchors,
                          })
                        ) {
                          vErrors = vErrors === null ? validate54.errors : vErrors.concat(validate54.errors);
                          errors = vErrors.length;
                        }
                        var valid2 = _errs11 === errors;
                        if (!valid2) {
                          break;
                        }
                      }
                    } else {
                      validate53.errors = [
                        {
                          instancePath: instancePath + "/outputs",
                          schemaPath: "#/properties/outputs/type",
                          keyword: "type",
                          params: { type: "array" },
                          message: "must be array",
                        },
                      ];
                      return false;
                    }
                  }
                  var valid0 = _errs9 === errors;
                } else {
                  var valid0 = true;
                }
                if (valid0) {
                  if (data.programs !== undefined) {
                    let data6 = data.programs;
                    const _errs12 = errors;
                    if (errors === _errs12) {
                      if (Array.isArray(data6)) {
                        var valid3 = true;
                        const len2 = data6.length;
                        for (let i2 = 0; i2 < len2; i2++) {
                          const _errs14 = errors;
                          if (
                            !validate57(data6[i2], {
                              instancePath: instancePath + "/programs/" + i2,
                              parentData: data6,
                              parentDataProperty: i2,
                              rootData,
                              dynamicAnchors,
                            })
                          ) {
                            vErrors = vErrors === null ? validate57.errors : vErrors.concat(validate57.errors);
                            errors = vErrors.length;
                          }
                          var valid3 = _errs14 === errors;
                          if (!valid3) {
                            break;
                          }
                        }
                      } else {
                        validate53.errors = [
                          {
                            instancePath: instancePath + "/programs",
                            schemaPath: "#/properties/programs/type",
                            keyword: "type",
                            params: { type: "array" },
                            message: "must be array",
                          },
                        ];
                        return false;
                      }
                    }
                    var valid0 = _errs12 === errors;
                  } else {
                    var valid0 = true;
                  }
                  if (valid0) {
                    if (data.weights !== undefined) {
                      let data8 = data.weights;
                      const _errs15 = errors;
                      if (errors === _errs15) {
                        if (Array.isArray(data8)) {
                          var valid4 = true;
                          const len3 = data8.length;
                          for (let i3 = 0; i3 < len3; i3++) {
                            const _errs17 = errors;
                            if (
                              !validate75(data8[i3], {
                                instancePath: instancePath + "/weights/" + i3,
                                parentData: data8,
                                parentDataProperty: i3,
                                rootData,
                                dynamicAnchors,
                              })
                            ) {
                              vErrors = vErrors === null ? validate75.errors : vErrors.concat(validate75.errors);
                              errors = vErrors.length;
                            }
                            var valid4 = _errs17 === errors;
                            if (!valid4) {
                              break;
                            }
                          }
                        } else {
                          validate53.errors = [
                            {
                              instancePath: instancePath + "/weights",
                              schemaPath: "#/properties/weights/type",
                              keyword: "type",
                              params: { type: "array" },
                              message: "must be array",
                            },
                          ];
                          return false;
                        }
                      }
                      var valid0 = _errs15 === errors;
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
      validate53.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate53.errors = vErrors;
  return errors === 0;
}
validate53.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema31 = {
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
const pattern6 = new RegExp("^[0-9a-f]{64}$", "u");

function validate78(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate78.evaluated;
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
        validate78.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "path" || key0 === "sha256" || key0 === "size_bytes")) {
            validate78.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                if (!pattern3.test(data0)) {
                  validate78.errors = [
                    {
                      instancePath: instancePath + "/path",
                      schemaPath: "#/properties/path/pattern",
                      keyword: "pattern",
                      params: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" },
                      message:
                        'must match pattern "' +
                        "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                        '"',
                    },
                  ];
                  return false;
                }
              } else {
                validate78.errors = [
                  {
                    instancePath: instancePath + "/path",
                    schemaPath: "#/properties/path/type",
                    keyword: "type",
                    params: { type: "string" },
                    message: "must be string",
                  },
                ];
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
                  if (!pattern6.test(data1)) {
                    validate78.errors = [
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
                  validate78.errors = [
                    {
                      instancePath: instancePath + "/sha256",
                      schemaPath: "#/properties/sha256/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
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
                  validate78.errors = [
                    {
                      instancePath: instancePath + "/size_bytes",
                      schemaPath: "#/properties/size_bytes/type",
                      keyword: "type",
                      params: { type: "integer" },
                      message: "must be integer",
                    },
                  ];
                  return false;
                }
                if (errors === _errs6) {
                  if (typeof data2 == "number" && isFinite(data2)) {
                    if (data2 < 0 || isNaN(data2)) {
                      validate78.errors = [
                        {
                          instancePath: instancePath + "/size_bytes",
                          schemaPath: "#/properties/size_bytes/minimum",
                          keyword: "minimum",
                          params: { comparison: ">=", limit: 0 },
                          message: "must be >= 0",
                        },
                      ];
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
      validate78.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate78.errors = vErrors;
  return errors === 0;
}
validate78.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema32 = {
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
const schema33 = {
  additionalProperties: false,
  description: "A storage binding of group 0; its index is its place in the list.",
  properties: { access: { enum: ["read", "read_write"], type: "string" }, name: { type: "string" } },
  required: ["name", "access"],
  title: "KernelBinding",
  type: "object",
};

function validate81(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate81.evaluated;
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
        validate81.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "access" || key0 === "name")) {
            validate81.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.access !== undefined) {
            let data0 = data.access;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate81.errors = [
                {
                  instancePath: instancePath + "/access",
                  schemaPath: "#/properties/access/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
              return false;
            }
            if (!(data0 === "read" || data0 === "read_write")) {
              validate81.errors = [
                {
                  instancePath: instancePath + "/access",
                  schemaPath: "#/properties/access/enum",
                  keyword: "enum",
                  params: { allowedValues: schema33.properties.access.enum },
                  message: "must be equal to one of the allowed values",
                },
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
                validate81.errors = [
                  {
                    instancePath: instancePath + "/name",
                    schemaPath: "#/properties/name/type",
                    keyword: "type",
                    params: { type: "string" },
                    message: "must be string",
                  },
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
      validate81.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate81.errors = vErrors;
  return errors === 0;
}
validate81.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema34 = {
  additionalProperties: false,
  description: "One 4-byte member of the kernel's uniform struct, which is bound after the storage bindings.",
  properties: { name: { type: "string" }, type: { enum: ["u32", "i32", "f32"], type: "string" } },
  required: ["name", "type"],
  title: "KernelParam",
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
      if ((data.name === undefined && (missing0 = "name")) || (data.type === undefined && (missing0 = "type"))) {
        validate83.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "name" || key0 === "type")) {
            validate83.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.name !== undefined) {
            const _errs2 = errors;
            if (typeof data.name !== "string") {
              validate83.errors = [
                {
                  instancePath: instancePath + "/name",
                  schemaPath: "#/properties/name/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
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
                validate83.errors = [
                  {
                    instancePath: instancePath + "/type",
                    schemaPath: "#/properties/type/type",
                    keyword: "type",
                    params: { type: "string" },
                    message: "must be string",
                  },
                ];
                return false;
              }
              if (!(data1 === "u32" || data1 === "i32" || data1 === "f32")) {
                validate83.errors = [
                  {
                    instancePath: instancePath + "/type",
                    schemaPath: "#/properties/type/enum",
                    keyword: "enum",
                    params: { allowedValues: schema34.properties.type.enum },
                    message: "must be equal to one of the allowed values",
                  },
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
      validate83.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate83.errors = vErrors;
  return errors === 0;
}
validate83.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

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
        (data.name === undefined && (missing0 = "name")) ||
        (data.file === undefined && (missing0 = "file")) ||
        (data.features === undefined && (missing0 = "features")) ||
        (data.workgroup_size === undefined && (missing0 = "workgroup_size")) ||
        (data.workgroup_storage_bytes === undefined && (missing0 = "workgroup_storage_bytes")) ||
        (data.bindings === undefined && (missing0 = "bindings")) ||
        (data.params === undefined && (missing0 = "params"))
      ) {
        validate80.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
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
            validate80.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                    !validate81(data0[i0], {
                      instancePath: instancePath + "/bindings/" + i0,
                      parentData: data0,
                      parentDataProperty: i0,
                      rootData,
                      dynamicAnchors,
                    })
                  ) {
                    vErrors = vErrors === null ? validate81.errors : vErrors.concat(validate81.errors);
                    errors = vErrors.length;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate80.errors = [
                  {
                    instancePath: instancePath + "/bindings",
                    schemaPath: "#/properties/bindings/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
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
                      validate80.errors = [
                        {
                          instancePath: instancePath + "/features/" + i1,
                          schemaPath: "#/properties/features/items/type",
                          keyword: "type",
                          params: { type: "string" },
                          message: "must be string",
                        },
                      ];
                      return false;
                    }
                    var valid2 = _errs7 === errors;
                    if (!valid2) {
                      break;
                    }
                  }
                } else {
                  validate80.errors = [
                    {
                      instancePath: instancePath + "/features",
                      schemaPath: "#/properties/features/type",
                      keyword: "type",
                      params: { type: "array" },
                      message: "must be array",
                    },
                  ];
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
                    if (!pattern3.test(data4)) {
                      validate80.errors = [
                        {
                          instancePath: instancePath + "/file",
                          schemaPath: "#/properties/file/pattern",
                          keyword: "pattern",
                          params: { pattern: "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" },
                          message:
                            'must match pattern "' +
                            "^[A-Za-z0-9_][A-Za-z0-9_.\\-]*(/[A-Za-z0-9_][A-Za-z0-9_.\\-]*)*$" +
                            '"',
                        },
                      ];
                      return false;
                    }
                  } else {
                    validate80.errors = [
                      {
                        instancePath: instancePath + "/file",
                        schemaPath: "#/properties/file/type",
                        keyword: "type",
                        params: { type: "string" },
                        message: "must be string",
                      },
                    ];
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
                    validate80.errors = [
                      {
                        instancePath: instancePath + "/name",
                        schemaPath: "#/properties/name/type",
                        keyword: "type",
                        params: { type: "string" },
                        message: "must be string",
                      },
                    ];
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
                            !validate83(data6[i2], {
                              instancePath: instancePath + "/params/" + i2,
                              parentData: data6,
                              parentDataProperty: i2,
                              rootData,
                              dynamicAnchors,
                            })
                          ) {
                            vErrors = vErrors === null ? validate83.errors : vErrors.concat(validate83.errors);
                            errors = vErrors.length;
                          }
                          var valid3 = _errs15 === errors;
                          if (!valid3) {
                            break;
                          }
                        }
                      } else {
                        validate80.errors = [
                          {
                            instancePath: instancePath + "/params",
                            schemaPath: "#/properties/params/type",
                            keyword: "type",
                            params: { type: "array" },
                            message: "must be array",
                          },
                        ];
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
                            validate80.errors = [
                              {
                                instancePath: instancePath + "/workgroup_size",
                                schemaPath: "#/properties/workgroup_size/maxItems",
                                keyword: "maxItems",
                                params: { limit: 3 },
                                message: "must NOT have more than 3 items",
                              },
                            ];
                            return false;
                          } else {
                            if (data8.length < 3) {
                              validate80.errors = [
                                {
                                  instancePath: instancePath + "/workgroup_size",
                                  schemaPath: "#/properties/workgroup_size/minItems",
                                  keyword: "minItems",
                                  params: { limit: 3 },
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
                                  validate80.errors = [
                                    {
                                      instancePath: instancePath + "/workgroup_size/" + i3,
                                      schemaPath: "#/properties/workgroup_size/items/type",
                                      keyword: "type",
                                      params: { type: "integer" },
                                      message: "must be integer",
                                    },
                                  ];
                                  return false;
                                }
                                if (errors === _errs18) {
                                  if (typeof data9 == "number" && isFinite(data9)) {
                                    if (data9 < 1 || isNaN(data9)) {
                                      validate80.errors = [
                                        {
                                          instancePath: instancePath + "/workgroup_size/" + i3,
                                          schemaPath: "#/properties/workgroup_size/items/minimum",
                                          keyword: "minimum",
                                          params: { comparison: ">=", limit: 1 },
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
                          validate80.errors = [
                            {
                              instancePath: instancePath + "/workgroup_size",
                              schemaPath: "#/properties/workgroup_size/type",
                              keyword: "type",
                              params: { type: "array" },
                              message: "must be array",
                            },
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
                          validate80.errors = [
                            {
                              instancePath: instancePath + "/workgroup_storage_bytes",
                              schemaPath: "#/properties/workgroup_storage_bytes/type",
                              keyword: "type",
                              params: { type: "integer" },
                              message: "must be integer",
                            },
                          ];
                          return false;
                        }
                        if (errors === _errs20) {
                          if (typeof data10 == "number" && isFinite(data10)) {
                            if (data10 < 0 || isNaN(data10)) {
                              validate80.errors = [
                                {
                                  instancePath: instancePath + "/workgroup_storage_bytes",
                                  schemaPath: "#/properties/workgroup_storage_bytes/minimum",
                                  keyword: "minimum",
                                  params: { comparison: ">=", limit: 0 },
                                  message: "must be >= 0",
                                },
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
      validate80.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate80.errors = vErrors;
  return errors === 0;
}
validate80.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema35 = {
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

function validate86(
  data,
  { instancePath = "", parentData, parentDataProperty, rootData = data, dynamicAnchors = {} } = {},
) {
  let vErrors = null;
  let errors = 0;
  const evaluated0 = validate86.evaluated;
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
        validate86.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
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
            validate86.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                    validate86.errors = [
                      {
                        instancePath: instancePath + "/licences/" + i0,
                        schemaPath: "#/properties/licences/items/type",
                        keyword: "type",
                        params: { type: "string" },
                        message: "must be string",
                      },
                    ];
                    return false;
                  }
                  var valid1 = _errs4 === errors;
                  if (!valid1) {
                    break;
                  }
                }
              } else {
                validate86.errors = [
                  {
                    instancePath: instancePath + "/licences",
                    schemaPath: "#/properties/licences/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
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
                validate86.errors = [
                  {
                    instancePath: instancePath + "/producer",
                    schemaPath: "#/properties/producer/type",
                    keyword: "type",
                    params: { type: "string" },
                    message: "must be string",
                  },
                ];
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
                  validate86.errors = [
                    {
                      instancePath: instancePath + "/producer_version",
                      schemaPath: "#/properties/producer_version/type",
                      keyword: "type",
                      params: { type: "string" },
                      message: "must be string",
                    },
                  ];
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
                    validate86.errors = [
                      {
                        instancePath: instancePath + "/source",
                        schemaPath: "#/properties/source/type",
                        keyword: "type",
                        params: { type: "string" },
                        message: "must be string",
                      },
                    ];
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
                        if (!pattern6.test(data5)) {
                          validate86.errors = [
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
                        validate86.errors = [
                          {
                            instancePath: instancePath + "/source_sha256",
                            schemaPath: "#/properties/source_sha256/type",
                            keyword: "type",
                            params: { type: "string" },
                            message: "must be string",
                          },
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
      validate86.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate86.errors = vErrors;
  return errors === 0;
}
validate86.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

const schema36 = {
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
        (data.metric === undefined && (missing0 = "metric")) ||
        (data.value === undefined && (missing0 = "value")) ||
        (data.runs === undefined && (missing0 = "runs"))
      ) {
        validate88.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(key0 === "metric" || key0 === "runs" || key0 === "value")) {
            validate88.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
            return false;
            break;
          }
        }
        if (_errs1 === errors) {
          if (data.metric !== undefined) {
            let data0 = data.metric;
            const _errs2 = errors;
            if (typeof data0 !== "string") {
              validate88.errors = [
                {
                  instancePath: instancePath + "/metric",
                  schemaPath: "#/properties/metric/type",
                  keyword: "type",
                  params: { type: "string" },
                  message: "must be string",
                },
              ];
              return false;
            }
            if ("max_abs_error" !== data0) {
              validate88.errors = [
                {
                  instancePath: instancePath + "/metric",
                  schemaPath: "#/properties/metric/const",
                  keyword: "const",
                  params: { allowedValue: "max_abs_error" },
                  message: "must be equal to constant",
                },
              ];
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
                validate88.errors = [
                  {
                    instancePath: instancePath + "/runs",
                    schemaPath: "#/properties/runs/type",
                    keyword: "type",
                    params: { type: "integer" },
                    message: "must be integer",
                  },
                ];
                return false;
              }
              if (errors === _errs4) {
                if (typeof data1 == "number" && isFinite(data1)) {
                  if (data1 < 1 || isNaN(data1)) {
                    validate88.errors = [
                      {
                        instancePath: instancePath + "/runs",
                        schemaPath: "#/properties/runs/minimum",
                        keyword: "minimum",
                        params: { comparison: ">=", limit: 1 },
                        message: "must be >= 1",
                      },
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
              if (data.value !== undefined) {
                let data2 = data.value;
                const _errs6 = errors;
                if (!(typeof data2 == "number" && isFinite(data2))) {
                  validate88.errors = [
                    {
                      instancePath: instancePath + "/value",
                      schemaPath: "#/properties/value/type",
                      keyword: "type",
                      params: { type: "number" },
                      message: "must be number",
                    },
                  ];
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
      validate88.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate88.errors = vErrors;
  return errors === 0;
}
validate88.evaluated = { props: true, dynamicProps: false, dynamicItems: false };

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
        (data.files === undefined && (missing0 = "files")) ||
        (data.quality === undefined && (missing0 = "quality")) ||
        (data.provenance === undefined && (missing0 = "provenance"))
      ) {
        validate52.errors = [
          {
            instancePath,
            schemaPath: "#/required",
            keyword: "required",
            params: { missingProperty: missing0 },
            message: "must have required property '" + missing0 + "'",
          },
        ];
        return false;
      } else {
        const _errs1 = errors;
        for (const key0 in data) {
          if (!(
            key0 === "components" ||
            key0 === "files" ||
            key0 === "format_version" ||
            key0 === "kernels" ||
            key0 === "name" ||
            key0 === "provenance" ||
            key0 === "quality" ||
            key0 === "target"
          )) {
            validate52.errors = [
              {
                instancePath,
                schemaPath: "#/additionalProperties",
                keyword: "additionalProperties",
                params: { additionalProperty: key0 },
                message: "must NOT have additional properties",
              },
            ];
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
                validate52.errors = [
                  {
                    instancePath: instancePath + "/components",
                    schemaPath: "#/properties/components/type",
                    keyword: "type",
                    params: { type: "array" },
                    message: "must be array",
                  },
                ];
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
                      !validate78(data2[i1], {
                        instancePath: instancePath + "/files/" + i1,
                        parentData: data2,
                        parentDataProperty: i1,
                        rootData,
                        dynamicAnchors,
                      })
                    ) {
                      vErrors = vErrors === null ? validate78.errors : vErrors.concat(validate78.errors);
                      errors = vErrors.length;
                    }
                    var valid2 = _errs7 === errors;
                    if (!valid2) {
                      break;
                    }
                  }
                } else {
                  validate52.errors = [
                    {
                      instancePath: instancePath + "/files",
                      schemaPath: "#/properties/files/type",
                      keyword: "type",
                      params: { type: "array" },
                      message: "must be array",
                    },
                  ];
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
                  validate52.errors = [
                    {
                      instancePath: instancePath + "/format_version",
                      schemaPath: "#/properties/format_version/type",
                      keyword: "type",
                      params: { type: "integer" },
                      message: "must be integer",
                    },
                  ];
                  return false;
                }
                if (1 !== data4) {
                  validate52.errors = [
                    {
                      instancePath: instancePath + "/format_version",
                      schemaPath: "#/properties/format_version/const",
                      keyword: "const",
                      params: { allowedValue: 1 },
                      message: "must be equal to constant",
                    },
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
                          !validate80(data5[i2], {
                            instancePath: instancePath + "/kernels/" + i2,
                            parentData: data5,
                            parentDataProperty: i2,
                            rootData,
                            dynamicAnchors,
                          })
                        ) {
                          vErrors = vErrors === null ? validate80.errors : vErrors.concat(validate80.errors);
                          errors = vErrors.length;
                        }
                        var valid3 = _errs12 === errors;
                        if (!valid3) {
                          break;
                        }
                      }
                    } else {
                      validate52.errors = [
                        {
                          instancePath: instancePath + "/kernels",
                          schemaPath: "#/properties/kernels/type",
                          keyword: "type",
                          params: { type: "array" },
                          message: "must be array",
                        },
                      ];
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
                      validate52.errors = [
                        {
                          instancePath: instancePath + "/name",
                          schemaPath: "#/properties/name/type",
                          keyword: "type",
                          params: { type: "string" },
                          message: "must be string",
                        },
                      ];
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
                        !validate86(data.provenance, {
                          instancePath: instancePath + "/provenance",
                          parentData: data,
                          parentDataProperty: "provenance",
                          rootData,
                          dynamicAnchors,
                        })
                      ) {
                        vErrors = vErrors === null ? validate86.errors : vErrors.concat(validate86.errors);
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
                                !validate88(data9[key1], {
                                  instancePath:
                                    instancePath + "/quality/" + key1.replace(/~/g, "~0").replace(/\//g, "~1"),
                                  parentData: data9,
                                  parentDataProperty: key1,
                                  rootData,
                                  dynamicAnchors,
                                })
                              ) {
                                vErrors = vErrors === null ? validate88.errors : vErrors.concat(validate88.errors);
                                errors = vErrors.length;
                              }
                              var valid4 = _errs19 === errors;
                              if (!valid4) {
                                break;
                              }
                            }
                          } else {
                            validate52.errors = [
                              {
                                instancePath: instancePath + "/quality",
                                schemaPath: "#/properties/quality/type",
                                keyword: "type",
                                params: { type: "object" },
                                message: "must be object",
                              },
                            ];
                            return false;
                          }
                        }
                        var valid0 = _errs16 === errors;
                      } else {
                        var valid0 = true;
                      }
                      if (valid0) {
                        if (data.target !== undefined) {
                          const _errs20 = errors;
                          if (typeof data.target !== "string") {
                            validate52.errors = [
                              {
                                instancePath: instancePath + "/target",
                                schemaPath: "#/properties/target/type",
                                keyword: "type",
                                params: { type: "string" },
                                message: "must be string",
                              },
                            ];
                            return false;
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
      }
    } else {
      validate52.errors = [
        { instancePath, schemaPath: "#/type", keyword: "type", params: { type: "object" }, message: "must be object" },
      ];
      return false;
    }
  }
  validate52.errors = vErrors;
  return errors === 0;
}
validate52.evaluated = { props: true, dynamicProps: false, dynamicItems: false };
