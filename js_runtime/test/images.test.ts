// Images in and out on Dawn: the numbers of ONNX Runtime, whether a model's kernels take the texels or a conversion does.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import {
  deviceMemory,
  load,
  type Feeds,
  type ImageUse,
  type LoadOptions,
  type Model,
  type Outputs,
  type OutputTensor,
  type RunOptions,
  type RuntimeEvent,
} from "../src/index.js";
import { CountingDevice } from "./counting.js";
import { gameDevice } from "./dawn.js";
import { failure } from "./golden.js";
import { ImageModels, type ImageCase } from "./image_models.js";

const TEXTURE = { COPY_SRC: 1, COPY_DST: 2, BINDING: 4, STORAGE: 8 };

let models: ImageModels;
let device: GPUDevice;
const open: Model[] = [];
beforeAll(async () => {
  models = new ImageModels();
  device = await gameDevice();
});
afterEach(() => {
  for (const model of open.splice(0)) model.dispose();
});
afterAll(() => {
  models.dispose();
  device.destroy();
});

async function openModel(name: string, options: LoadOptions = {}): Promise<Model> {
  const model = await load(models.files(name), { device, backend: "webgpu", tier: "fp32-register", ...options });
  open.push(model);
  return model;
}

function texture(
  data: Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>,
  [height, width]: readonly [number, number],
  format: GPUTextureFormat,
  on = device,
): GPUTexture {
  const size = { width, height };
  const made = on.createTexture({ size, format, usage: TEXTURE.BINDING | TEXTURE.COPY_DST });
  on.queue.writeTexture({ texture: made }, data, { bytesPerRow: data.byteLength / height }, size);
  return made;
}

function picture({ pixels, size }: ImageCase, on = device): GPUTexture {
  return texture(Uint8Array.from(pixels), size, "rgba8unorm", on);
}

/** The model's only input. */
function feed(model: Model, value: Feeds[string]): Feeds {
  return { [model.inputs[0]?.name ?? ""]: value };
}

async function run(
  model: Model,
  feeds: Feeds,
  options: RunOptions = {},
): Promise<{ outputs: Outputs; images: readonly ImageUse[] }> {
  const job = model.start(feeds, options);
  await job.started;
  while (job.state === "running") await job.step({ budgetMs: 100, divideAboveMs: Infinity }).finished;
  return { outputs: await job.done, images: job.images };
}

function output(outputs: Outputs, name: string): OutputTensor {
  const found = outputs.get(name);
  if (found === undefined) throw new Error(`no output ${name}`);
  return found;
}

function ways(images: readonly ImageUse[]): Readonly<Record<string, string>> {
  return Object.fromEntries(images.map(({ tensor, way }) => [tensor, way]));
}

/** Texels in rows, as numbers. */
async function texels(from: GPUTexture): Promise<readonly number[]> {
  const { width, height, format } = from;
  const channels = format === "r32float" ? 1 : 4;
  const bytes = width * (format === "rgba16float" ? 8 : 4);
  const bytesPerRow = Math.ceil(bytes / 256) * 256;
  const buffer = device.createBuffer({ size: bytesPerRow * height, usage: 0x1 | 0x8 });
  const encoder = device.createCommandEncoder();
  encoder.copyTextureToBuffer({ texture: from }, { buffer, bytesPerRow }, { width, height });
  device.queue.submit([encoder.finish()]);
  await buffer.mapAsync(0x1);
  const data = new DataView(buffer.getMappedRange());
  const values: number[] = [];
  for (let y = 0; y < height; y += 1) {
    for (let i = 0; i < width * channels; i += 1) {
      const at = y * bytesPerRow;
      if (format === "r32float") values.push(data.getFloat32(at + 4 * i, true));
      else if (format === "rgba8unorm") values.push(data.getUint8(at + i));
      else values.push(half(data.getUint16(at + 2 * i, true)));
    }
  }
  buffer.destroy();
  return values;
}

function half(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, bits & 1023];
  const size = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return sign === 1 ? -size : size;
}

function expectClose(found: ArrayLike<number | bigint>, expected: readonly number[], tolerance: number): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    const error = Math.abs(Number(found[index]) - value);
    // Written so that NaN fails.
    expect(error <= tolerance, `element ${String(index)}: ${String(found[index])}, ${String(value)}`).toBe(true);
  }
}

