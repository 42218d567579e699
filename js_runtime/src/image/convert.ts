// Kernels of their own between a texture and a tensor, for whatever the model's kernels do not read or write themselves.

import type { Layout, OutputFormat } from "./picture.js";
import { coordinates, READ_STRUCT, WRITE_STRUCT, type ImageDType } from "./texels.js";

/** Elements are packed into 32-bit words; an invocation writes one. */
export const READ_THREADS = 64;
/** Workgroups along one axis; words beyond go on along the next. */
export const READ_ROW = 32768;
/** An invocation writes one texel of a square. */
export const WRITE_SIDE = 8;

const WORD: Readonly<Record<ImageDType, string>> = {
  float32: "bitcast<u32>(element(i))",
  float16: "pack2x16float(vec2<f32>(element(2u * i), element(2u * i + 1u)))",
  uint8: "u32(clamp(round(element(i)), 0.0, 255.0))",
};

const ELEMENT: Readonly<Record<ImageDType, string>> = {
  float32: "bitcast<f32>(words[i])",
  float16: "unpack2x16float(words[i >> 1u])[i & 1u]",
  uint8: "f32(words[i])",
};

/** Reads `texels` into `words`, whose padding becomes 0. Resamples where the sizes differ. */
export function readWgsl(dtype: ImageDType, layout: Layout): string {
  const extents = { width: "P.size.x", height: "P.size.y", channels: "P.size.z" };
  return `${READ_STRUCT}
@group(0) @binding(0) var texels: texture_2d<f32>;
@group(0) @binding(1) var<uniform> P: WebinferRead;
@group(0) @binding(2) var<storage, read_write> words: array<u32>;

// A triangle filter, wider where the image shrinks; at equal sizes it is the texel itself.
fn resampled(x: u32, y: u32) -> vec4<f32> {
  let size = vec2<f32>(textureDimensions(texels));
  let step = size / vec2<f32>(P.size.xy);
  let reach = max(step, vec2<f32>(1.0));
  let centre = (vec2<f32>(f32(x), f32(y)) + 0.5) * step;
  let first = vec2<u32>(max(floor(centre - reach + 0.5), vec2<f32>(0.0)));
  let end = vec2<u32>(min(ceil(centre + reach - 0.5), size));
  var sum = vec4<f32>(0.0);
  var weights = 0.0;
  for (var v = first.y; v < end.y; v++) {
    for (var u = first.x; u < end.x; u++) {
      let apart = max(1.0 - abs(vec2<f32>(f32(u), f32(v)) + 0.5 - centre) / reach, vec2<f32>(0.0));
      sum += apart.x * apart.y * textureLoad(texels, vec2<u32>(u, v), 0);
      weights += apart.x * apart.y;
    }
  }
  return sum / weights;
}

fn element(e: u32) -> f32 {
  ${coordinates(layout, extents)}
  if (e >= P.size.x * P.size.y * P.size.z) { return 0.0; }
  return dot(P.rows[c], resampled(x, y)) + P.shift[c];
}

@compute @workgroup_size(${String(READ_THREADS)})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.y * ${String(READ_ROW * READ_THREADS)}u + id.x;
  if (i < arrayLength(&words)) { words[i] = ${WORD[dtype]}; }
}
`;
}

/** Writes `words` to `texels`. */
export function writeWgsl(dtype: ImageDType, format: OutputFormat): string {
  return `${WRITE_STRUCT}
@group(0) @binding(0) var texels: texture_storage_2d<${format}, write>;
@group(0) @binding(1) var<uniform> P: WebinferWrite;
@group(0) @binding(2) var<storage, read> words: array<u32>;

fn element(i: u32) -> f32 { return ${ELEMENT[dtype]}; }

@compute @workgroup_size(${String(WRITE_SIDE)}, ${String(WRITE_SIDE)})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (any(id.xy >= P.size.xy)) { return; }
  var texel = vec4<f32>(0.0, 0.0, 0.0, 1.0);
  for (var c = 0u; c < P.size.z; c++) {
    texel[c] = element(dot(vec3<u32>(id.xy, c), P.strides.xyz)) * P.scale[c] + P.shift[c];
  }
  if (P.size.z == 1u) { texel = vec4<f32>(texel.xxx, 1.0); }
  textureStore(texels, id.xy, texel);
}
`;
}
