// Trees around the camera: a grid of instances that the vertex shader puts on the land, and leaves out where none grow.

import {
  cameraPosition,
  float,
  Fn,
  fract,
  ivec2,
  length,
  mix,
  normalWorld,
  positionGeometry,
  positionWorld,
  instanceIndex,
  sin,
  smoothstep,
  sqrt,
  max,
  textureLoad,
  uniform,
  varying,
  vec2,
  vec3,
} from "three/tsl";
import {
  ConeGeometry,
  InstancedMesh,
  Matrix4,
  MeshBasicNodeMaterial,
  Vector2,
  type Node,
  type Vector3,
} from "three/webgpu";

import { CELL_M, WATER_M } from "../world/shape.js";
import type { LandSurface } from "../world/surface.js";
import { finish, lit } from "./light.js";

/** Metres between the places where a tree may grow: a multiple of the cells. */
const SPACING_CELLS = 2;

export interface Trees {
  readonly mesh: InstancedMesh;
  update(eye: Vector3): void;
}

/** `perSide` trees along an edge of the square around the camera. */
export function makeTrees({ heights, normals, cells }: LandSurface, perSide: number): Trees {
  const origin = uniform(new Vector2(), "ivec2");
  const material = new MeshBasicNodeMaterial();
  const shade = varying(float(0), "treeShade");
  const onLand: () => Node<"vec3"> = Fn(() => {
    const index = instanceIndex.toInt();
    const slot = origin.add(ivec2(index.mod(perSide), index.div(perSide))).toVar();
    const random = (salt: number): Node<"float"> =>
      fract(sin(vec2(slot).dot(vec2(12.9898, 78.233)).add(salt)).mul(43758.5453));
    const cell = slot.mul(SPACING_CELLS);
    const texel = ivec2(cell.x.bitAnd(cells - 1), cell.y.bitAnd(cells - 1));
    const height = textureLoad(heights, texel).x.toVar();
    const ground = textureLoad(normals, texel).toVar();
    const flat = ground.xy.mul(2).sub(1);
    const level = sqrt(max(float(1).sub(flat.dot(flat)), 0));
    const place = vec2(cell)
      .mul(CELL_M)
      .add(vec2(random(1).sub(0.5), random(2).sub(0.5)).mul(CELL_M * 0.9));
    // Between beach and heath, not on steep ground, in woods rather than everywhere, and thinning out far away.
    const wood = sin(place.x.mul(0.011))
      .add(sin(place.y.mul(0.013).add(1.7)))
      .add(sin(place.x.add(place.y).mul(0.021)));
    const grows = smoothstep(WATER_M + 3, WATER_M + 7, height)
      .mul(float(1).sub(smoothstep(72, 100, height)))
      .mul(smoothstep(0.9, 0.96, level))
      .mul(smoothstep(0.2, 0.9, wood.add(random(3))))
      .mul(ground.z);
    const away = length(place.sub(cameraPosition.xz)).div((perSide / 2) * SPACING_CELLS * CELL_M);
    const size = grows.mul(float(1).sub(smoothstep(0.75, 0.98, away))).mul(random(4).mul(0.6).add(0.7));
    shade.assign(positionGeometry.y.add(random(5).mul(0.5)));
    const grown = positionGeometry.mul(vec3(size.mul(1.9), size.mul(7.5), size.mul(1.9)));
    return vec3(place.x, height.sub(0.3), place.y).add(grown);
  });
  material.positionNode = onLand();
  material.fragmentNode = Fn(() => {
    const albedo = mix(vec3(0.016, 0.045, 0.02), vec3(0.06, 0.125, 0.035), shade);
    return finish(lit(albedo, normalWorld, float(0.9)), positionWorld);
  })();
  const mesh = new InstancedMesh(new ConeGeometry(1, 1, 5, 1, true).translate(0, 0.5, 0), material, perSide * perSide);
  for (let k = 0; k < mesh.count; k++) mesh.setMatrixAt(k, new Matrix4());
  mesh.frustumCulled = false;
  const step = SPACING_CELLS * CELL_M;
  return {
    mesh,
    update: (eye: Vector3): void => {
      origin.value.set(Math.round(eye.x / step) - perSide / 2, Math.round(eye.z / step) - perSide / 2);
    },
  };
}
