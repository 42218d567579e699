// The game's own kernels over the model's output: keep a tile, blend the tiles of a block, derive what shading needs.

import { SAMPLES } from "./field.js";
import { BEND, CELL_M, HEADROOM, LAY, TILE, VERTICAL, WHOLE_WEIGHT } from "./shape.js";
import { BLOCK } from "./window.js";

/** Invocations of the kernel that keeps a tile: one workgroup takes it whole, for its mean. */
const LANES = 128;
/** vec4<i32> per block in the list of jobs: the block, and four tiles. */
export const JOB_VECTORS = 5;

/** Copies a tile's relief, its mean taken off, to its slot; samples for the CPU go aside. */
export const KEEP_WGSL = /* wgsl */ `
@group(0) @binding(0) var<uniform> slot: vec4<u32>;
@group(0) @binding(1) var<storage, read> relief: array<f32>;
@group(0) @binding(2) var<storage, read_write> slots: array<f32>;
@group(0) @binding(3) var<storage, read_write> samples: array<f32>;
var<workgroup> sums: array<f32, ${String(LANES)}>;

@compute @workgroup_size(${String(LANES)})
fn keep(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var k = lane; k < ${String(TILE * TILE)}u; k += ${String(LANES)}u) { sum += relief[k]; }
  sums[lane] = sum;
  for (var half = ${String(LANES / 2)}u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { sums[lane] += sums[lane + half]; }
  }
  workgroupBarrier();
  let mean = sums[0] / ${String(TILE * TILE)}.0;
  for (var k = lane; k < ${String(TILE * TILE)}u; k += ${String(LANES)}u) {
    slots[slot.x * ${String(TILE * TILE)}u + k] = relief[k] - mean;
  }
  for (var k = lane; k < ${String(SAMPLES * SAMPLES)}u; k += ${String(LANES)}u) {
    let cell = min(2u * vec2(k % ${String(SAMPLES)}u, k / ${String(SAMPLES)}u), vec2(${String(TILE - 1)}u));
    samples[k] = relief[cell.y * ${String(TILE)}u + cell.x];
  }
  if (lane == 0u) { samples[${String(SAMPLES * SAMPLES)}] = mean; }
}
`;

/** \`blend\` writes the heights of blocks, \`shade\` afterwards what follows from them and from their neighbours. */
export const DRAW_WGSL = /* wgsl */ `
struct Land { mask: i32, lay0: u32, lay1: u32, lay2: u32 }
@group(0) @binding(0) var<uniform> land: Land;
@group(0) @binding(1) var<storage, read> jobs: array<vec4<i32>>;
@group(0) @binding(2) var<storage, read> slots: array<f32>;
@group(0) @binding(3) var heights_out: texture_storage_2d<r32float, write>;
@group(0) @binding(4) var heights: texture_2d<f32>;
@group(0) @binding(5) var normals_out: texture_storage_2d<rgba8unorm, write>;

fn mix32(value: u32) -> u32 {
  var x = value;
  x ^= x >> 16u;
  x *= 0x7feb352du;
  x ^= x >> 15u;
  x *= 0x846ca68bu;
  x ^= x >> 16u;
  return x;
}

fn corner(start: u32, x: i32, z: i32) -> f32 {
  return f32(mix32(mix32(start ^ u32(z)) ^ u32(x)) >> 8u) / 16777216.0;
}

fn smooth_noise(seed: u32, cell: vec2<i32>, period: i32) -> f32 {
  let start = mix32(seed + 0x9e3779b9u);
  let place = cell - ((cell % period) + period) % period;
  let at = place / period;
  let t = vec2<f32>(cell - place) / f32(period);
  let w = t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
  let near = mix(corner(start, at.x, at.y), corner(start, at.x + 1, at.y), w.x);
  let far = mix(corner(start, at.x, at.y + 1), corner(start, at.x + 1, at.y + 1), w.x);
  return mix(near, far, w.y);
}

fn lay_at(cell: vec2<i32>) -> f32 {
  return ${LAY.map(([period, weight], k) => `${String(weight)} * smooth_noise(land.lay${String(k)}, cell, ${String(period)})`).join(" + ")};
}

fn hann(offset: i32) -> f32 {
  return max(0.5 - 0.5 * cos(6.283185307179586 * f32(offset) / ${String(TILE - 1)}.0), 0.001);
}

/** Blended relief, and the sum of weights. */
fn relief_at(job: u32, cell: vec2<i32>) -> vec2<f32> {
  var total = vec2(0.0);
  for (var k = 1u; k < ${String(JOB_VECTORS)}u; k++) {
    let part = jobs[job * ${String(JOB_VECTORS)}u + k];
    let presence = bitcast<f32>(part.w);
    let offset = clamp(cell - part.yz, vec2(0), vec2(${String(TILE - 1)}));
    let weight = hann(offset.x) * hann(offset.y) * presence;
    let value = slots[part.x * ${String(TILE * TILE)} + offset.y * ${String(TILE)} + offset.x];
    total += vec2(weight * value, weight);
  }
  return total;
}

fn wholeness(weight: f32) -> f32 {
  return smoothstep(0.0, ${String(WHOLE_WEIGHT)}, weight);
}

@compute @workgroup_size(8, 8)
fn blend(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let cell = jobs[group.z * ${String(JOB_VECTORS)}u].xy * ${String(BLOCK)} + vec2<i32>(group.xy * 8u + lane.xy);
  let total = relief_at(group.z, cell);
  let relief = select(0.0, total.x / max(total.y, 1e-12), total.y > 0.0) * wholeness(total.y);
  let lay = lay_at(cell);
  let value = -1.1 + 1.8 * lay + 1.4 * (0.5 + lay) * relief;
  let over = max(value - ${String(BEND)}, 0.0);
  let bent = min(value, ${String(BEND)}) + ${String(HEADROOM)} * (1.0 - exp(-over / ${String(HEADROOM)}));
  let unit = max((bent + 1.0) / 2.0, 0.0);
  let height = ${String(VERTICAL * 0.1)} * sinh(unit * ${String(Math.asinh(221.6864013671875))});
  textureStore(heights_out, cell & vec2(land.mask), vec4(height, 0.0, 0.0, 0.0));
}

fn height_at(cell: vec2<i32>) -> f32 {
  return textureLoad(heights, cell & vec2(land.mask), 0).x;
}

@compute @workgroup_size(8, 8)
fn shade(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) lane: vec3<u32>) {
  let cell = jobs[group.z * ${String(JOB_VECTORS)}u].xy * ${String(BLOCK)} + vec2<i32>(group.xy * 8u + lane.xy);
  let here = height_at(cell);
  let rise = vec2(
    height_at(cell + vec2(1, 0)) - height_at(cell - vec2(1, 0)),
    height_at(cell + vec2(0, 1)) - height_at(cell - vec2(0, 1)),
  );
  let normal = normalize(vec3(-rise.x, ${String(2 * CELL_M)}.0, -rise.y));
  let wide = (height_at(cell + vec2(5, 0)) + height_at(cell - vec2(5, 0)) +
    height_at(cell + vec2(0, 5)) + height_at(cell - vec2(0, 5))) / 4.0;
  let stands = clamp(0.5 + (here - wide) / 24.0, 0.0, 1.0);
  let there = wholeness(relief_at(group.z, cell).y);
  textureStore(normals_out, cell & vec2(land.mask), vec4(normal.xz * 0.5 + 0.5, there, stands));
}
`;
