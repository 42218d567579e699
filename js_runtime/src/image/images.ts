// The images of a residence's runs: where they come from and go to, and what the GPU does with them on the way.

import { InputError } from "../errors.js";
import { NO_SUBSTITUTES, type Executor, type Substitute } from "../executor.js";
import type { Extent } from "../expressions.js";
import type { CheckedFeed } from "../feeds.js";
import type { Component, PlannedTensor } from "../generated/manifest.js";
import type { ModelMemory } from "../memory.js";
import type { TensorRange } from "../readback.js";
import { Converter, type Conversion } from "./converter.js";
import type { ImageRun } from "./image_run.js";
import { Forms, type Form, type Wish } from "./forms.js";
import type { OutputTextures } from "./output_textures.js";
import { PerObjects } from "./per_objects.js";
import { formatOf, geometryOf, type ImageFeed, type TextureOptions } from "./picture.js";
import { Sources } from "./sources.js";
import { imageDType, readParameters, writeParameters } from "./texels.js";

/** The residence, as far as images are concerned. */
export interface Host {
  readonly device: GPUDevice;
  readonly memory: ModelMemory;
  readonly executor: Executor;
  planned(name: string): PlannedTensor;
  range(tensor: PlannedTensor): TensorRange;
  shapeOf(extents: readonly Extent[]): readonly number[];
}

/** A tensor of a run with its texture. */
interface Picture {
  readonly wish: Wish;
  readonly texture: GPUTexture;
  readonly uniform: GPUBuffer;
  readonly fill: () => void;
}

interface Parameters {
  readonly buffer: GPUBuffer;
  /** What it holds. */
  words: Uint32Array | undefined;
}

/** Made by a residence for its first run with images, and dropped with it: its memory is the residence's. */
export class Images {
  readonly #host: Host;
  readonly #outputs: Component["outputs"];
  readonly #textures: OutputTextures;
  readonly #sources: Sources;
  readonly #forms: Forms;
  readonly #converter: Converter;
  readonly #parameters = new Map<string, Parameters>();
  readonly #substitutes = new PerObjects<ReadonlyMap<number, Substitute>>();

  constructor(host: Host, { outputs }: Component, textures: OutputTextures) {
    this.#host = host;
    this.#outputs = outputs;
    this.#textures = textures;
    this.#sources = new Sources(host.device, host.memory);
    const names = outputs.map(({ name }) => name);
    this.#forms = new Forms(host.device, host.executor, names);
    this.#converter = new Converter(host.device);
  }

