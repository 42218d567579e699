// Babylon.js: a plane displaced and lit by a texture that is the model's own memory.

import { FrameScheduler, load, Package, requirements } from "@webinfer/runtime";
import { BabylonBridge, engineOptions } from "@webinfer/runtime/babylon";
import { FreeCamera } from "@babylonjs/core/Cameras/freeCamera.js";
import { WebGPUEngine } from "@babylonjs/core/Engines/webgpuEngine.js";
import { ShaderLanguage } from "@babylonjs/core/Materials/shaderLanguage.js";
import { ShaderMaterial } from "@babylonjs/core/Materials/shaderMaterial.js";
import { BaseTexture } from "@babylonjs/core/Materials/Textures/baseTexture.js";
import { Color4 } from "@babylonjs/core/Maths/math.color.js";
import { Vector3 } from "@babylonjs/core/Maths/math.vector.js";
import { CreateGround } from "@babylonjs/core/Meshes/Builders/groundBuilder.js";
import { Scene } from "@babylonjs/core/scene.js";

import { COLOUR_WGSL, frameBudgetMs, Generator, LAND_WGSL, LIGHT_WGSL, PACKAGE_URL, RELIEF } from "../landscape.js";

const VERTEX = `
attribute position: vec3f;
uniform viewProjection: mat4x4f;
var map: texture_2d<f32>;
varying surface: vec4f;
${LAND_WGSL}
@vertex
fn main(input: VertexInputs) -> FragmentInputs {
  let at = vertexInputs.position.xz;
  let found = land(map, at);
  vertexOutputs.surface = found;
  vertexOutputs.position = uniforms.viewProjection * vec4f(at.x, found.w * ${String(RELIEF)}, at.y, 1.0);
}`;
const FRAGMENT = `
varying surface: vec4f;
${COLOUR_WGSL}
${LIGHT_WGSL}
@fragment
fn main(input: FragmentInputs) -> FragmentOutputs {
  let found = fragmentInputs.surface;
  fragmentOutputs.color = vec4f(landLight(vec4f(normalize(found.xyz), found.w)), 1.0);
}`;

const canvas = document.querySelector("canvas");
if (canvas === null) throw new Error("the page has no canvas");
const source = await Package.open(PACKAGE_URL);
const engine = new WebGPUEngine(canvas, engineOptions(await requirements(source), { antialias: true }));
await engine.initAsync();
const bridge = new BabylonBridge(engine, { BaseTexture });
const model = await load(source, { backend: "webgpu", device: bridge.device, recover: bridge.recover });
const budgetMs = frameBudgetMs(model);
await model.prepareSlices({ budgetMs });
const scheduler = new FrameScheduler(bridge.device, { budgetMs, minBudgetMs: budgetMs / 2 });
const generator = new Generator(model);

const scene = new Scene(engine);
scene.clearColor = new Color4(0.616, 0.722, 0.839, 1);
const camera = new FreeCamera("camera", Vector3.Zero(), scene);
camera.fov = (50 * Math.PI) / 180;
camera.minZ = 0.05;
camera.maxZ = 10;
const material = new ShaderMaterial(
  "land",
  scene,
  { vertexSource: VERTEX, fragmentSource: FRAGMENT },
  {
    attributes: ["position"],
    uniforms: ["viewProjection"],
    samplers: ["map"],
    shaderLanguage: ShaderLanguage.WGSL,
  },
);
let texture: BaseTexture;
function show(heights: GPUTexture): void {
  texture = bridge.texture(heights);
  material.setTexture("map", texture);
}
show(await generator.first());
CreateGround("land", { width: 2, height: 2, subdivisions: 127 }, scene).material = material;

bridge.run(scheduler);
engine.runRenderLoop(() => {
  const angle = performance.now() / 9000;
  camera.position.set(1.25 * Math.sin(angle), 0.75, 1.25 * Math.cos(angle));
  camera.setTarget(new Vector3(0, -0.1, 0));
  scene.render();
  generator.countFrame();
});
addEventListener("resize", () => {
  engine.resize();
});

/** For the browser test, and for the curious. */
Object.assign(globalThis, {
  example: {
    generator,
    engine,
    shown: () => texture.getInternalTexture()?._hardwareTexture?.underlyingResource as GPUTexture,
  },
});
await generator.run(scheduler, show);
