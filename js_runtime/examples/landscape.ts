// What the examples share: where the package is, its feeds over time, how the land looks, and the counter on the page.

import type { FrameScheduler, Model, Outputs, RunTensor } from "@webinfer/runtime";

const QUERY = new URLSearchParams(location.search);

/** `?package=` names another package that makes an image from noise. */
export const PACKAGE_URL = QUERY.get("package") ?? "../landscape.webinfer/";

/** Height of the land in the scene, where the land is 2 wide. */
export const RELIEF = 0.35;

/** Normal and height at a point of the land: the texel there and its four neighbours. */
export const LAND_WGSL = `
fn land(map: texture_2d<f32>, at: vec2f) -> vec4f {
  let last = vec2i(textureDimensions(map)) - 1;
  let texel = vec2i(round((at * 0.5 + 0.5) * vec2f(last)));
  let west = textureLoad(map, max(texel - vec2i(1, 0), vec2i(0)), 0).r;
  let east = textureLoad(map, min(texel + vec2i(1, 0), last), 0).r;
  let north = textureLoad(map, max(texel - vec2i(0, 1), vec2i(0)), 0).r;
  let south = textureLoad(map, min(texel + vec2i(0, 1), last), 0).r;
  let slope = vec2f(west - east, north - south) * vec2f(last) * ${String(RELIEF / 4)};
  return vec4f(normalize(vec3f(slope.x, 1.0, slope.y)), textureLoad(map, texel, 0).r);
}`;

/** Linear colour of the land by height and steepness: meadow, forest, rock, snow. */
export const COLOUR_WGSL = `
fn landColour(land: vec4f) -> vec3f {
  let low = mix(vec3f(0.30, 0.36, 0.10), vec3f(0.07, 0.16, 0.06), smoothstep(-0.7, 0.0, land.w));
  let high = mix(low, vec3f(0.85, 0.88, 0.95), smoothstep(0.25, 0.55, land.w));
  return mix(vec3f(0.21, 0.17, 0.15), high, smoothstep(0.65, 0.85, land.y));
}`;

/** Light for engines whose own materials are not used here. */
export const LIGHT_WGSL = `
fn landLight(land: vec4f) -> vec3f {
  let sun = max(dot(land.xyz, normalize(vec3f(0.6, 0.5, 0.3))), 0.0);
  return pow(landColour(land) * (vec3f(1.8, 1.6, 1.3) * sun + vec3f(0.26, 0.31, 0.4)), vec3f(1.0 / 2.2));
}`;

/** Of GPU time: `?budget=`, else 4; a CPU in the GPU's place takes long for a frame, inference gets its share of that. */
export function frameBudgetMs(model: Model): number {
  return Number(QUERY.get("budget") ?? (model.info.adapter.isCpu ? 40 : 4));
}

const SCALARS: Readonly<Record<string, number>> = { roughness: 0.55, sigma: 80, difficulty: 0.5 };

/** Runs the model again and again, a slice per frame, on noise that changes a little every time. */
export class Generator {
  /** The last result, in the model's own texture. */
  heights: GPUTexture | undefined;
  /** What it was made from. */
  readonly feeds: Readonly<Record<string, Float32Array<ArrayBuffer>>>;
  readonly #model: Model;
  readonly #noises: readonly { readonly to: Float32Array; readonly a: Float32Array; readonly b: Float32Array }[];
  #runs = 0;
  #frames = 0;
  #job: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(model: Model) {
    this.#model = model;
    const inputs = model.inputsAt({});
    this.feeds = Object.fromEntries(inputs.map((input) => [input.name, new Float32Array(size(input))]));
    const scale = inputs.some(({ name }) => name === "sigma") ? (SCALARS["sigma"] ?? 1) : 1;
    this.#noises = inputs.flatMap((input) => {
      const to = this.feeds[input.name];
      if (to === undefined) return [];
      if (input.shape.length < 4) to.fill(SCALARS[input.name] ?? 0.5);
      return input.shape.length < 4 ? [] : [{ to, a: normal(to.length, scale), b: normal(to.length, scale) }];
    });
  }

  /** The first landscape, whole. */
  async first(): Promise<GPUTexture> {
    this.#next();
    return this.#take(await this.#model.run(this.feeds, { textures: this.#textures }));
  }

  /** The next ones, in slices; `show` is called with each. */
  async run(scheduler: FrameScheduler, show: (heights: GPUTexture) => void): Promise<void> {
    while (!this.#stopped) {
      this.#next();
      const job = scheduler.add(this.#model.start(this.feeds, { textures: this.#textures }));
      this.#job = job.done;
      show(this.#take(await job.done));
    }
  }

  /** Resolves when the landscape on its way is shown; `feeds` are those that it was made from. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#job;
  }

  /** Call once a frame. */
  countFrame(): void {
    this.#frames += 1;
    const counter = document.querySelector("#counter");
    if (counter !== null) {
      counter.textContent = `frame ${String(this.#frames)} · landscape ${String(this.#runs)} · ${this.#model.info.tier}`;
    }
  }

  get device(): GPUDevice {
    return this.#model.device;
  }

  get counts(): { readonly frames: number; readonly runs: number } {
    return { frames: this.#frames, runs: this.#runs };
  }

  /** Normal numbers stay normal numbers on the way from one noise to the other. */
  #next(): void {
    const angle = this.#runs * 0.05;
    for (const { to, a, b } of this.#noises) {
      for (let i = 0; i < to.length; i += 1) to[i] = Math.cos(angle) * (a[i] ?? 0) + Math.sin(angle) * (b[i] ?? 0);
    }
  }

  get #textures(): Record<string, { readonly format: "r32float" }> {
    return { [this.#model.outputs[0]?.name ?? ""]: { format: "r32float" } };
  }

  #take(outputs: Outputs): GPUTexture {
    const [height] = outputs.values();
    if (height === undefined) throw new Error("the package has no output");
    this.#runs += 1;
    this.heights = height.texture();
    return this.heights;
  }
}

function size(input: RunTensor): number {
  return input.shape.reduce((product, extent) => product * extent, 1);
}

function normal(length: number, scale: number): Float32Array {
  return Float32Array.from({ length }, () => {
    return scale * Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  });
}
