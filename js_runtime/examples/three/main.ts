// three.js: a plane displaced and lit by a texture that is the model's own memory.

import { FrameScheduler, load, Package, requirements } from "@webinfer/runtime";
import { rendererParameters, ThreeBridge } from "@webinfer/runtime/three";
import {
  Color,
  DirectionalLight,
  ExternalTexture,
  Fog,
  HemisphereLight,
  Mesh,
  MeshStandardNodeMaterial,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  WebGPURenderer,
  type Node,
} from "three/webgpu";
import { positionGeometry, texture, transformNormalToView, varying, vec3, wgslFn } from "three/tsl";

import { COLOUR_WGSL, frameBudgetMs, Generator, LAND_WGSL, PACKAGE_URL, RELIEF } from "../landscape.js";

const canvas = document.querySelector("canvas") ?? undefined;
const source = await Package.open(PACKAGE_URL);
const renderer = new WebGPURenderer(rendererParameters(await requirements(source), { antialias: true, canvas }));
await renderer.init();
const bridge = new ThreeBridge(renderer, { ExternalTexture });
const model = await load(source, { backend: "webgpu", device: bridge.device });
const budgetMs = frameBudgetMs(model);
await model.prepareSlices({ budgetMs });
const scheduler = new FrameScheduler(bridge.device, { budgetMs, minBudgetMs: budgetMs / 2 });
const generator = new Generator(model);

const backend = renderer.backend as unknown as { get(texture: unknown): { texture: GPUTexture } };
const map = texture(bridge.texture(await generator.first()));
const material = new MeshStandardNodeMaterial({ roughness: 0.95 });
const land = varying(wgslFn(LAND_WGSL)({ map, at: positionGeometry.xz }) as Node<"vec4">);
material.positionNode = positionGeometry.add(vec3(0, land.w.mul(RELIEF), 0));
material.normalNode = transformNormalToView(land.xyz).normalize();
material.colorNode = wgslFn(COLOUR_WGSL)({ land }) as Node<"vec3">;

const scene = new Scene();
scene.background = new Color(0x9db8d6);
scene.fog = new Fog(0x9db8d6, 1.2, 3.2);
scene.add(new Mesh(new PlaneGeometry(2, 2, 127, 127).rotateX(-Math.PI / 2), material));
const sun = new DirectionalLight(0xfff0d8, 4);
sun.position.set(0.6, 0.5, 0.3);
scene.add(sun, new HemisphereLight(0xbfd4ee, 0x4a4238, 1.7));
const camera = new PerspectiveCamera(50, 1, 0.05, 10);

function resize(): void {
  renderer.setSize(innerWidth, innerHeight);
  camera.aspect = innerWidth / innerHeight;
  camera.updateProjectionMatrix();
}
addEventListener("resize", resize);
resize();

await renderer.setAnimationLoop((now: number) => {
  const angle = now / 9000;
  camera.position.set(1.25 * Math.sin(angle), 0.75, 1.25 * Math.cos(angle));
  camera.lookAt(0, -0.1, 0);
  renderer.render(scene, camera);
  generator.countFrame();
});
bridge.run(scheduler);

/** For the browser test, and for the curious. */
Object.assign(globalThis, {
  example: { generator, shown: () => backend.get(map.value).texture },
});
await generator.run(scheduler, (heights) => {
  map.value = bridge.texture(heights);
});
