// Puts the page together: renderer, world, model, screens; and says on the title what is going on.

import "./page/style.css";

import { Game, type GameState } from "./game.js";
import { reachOf } from "./land/mesh.js";
import { View } from "./land/view.js";
import { Hud } from "./page/hud.js";
import { Input } from "./page/input.js";
import { Screens } from "./page/screens.js";
import { readSettings, type Kept, type Settings } from "./page/settings.js";
import { Sound } from "./page/sound.js";
import { Stage } from "./page/stage.js";
import { probeOf } from "./probe_of.js";
import { PLANS } from "./quality.js";
import { CpuSurface } from "./world/cpu_surface.js";
import { GpuSurface } from "./world/gpu_surface.js";
import { ModelSource } from "./world/model_source.js";
import { parseSeed } from "./world/noise.js";
import { CELL_M } from "./world/shape.js";
import { HashSource } from "./world/source.js";
import { covering } from "./world/tiles.js";
import { World } from "./world/world.js";

const STORE_KEY = "farreach.settings";
/** Inference's share of a frame while the title shows, where nobody steers. */
const TITLE_BUDGET_MS = 60;
/** Without WebGPU the textures are uploaded whole: small ones. */
const WEBGL_CELLS = 512;

async function main(canvas: HTMLCanvasElement): Promise<void> {
  const settings = readSettings(location.search, localStorage.getItem(STORE_KEY));
  const faults: string[] = [];
  const seed = parseSeed(settings.seed);
  const sound = new Sound(!settings.sound);
  const hud = new Hud();
  const screens = new Screens(settings, {
    onGo: () => {
      game.go();
    },
    onRestart: () => {
      game.again();
    },
    onSettings: apply,
  });
  document.body.append(hud.root, screens.root);
  screens.progress("Starting the renderer", 0);
  const stage = await Stage.open(canvas, settings);
  const { bridge, renderer } = stage;
  const plan = bridge === undefined ? PLANS.low : PLANS[settings.quality];
  const surface =
    bridge === undefined
      ? new CpuSurface(seed, WEBGL_CELLS)
      : new GpuSurface(bridge.device, { ...plan, seed, wrap: (texture) => bridge.texture(texture) });
  /** From here on land comes from a hash; what is there stays. */
  const doWithout = (what: string, cause: unknown): void => {
    const text = `${what}: ${cause instanceof Error ? cause.message : String(cause)}`;
    faults.push(text);
    screens.notice(`${text} The land that is still missing is made of plain noise.`);
    world.source = new HashSource(seed);
  };
  const world: World = new World({
    ...{ seed, surface, slots: plan.slots, radius: reachOf(plan.shape), rise: plan.rise },
    onFault: (cause) => {
      doWithout("A tile could not be made", cause);
    },
  });
  const view = new View(surface, world.field, plan);
  const input = new Input(canvas, (command) => {
    game.command(command, ready());
  });
  input.bind(hud.boost, "boost");
  input.bind(hud.brake, "brake");
  hud.pause.addEventListener("click", () => {
    game.pause();
  });
  const frame = (now: number): void => {
    game.frame(now);
    if (game.state === "title") tell();
  };
  const game: Game = new Game({
    ...{ seed, world, view, renderer, hud, screens, input, sound },
    machine: () => ({
      ...{ sliceMs: stage.slices.predictedMs, budgetMs: stage.slices.budgetMs },
      ...{
        backend: probe.backend + (probe.tier === "" ? "" : `, ${probe.tier}`),
        reason: probe.reason,
        renderer: probe.renderer,
      },
    }),
    onState: (state: GameState) => {
      if (state === "flying") stage.start(frame, settings);
    },
  });
  const first = covering(game.start.x / CELL_M, game.start.z / CELL_M);
  const there = (): number => first.filter((tile) => world.has(tile)).length;
  const ready = (): boolean => there() === first.length;
  const probe = probeOf({ seed, game, world, stage, faults, ready });
  window.game = probe;

  /** What the title says. */
  const tell = (): void => {
    if (ready()) {
      screens.ready();
      screens.progress(`Ready. Land by ${probe.backend}.`, 1);
    } else if (world.source !== undefined) {
      screens.progress(`Making the first land, ${String(there())} of ${String(first.length)}`, there() / first.length);
    }
  };
  fit(canvas, renderer, view, settings);
  stage.start(frame, { budgetMs: TITLE_BUDGET_MS, minBudgetMs: TITLE_BUDGET_MS });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) game.pause();
  });
  void bridge?.device.lost.then(({ message }) => {
    faults.push(`The GPU device was lost: ${message}`);
    stage.stop();
    screens.show("over", "The GPU device was lost. Reload the page to fly on.");
  });

  if (!settings.inference) {
    world.source = new HashSource(seed);
    return;
  }
  try {
    const model = await stage.loadModel(settings, ({ loadedBytes, totalBytes }) => {
      const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
      screens.progress(
        `Loading the model, ${megabytes(loadedBytes)} of ${megabytes(totalBytes)} MB`,
        loadedBytes / totalBytes,
      );
    });
    screens.progress("Measuring the model", 1);
    // On a CPU that would take many seconds; its first tiles teach the same.
    const { backend, adapter } = model.info;
    if (backend === "webgpu" && !adapter.isCpu) await model.prepareSlices({ budgetMs: settings.budgetMs });
    world.source = new ModelSource(model, () => stage.scheduler, seed, bridge !== undefined);
  } catch (cause) {
    doWithout("The terrain model is not available", cause);
  }
}

function fit(canvas: HTMLCanvasElement, renderer: Stage["renderer"], view: View, { size, scale }: Settings): void {
  const resize = (): void => {
    const { width, height } = size ?? { width: innerWidth, height: innerHeight };
    renderer.setPixelRatio(size === undefined ? Math.min(devicePixelRatio, 2) * scale : 1);
    renderer.setSize(width, height, false);
    canvas.style.width = "100vw";
    canvas.style.height = "100vh";
    view.resize(width, height);
  };
  resize();
  addEventListener("resize", resize);
}

/** Keep the settings; the page begins again with them and without what the URL said. */
function apply(kept: Kept): void {
  localStorage.setItem(STORE_KEY, JSON.stringify(kept));
  location.assign(location.pathname);
}

const canvas = document.querySelector("canvas");
if (canvas === null) throw new Error("the page has no canvas");
main(canvas).catch((cause: unknown) => {
  const text = document.createElement("p");
  text.className = "panel";
  text.textContent = `The game could not start: ${cause instanceof Error ? cause.message : String(cause)}`;
  document.body.replaceChildren(text);
});
