// WGSL between texels and the elements of a tensor, and the uniforms that it reads. Pure text and numbers.

import { InputError } from "../errors.js";
import type { DType } from "../tensor.js";
import { perChannel, type Geometry, type ImageFeed, type Layout, type TextureOptions } from "./picture.js";

/** Bytes of the uniform structs. */
const READ_BYTES = 96;
const WRITE_BYTES = 64;

/** How texels become elements: element (c, y, x) is `dot(rows[c], texel(x, y)) + shift[c]`. Width, height, channels. */
export const READ_STRUCT = "struct WebinferRead { rows: array<vec4<f32>, 4>, shift: vec4<f32>, size: vec4<u32> }";

/** How elements become texels: `element * scale + shift`, the element at the dot product of (x, y, c) and `strides`. */
export const WRITE_STRUCT =
  "struct WebinferWrite { scale: vec4<f32>, shift: vec4<f32>, size: vec4<u32>, strides: vec4<u32> }";

/** ITU-R BT.601, as Pillow and OpenCV make gray. */
const LUMA = [0.299, 0.587, 0.114];

/** Element types that images are converted from and to; elements of uint8 are 0 to 255, as the image's own bytes. */
export type ImageDType = "float32" | "float16" | "uint8";

/** The element type of `what`; throws "input-dtype" where images are not converted from and to it. */
export function imageDType(what: string, dtype: DType): ImageDType {
  if (dtype === "float32" || dtype === "float16" || dtype === "uint8") return dtype;
  throw new InputError(
    "input-dtype",
    `${what}: images become or come from float32, float16 or uint8 elements, found ${dtype}; use an array or a buffer`,
  );
}

/** Sizes as WGSL expressions. */
export interface Extents {
  readonly width: string;
  readonly height: string;
  readonly channels: string;
}

/** Sizes that a uniform holds, and those that are fixed as numbers: divisions by constants are cheap. */
export function extentsOf(uniform: string, { width, height, channels }: Geometry, fixed: boolean): Extents {
  if (!fixed) return { width: `${uniform}.size.x`, height: `${uniform}.size.y`, channels: `${uniform}.size.z` };
  return { width: `${String(width)}u`, height: `${String(height)}u`, channels: `${String(channels)}u` };
}

/** WGSL: `let`s of x, y and c of the element `e`. */
export function coordinates(layout: Layout, { width, height, channels }: Extents): string {
  return layout === "nchw"
    ? `let x = e % ${width}; let y = e / ${width} % ${height}; let c = e / (${width} * ${height});`
    : `let c = e % ${channels}; let x = e / ${channels} % ${width}; let y = e / (${channels} * ${width});`;
}

/** The uniform struct of an input; `redOnly`: its texture has no other channel. */
export function readParameters(
  name: string,
  dtype: ImageDType,
  { channels, height, width }: Geometry,
  feed: ImageFeed,
  redOnly: boolean,
): Uint32Array<ArrayBuffer> {
  const data = new ArrayBuffer(READ_BYTES);
  const floats = new Float32Array(data);
  const mean = perChannel(`input ${name}: mean`, feed.mean, 0, channels);
  const std = perChannel(`input ${name}: std`, feed.std, 1, channels);
  const kind = feed.channels ?? (channels === 1 ? "gray" : "rgb");
  const whole = dtype === "uint8" ? 255 : 1;
  for (let c = 0; c < channels; c += 1) {
    const gain = whole / (std[c] ?? 1);
    if (kind === "gray" && c < 3 && !redOnly)
      for (const [at, share] of LUMA.entries()) floats[c * 4 + at] = share * gain;
    else floats[c * 4 + sourceChannel(kind, c)] = gain;
    floats[16 + c] = -(mean[c] ?? 0) * gain;
  }
  const words = new Uint32Array(data);
  words.set([width, height, channels], 20);
  return words;
}

function sourceChannel(kind: "rgb" | "bgr" | "gray", c: number): number {
  if (c === 3) return 3;
  if (kind === "gray") return 0;
  return kind === "rgb" ? c : 2 - c;
}

/** The uniform struct of an output. */
export function writeParameters(
  name: string,
  dtype: ImageDType,
  { channels, height, width, layout }: Geometry,
  options: TextureOptions,
): Uint32Array<ArrayBuffer> {
  const data = new ArrayBuffer(WRITE_BYTES);
  const floats = new Float32Array(data);
  const whole = dtype === "uint8" ? 255 : 1;
  const scale = perChannel(`output ${name}: scale`, options.scale, 1, channels).map((value) => value / whole);
  floats.set(scale);
  floats.set(perChannel(`output ${name}: offset`, options.offset, 0, channels), 4);
  const strides = layout === "nchw" ? [1, width, width * height] : [channels, channels * width, 1];
  const words = new Uint32Array(data);
  words.set([width, height, channels, 0, ...strides], 8);
  return words;
}