describe("inputs", () => {
  test.each([
    ["gray", "fused", 2e-6],
    ["half", "fused", 2e-3],
    ["photo", "fused", 2e-5],
    ["bgr", "fused", 2e-6],
    ["shrunk", "converted", 2e-5],
    ["grown", "converted", 2e-6],
    ["bytes", "converted", 0],
    ["any", "fused", 1e-6],
  ])("%s: a texture becomes what ONNX Runtime gets, %s", async (name, way, tolerance) => {
    const made = models.case(name);
    const model = await openModel(made.model);
    const feeds = feed(model, { texture: picture(made), ...made.options });
    const { outputs, images } = await run(model, feeds);
    expect(images.map((use) => use.way)).toEqual([way]);
    const found = new Map<string, Uint8Array>();
    for (const [wanted, { shape, values }] of Object.entries(made.outputs)) {
      const tensor = output(outputs, wanted);
      expect(tensor.shape).toEqual(shape);
      expectClose(await tensor.read(), values, tolerance);
      found.set(wanted, await tensor.readBytes());
    }
    // A capture converts every image: the same numbers to the bit.
    for (const { name: captured, bytes } of await model.capture(feeds, [...found.keys()])) {
      expect(bytes).toEqual(found.get(captured));
    }
  });

  test("float textures are read as they are, and gray from their only channel", async () => {
    const made = models.case("gray");
    const model = await openModel("curve");
    const values = Float32Array.from({ length: 48 }, (_, index) => Math.sin(index));
    const expected = [...values].map((value) => Math.tanh(value * 1.5 + 0.25));
    const single = await run(model, feed(model, { texture: texture(values, made.size, "r32float") }));
    expectClose(await output(single.outputs, "y").read(), expected, 2e-6);
    const ones = Uint16Array.from({ length: 48 * 4 }, () => 0x3c00);
    const wide = await run(model, feed(model, { texture: texture(ones, made.size, "rgba16float"), mean: 0.5, std: 2 }));
    expectClose(
      await output(wide.outputs, "y").read(),
      expected.map(() => Math.tanh(0.25 * 1.5 + 0.25)),
      2e-6,
    );
  });

  test("ImageData goes through a texture of the model's, made again where its size changes", async () => {
    const model = await openModel("any");
    for (const name of ["any", "photo", "any"]) {
      const { size, pixels } = models.case(name);
      const [height, width] = size;
      const image = { data: Uint8ClampedArray.from(pixels), width, height, colorSpace: "srgb" } as ImageData;
      const { outputs, images } = await run(model, feed(model, { image }));
      expect(ways(images)).toEqual({ image: "fused" });
      const doubled = output(outputs, "doubled");
      expect(doubled.shape).toEqual([1, 3, height, width]);
      const planes = [0, 1, 2].flatMap((c) => pixels.filter((_, at) => at % 4 === c).map((value) => (value / 255) * 2));
      expectClose(await doubled.read(), planes, 1e-6);
    }
    expect(model.memory().byKind.input.buffers).toBe(2);
  });
});

