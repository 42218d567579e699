struct Params { rows: u32, columns: u32 }
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> packed: array<f32>;
@group(0) @binding(2) var<uniform> P: Params;

@compute @workgroup_size(16, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= P.rows * P.columns) { return; }
  packed[(id.x % P.columns) * P.rows + id.x / P.columns] = source[id.x];
}
