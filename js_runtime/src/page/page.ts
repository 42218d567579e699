// The preview page: loads a package from this server, runs it on the visitor's GPU, shows results and cost.
//
// Query parameters: package (default /pkg/main/), tier, compat=1, cache=none, seed, value.INPUT, scale.INPUT, autorun=1,
// profile=1.
// A zipped package that is dropped on the page takes the place of the first one.
// With autorun the outcome is document.documentElement.dataset.state ("done" or "error") and window.__webinfer.

import { load, WebinferError, type Model, type ModelInfo, type OutputTensor, type PackageLocation } from "../index.js";
import { byId, element } from "./dom.js";
import { InputForm } from "./inputs.js";
import { outputFigure } from "./outputs.js";
import { adapterTable, badges, kernelTables, memoryTable, size } from "./report.js";

/** What a script that drives this page reads; all of it survives JSON. */
interface Outcome {
  readonly info?: ModelInfo;
  readonly wallMs?: number;
  readonly outputs: Record<
    string,
    { readonly dtype: string; readonly shape: readonly number[]; readonly base64: string }
  >;
  readonly error?: { readonly code: string; readonly message: string };
}

declare global {
  interface Window {
    __webinfer?: Outcome;
  }
}

type State = "loading" | "ready" | "running" | "done" | "error";

const query = new URLSearchParams(location.search);

function setState(state: State, text: string): void {
  document.documentElement.dataset["state"] = state;
  byId("status").textContent = text;
}

function fail(error: unknown): void {
  const code = error instanceof WebinferError ? error.code : "internal";
  const message = error instanceof Error ? error.message : String(error);
  window.__webinfer = { ...window.__webinfer, outputs: {}, error: { code, message } };
  setState("error", `${message} (${code})`);
}

function fillCard(id: string, content: readonly HTMLElement[]): void {
  const card = byId(id);
  card.hidden = false;
  card.querySelector("div")?.replaceChildren(...content);
}

/** The model on the page; a dropped package takes its place. */
let shown: Model | undefined;

async function start(location: PackageLocation): Promise<void> {
  setState("loading", "Loading…");
  shown?.dispose();
  shown = undefined;
  const progress = byId("progress") as HTMLProgressElement;
  const model = await load(location, {
    // The page is about kernels, their times and the tier.
    backend: "webgpu",
    tier: query.get("tier") ?? undefined,
    featureLevel: query.get("compat") === "1" ? "compatibility" : "core",
    cache: query.get("cache") === "none" ? "none" : "auto",
    onProgress: ({ loadedBytes, totalBytes, networkBytes }) => {
      progress.max = totalBytes;
      progress.value = loadedBytes;
      byId("status").textContent = `Loading: ${size(networkBytes)} over the network`;
    },
  });
  shown = model;
  byId("name").textContent = model.info.name;
  document.title = `${model.info.name} · webinfer`;
  byId("badges").replaceChildren(...badges(model.info));
  fillCard("adapter", adapterTable(model.info));
  fillCard("memory", memoryTable(model.memory(), model.info));
  const form = byId("inputs") as HTMLFormElement;
  form.replaceChildren();
  const inputs = new InputForm(form, model, query);
  const seed = element("input", { type: "number", min: "0", step: "1", value: query.get("seed") ?? "1" });
  const profile = element("input", { type: "checkbox", checked: query.get("profile") === "1" });
  const button = element("button", { type: "submit" }, "Run");
  form.append(
    element("label", {}, "seed", seed),
    element("label", { className: "check" }, profile, "measure time per kernel (one more run)"),
    button,
  );
  const runOnce = async (): Promise<void> => {
    button.disabled = true;
    try {
      await run(model, inputs, seed.valueAsNumber, profile.checked);
    } catch (error) {
      fail(error);
    } finally {
      button.disabled = false;
    }
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    void runOnce();
  };
  setState("ready", `Ready after ${(model.info.timings.totalMs / 1000).toFixed(1)} s`);
  if (query.get("autorun") === "1") await runOnce();
}

async function run(model: Model, inputs: InputForm, seed: number, withProfile: boolean): Promise<void> {
  setState("running", "Running…");
  const feeds = inputs.feeds(seed);
  const begin = performance.now();
  const outputs = await model.run(feeds);
  await model.device.queue.onSubmittedWorkDone();
  const wallMs = performance.now() - begin;
  const outcome: Outcome = { info: model.info, wallMs, outputs: {} };
  const figures: HTMLElement[] = [];
  for (const output of outputs.values()) {
    figures.push(outputFigure(output, await output.read()));
    outcome.outputs[output.name] = await packed(output);
  }
  byId("outputs").replaceChildren(...figures);
  if (withProfile) {
    setState("running", "Measuring the time per kernel…");
    fillCard("kernels", kernelTables(await model.profile(feeds)));
  }
  fillCard("memory", memoryTable(model.memory(), model.info));
  window.__webinfer = outcome;
  setState("done", `Run took ${wallMs < 1000 ? `${wallMs.toFixed(1)} ms` : `${(wallMs / 1000).toFixed(2)} s`}`);
}

async function packed(output: OutputTensor): Promise<Outcome["outputs"][string]> {
  const bytes = await output.readBytes();
  let binary = "";
  // In pieces: a call takes only so many arguments.
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return { dtype: output.dtype, shape: output.shape, base64: btoa(binary) };
}

addEventListener("dragover", (event) => {
  event.preventDefault();
});
addEventListener("drop", (event) => {
  event.preventDefault();
  const file = event.dataTransfer?.files[0];
  const busy = ["loading", "running"].includes(document.documentElement.dataset["state"] ?? "");
  if (file !== undefined && !busy) start(file).catch(fail);
});
start(query.get("package") ?? "/pkg/main/").catch(fail);