describe("outputs", () => {
  test.each([
    ["r32float", false, "fused"],
    ["rgba8unorm", false, "fused"],
    ["rgba16float", false, "fused"],
    ["r32float", true, "converted"],
    ["rgba8unorm", true, "converted"],
    ["rgba16float", true, "converted"],
  ] as const)("one channel as %s, buffer as well: %s", async (format, buffer, way) => {
    const made = models.case("gray");
    const model = await openModel("curve");
    const textures = { y: { format, scale: 0.5, offset: 0.25, buffer } };
    const { outputs, images } = await run(model, feed(model, { texture: picture(made) }), { textures });
    expect(ways(images)).toEqual({ x: "fused", y: way });
    const y = output(outputs, "y");
    const values = made.outputs["y"]?.values.map((value) => value * 0.5 + 0.25) ?? [];
    expect([y.texture().width, y.texture().height]).toEqual([8, 6]);
    const found = await texels(y.texture());
    if (format === "r32float") expectClose(found, values, 2e-6);
    else if (format === "rgba8unorm")
      expectClose(
        found,
        values.flatMap((v) => [v, v, v, 1]).map((v) => v * 255),
        0.51,
      );
    else
      expectClose(
        found,
        values.flatMap((v) => [v, v, v, 1]),
        1e-3,
      );
    if (buffer) expectClose(await y.read(), made.outputs["y"]?.values ?? [], 2e-6);
    else expect((await failure(() => y.read())).code).toBe("no-buffer");
  });

  test("four channels side by side are whole texels, planes are not", async () => {
    const made = models.case("photo");
    const model = await openModel("photo");
    const textures = { features: { layout: "nhwc", scale: 0.125 }, negative: { format: "rgba8unorm" } } as const;
    const feeds = feed(model, { texture: picture(made), ...made.options });
    const { outputs, images } = await run(model, feeds, { textures });
    expect(ways(images)).toEqual({ image: "fused", features: "fused", negative: "converted" });
    const { features, negative } = made.outputs;
    expect(output(outputs, "features").texture().format).toBe("rgba16float");
    expectClose(
      await texels(output(outputs, "features").texture()),
      features?.values.map((value) => value / 8) ?? [],
      2e-3,
    );
    const planes = negative?.values ?? [];
    const bytes = Array.from({ length: 35 }, (_, at) => [planes[at], planes[at + 35], planes[at + 70], 1]).flat();
    expectClose(
      await texels(output(outputs, "negative").texture()),
      bytes.map((value) => Math.min(Math.max(value ?? NaN, 0), 1) * 255),
      0.51,
    );
  });

  test("16-bit and 8-bit elements become texels", async () => {
    const small = await openModel("half");
    const values = models.case("half").outputs["y"]?.values ?? [];
    for (const buffer of [false, true]) {
      const feeds = feed(small, { texture: picture(models.case("half")) });
      const { outputs } = await run(small, feeds, { textures: { y: { buffer } } });
      expectClose(await texels(output(outputs, "y").texture()), values, 2e-3);
    }
    const made = models.case("bytes");
    const model = await openModel("bytes");
    const textures = { brighter: { format: "rgba8unorm", layout: "nhwc" } } as const;
    const { outputs } = await run(model, feed(model, { texture: picture(made), ...made.options }), { textures });
    const brighter = made.outputs["brighter"]?.values ?? [];
    const rgba = Array.from({ length: 35 }, (_, at) => [...brighter.slice(at * 3, at * 3 + 3), 255]).flat();
    expectClose(await texels(output(outputs, "brighter").texture()), rgba, 0);
  });

  test("a texture of one run may be the input of the next, even of the same dispatch", async () => {
    const model = await openModel("curve");
    const made = models.case("gray");
    const textures = { y: {} };
    const first = await run(model, feed(model, { texture: picture(made) }), { textures });
    const y = output(first.outputs, "y").texture();
    const { outputs, images } = await run(model, feed(model, { texture: y }), { textures });
    expect(ways(images)).toEqual({ x: "converted", y: "fused" });
    expect(output(outputs, "y").texture()).toBe(y);
    const expected = made.outputs["y"]?.values.map((value) => Math.tanh(value * 1.5 + 0.25)) ?? [];
    expectClose(await texels(y), expected, 2e-6);
  });

  test("several steps: the last one's output, after values were carried in buffers", async () => {
    const model = await openModel("any");
    const made = models.case("any");
    const job = model.startSteps({
      steps: 3,
      feeds: () => feed(model, { texture: picture(made) }),
      carry: { doubled: "image" },
      textures: { doubled: { format: "rgba16float" } },
    });
    for (let guard = 0; guard < 100 && (job.state === "queued" || job.state === "running"); guard += 1) {
      await job.started;
      await job.step({ budgetMs: 100 }).finished;
    }
    const found = await texels(output(await job.done, "doubled").texture());
    expect(job.images.map(({ way }) => way)).toEqual(["converted", "converted"]);
    const expected = made.pixels.map((value, at) => (at % 4 === 3 ? 1 : (value / 255) * 8));
    expectClose(found, expected, 4e-3);
  });
});

