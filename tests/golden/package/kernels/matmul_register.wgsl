struct Params { rows: u32, inner: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> keep: array<u32>;
@group(0) @binding(4) var<storage, read_write> h: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> P: Params;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let wide = P.columns / 4u;
  if (id.x >= P.rows * wide) { return; }
  let row = id.x / wide;
  let column = id.x % wide;
  let kept = (vec4<u32>(keep[column]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(1u);
  var sum = select(vec4<f32>(0.0), b[column], kept != vec4<u32>(0u));
  for (var k = 0u; k < P.inner; k++) { sum += x[row * P.inner + k] * w[k * wide + column]; }
  h[id.x] = sum;
}
