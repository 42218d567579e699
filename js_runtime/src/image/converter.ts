// Conversions between textures and buffers: their pipelines, each made at its first use, and their bind groups.

import type { TensorRange } from "../readback.js";
import { elementCount, gpuBytes, padded } from "../tensor.js";
import { READ_ROW, READ_THREADS, readWgsl, WRITE_SIDE, writeWgsl } from "./convert.js";
import { PerObjects } from "./per_objects.js";
import type { Layout, OutputFormat, Size } from "./picture.js";
import type { ImageDType } from "./texels.js";

/** A dispatch that fills a tensor from a texture, or a texture from a tensor. */
export interface Conversion {
  readonly way: "read" | "write";
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly workgroups: readonly [number, number];
}

/** One side of a conversion; `span` is all that the buffer has for the tensor. */
export interface Ends {
  readonly texture: GPUTexture;
  readonly uniform: GPUBuffer;
  readonly range: TensorRange;
  readonly spanBytes: number;
}

/** The conversions on one device. */
export class Converter {
  readonly #device: GPUDevice;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #groups = new PerObjects<GPUBindGroup>();

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  /** From a texture to a tensor; rejects where the GPU refuses the kernel. */
  async read(dtype: ImageDType, layout: Layout, ends: Ends): Promise<Conversion> {
    const pipeline = await this.#pipeline(`read ${dtype} ${layout}`, () => readWgsl(dtype, layout));
    const { shape } = ends.range;
    const groups = Math.ceil(padded(elementCount(shape) * gpuBytes(dtype)) / 4 / READ_THREADS);
    const workgroups = [Math.min(groups, READ_ROW), Math.ceil(groups / READ_ROW)] as const;
    return { way: "read", pipeline, bindGroup: this.#group(pipeline, ends), workgroups };
  }

  /** From a tensor to a texture; rejects like `read`. */
  async write(dtype: ImageDType, format: OutputFormat, ends: Ends): Promise<Conversion> {
    const pipeline = await this.#pipeline(`write ${dtype} ${format}`, () => writeWgsl(dtype, format));
    const { width, height }: Size = ends.texture;
    const workgroups = [Math.ceil(width / WRITE_SIDE), Math.ceil(height / WRITE_SIDE)] as const;
    return { way: "write", pipeline, bindGroup: this.#group(pipeline, ends), workgroups };
  }

  #pipeline(name: string, wgsl: () => string): Promise<GPUComputePipeline> {
    const known = this.#pipelines.get(name);
    if (known !== undefined) return known;
    const label = `webinfer image ${name}`;
    const module = this.#device.createShaderModule({ label, code: wgsl() });
    const made = this.#device.createComputePipelineAsync({ label, layout: "auto", compute: { module } });
    this.#pipelines.set(name, made);
    return made;
  }

  #group(pipeline: GPUComputePipeline, { texture, uniform, range, spanBytes }: Ends): GPUBindGroup {
    return this.#groups.get([pipeline, uniform, texture, range.buffer], () =>
      this.#device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [
          { binding: 0, resource: texture.createView() },
          { binding: 1, resource: { buffer: uniform } },
          { binding: 2, resource: { buffer: range.buffer, offset: range.offset, size: spanBytes } },
        ],
      }),
    );
  }
}
