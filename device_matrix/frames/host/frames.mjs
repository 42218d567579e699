// Renders a scene and records when its frames begin, alone and while a runtime infers: commands of webinfer bench --frames.

import { ARRAYS, serve, uploaded } from "/peers/host/protocol.mjs";
import { FrameScheduler, load, requirements } from "/runtime/index.js";

import { createScene } from "./scene.mjs";

/** Called in every frame after the scene has been rendered. */
let inFrame = () => undefined;
let frames = [];
let device;

async function tensors(feeds) {
  const made = {};
  for (const { name, data, dtype } of feeds) {
    made[name] = new ARRAYS[dtype](await uploaded(data));
  }
  return made;
}

/** Begin to render, on a device that the package's programs run on. */
async function render({ package: path }) {
  const adapter = await navigator.gpu.requestAdapter();
  device = await adapter.requestDevice(await requirements(path));
  const draw = await createScene(document.getElementById("canvas"), device);
  const frame = (now) => {
    requestAnimationFrame(frame);
    frames.push(performance.now());
    draw(now / 1000);
    inFrame(now);
  };
  requestAnimationFrame(frame);
  return {};
}

const models = {};

/** The package, ready for slices. */
async function loadOwn({ package: path, feeds, tier, budgetMs }) {
  const inputs = await tensors(feeds);
  const slices = [];
  const telemetry = { emit: (event) => (event.type === "slice" || event.type === "frame") && slices.push(event) };
  const model = await load(path, { device, tier: tier ?? undefined, telemetry, backend: "webgpu" });
  await model.run(inputs);
  await model.prepareSlices({ budgetMs });
  // From now on in every frame, as in a game: without jobs it learns what the renderer takes by itself.
  const scheduler = new FrameScheduler(device, { budgetMs, telemetry });
  inFrame = (now) => scheduler.frame({ now });
  models.webinfer = () => {
    slices.length = 0;
    let runs = 0;
    let stopped = false;
    const next = () => {
      if (stopped) return;
      const job = scheduler.add(model.start(inputs));
      job.done.then(() => (runs += 1)).then(next, () => undefined);
    };
    next();
    return () => {
      stopped = true;
      for (const job of scheduler.jobs) job.cancel();
      return { runs, events: slices.splice(0) };
    };
  };
  return { tier: model.info.tier, version: "webinfer" };
}

/** ONNX Runtime Web's WebGPU, on the page's device if it has one and that is taken. */
async function loadPeer({ model: file, feeds, dims }) {
  const ort = await import("/ort/ort.webgpu.min.mjs");
  ort.env.wasm.wasmPaths = "/ort/";
  ort.env.logLevel = "error";
  const create = (provider) =>
    ort.InferenceSession.create(file, {
      executionProviders: [provider],
      freeDimensionOverrides: dims,
      preferredOutputLocation: "gpu-buffer",
    });
  let used = device;
  const own = async () => {
    const created = await create("webgpu");
    used = await ort.env.webgpu.device;
    return created;
  };
  const model = await (device ? create({ name: "webgpu", device }).catch(own) : own());
  const arrays = await tensors(feeds);
  const inputs = {};
  for (const { name, dtype, shape } of feeds) inputs[name] = new ort.Tensor(dtype, arrays[name], shape);
  const run = async () => {
    const results = await model.run(inputs);
    await used.queue.onSubmittedWorkDone();
    for (const tensor of Object.values(results)) tensor.dispose();
  };
  await run();
  models["ort-web"] = () => {
    let runs = 0;
    let stopped = false;
    const loop = async () => {
      while (!stopped) {
        await run();
        runs += 1;
      }
    };
    const ended = loop();
    return async () => {
      stopped = true;
      // The run under way counts by its part in vain: there is no way to stop it.
      await ended;
      return { runs, events: [] };
    };
  };
  return {
    tier: used === device ? "the page's device" : "its own device",
    version: `onnxruntime-web ${ort.env.versions.web}`,
  };
}

async function measure({ contender, seconds }) {
  const stop = contender === "none" ? () => ({ runs: 0, events: [] }) : models[contender]();
  frames = [];
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const recorded = frames;
  return { frames: recorded, ...(await stop()) };
}

const SETTLE_MS = 10_000;

async function until(condition) {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Record a built page that says by `window.game` when it is ready, and that flies by itself. */
async function play({ contender, seconds, query }) {
  const frame = document.createElement("iframe");
  Object.assign(frame, { width: 480, height: 270, src: `/scene/index.html?${query}` });
  document.body.replaceChildren(frame);
  await until(() => frame.contentWindow.game?.ready);
  const page = frame.contentWindow;
  page.game.autopilot = true;
  page.dispatchEvent(new page.KeyboardEvent("keydown", { code: "Enter", key: "Enter", bubbles: true }));
  await until(() => page.game.state === "flying");
  // What is left to make at the start of a flight is no part of the turn, where it is made soon.
  const flown = performance.now();
  await until(() => page.game.waiting === 0 || performance.now() - flown > SETTLE_MS);
  const made = page.game.made;
  const stop = models[contender]?.();
  const begins = [];
  let recording = true;
  const note = () => {
    if (recording) page.requestAnimationFrame(note);
    begins.push(performance.now());
  };
  page.requestAnimationFrame(note);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  recording = false;
  const { runs } = (await stop?.()) ?? { runs: page.game.made - made };
  const { faults, backend } = page.game;
  document.body.replaceChildren();
  if (faults.length > 0) throw new Error(`the page: ${faults.join("; ")}`);
  return { frames: begins, events: [], runs, backend };
}

/** Frames while a runtime loads and runs for the first time. */
async function recorded(work) {
  frames = [];
  const value = await work();
  return { ...value, frames };
}

await serve({
  render,
  measure,
  play,
  load: (args) => recorded(() => (args.contender === "webinfer" ? loadOwn(args) : loadPeer(args))),
});