describe("work", () => {
  test("fusion adds no dispatch, a conversion adds one", async () => {
    const counted = await gameDevice();
    const dispatches = countDispatches(counted);
    const model = await openModel("curve", { device: counted });
    const made = models.case("gray");
    const count = async (feeds: Feeds, options?: RunOptions): Promise<number> => {
      const before = dispatches();
      await model.run(feeds, options);
      return dispatches() - before;
    };
    const image = { texture: picture(made, counted) };
    expect(await count(feed(model, new Float32Array(48)))).toBe(1);
    expect(await count(feed(model, image))).toBe(1);
    expect(await count(feed(model, image), { textures: { y: {} } })).toBe(1);
    expect(await count(feed(model, image), { textures: { y: { buffer: true } } })).toBe(2);
    const larger = { texture: picture(models.case("any"), counted) };
    expect(await count(feed(model, larger), { textures: { y: { buffer: true } } })).toBe(3);
    model.dispose();
    counted.destroy();
  });

  test("nothing is made for a texture that comes again, and memory is flat", async () => {
    const counting = await CountingDevice.make();
    const model = await openModel("curve", { device: counting.device });
    const gray = models.case("gray");
    const pictures = [picture(gray, counting.device), picture(gray, counting.device)];
    const [height, width] = gray.size;
    const image = { data: Uint8ClampedArray.from(gray.pixels), width, height } as ImageData;
    const round = async (): Promise<GPUTexture> => {
      for (const each of pictures) await model.run(feed(model, { texture: each }));
      await model.run(feed(model, { image }));
      return output(await model.run(feed(model, { image, mean: 0.5 }), { textures: { y: {} } }), "y").texture();
    };
    const first = await round();
    const { bytes, buffers } = model.memory();
    const made = counting.made();
    for (let count = 0; count < 20; count += 1) expect(await round()).toBe(first);
    expect(counting.made()).toEqual(made);
    expect(model.memory()).toMatchObject({ bytes, buffers });
    model.dispose();
    expect(deviceMemory(counting.device).use().bytes).toBe(0);
    counting.device.destroy();
  });

  test("forms that read and write textures are divided like any kernel", async () => {
    const slices: RuntimeEvent[] = [];
    const telemetry = {
      emit: (event: RuntimeEvent) => {
        if (event.type === "slice") slices.push(event);
      },
    };
    const model = await openModel("any", { telemetry });
    const [height, width] = [32, 32];
    const pixels = Uint8Array.from({ length: height * width * 4 }, (_, at) => (at * 7) % 256);
    const job = model.start(feed(model, { texture: texture(pixels, [height, width], "rgba8unorm") }));
    let steps = 0;
    for (; steps < 1000 && (job.state === "queued" || job.state === "running"); steps += 1) {
      await job.started;
      await job.step({ budgetMs: 1e-9, divideAboveMs: 1e-9 }).finished;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(ways(job.images)).toEqual({ image: "fused" });
    const planes = [0, 1, 2].flatMap((c) => [...pixels].filter((_, at) => at % 4 === c).map((v) => (v / 255) * 2));
    expectClose(await output(await job.done, "doubled").read(), planes, 1e-6);
    expect(slices.length).toBeGreaterThan(2);
  });

  test("an eviction leaves textures alone", async () => {
    const own = await gameDevice();
    const model = await openModel("curve", { device: own });
    const made = models.case("gray");
    const feeds = feed(model, { texture: picture(made, own) });
    const y = output(await model.run(feeds, { textures: { y: {} } }), "y").texture();
    const pool = deviceMemory(own);
    const held = pool.use().bytes;
    pool.budgetBytes = 1;
    expect(pool.use().bytes).toBeLessThan(held);
    pool.budgetBytes = Infinity;
    expect(output(await model.run(feeds, { textures: { y: {} } }), "y").texture()).toBe(y);
    model.dispose();
    own.destroy();
  });
});

describe("errors", () => {
  const bad = (format: GPUTextureFormat, usage: number): GPUTexture =>
    device.createTexture({ size: [8, 6], format, usage });

  test.each([
    ["texture-format", () => bad("rgba8uint", TEXTURE.BINDING)],
    ["texture-format", () => bad("depth32float", TEXTURE.BINDING)],
    ["texture-usage", () => bad("rgba8unorm", TEXTURE.COPY_DST)],
    ["texture-size", () => device.createTexture({ size: [8, 6, 2], format: "rgba8unorm", usage: TEXTURE.BINDING })],
  ])("%s", async (code, make) => {
    const model = await openModel("curve");
    expect((await failure(() => model.run(feed(model, { texture: make() })))).code).toBe(code);
    await model.run(feed(model, new Float32Array(48)));
  });

  test("a texture of another device", async () => {
    const model = await openModel("curve");
    const other = await gameDevice();
    const foreign = picture(models.case("gray"), other);
    expect((await failure(() => model.run(feed(model, { texture: foreign })))).code).toBe("texture-device");
    await model.run(feed(model, new Float32Array(48)));
    other.destroy();
  });

  test("what cannot be an image, or is not asked for", async () => {
    const model = await openModel("photo");
    const image = { texture: picture(models.case("photo")) };
    const code = async (feeds: Feeds, options: object = {}): Promise<string | undefined> =>
      (await failure(() => model.run(feeds, options))).code;
    expect(await code({ image: { ...image, layout: "nhwc" } })).toBe("image-shape");
    expect(await code({ image: { ...image, mean: [0, 0] } })).toBe("image-shape");
    expect(await code({ image: { image: { width: 0, height: 0 } as OffscreenCanvas } })).toBe("image-source");
    expect(await code({ image }, { textures: { other: {} } })).toBe("unknown-tensor");
    expect(await code({ image }, { textures: { negative: { format: "r32float" } } })).toBe("texture-format");
    const outputs = await model.run({ image });
    expect((await failure(() => output(outputs, "negative").texture())).code).toBe("no-texture");
  });
});

/** Counts what is dispatched on a device. */
function countDispatches(on: GPUDevice): () => number {
  let count = 0;
  const make = on.createCommandEncoder.bind(on);
  on.createCommandEncoder = (descriptor) => {
    const encoder = make(descriptor);
    const begin = encoder.beginComputePass.bind(encoder);
    encoder.beginComputePass = (options) => {
      const pass = begin(options);
      const dispatch = pass.dispatchWorkgroups.bind(pass);
      pass.dispatchWorkgroups = (...counts) => {
        count += 1;
        dispatch(...counts);
      };
      return pass;
    };
    return encoder;
  };
  return () => count;
}
