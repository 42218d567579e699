@group(0) @binding(0) var<storage, read> offset: array<vec4<i32>>;
@group(0) @binding(1) var<storage, read_write> z: array<vec4<i32>>;

@compute @workgroup_size(1, 1, 1)
fn main() { z[0] = offset[0] + offset[0]; }
