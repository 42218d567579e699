// Controls for a model's inputs: pictures from noise or a file, numbers from fields.

import type { Feeds, Model, RunTensor, TensorArray } from "../index.js";
import { element } from "./dom.js";
import { imageLayout, type ImageLayout } from "./layout.js";
import { normal, uniform } from "./random.js";

/** More numbers than this are not typed in by hand. */
const MAX_FIELDS = 16;
/** Largest noise level of the usual diffusion schedules in sigma space (Karras et al. 2022, table 1). */
const SIGMA_MAX = 80;

interface Control {
  readonly node: HTMLElement;
  readonly values: (seed: number) => Float64Array;
}

/** The controls of all inputs. Query parameters `size.NAME`, `value.NAME` and `scale.NAME` set what the fields start with. */
export class InputForm {
  readonly #model: Model;
  readonly #query: URLSearchParams;
  readonly #fields = element("div", {});
  #inputs: readonly RunTensor[] = [];
  #controls: ReadonlyMap<string, Control> = new Map();

  constructor(form: HTMLElement, model: Model, query: URLSearchParams) {
    this.#model = model;
    this.#query = query;
    const sizes = Object.entries(model.symbols).map(([name, { minimum, maximum, multiple }]) => {
      const field = element("input", {
        type: "number",
        min: String(minimum),
        max: String(maximum),
        step: String(multiple),
        value: query.get(`size.${name}`) ?? String(maximum),
      });
      return { name, field };
    });
    const rebuild = (): void => {
      this.#rebuild(Object.fromEntries(sizes.map(({ name, field }) => [name, field.valueAsNumber])));
    };
    for (const { field } of sizes) field.addEventListener("change", rebuild);
    if (sizes.length > 0) {
      const labels = sizes.map(({ name, field }) => element("label", {}, name, field));
      form.append(element("fieldset", {}, element("legend", {}, "sizes"), ...labels));
    }
    form.append(this.#fields);
    rebuild();
  }

  #rebuild(sizes: Readonly<Record<string, number>>): void {
    this.#inputs = this.#model.inputsAt(sizes);
    const sigma = this.#inputs.some((input) => input.name === "sigma" && count(input) === 1);
    const noiseLevel = sigma ? SIGMA_MAX : 1;
    this.#controls = new Map(this.#inputs.map((input) => [input.name, control(input, this.#query, noiseLevel)]));
    this.#fields.replaceChildren(...[...this.#controls.values()].map(({ node }) => node));
  }

  /** Feeds for a run; every random input gets its own stream of the seed. */
  feeds(seed: number): Feeds {
    return Object.fromEntries(
      this.#inputs.map((input, index) => {
        const values = this.#controls.get(input.name)?.values(seed + index * 7919) ?? new Float64Array(count(input));
        return [input.name, { data: toTyped(input, values), shape: input.shape }];
      }),
    );
  }
}

function control(input: RunTensor, query: URLSearchParams, noiseLevel: number): Control {
  const legend = element("legend", {}, input.name, " ", shapeText(input));
  const node = element("fieldset", {}, legend);
  const layout = imageLayout(input.shape);
  if (layout !== undefined) return pictureControl(node, input, layout, query, noiseLevel);
  if (count(input) <= MAX_FIELDS) return fieldControl(node, input, query, noiseLevel);
  const source = element("p", { className: "soft" }, "seeded random values");
  node.append(source);
  const isFloat = input.dtype.startsWith("float");
  // 0 and 1 are valid token ids, masks and indices alike.
  return { node, values: (seed) => fill(input, isFloat ? normal(seed) : twoValued(seed)) };
}

function fieldControl(node: HTMLElement, input: RunTensor, query: URLSearchParams, noiseLevel: number): Control {
  const start = query.get(`value.${input.name}`)?.split(",") ?? [];
  const usual = input.name === "sigma" ? noiseLevel : input.dtype.startsWith("float") ? 0.5 : 1;
  const fields = Array.from({ length: count(input) }, (_, index) => {
    const field = element("input", { type: "number", step: "any", value: start[index] ?? String(usual) });
    node.append(element("label", {}, count(input) === 1 ? "value" : String(index), field));
    return field;
  });
  return { node, values: () => Float64Array.from(fields, (field) => field.valueAsNumber) };
}

