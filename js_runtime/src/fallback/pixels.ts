// Images as inputs where no GPU reads them: the arithmetic of the kernels in `image/convert.ts`, on the CPU.

import { InputError } from "../errors.js";
import type { CheckedFeed } from "../feeds.js";
import { geometryOf, sizeOf, type ExternalImage, type ImageFeed } from "../image/picture.js";
import { imageDType, readParameters, type ImageDType } from "../image/texels.js";
import { floatToHalf } from "../tensor.js";

/** RGBA bytes, row by row. */
interface Pixels {
  readonly data: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
}

/** Texels that make one of the wanted size, and how much of each. */
interface Taps {
  readonly first: number;
  readonly weights: readonly number[];
}

/** Wire bytes of an input from an image; throws "image-source", "image-shape" or "input-dtype". */
export function imageBytes(
  { spec, shape }: CheckedFeed,
  feed: ImageFeed & { readonly image: ExternalImage },
): Uint8Array<ArrayBuffer> {
  const { name } = spec;
  const dtype = imageDType(`input ${name}`, spec.dtype);
  const geometry = geometryOf(`input ${name}`, shape, feed.layout);
  const { width, height, channels, layout } = geometry;
  const parameters = new Float32Array(readParameters(name, dtype, geometry, feed, false).buffer);
  const pixels = pixelsOf(name, feed);
  const columns = tapsOf(pixels.width, width);
  const rows = tapsOf(pixels.height, height);
  const elements = new Float32Array(width * height * channels);
  for (const [y, row] of rows.entries()) {
    for (const [x, column] of columns.entries()) {
      const texel = texelAt(pixels, column, row);
      for (let c = 0; c < channels; c += 1) {
        let element = parameters[16 + c] ?? 0;
        for (const [lane, value] of texel.entries()) element += (parameters[4 * c + lane] ?? 0) * value;
        const at = layout === "nchw" ? (c * height + y) * width + x : (y * width + x) * channels + c;
        elements[at] = element;
      }
    }
  }
  return stored(dtype, elements);
}

function pixelsOf(name: string, feed: ImageFeed & { readonly image: ExternalImage }): Pixels {
  const { image } = feed;
  if ("data" in image && image.colorSpace !== "display-p3") return image;
  const { width, height } = sizeOf(name, feed);
  try {
    const context = new OffscreenCanvas(width, height).getContext("2d", {
      colorSpace: "srgb",
      willReadFrequently: true,
    });
    if (context === null) throw new Error("it gives no canvas");
    if ("data" in image) context.putImageData(image, 0, 0);
    else context.drawImage(image, 0, 0, width, height);
    return context.getImageData(0, 0, width, height);
  } catch (cause) {
    const found = cause instanceof Error ? cause.message : String(cause);
    const next = "it must come from the page's own origin or with CORS, and be open when the run begins";
    throw new InputError("image-source", `input ${name}: the browser cannot read the image: ${found}; ${next}`, {
      cause,
    });
  }
}

/** A triangle filter, wider where the image shrinks; at equal sizes it is the texel itself. */
function tapsOf(found: number, wanted: number): readonly Taps[] {
  const step = found / wanted;
  const reach = Math.max(step, 1);
  return Array.from({ length: wanted }, (_, at) => {
    const centre = (at + 0.5) * step;
    const first = Math.max(Math.floor(centre - reach + 0.5), 0);
    const end = Math.min(Math.ceil(centre + reach - 0.5), found);
    const raw = Array.from({ length: end - first }, (__, index) => {
      return Math.max(1 - Math.abs(first + index + 0.5 - centre) / reach, 0);
    });
    const sum = raw.reduce((a, b) => a + b, 0);
    return { first, weights: raw.map((weight) => weight / sum) };
  });
}

function texelAt({ data, width }: Pixels, column: Taps, row: Taps): readonly number[] {
  const texel = [0, 0, 0, 0];
  for (const [v, down] of row.weights.entries()) {
    for (const [u, across] of column.weights.entries()) {
      const at = 4 * ((row.first + v) * width + column.first + u);
      for (let lane = 0; lane < 4; lane += 1) {
        texel[lane] = (texel[lane] ?? 0) + ((data[at + lane] ?? 0) * down * across) / 255;
      }
    }
  }
  return texel;
}

function stored(dtype: ImageDType, elements: Float32Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  switch (dtype) {
    case "float32":
      return new Uint8Array(elements.buffer);
    case "float16":
      return new Uint8Array(Uint16Array.from(elements, floatToHalf).buffer);
    case "uint8":
      return Uint8Array.from(Uint8ClampedArray.from(elements));
  }
}
