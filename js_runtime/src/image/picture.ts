// Images as inputs and outputs of a model: what callers give and ask for, and how a tensor is seen as one image.

import { InputError } from "../errors.js";
import type { TensorSpec } from "../generated/manifest.js";

/** What a browser can draw. Copied by the browser into a texture of the model's, as sRGB with straight alpha. */
export type ExternalImage =
  HTMLCanvasElement | OffscreenCanvas | HTMLImageElement | HTMLVideoElement | VideoFrame | ImageBitmap | ImageData;

/** Order of a tensor's elements: planes of channels, or channels side by side. Batches hold one image. */
export type Layout = "nchw" | "nhwc";

/** How an image becomes a tensor: `(channel - mean) / std`, where the channels of 8-bit images are 0 to 1. */
export interface ImageOptions {
  /** Default 0. One number, or one per channel of the tensor, in the tensor's order. */
  readonly mean?: number | readonly number[] | undefined;
  /** Default 1; like `mean`. */
  readonly std?: number | readonly number[] | undefined;
  /**
   * Order of the tensor's channels; a fourth one is alpha. Default "rgb", and "gray" where the tensor has one channel:
   * ITU-R BT.601 luma (0.299, 0.587, 0.114), the red channel of textures that have no other.
   */
  readonly channels?: "rgb" | "bgr" | "gray" | undefined;
  /** Default "nchw". */
  readonly layout?: Layout | undefined;
  /** Of an input whose shape depends on symbols; default the image's own size. */
  readonly shape?: readonly number[] | undefined;
}

/**
 * An input from an image. A texture has usage TEXTURE_BINDING, one layer and one sample, and a format that shaders read as
 * floats; its first mip level is taken. An image of another size than the tensor's is stretched to it: triangle filter,
 * half-pixel centres, wider where it shrinks (as Pillow and PyTorch's "bilinear" with antialias).
 */
export type ImageFeed = ImageOptions & ({ readonly texture: GPUTexture } | { readonly image: ExternalImage });

/** Formats of textures that outputs are stored to. */
export type OutputFormat = "r32float" | "rgba8unorm" | "rgba16float";

/** How an output becomes a texture: `element * scale + offset`; "rgba8unorm" cuts off what lies outside 0 to 1. */
export interface TextureOptions {
  /** Default "r32float" for one channel, else "rgba16float". One channel becomes gray in formats with four. */
  readonly format?: OutputFormat | undefined;
  /** Default 1. One number, or one per channel. */
  readonly scale?: number | readonly number[] | undefined;
  /** Default 0; like `scale`. */
  readonly offset?: number | readonly number[] | undefined;
  /** Default "nchw". */
  readonly layout?: Layout | undefined;
  /** Fill the output's buffer as well, so that it can be read; default false: then the texture is all there is. */
  readonly buffer?: boolean | undefined;
}

/** How one tensor of a run met its image. */
export interface ImageUse {
  readonly tensor: string;
  /** "fused": the model's own kernels read or write the texture. "converted": a dispatch of its own does. */
  readonly way: "fused" | "converted";
  /** Why it was converted; empty where it is fused. */
  readonly reason: string;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A tensor seen as one image. */
export interface Geometry extends Size {
  readonly channels: number;
  readonly layout: Layout;
}

export function isImageFeed(feed: object): feed is ImageFeed {
  return "texture" in feed || "image" in feed;
}

/** Size in texels. Throws "image-source" where the source has none: a video without a frame, a closed VideoFrame. */
export function sizeOf(name: string, feed: ImageFeed): Size {
  const { width, height } = "texture" in feed ? feed.texture : externalSize(feed.image);
  if (width > 0 && height > 0) return { width, height };
  throw new InputError(
    "image-source",
    `input ${name}: the image is ${String(width)}x${String(height)}: it is closed, or not loaded yet; ` +
      "wait for a video's \"loadeddata\", an image's decode()",
  );
}

function externalSize(image: ExternalImage): Size {
  if ("displayWidth" in image) return { width: image.displayWidth, height: image.displayHeight };
  if ("videoWidth" in image) return { width: image.videoWidth, height: image.videoHeight };
  if ("naturalWidth" in image) return { width: image.naturalWidth, height: image.naturalHeight };
  return image;
}

/** The shape that an image gives an input: its own size where the input's depends on symbols. */
export function imageShape({ name, shape }: TensorSpec, feed: ImageFeed): readonly number[] {
  if (feed.shape !== undefined) return feed.shape;
  const { width, height } = sizeOf(name, feed);
  const channels = feed.channels === "gray" ? 1 : 3;
  const image = feed.layout === "nhwc" ? [height, width, channels] : [channels, height, width];
  const own = shape.length === 2 ? [height, width] : [...Array.from({ length: shape.length - 3 }, () => 1), ...image];
  return shape.map((extent, axis) => (typeof extent === "number" ? extent : (own[axis] ?? 0)));
}

/** See a tensor as one image; throws "image-shape". */
export function geometryOf(name: string, shape: readonly number[], layout: Layout = "nchw"): Geometry {
  const batch = shape.slice(0, -3);
  const [a = 0, b = 0, c = 0] =
    shape.length === 2 ? (layout === "nchw" ? [1, ...shape] : [...shape, 1]) : shape.slice(-3);
  const [channels, height, width] = layout === "nchw" ? [a, b, c] : [c, a, b];
  const one = batch.every((extent) => extent === 1) && width * height > 0;
  if (one && channels >= 1 && channels <= 4) return { channels, height, width, layout };
  const other = layout === "nchw" ? "nhwc" : "nchw";
  throw new InputError(
    "image-shape",
    `${name}: a tensor of shape [${shape.join(", ")}] is no image in layout ${layout}: expected one image of 1 to 4 ` +
      `channels; give layout "${other}", or a buffer`,
  );
}

/** The format of an output's texture; throws "texture-format" where it has too few channels. */
export function formatOf(name: string, { channels }: Geometry, options: TextureOptions): OutputFormat {
  const { format = channels === 1 ? "r32float" : "rgba16float" } = options;
  if (format !== "r32float" || channels === 1) return format;
  throw new InputError(
    "texture-format",
    `output ${name}: r32float holds one channel, the output has ${String(channels)}; ask for rgba16float or rgba8unorm`,
  );
}

/** One value per channel; throws "image-shape" where a list has another length. */
export function perChannel(
  what: string,
  value: number | readonly number[] | undefined,
  absent: number,
  channels: number,
): readonly number[] {
  if (typeof value !== "object") return Array.from({ length: channels }, () => value ?? absent);
  if (value.length === channels) return value;
  throw new InputError(
    "image-shape",
    `${what} has ${String(value.length)} numbers, the tensor ${String(channels)} channels; give one number, or one each`,
  );
}
