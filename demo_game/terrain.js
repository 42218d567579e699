// @ts-check
/** Generates a heightfield with the terrain diffusion model and draws it; the only GPU code is the runtime's. */

import { load } from "@webinfer/runtime";
import { drawRelief } from "./relief.js";

const PACKAGE_URL = "/terrain.webinfer/";
const SIZE = 128;
/** The noise level that the one-step consistency model starts from. */
const SIGMA_MAX = 80;
/** The model was trained on heights h in metres as 2 * asinh(h / 0.1) / asinh(h_max / 0.1) - 1. */
const HEIGHT_MAX = 22.16864013671875;
const ASINH_SCALE = 0.1;

const body = document.body;
const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("view"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("controls"));
const difficulty = /** @type {HTMLInputElement} */ (document.getElementById("difficulty"));
const seed = /** @type {HTMLInputElement} */ (document.getElementById("seed"));
const button = /** @type {HTMLButtonElement} */ (document.getElementById("generate"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));

/**
 * Normal deviates from a seed: Box-Muller over the mulberry32 generator.
 * @param {number} count
 * @param {number} start
 */
function gaussian(count, start) {
  let state = start >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return Float32Array.from(
    { length: count },
    () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}

/**
 * Metres above the lowest point.
 * @param {Float32Array} values the model's output
 */
function toHeights(values) {
  const normalizer = Math.asinh(HEIGHT_MAX / ASINH_SCALE);
  const heights = values.map((v) => ASINH_SCALE * Math.sinh(Math.min(Math.max((v + 1) / 2, 0), 1) * normalizer));
  const lowest = heights.reduce((a, b) => Math.min(a, b), Infinity);
  return heights.map((h) => h - lowest);
}

/** @param {unknown} error */
function fail(error) {
  body.dataset.state = "failed";
  status.textContent = error instanceof Error ? error.message : String(error);
}

async function main() {
  const started = performance.now();
  const model = await load(PACKAGE_URL, {
    onProgress: ({ loadedBytes, totalBytes }) => {
      status.textContent = `Loading ${((100 * loadedBytes) / totalBytes).toFixed(0)} %`;
    },
  });
  const { adapter, tier } = model.info;
  const names = [adapter.vendor, adapter.architecture, adapter.device, adapter.description].filter(Boolean).join(" ");
  const place = (names || "an adapter that hides its name") + (adapter.isCpu ? " (a CPU)" : "");
  const loadMs = performance.now() - started;

  const generate = async () => {
    button.disabled = true;
    body.dataset.state = "running";
    status.textContent = "Generating…";
    const begun = performance.now();
    const outputs = await model.run({
      noisy: gaussian(SIZE * SIZE, Number(seed.value)).map((v) => v * SIGMA_MAX),
      sigma: Float32Array.of(SIGMA_MAX),
      difficulty: Float32Array.of((Number(difficulty.value) - 1) / 99),
    });
    const denoised = outputs.get("denoised");
    if (!denoised) throw new Error("the package has no output named denoised");
    const values = Float32Array.from(await denoised.read(), Number);
    const runMs = performance.now() - begun;
    if (!values.every(Number.isFinite)) throw new Error("the model gave values that are not finite");
    drawRelief(canvas, toHeights(values), SIZE);
    status.textContent =
      `Made on ${place}, tier ${tier}: ` +
      `${(runMs / 1000).toFixed(2)} s for this terrain, ${(loadMs / 1000).toFixed(1)} s to load.`;
    button.disabled = false;
    body.dataset.state = "done";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    generate().catch(fail);
  });
  await generate();
}

main().catch(fail);
