@group(0) @binding(0) var<storage, read> offset: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read_write> z: array<vec2<u32>>;

@compute @workgroup_size(4, 1, 1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let v = offset[id.x];
  z[id.x] = vec2<u32>(v.x << 1u, (v.y << 1u) | (v.x >> 31u));
}
