// The sea: one flat mesh around the camera, with waves in its normals, the sky in it, and the ground shining through.

import {
  cameraPosition,
  clamp,
  float,
  Fn,
  floor,
  fract,
  ivec2,
  max,
  mix,
  normalize,
  positionWorld,
  pow,
  reflect,
  sin,
  smoothstep,
  vec3,
} from "three/tsl";
import { CircleGeometry, Mesh, MeshBasicNodeMaterial, type Node } from "three/webgpu";

import { CELL_M, WATER_M } from "../world/shape.js";
import type { LandSurface } from "../world/surface.js";
import { heightAt } from "./land.js";
import { air, finish, fogAt, glint, skyColour } from "./light.js";

/** Directions, lengths in metres, speeds and slopes of the waves. */
const WAVES = [
  [0.8, 0.6, 31, 0.9, 0.05],
  [-0.55, 0.83, 17, 1.3, 0.05],
  [0.2, -0.98, 9, 1.9, 0.06],
  [0.95, -0.3, 4.3, 2.6, 0.06],
] as const;

/** Lies at the water's height; move it with the camera along x and z. */
export function makeWater({ heights, cells }: LandSurface, radius: number): Mesh {
  const material = new MeshBasicNodeMaterial({ transparent: true, depthWrite: false });
  material.fragmentNode = Fn(() => {
    const world = positionWorld;
    const away = float(1).sub(fogAt(world)).toVar();
    let slopeX: Node<"float"> = float(0);
    let slopeZ: Node<"float"> = float(0);
    for (const [x, z, metres, speed, slope] of WAVES) {
      const phase = world.x
        .mul(x)
        .add(world.z.mul(z))
        .mul((2 * Math.PI) / metres)
        .add(air.seconds.mul(speed));
      // Waves narrower than a pixel only flicker.
      const wave = sin(phase)
        .mul(slope)
        .mul(away.pow(60 / metres));
      slopeX = slopeX.add(wave.mul(x));
      slopeZ = slopeZ.add(wave.mul(z));
    }
    const normal = normalize(vec3(slopeX, 1, slopeZ)).toVar();
    const view = normalize(world.sub(cameraPosition)).toVar();
    const mirrored = reflect(view, normal);
    const sky = skyColour(vec3(mirrored.x, max(mirrored.y, 0.02), mirrored.z));
    const facing = max(normal.dot(view.negate()), 0);
    const fresnel = pow(float(1).sub(facing), 4).mul(0.9).add(0.06);

    const cell = world.xz.div(CELL_M);
    const corner = ivec2(floor(cell)).toVar();
    const share = fract(cell);
    const at = (x: number, z: number): Node<"float"> => heightAt(heights, cells, corner.add(ivec2(x, z)));
    const ground = mix(mix(at(0, 0), at(1, 0), share.x), mix(at(0, 1), at(1, 1), share.x), share.y);
    const depth = max(float(WATER_M).sub(ground), 0).toVar();
    const body = mix(vec3(0.1, 0.34, 0.33), vec3(0.015, 0.085, 0.13), smoothstep(0, 9, depth));
    const wash = sin(depth.mul(5).sub(air.seconds.mul(1.6)))
      .mul(0.5)
      .add(0.5);
    const foam = float(1)
      .sub(smoothstep(0.15, 1.1, depth))
      .mul(wash.mul(0.5).add(0.25));
    const colour = mix(body, sky, fresnel)
      .add(glint(normal, view, 160).mul(1.6))
      .add(foam.mul(0.6));
    const opacity = clamp(depth.mul(0.28).add(0.25).add(fresnel).add(foam), 0, 0.97);
    return finish(colour, world, opacity);
  })();
  const geometry = new CircleGeometry(radius, 48).rotateX(-Math.PI / 2);
  const mesh = new Mesh(geometry, material);
  mesh.position.y = WATER_M;
  mesh.frustumCulled = false;
  mesh.renderOrder = 1;
  return mesh;
}
