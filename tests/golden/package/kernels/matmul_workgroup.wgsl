struct Params { rows: u32, inner: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> keep: array<u32>;
@group(0) @binding(4) var<storage, read_write> h: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> P: Params;

var<workgroup> tile: array<vec4<f32>, 16>;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3<u32>) {
  let wide = P.columns / 4u;
  let column = group.x;
  let kept = (vec4<u32>(keep[column]) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(1u);
  var sum = select(vec4<f32>(0.0), b[column], kept != vec4<u32>(0u));
  for (var start = 0u; start < P.inner; start += 16u) {
    if (start + local < P.inner) { tile[local] = w[(start + local) * wide + column]; }
    workgroupBarrier();
    for (var k = start; k < min(start + 16u, P.inner); k++) { sum += x[local * P.inner + k] * tile[k - start]; }
    workgroupBarrier();
  }
  if (local < P.rows) { h[local * wide + column] = sum; }
}
