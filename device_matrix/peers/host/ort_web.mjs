// ONNX Runtime Web's WebGPU execution provider behind the protocol that webinfer's own host answers.

const session = new URLSearchParams(location.search).get("session");
const compat = new URLSearchParams(location.search).has("compat");
const ARRAYS = {
  float32: Float32Array,
  float16: globalThis.Float16Array ?? Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

const models = new Map();
let ort;

async function post(message) {
  await fetch(`/result?session=${session}`, { method: "POST", body: JSON.stringify(message) });
}

async function greet() {
  const adapter = await navigator.gpu?.requestAdapter(compat ? { featureLevel: "compatibility" } : {});
  if (!adapter) {
    await post({ id: 0, ok: false, error: { code: "no-adapter", message: "requestAdapter returned null" } });
    return false;
  }
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  await post({
    id: 0,
    ok: true,
    value: {
      adapter: { vendor, architecture, device, description, isFallbackAdapter },
      features: [...adapter.features],
      limits: {},
      userAgent: navigator.userAgent,
    },
  });
  return true;
}

async function load({ package: path, file, dims }) {
  const start = performance.now();
  ort = await import("/ort/ort.webgpu.min.mjs");
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.logLevel = "error";
  const model = await ort.InferenceSession.create(`${path}${file}`, {
    executionProviders: ["webgpu"],
    freeDimensionOverrides: dims,
    // Outputs stay on the GPU, so that a run can be timed without its read-back, as webinfer's own is.
    preferredOutputLocation: "gpu-buffer",
  });
  const handle = models.size;
  models.set(handle, model);
  const version = ort.env.versions.web;
  return { handle, tier: `onnxruntime-web ${version} webgpu`, reasons: [], timings: { load: performance.now() - start } };
}

async function run({ handle, feeds, dtypes, shapes, warmup = 0, repeat = 1, read = true }) {
  const model = models.get(handle);
  const inputs = {};
  for (const { name, data } of feeds) {
    const bytes = await (await fetch(`/data/${data}`)).arrayBuffer();
    inputs[name] = new ort.Tensor(dtypes[name], new ARRAYS[dtypes[name]](bytes), shapes[name]);
  }
  const device = await ort.env.webgpu.device;
  const wallMs = [];
  let results;
  for (let i = 0; i < warmup + repeat; i++) {
    for (const tensor of Object.values(results ?? {})) tensor.dispose();
    const start = performance.now();
    results = await model.run(inputs);
    await device.queue.onSubmittedWorkDone();
    if (i >= warmup) wallMs.push(performance.now() - start);
  }
  const outputs = [];
  const start = performance.now();
  for (const [name, tensor] of Object.entries(results)) {
    if (read) outputs.push({ name, dtype: tensor.type, shape: tensor.dims, values: await tensor.getData() });
  }
  const readMs = performance.now() - start;
  for (const output of outputs) {
    output.data = crypto.randomUUID();
    const { buffer, byteOffset, byteLength } = output.values;
    delete output.values;
    await fetch(`/data/${output.data}`, { method: "POST", body: new Uint8Array(buffer, byteOffset, byteLength) });
  }
  for (const tensor of Object.values(results)) tensor.dispose();
  return { outputs, captured: [], wallMs, readMs };
}

const OPERATIONS = { load, run };

if (await greet()) {
  for (;;) {
    const response = await fetch(`/next?session=${session}`);
    if (response.status === 204) continue;
    const { id, op, ...args } = await response.json();
    try {
      await post({ id, ok: true, value: await OPERATIONS[op](args) });
    } catch (error) {
      await post({ id, ok: false, error: { code: "peer", message: String(error) } });
    }
  }
}
