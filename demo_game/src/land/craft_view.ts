// The craft as it is drawn: a dart of flat panels, with an engine that glows when it works.

import {
  abs,
  cameraPosition,
  float,
  Fn,
  max,
  mix,
  normalWorld,
  positionLocal,
  positionWorld,
  pow,
  smoothstep,
  uniform,
  vec3,
  vec4,
} from "three/tsl";
import {
  AdditiveBlending,
  BufferAttribute,
  BufferGeometry,
  ConeGeometry,
  DoubleSide,
  Group,
  Mesh,
  MeshBasicNodeMaterial,
} from "three/webgpu";

import type { Craft } from "../play/craft.js";
import { finish, glint, lit, skyColour, toned } from "./light.js";

/** Corners of one half, nose towards -z; the other half mirrors x. */
const PANELS: readonly (readonly [number, number, number])[] = [
  // Back, upper side.
  [0, 0.3, -4.2],
  [0, 0.95, 0.4],
  [1.0, 0.25, 0.6],
  [0, 0.95, 0.4],
  [0, 0.7, 2.4],
  [1.0, 0.25, 0.6],
  [1.0, 0.25, 0.6],
  [0, 0.7, 2.4],
  [0.9, 0.2, 2.3],
  // Belly.
  [0, 0.3, -4.2],
  [1.0, 0.25, 0.6],
  [0, -0.25, 0.8],
  [1.0, 0.25, 0.6],
  [0.9, 0.2, 2.3],
  [0, -0.25, 0.8],
  [0, -0.25, 0.8],
  [0.9, 0.2, 2.3],
  [0, 0.05, 2.4],
  // Stern.
  [0, 0.7, 2.4],
  [0, 0.05, 2.4],
  [0.9, 0.2, 2.3],
  // Wing: upper side, lower side.
  [0.6, 0.3, -1.2],
  [3.7, 0.05, 2.3],
  [0.95, 0.3, 1.9],
  [0.6, 0.22, -1.2],
  [0.95, 0.14, 1.9],
  [3.7, 0, 2.3],
  // Fin.
  [0.72, 0.3, 1.0],
  [1.15, 1.6, 2.7],
  [0.78, 0.3, 2.3],
];

export class CraftView {
  readonly group = new Group();
  readonly #thrust = uniform(0);
  readonly #blink = uniform(1);
  readonly #flame: Mesh;

  constructor() {
    const material = new MeshBasicNodeMaterial({ side: DoubleSide });
    material.fragmentNode = Fn(() => {
      const normal = normalWorld;
      const stripe = float(1)
        .sub(smoothstep(0, 0.06, abs(abs(positionLocal.x).sub(0.42))))
        .mul(smoothstep(-3.6, -2.2, positionLocal.z));
      const paint = mix(vec3(0.62, 0.64, 0.68), vec3(0.95, 0.33, 0.06), stripe);
      const dark = mix(paint, vec3(0.05, 0.06, 0.08), float(0.8).sub(smoothstep(0.1, 0.3, positionLocal.y).mul(0.8)));
      const view = positionWorld.sub(cameraPosition).normalize();
      const shine = skyColour(vec3(normal.x, max(normal.y, 0.1), normal.z))
        .mul(0.12)
        .add(glint(normal, view, 24).mul(0.2));
      return finish(lit(dark, normal, float(1)).add(shine).mul(this.#blink), positionWorld);
    })();
    const hull = new Mesh(hullOf(), material);
    const glow = new MeshBasicNodeMaterial({ transparent: true, blending: AdditiveBlending, depthWrite: false });
    glow.fragmentNode = Fn(() => {
      // The cone points along +z with its base at the engine.
      const along = positionLocal.y.add(0.5);
      const heat = pow(float(1).sub(along), 1.6).mul(this.#thrust);
      const colour = mix(vec3(0.15, 0.5, 1.0), vec3(0.9, 0.97, 1.0), heat);
      return vec4(toned(colour.mul(heat).mul(1.6)), 1);
    })();
    this.#flame = new Mesh(new ConeGeometry(0.5, 1, 12, 6, true), glow);
    this.#flame.rotation.x = Math.PI / 2;
    this.group.add(hull, this.#flame);
  }

  /** `boost` 0 to 1; `safe` seconds in which a hit does not count: the hull blinks. */
  update(craft: Craft, boost: number, safe: number, seconds: number): void {
    const { group } = this;
    group.position.set(craft.x, craft.y, craft.z);
    const climb = Math.atan2(craft.rise, Math.max(craft.speed, 10));
    group.rotation.set(climb, -craft.heading, -craft.turn * 0.85, "YXZ");
    const flicker = 0.92 + 0.08 * Math.sin(seconds * 63);
    this.#thrust.value = (0.75 + 0.9 * boost) * flicker;
    const length = (2.2 + 4.5 * boost) * flicker;
    this.#flame.scale.set(1, length, 1);
    this.#flame.position.set(0, 0.35, 2.3 + length / 2);
    this.#blink.value = safe > 0 && Math.sin(seconds * 30) > 0.2 ? 2.2 : 1;
  }
}

function hullOf(): BufferGeometry {
  const mirrored = PANELS.map(([x, y, z]) => [-x, y, z] as const);
  const geometry = new BufferGeometry();
  geometry.setAttribute(
    "position",
    new BufferAttribute(Float32Array.from([...PANELS, ...flipped(mirrored)].flat()), 3),
  );
  geometry.computeVertexNormals();
  return geometry;
}

/** Triangles seen from the other side. */
function flipped<T>(corners: readonly T[]): readonly T[] {
  return corners.map((_, k) => corners[k - (k % 3) + ((3 - (k % 3)) % 3)]).filter((corner) => corner !== undefined);
}
