// The sky: a dome around the camera with the sun and, where there is time for them, clouds.

import {
  clamp,
  dot,
  float,
  Fn,
  max,
  mix,
  mx_fractal_noise_float,
  normalize,
  positionLocal,
  smoothstep,
  vec2,
  vec3,
  vec4,
} from "three/tsl";
import { BackSide, Mesh, MeshBasicNodeMaterial, SphereGeometry } from "three/webgpu";

import { air, skyColour, SUN, toned } from "./light.js";

/** Follows the camera; drawn first. `clouds`: sums of noise per pixel. */
export function makeSky(radius: number, clouds: boolean): Mesh {
  const material = new MeshBasicNodeMaterial({ side: BackSide, depthWrite: false });
  material.fragmentNode = Fn(() => {
    const direction = normalize(positionLocal).toVar();
    const towards = max(dot(direction, vec3(SUN.x, SUN.y, SUN.z)), 0);
    const disc = smoothstep(0.9992, 0.9996, towards).mul(6);
    const sky = skyColour(direction)
      .add(vec3(1, 0.85, 0.6).mul(disc))
      .toVar();
    if (!clouds) return vec4(toned(sky), 1);
    const place = direction.xz
      .div(max(direction.y, 0.02).add(0.12))
      .mul(1.3)
      .add(vec2(air.seconds.mul(0.004), 0));
    const thick = smoothstep(0.02, 0.6, mx_fractal_noise_float(place, 4, 2.1, 0.55).add(air.mood.mul(0.2)));
    const bright = mix(vec3(0.95, 0.96, 1.0), vec3(0.8, 0.5, 0.45), air.mood).mul(towards.mul(0.35).add(0.75));
    const cover = thick.mul(clamp(direction.y.mul(7), 0, 1)).mul(0.75);
    return vec4(toned(mix(sky, bright, cover.mul(float(1)))), 1);
  })();
  const mesh = new Mesh(new SphereGeometry(radius, 32, 16), material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -1;
  return mesh;
}
