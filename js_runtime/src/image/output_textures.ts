// The textures that a model's outputs are stored to: the same object in every run on a device, whatever is evicted.

import { InputError } from "../errors.js";
import type { ModelMemory } from "../memory.js";
import { TextureUsage } from "../webgpu_flags.js";
import type { OutputFormat, Size } from "./picture.js";

const TEXEL_BYTES: Readonly<Record<OutputFormat, number>> = { r32float: 4, rgba8unorm: 4, rgba16float: 8 };

/** One texture per output, in memory of their own. */
export class OutputTextures {
  readonly memory: ModelMemory;
  readonly #maxSide: number;
  readonly #textures = new Map<string, GPUTexture>();

  constructor(device: GPUDevice, memory: ModelMemory) {
    this.memory = memory;
    this.#maxSide = device.limits.maxTextureDimension2D;
  }

  /** The texture of an output; another one where size or format are others than before. Throws "texture-size". */
  get(name: string, format: OutputFormat, { width, height }: Size): GPUTexture {
    const known = this.#textures.get(name);
    if (known?.format === format && known.width === width && known.height === height) return known;
    if (known !== undefined) this.memory.destroy(known);
    if (Math.max(width, height) > this.#maxSide) {
      const found = `${String(width)}x${String(height)}`;
      throw new InputError(
        "texture-size",
        `output ${name}: the device has textures of up to ${String(this.#maxSide)} texels a side, found ${found}; ` +
          "ask for maxTextureDimension2D, or use the buffer",
      );
    }
    const texture = this.memory.createTexture("output", width * height * TEXEL_BYTES[format], `output ${name}`, {
      size: [width, height],
      format,
      usage: TextureUsage.STORAGE_BINDING | TextureUsage.TEXTURE_BINDING | TextureUsage.COPY_SRC,
    });
    this.#textures.set(name, texture);
    return texture;
  }
}
