// Textures as inputs and outputs of a model that is computed elsewhere: converted on the caller's device, then copied.

import type { CheckedFeed } from "../feeds.js";
import type { TensorSpec } from "../generated/manifest.js";
import { Converter, type Conversion, type Ends } from "../image/converter.js";
import { OutputTextures } from "../image/output_textures.js";
import { formatOf, geometryOf, type ImageFeed, type TextureOptions } from "../image/picture.js";
import { Sources } from "../image/sources.js";
import { imageDType, readParameters, writeParameters } from "../image/texels.js";
import type { ModelMemory } from "../memory.js";
import { encodeRead, finishRead } from "../readback.js";
import { elementCount, gpuBytes, padded } from "../tensor.js";

/** Of one model on the caller's device. */
export class PortableTextures {
  readonly #device: GPUDevice;
  readonly #memory: ModelMemory;
  readonly #converter: Converter;
  readonly #sources: Sources;
  readonly #textures: OutputTextures;
  readonly #buffers = new Map<string, GPUBuffer>();

  constructor(device: GPUDevice, memory: ModelMemory) {
    this.#device = device;
    this.#memory = memory;
    this.#converter = new Converter(device);
    this.#sources = new Sources(device, memory);
    this.#textures = new OutputTextures(device, memory);
  }

  /** Wire bytes of an input from a texture; rejects like a run on WebGPU does. */
  async read({ spec, shape }: CheckedFeed, feed: ImageFeed): Promise<Uint8Array<ArrayBuffer>> {
    const { name } = spec;
    const dtype = imageDType(`input ${name}`, spec.dtype);
    const geometry = geometryOf(`input ${name}`, shape, feed.layout);
    const { texture } = await this.#sources.get(name, feed);
    const uniform = this.#uniform(name, readParameters(name, dtype, geometry, feed, /^r\d/.test(texture.format)));
    const spanBytes = padded(elementCount(shape) * gpuBytes(dtype));
    const buffer = this.#buffer(`read ${name}`, "input", spanBytes);
    const range = { buffer, offset: 0, dtype, shape };
    const conversion = await this.#converter.read(dtype, geometry.layout, { texture, uniform, range, spanBytes });
    const read = this.#submit(conversion, (encoder) => encodeRead(encoder, this.#memory, range));
    return finishRead(this.#memory, read);
  }

  /** The texture of an output, filled from the buffer that it was uploaded to. */
  async write(
    spec: TensorSpec,
    shape: readonly number[],
    buffer: GPUBuffer,
    options: TextureOptions,
  ): Promise<GPUTexture> {
    const { name } = spec;
    const dtype = imageDType(`output ${name}`, spec.dtype);
    const geometry = geometryOf(`output ${name}`, shape, options.layout);
    const format = formatOf(name, geometry, options);
    const texture = this.#textures.get(name, format, geometry);
    const uniform = this.#uniform(name, writeParameters(name, dtype, geometry, options));
    const range = { buffer, offset: 0, dtype, shape };
    const ends: Ends = { texture, uniform, range, spanBytes: padded(elementCount(shape) * gpuBytes(dtype)) };
    this.#submit(await this.#converter.write(dtype, format, ends), () => undefined);
    return texture;
  }

  #submit<T>({ pipeline, bindGroup, workgroups }: Conversion, after: (encoder: GPUCommandEncoder) => T): T {
    const encoder = this.#device.createCommandEncoder({ label: "webinfer images" });
    const pass = encoder.beginComputePass({ label: "webinfer images" });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(...workgroups);
    pass.end();
    const result = after(encoder);
    this.#device.queue.submit([encoder.finish()]);
    return result;
  }

  #uniform(tensor: string, data: Uint32Array<ArrayBuffer>): GPUBuffer {
    const buffer = this.#buffer(`image ${tensor}`, "uniform", data.byteLength);
    this.#device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  /** One per label; another one where it is too small. */
  #buffer(label: string, kind: "input" | "uniform", sizeBytes: number): GPUBuffer {
    const known = this.#buffers.get(label);
    if (known !== undefined && known.size >= sizeBytes) return known;
    if (known !== undefined) this.#memory.destroy(known);
    const buffer = this.#memory.create(kind, sizeBytes, label);
    this.#buffers.set(label, buffer);
    return buffer;
  }
}
