// Draws a tensor as a picture: terrain, grey levels, or RGB.

import type { TensorArray } from "../index.js";
import { relief, terrainColour } from "./colours.js";
import type { ImageLayout } from "./layout.js";

export type Look = "terrain" | "grey" | "colour";

/** Smallest and largest finite value, and how many are not finite. */
export interface Range {
  readonly low: number;
  readonly high: number;
  readonly mean: number;
  readonly nonFinite: number;
}

/** Values of a tensor as plain numbers. */
export type Values = Exclude<TensorArray, BigInt64Array | BigUint64Array> | Float64Array;

export function rangeOf(values: Values): Range {
  let low = Infinity;
  let high = -Infinity;
  let sum = 0;
  let nonFinite = 0;
  for (const value of values) {
    if (!Number.isFinite(value)) {
      nonFinite += 1;
      continue;
    }
    low = Math.min(low, value);
    high = Math.max(high, value);
    sum += value;
  }
  return { low, high, mean: sum / (values.length - nonFinite), nonFinite };
}

/** Draw one channel (terrain, grey) or the first three (colour). Values that are not finite show in magenta. */
export function draw(
  canvas: HTMLCanvasElement,
  values: Values,
  layout: ImageLayout,
  look: Look,
  channel: number,
): void {
  const { width, height } = layout;
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("this browser has no 2D canvas");
  const { low, high } = rangeOf(values);
  const scale = high > low ? 1 / (high - low) : 0;
  const sample = (c: number, y: number, x: number): number =>
    ((values[c * layout.channelStride + (y * width + x) * layout.pixelStride] ?? NaN) - low) * scale;
  const image = context.createImageData(width, height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const colour =
        look === "colour" ? [0, 1, 2].map((c) => sample(c, y, x) * 255) : shade(sample, look, channel, y, x, layout);
      const valid = colour.every((part) => Number.isFinite(part));
      image.data.set(valid ? [...colour, 255] : [255, 0, 255, 255], (y * width + x) * 4);
    }
  }
  context.putImageData(image, 0, 0);
}

function shade(
  sample: (c: number, y: number, x: number) => number,
  look: Look,
  channel: number,
  y: number,
  x: number,
  { width, height }: ImageLayout,
): number[] {
  const value = sample(channel, y, x);
  if (look === "grey") return [value * 255, value * 255, value * 255];
  const [left, right] = [Math.max(x - 1, 0), Math.min(x + 1, width - 1)];
  const [above, below] = [Math.max(y - 1, 0), Math.min(y + 1, height - 1)];
  const dx = (sample(channel, y, right) - sample(channel, y, left)) / (right - left);
  const dy = (sample(channel, below, x) - sample(channel, above, x)) / (below - above);
  const light = relief(dx, dy, width);
  return terrainColour(value).map((part) => part * light);
}
