struct Params { count: u32, columns: u32, factor: f32, sign: i32 }
@group(0) @binding(0) var<storage, read> h: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read> offset: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> P: Params;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= P.count) { return; }
  y[id.x] = h[id.x] * gain[0] * P.factor - f32(P.sign * bitcast<i32>(offset[id.x % P.columns].x));
}