function pictureControl(
  node: HTMLElement,
  input: RunTensor,
  layout: ImageLayout,
  query: URLSearchParams,
  noiseLevel: number,
): Control {
  const source = element(
    "select",
    {},
    element("option", { value: "normal" }, "normal noise"),
    element("option", { value: "uniform" }, "uniform noise"),
  );
  const scale = element("input", {
    type: "number",
    step: "any",
    value: query.get(`scale.${input.name}`) ?? String(noiseLevel),
  });
  node.append(element("label", {}, "source", source), element("label", {}, "times", scale));
  let picture: Float64Array | undefined;
  if ([1, 3, 4].includes(layout.channels)) {
    const file = element("input", { type: "file", accept: "image/*" });
    const pixels = element(
      "select",
      {},
      element("option", { value: "unit" }, "0 … 1"),
      element("option", { value: "signed" }, "−1 … 1"),
      element("option", { value: "imagenet" }, "ImageNet mean, deviation"),
    );
    node.append(element("label", {}, "or a picture", file), element("label", {}, "pixels as", pixels));
    const take = async (chosen: File | undefined): Promise<void> => {
      if (chosen === undefined) return;
      picture = await decode(chosen, layout, pixels.value);
      if (source.options.length === 2) source.append(element("option", { value: "picture" }, "picture"));
      source.value = "picture";
    };
    file.addEventListener("change", () => void take(file.files?.[0]));
    acceptDrops(node, take);
  }
  return {
    node,
    values: (seed) => {
      if (source.value === "picture" && picture !== undefined) return picture;
      const factor = scale.valueAsNumber;
      const next = source.value === "uniform" ? uniform(seed) : normal(seed);
      return fill(input, () => next() * factor);
    },
  };
}

function acceptDrops(node: HTMLElement, take: (file: File | undefined) => Promise<void>): void {
  node.addEventListener("dragover", (event) => {
    event.preventDefault();
    node.classList.add("over");
  });
  node.addEventListener("dragleave", () => {
    node.classList.remove("over");
  });
  node.addEventListener("drop", (event) => {
    event.preventDefault();
    node.classList.remove("over");
    void take(event.dataTransfer?.files[0]);
  });
}

/** Mean and standard deviation of ImageNet's RGB channels, as torchvision's models use them. */
const IMAGENET: readonly (readonly [number, number])[] = [
  [0.485, 0.229],
  [0.456, 0.224],
  [0.406, 0.225],
  [0, 1],
];

async function decode(file: File, layout: ImageLayout, pixels: string): Promise<Float64Array> {
  const { width, height, channels } = layout;
  const bitmap = await createImageBitmap(file, { resizeWidth: width, resizeHeight: height, resizeQuality: "high" });
  const context = new OffscreenCanvas(width, height).getContext("2d");
  if (context === null) throw new Error("this browser has no 2D canvas");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const values = new Float64Array(channels * width * height);
  for (let index = 0; index < width * height; index += 1) {
    for (let c = 0; c < channels; c += 1) {
      const rgb = [0, 1, 2].map((part) => (data[index * 4 + part] ?? 0) / 255);
      const [r = 0, g = 0, b = 0] = rgb;
      const alpha = (data[index * 4 + 3] ?? 255) / 255;
      // Luma of Rec. 709 for single-channel inputs.
      const raw = channels === 1 ? 0.2126 * r + 0.7152 * g + 0.0722 * b : (rgb[c] ?? alpha);
      const [mean, deviation] =
        pixels === "imagenet" ? (IMAGENET[c] ?? [0, 1]) : pixels === "signed" ? [0.5, 0.5] : [0, 1];
      values[c * layout.channelStride + index * layout.pixelStride] = (raw - mean) / deviation;
    }
  }
  return values;
}

function twoValued(seed: number): () => number {
  const next = uniform(seed);
  return () => (next() < 0.5 ? 0 : 1);
}

function fill(input: RunTensor, next: () => number): Float64Array {
  return Float64Array.from({ length: count(input) }, next);
}

function count(input: RunTensor): number {
  return input.shape.reduce((product, dim) => product * dim, 1);
}

function shapeText({ dtype, shape }: RunTensor): HTMLElement {
  return element("span", { className: "shape" }, `${dtype} [${shape.join(", ")}]`);
}

function toTyped({ dtype }: RunTensor, values: Float64Array): TensorArray {
  switch (dtype) {
    case "float32":
    case "float16":
      return Float32Array.from(values);
    case "int32":
      return Int32Array.from(values);
    case "uint32":
      return Uint32Array.from(values);
    case "int64":
      return BigInt64Array.from(values, (value) => BigInt(Math.round(value)));
    case "uint64":
      return BigUint64Array.from(values, (value) => BigInt(Math.round(value)));
    case "int16":
      return Int16Array.from(values);
    case "uint16":
      return Uint16Array.from(values);
    case "int8":
    case "int4":
    case "int2":
      return Int8Array.from(values);
    case "uint8":
    case "uint4":
    case "uint2":
    case "bool":
      return Uint8Array.from(values);
  }
}
