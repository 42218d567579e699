// ONNX Runtime Web's WebGPU execution provider behind the protocol that webinfer's own host answers.

import { ARRAYS, serve, uploaded } from "./protocol.mjs";

const models = new Map();
let ort;

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
  return {
    handle,
    tier: `onnxruntime-web ${version} webgpu`,
    reasons: [],
    timings: { load: performance.now() - start },
  };
}

async function run({ handle, feeds, dtypes, shapes, warmup = 0, repeat = 1, read = true }) {
  const model = models.get(handle);
  const inputs = {};
  for (const { name, data } of feeds) {
    inputs[name] = new ort.Tensor(dtypes[name], new ARRAYS[dtypes[name]](await uploaded(data)), shapes[name]);
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

await serve({ load, run });
