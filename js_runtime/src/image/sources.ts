// Textures that images come from: the caller's, checked, and the model's own, which the browser copies other images into.

import { InputError } from "../errors.js";
import type { ModelMemory } from "../memory.js";
import { ShaderStage, TextureUsage } from "../webgpu_flags.js";
import { sizeOf, type ExternalImage, type ImageFeed, type Size } from "./picture.js";

/** An input's texture in one run. */
export interface Source {
  readonly texture: GPUTexture;
  /** Bring the image into it, by work of the queue; throws "image-source". Nothing for the caller's textures. */
  readonly fill: () => void;
}

const RGBA8_BYTES = 4;

/** The sources of one residence. */
export class Sources {
  readonly #device: GPUDevice;
  readonly #memory: ModelMemory;
  readonly #own = new Map<string, GPUTexture>();
  readonly #checked = new WeakSet<GPUTexture>();
  #layout: GPUBindGroupLayout | undefined;
  #canvas: OffscreenCanvas | undefined;

  constructor(device: GPUDevice, memory: ModelMemory) {
    this.#device = device;
    this.#memory = memory;
  }

  /**
   * The source of an input. Rejects with "texture-usage", "texture-format", "texture-size" or "texture-device", and with
   * "image-source" where the image has no size.
   */
  async get(name: string, feed: ImageFeed): Promise<Source> {
    if ("texture" in feed) {
      await this.#check(name, feed.texture);
      return { texture: feed.texture, fill: () => undefined };
    }
    const texture = this.#ownTexture(name, feed);
    const fill = (): void => {
      this.#fill(name, feed.image, texture);
    };
    return { texture, fill };
  }

  #ownTexture(name: string, feed: ImageFeed): GPUTexture {
    const { width, height } = sizeOf(name, feed);
    const known = this.#own.get(name);
    if (known?.width === width && known.height === height) return known;
    if (known !== undefined) this.#memory.destroy(known);
    const most = this.#device.limits.maxTextureDimension2D;
    if (Math.max(width, height) > most) {
      throw new InputError(
        "texture-size",
        `input ${name}: the device has textures of up to ${String(most)} texels a side, found an image of ` +
          `${String(width)}x${String(height)}; make it smaller, with createImageBitmap for example`,
      );
    }
    const texture = this.#memory.createTexture("input", width * height * RGBA8_BYTES, `input ${name}`, {
      size: [width, height],
      format: "rgba8unorm",
      // The browser may draw to copy.
      usage: TextureUsage.TEXTURE_BINDING | TextureUsage.COPY_DST | TextureUsage.RENDER_ATTACHMENT,
    });
    this.#own.set(name, texture);
    return texture;
  }

  #fill(name: string, image: ExternalImage, texture: GPUTexture): void {
    const { queue } = this.#device;
    const { width, height } = texture;
    const size = { width, height };
    try {
      if ("data" in image && image.colorSpace !== "display-p3") {
        queue.writeTexture({ texture }, image.data, { bytesPerRow: width * RGBA8_BYTES }, size);
        return;
      }
      const destination = { texture, colorSpace: "srgb", premultipliedAlpha: false } as const;
      queue.copyExternalImageToTexture({ source: this.#copyable(image, size) }, destination, size);
    } catch (cause) {
      const found = cause instanceof Error ? cause.message : String(cause);
      throw new InputError(
        "image-source",
        `input ${name}: the browser cannot copy the image of ${String(width)}x${String(height)}: ${found}; it must stay ` +
          "open until the first slice and come from the page's own origin or with CORS, and a video must have shown a frame",
        { cause },
      );
    }
  }

  /**
   * Chromium's compatibility mode over OpenGL ES copies zeros from a VideoFrame, and no error: there, videos are drawn to a
   * canvas first.
   */
  #copyable(image: ExternalImage, { width, height }: Size): ExternalImage {
    const isVideo = "displayWidth" in image || "videoWidth" in image;
    if (!isVideo || this.#device.features.has("core-features-and-limits")) return image;
    this.#canvas ??= new OffscreenCanvas(width, height);
    if (this.#canvas.width !== width) this.#canvas.width = width;
    if (this.#canvas.height !== height) this.#canvas.height = height;
    this.#canvas.getContext("2d")?.drawImage(image, 0, 0, width, height);
    return this.#canvas;
  }

  /** Once per texture. */
  async #check(name: string, texture: GPUTexture): Promise<void> {
    if (this.#checked.has(texture)) return;
    const { format, usage, dimension, sampleCount, depthOrArrayLayers } = texture;
    if (/(?:uint|sint)$|^depth|^stencil/.test(format)) {
      throw new InputError(
        "texture-format",
        `input ${name}: expected a texture of floats or normalised integers, found ${format}; render or copy it to one`,
      );
    }
    if ((usage & TextureUsage.TEXTURE_BINDING) === 0) {
      throw new InputError(
        "texture-usage",
        `input ${name}: expected a texture with usage TEXTURE_BINDING, found usage ${String(usage)}; create it with ` +
          "GPUTextureUsage.TEXTURE_BINDING",
      );
    }
    if (dimension !== "2d" || sampleCount !== 1 || depthOrArrayLayers !== 1) {
      const layers = `${dimension}, ${String(depthOrArrayLayers)} layers, ${String(sampleCount)} samples`;
      throw new InputError(
        "texture-size",
        `input ${name}: expected a 2d texture of one layer and one sample, found ${layers}; resolve or copy it to one`,
      );
    }
    // A texture does not say whose it is: only its use in a bind group shows.
    this.#layout ??= this.#device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: ShaderStage.COMPUTE, texture: { sampleType: "unfilterable-float" } }],
    });
    this.#device.pushErrorScope("validation");
    this.#device.createBindGroup({ layout: this.#layout, entries: [{ binding: 0, resource: texture.createView() }] });
    const error = await this.#device.popErrorScope();
    if (error !== null) {
      throw new InputError(
        "texture-device",
        `input ${name}: the texture is not of the model's device: ${error.message}; load the model with the device that ` +
          "made the texture",
      );
    }
    this.#checked.add(texture);
  }
}