  /**
   * Prepare a run, whose sizes are known. `refusal`: why nothing may be fused, if so. Rejects with the codes of `Sources`
   * and `OutputTextures`, "unknown-tensor", "image-shape", "texture-format", "input-dtype" or "memory-budget".
   */
  async take(
    feeds: readonly CheckedFeed[],
    requests: Readonly<Record<string, TextureOptions>>,
    refusal = "",
  ): Promise<ImageRun> {
    const outputs = Object.entries(requests).map(([name, options]) => this.#output(name, options, refusal));
    const own = new Set(outputs.map(({ texture }) => texture));
    const inputs: Picture[] = [];
    for (const feed of feeds) if ("image" in feed) inputs.push(await this.#input(feed, own, refusal));
    const pictures = [...inputs, ...outputs];
    const { memory } = this.#host;
    await Promise.all([memory.settle(), this.#textures.memory.settle()]);
    const fusion = await this.#forms.fuse(pictures.map(({ wish }) => wish));
    const converted = pictures.filter(({ wish: { tensor } }) => fusion.refusals.has(tensor));
    const conversions = await Promise.all(converted.map((picture) => this.#conversion(picture)));
    const encode = (encoder: GPUCommandEncoder, way: "read" | "write"): void => {
      const dispatches = conversions.filter((conversion) => conversion.way === way);
      if (dispatches.length === 0) return;
      const pass = encoder.beginComputePass({ label: `webinfer images ${way}` });
      for (const { pipeline, bindGroup, workgroups } of dispatches) {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, bindGroup);
        pass.dispatchWorkgroups(...workgroups);
      }
      pass.end();
    };
    return {
      uses: pictures.map(({ wish: { tensor } }) => {
        const reason = fusion.refusals.get(tensor);
        return { tensor, way: reason === undefined ? "fused" : "converted", reason: reason ?? "" };
      }),
      substitutes: this.#substitute(fusion.forms, pictures),
      textures: new Map(outputs.map(({ wish, texture }) => [wish.tensor, texture])),
      unfilled: new Set(Object.keys(requests).filter((name) => requests[name]?.buffer !== true)),
      begin: (encoder) => {
        for (const { fill } of inputs) fill();
        encode(encoder, "read");
      },
      end: (encoder) => {
        encode(encoder, "write");
      },
    };
  }

  async #input(feed: CheckedFeed & { readonly image: ImageFeed }, own: ReadonlySet<GPUTexture>, refusal: string) {
    const { spec, shape, image } = feed;
    const { name } = spec;
    const dtype = imageDType(`input ${name}`, spec.dtype);
    const geometry = geometryOf(`input ${name}`, shape, image.layout);
    const { texture, fill } = await this.#sources.get(name, image);
    const redOnly = /^r\d/.test(texture.format);
    const uniform = this.#uniform(name, readParameters(name, dtype, geometry, image, redOnly));
    const { width, height } = geometry;
    let against = refusal;
    if (own.has(texture)) against = "the texture is an output of the run";
    if (texture.width !== width || texture.height !== height) {
      against = `${String(texture.width)}x${String(texture.height)} becomes ${String(width)}x${String(height)}`;
    }
    const way = { read: geometry.layout };
    const wish: Wish = { tensor: name, dtype, geometry, fixed: isFixed(spec.shape), way, refusal: against };
    return { wish, texture, uniform, fill };
  }

  #output(name: string, options: TextureOptions, refusal: string): Picture {
    const spec = this.#outputs.find((output) => output.name === name);
    if (spec === undefined) {
      const names = this.#outputs.map((output) => output.name).join(", ");
      throw new InputError("unknown-tensor", `output ${name} does not exist; the model has ${names}`);
    }
    const dtype = imageDType(`output ${name}`, spec.dtype);
    const geometry = geometryOf(`output ${name}`, this.#host.shapeOf(spec.shape), options.layout);
    const format = formatOf(name, geometry, options);
    const texture = this.#textures.get(name, format, geometry);
    const uniform = this.#uniform(name, writeParameters(name, dtype, geometry, options));
    const against = options.buffer === true ? "its buffer is filled as well" : refusal;
    const way = { write: format };
    const wish: Wish = { tensor: name, dtype, geometry, fixed: isFixed(spec.shape), way, refusal: against };
    return { wish, texture, uniform, fill: () => undefined };
  }

  #conversion({ wish: { tensor, dtype, way }, texture, uniform }: Picture): Promise<Conversion> {
    const planned = this.#host.planned(tensor);
    const ends = { texture, uniform, range: this.#host.range(planned), spanBytes: planned.span.size_bytes };
    return "read" in way ? this.#converter.read(dtype, way.read, ends) : this.#converter.write(dtype, way.write, ends);
  }

  /** The forms of a run with its textures. */
  #substitute(forms: ReadonlyMap<number, Form>, pictures: readonly Picture[]): ReadonlyMap<number, Substitute> {
    if (forms.size === 0) return NO_SUBSTITUTES;
    const make = (): ReadonlyMap<number, Substitute> => {
      const byTensor = new Map(pictures.map((picture) => [picture.wish.tensor, picture]));
      const groups = new Map<Form, GPUBindGroup>();
      return new Map(
        [...forms].map(([dispatch, form]) => {
          const { compiled, images: layout, tensors } = form;
          const entries = tensors.flatMap((tensor, place): GPUBindGroupEntry[] => {
            const picture = byTensor.get(tensor);
            if (picture === undefined) return [];
            const { texture, uniform } = picture;
            return [
              { binding: 2 * place, resource: texture.createView() },
              { binding: 2 * place + 1, resource: { buffer: uniform } },
            ];
          });
          const label = compiled.kernel.name;
          const images = groups.get(form) ?? this.#host.device.createBindGroup({ label, layout, entries });
          groups.set(form, images);
          return [dispatch, { compiled, images }];
        }),
      );
    };
    return this.#substitutes.get([forms, ...pictures.map(({ texture }) => texture)], make);
  }

  /** The uniform of a tensor, with what it holds in this run. */
  #uniform(tensor: string, data: Uint32Array<ArrayBuffer>): GPUBuffer {
    const { memory, device } = this.#host;
    let known = this.#parameters.get(tensor);
    if (known === undefined) {
      known = { buffer: memory.create("uniform", data.byteLength, `image ${tensor}`), words: undefined };
      this.#parameters.set(tensor, known);
    }
    if (known.words?.every((word, at) => word === data[at]) === true) return known.buffer;
    known.words = data;
    device.queue.writeBuffer(known.buffer, 0, data);
    return known.buffer;
  }
}

/** Whether a shape is the same in every run. */
function isFixed(shape: readonly Extent[]): boolean {
  return shape.every((extent) => typeof extent === "number");
}
