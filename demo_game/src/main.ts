import { PerspectiveCamera, Scene, Vector3 } from "three/webgpu";
import { Land } from "./land/land.js";
import { air } from "./land/light.js";
import { reachOf } from "./land/mesh.js";
import { makeSky } from "./land/sky.js";
import { makeWater } from "./land/water.js";
import { readSettings } from "./page/settings.js";
import { Stage } from "./page/stage.js";
import { PLANS } from "./quality.js";
import { CpuSurface } from "./world/cpu_surface.js";
import { GpuSurface } from "./world/gpu_surface.js";
import { ModelSource } from "./world/model_source.js";
import { parseSeed } from "./world/noise.js";
import { CELL_M } from "./world/shape.js";
import { HashSource } from "./world/source.js";
import { World } from "./world/world.js";

async function main(): Promise<void> {
  const settings = readSettings(location.search, null);
  const canvas = document.querySelector("canvas") as HTMLCanvasElement;
  const stage = await Stage.open(canvas, settings);
  const plan = PLANS[settings.quality];
  const { renderer, bridge } = stage;
  const size = settings.size ?? { width: innerWidth, height: innerHeight };
  renderer.setSize(size.width, size.height);
  const seed = parseSeed(settings.seed);
  const surface = bridge
    ? new GpuSurface(bridge.device, { seed, cells: plan.cells, slots: plan.slots, wrap: (t) => bridge.texture(t) })
    : new CpuSurface(seed, 512);
  const radius = reachOf(plan.shape);
  const world = new World({ seed, surface, slots: plan.slots, radius, rise: plan.rise, onFault: (c) => { console.error(c); world.source = undefined; } });
  const scene = new Scene();
  const camera = new PerspectiveCamera(65, size.width / size.height, 1, radius * CELL_M * 3);
  const land = new Land(surface, { shape: plan.shape, detail: plan.detail });
  const sky = makeSky(radius * CELL_M * 2, plan.detail);
  const water = makeWater(surface, radius * CELL_M * 1.1);
  scene.add(land.mesh, sky, water);
  air.range.value = radius * CELL_M;
  const eye = new Vector3(64 * CELL_M, 90, 64 * CELL_M);
  let last = 0;
  const times: number[] = [];
  const stats = { world, eye, times, errors: [] as string[], stage, yaw: 0, pitch: -0.15, speed: 0 };
  (window as unknown as { game: unknown }).game = stats;
  stage.start((now) => {
    const dt = Math.min((now - last) / 1000, 0.1);
    times.push(now - last);
    last = now;
    air.seconds.value = now / 1000;
    eye.x += Math.sin(stats.yaw) * stats.speed * dt; eye.z -= Math.cos(stats.yaw) * stats.speed * dt;
    camera.position.copy(eye);
    camera.rotation.set(stats.pitch, -stats.yaw, 0, "YXZ");
    world.update({ x: eye.x / CELL_M, z: eye.z / CELL_M, forwardX: Math.sin(stats.yaw), forwardZ: -Math.cos(stats.yaw) }, dt);
    land.update(eye, eye, 0);
    sky.position.copy(eye); water.position.x = eye.x; water.position.z = eye.z;
    renderer.render(scene, camera);
  }, settings.budgetMs);
  if (!settings.inference) world.source = new HashSource(seed);
  else {
    const model = await stage.loadModel(settings, () => undefined);
    world.source = new ModelSource(model, () => stage.scheduler, seed, bridge !== undefined);
  }
}
void main();
