// PlayCanvas: a plane displaced and lit by a texture that is the model's own memory.

import { FrameScheduler, load, Package, requirements } from "@webinfer/runtime";
import { deviceOptions, PlayCanvasBridge } from "@webinfer/runtime/playcanvas";
import {
  AppBase,
  AppOptions,
  CameraComponentSystem,
  Color,
  createGraphicsDevice,
  Entity,
  FILLMODE_FILL_WINDOW,
  Mesh,
  MeshInstance,
  PlaneGeometry,
  RenderComponentSystem,
  RESOLUTION_AUTO,
  SEMANTIC_POSITION,
  ShaderMaterial,
  Texture,
  Vec2,
} from "playcanvas";

import { COLOUR_WGSL, frameBudgetMs, Generator, LAND_WGSL, LIGHT_WGSL, PACKAGE_URL, RELIEF } from "../landscape.js";

const VERTEX = `
attribute vertex_position: vec3f;
uniform matrix_viewProjection: mat4x4f;
var map: texture_2d<uff>;
varying surface: vec4f;
${LAND_WGSL}
@vertex
fn vertexMain(input: VertexInput) -> VertexOutput {
  var output: VertexOutput;
  let at = input.vertex_position.xz;
  output.surface = land(map, at);
  output.position = uniform.matrix_viewProjection * vec4f(at.x, output.surface.w * ${String(RELIEF)}, at.y, 1.0);
  return output;
}`;
const FRAGMENT = `
varying surface: vec4f;
${COLOUR_WGSL}
${LIGHT_WGSL}
@fragment
fn fragmentMain(input: FragmentInput) -> FragmentOutput {
  var output: FragmentOutput;
  output.color = vec4f(landLight(vec4f(normalize(input.surface.xyz), input.surface.w)), 1.0);
  return output;
}`;

const canvas = document.querySelector("canvas");
if (canvas === null) throw new Error("the page has no canvas");
const source = await Package.open(PACKAGE_URL);
const graphics = await createGraphicsDevice(canvas, deviceOptions(await requirements(source), { antialias: true }));
const options = new AppOptions();
options.graphicsDevice = graphics;
options.componentSystems = [RenderComponentSystem, CameraComponentSystem];
const app = new AppBase(canvas);
app.init(options);
app.setCanvasFillMode(FILLMODE_FILL_WINDOW);
app.setCanvasResolution(RESOLUTION_AUTO);

const bridge = new PlayCanvasBridge(app, { Texture });
const model = await load(source, { backend: "webgpu", device: bridge.device, recover: bridge.recover });
const budgetMs = frameBudgetMs(model);
await model.prepareSlices({ budgetMs });
const scheduler = new FrameScheduler(bridge.device, { budgetMs, minBudgetMs: budgetMs / 2 });
const generator = new Generator(model);

const material = new ShaderMaterial({
  uniqueName: "land",
  vertexWGSL: VERTEX,
  fragmentWGSL: FRAGMENT,
  attributes: { vertex_position: SEMANTIC_POSITION },
});
function show(heights: GPUTexture): void {
  material.setParameter("map", bridge.texture(heights));
}
show(await generator.first());

const plane = new PlaneGeometry({ halfExtents: new Vec2(1, 1), widthSegments: 127, lengthSegments: 127 });
const ground = new Entity("land");
ground.addComponent("render", { meshInstances: [new MeshInstance(Mesh.fromGeometry(graphics, plane), material)] });
app.root.addChild(ground);
const camera = new Entity("camera");
camera.addComponent("camera", { clearColor: new Color(0.616, 0.722, 0.839), fov: 50, nearClip: 0.05, farClip: 10 });
app.root.addChild(camera);

app.on("update", () => {
  const angle = performance.now() / 9000;
  camera.setPosition(1.25 * Math.sin(angle), 0.75, 1.25 * Math.cos(angle));
  camera.lookAt(0, -0.1, 0);
  generator.countFrame();
});
bridge.run(scheduler);
app.start();

/** For the browser test, and for the curious. */
Object.assign(globalThis, {
  example: {
    generator,
    engine: app,
    shown: () => (material.getParameter("map") as { data: { impl: { gpuTexture: GPUTexture } } }).data.impl.gpuTexture,
  },
});
await generator.run(scheduler, show);
