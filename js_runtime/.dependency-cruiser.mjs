// Imports go one way through the core; hosts and pages use the core, never the reverse.

/** What is built upon the core, and not part of it. */
const USERS = "^src/(adapters/|host/|page/|telemetry/(?!events\\.ts))";

/** The layers of the core, lowest first: a module may import only from earlier rows and from its own. */
const LAYERS = [
  [
    "errors",
    "diagnosis",
    "scopes",
    "task",
    "visibility",
    "telemetry/events",
    "webgpu_flags",
    "schema",
    "generated/.*",
    "scheduling/.*",
  ],
  ["digest", "incoming_file", "download", "store", "zip"],
  ["content_store", "source"],
  ["tensor", "expressions"],
  ["manifest_check", "image/picture"],
  ["package"],
  ["arbiter", "golden", "memory", "tier", "feeds", "readback"],
  ["slots", "image/(convert|converter|form|output_textures|per_objects|sources|texels)"],
  ["pool"],
  ["device", "pipelines"],
  ["executor"],
  ["weights", "timing", "calibration", "image/(forms|image_run)"],
  ["image/images"],
  ["parts", "slice_timer", "record_store", "pressure"],
  ["crash_marker", "slicer"],
  ["job"],
  ["model", "scheduler", "turns"],
  ["residence"],
  ["capture", "recovery", "diagnose", "steps"],
  ["self_test"],
  ["trust"],
  ["choice"],
  ["settle"],
  ["home"],
  ["outputs"],
  ["gpu_model"],
  ["backend", "fallback/.*"],
  ["load", "requirements"],
  ["index"],
];

const pattern = (names) => `^src/(${names.join("|")})\\.(ts|js|d\\.ts)$`;

export default {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-dependency-in-the-core",
      comment: "the core runs in any browser: nothing from npm, nothing from Node",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(host|page)/", "^src/fallback/onnx_runtime\\.ts$"] },
      to: { dependencyTypesNot: ["local", "type-only", "undetermined"], pathNot: "^src/" },
    },
    {
      name: "the-fallback-needs-onnx-runtime-alone",
      comment: "imported only when it is needed, and by one module",
      severity: "error",
      from: { path: "^src/fallback/onnx_runtime\\.ts$" },
      to: { pathNot: ["^src/", "onnxruntime-web"] },
    },
    {
      name: "the-fallback-is-loaded-on-demand",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/fallback/" },
      to: { path: "^src/fallback/", dependencyTypesNot: ["dynamic-import", "type-only"] },
    },
    {
      name: "images-are-converted-on-demand",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/image/" },
      to: { path: "^src/image/images\\.ts$", dependencyTypesNot: ["dynamic-import", "type-only"] },
    },
    {
      name: "core-does-not-know-its-users",
      severity: "error",
      from: { path: "^src/", pathNot: USERS },
      to: { path: USERS },
    },
    {
      name: "users-take-the-public-interface",
      severity: "error",
      from: { path: USERS },
      to: { path: "^src/", pathNot: [USERS, "^src/index\\.ts$", "^src/telemetry/events\\.ts$"] },
    },
    {
      name: "every-module-has-a-layer",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: [...LAYERS.map(pattern), USERS] },
    },
    ...LAYERS.map((names, index) => ({
      name: `layer-${names[0].replace(/\/.*/, "")}`,
      severity: "error",
      from: { path: pattern(names) },
      to: { path: "^src/", pathNot: LAYERS.slice(0, index + 1).map(pattern) },
    })),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};
