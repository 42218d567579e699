// The land as it is drawn: vertices lifted by the height texture, coloured by height and slope.

import {
  abs,
  clamp,
  float,
  Fn,
  fract,
  fwidth,
  int,
  ivec2,
  length,
  max,
  mix,
  mx_noise_float,
  positionGeometry,
  positionWorld,
  smoothstep,
  sqrt,
  texture,
  textureLoad,
  uniform,
  vec2,
  vec3,
} from "three/tsl";
import { Mesh, MeshBasicNodeMaterial, Vector2, Vector3, type Node, type Texture } from "three/webgpu";

import { CELL_M, WATER_M } from "../world/shape.js";
import type { LandSurface } from "../world/surface.js";
import { finish, lit } from "./light.js";
import { meshOf, snapOf, type MeshShape } from "./mesh.js";

interface LandOptions {
  readonly shape: MeshShape;
  /** Fine grain in the colours. */
  readonly detail: boolean;
}

/** Height in metres of the texel of a cell. */
export function heightAt(heights: Texture, cells: number, cell: Node<"ivec2">): Node<"float"> {
  return textureLoad(heights, ivec2(cell.x.bitAnd(cells - 1), cell.y.bitAnd(cells - 1))).x;
}

export class Land {
  readonly mesh: Mesh;
  readonly #snap: number;
  readonly #origin = uniform(new Vector2(), "ivec2");
  readonly #eye = uniform(new Vector2());
  /** Where the craft's shadow falls, and how high it flies. */
  readonly #shadow = uniform(new Vector3(0, 1e6, 0));

  constructor(surface: LandSurface, { shape, detail }: LandOptions) {
    this.#snap = snapOf(shape);
    const material = new MeshBasicNodeMaterial();
    material.positionNode = this.#position(surface, shape)();
    material.fragmentNode = this.#colour(surface, detail)();
    this.mesh = new Mesh(meshOf(shape), material);
    this.mesh.frustumCulled = false;
  }

  /** Metres. */
  update(eye: Vector3, craft: Vector3, ground: number): void {
    const [x, z] = [eye.x / CELL_M, eye.z / CELL_M];
    this.#eye.value.set(x, z);
    this.#origin.value.set(Math.round(x / this.#snap) * this.#snap, Math.round(z / this.#snap) * this.#snap);
    this.#shadow.value.set(craft.x, craft.y - ground, craft.z);
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as MeshBasicNodeMaterial).dispose();
  }

  #position({ heights, cells }: LandSurface, { quads }: MeshShape): () => Node<"vec3"> {
    return Fn(() => {
      const grid = positionGeometry;
      const step = int(grid.y);
      const cell = this.#origin.add(ivec2(int(grid.x), int(grid.z))).toVar();
      const lattice = cell.div(step);
      const between = ivec2(lattice.x.bitAnd(1), lattice.y.bitAnd(1)).mul(step);
      const fine = heightAt(heights, cells, cell);
      const coarse = heightAt(heights, cells, cell.sub(between))
        .add(heightAt(heights, cells, cell.add(between)))
        .mul(0.5);
      const away = abs(vec2(cell).sub(this.#eye));
      const share = max(away.x, away.y).div(grid.y.mul(quads / 2));
      const height = mix(fine, coarse, smoothstep(0.65, 0.9, share));
      const place = vec2(cell).mul(CELL_M);
      return vec3(place.x, height, place.y);
    });
  }

  #colour({ normals, cells }: LandSurface, detail: boolean): () => Node<"vec4"> {
    return Fn(() => {
      const world = positionWorld;
      const texel = texture(normals, world.xz.div(CELL_M * cells).add(0.5 / cells)).toVar();
      const flat = texel.xy.mul(2).sub(1);
      const normal = vec3(flat.x, sqrt(max(float(1).sub(flat.dot(flat)), 0.01)), flat.y)
        .normalize()
        .toVar();
      const grain = detail
        ? mx_noise_float(world.xz.mul(0.035))
            .mul(0.5)
            .add(mx_noise_float(world.xz.mul(0.23)).mul(0.3))
        : float(0);
      const height = world.y.add(grain.mul(14));
      const steep = float(1).sub(normal.y).add(grain.mul(0.06));
      const meadow = mix(vec3(0.085, 0.17, 0.04), vec3(0.23, 0.25, 0.075), smoothstep(25, 80, height));
      const heath = mix(meadow, vec3(0.2, 0.17, 0.1), smoothstep(70, 125, height));
      const rock = mix(vec3(0.2, 0.17, 0.15), vec3(0.33, 0.31, 0.3), smoothstep(60, 190, height));
      const sand = vec3(0.42, 0.36, 0.23);
      const ground = mix(heath, rock, smoothstep(0.06, 0.2, steep));
      const beach = mix(sand, ground, smoothstep(WATER_M + 1, WATER_M + 5, height));
      const snow = smoothstep(128, 165, height).mul(float(1).sub(smoothstep(0.16, 0.34, steep)));
      const albedo = mix(beach, vec3(0.82, 0.86, 0.92), snow).mul(grain.mul(0.35).add(1));
      const shadow = smoothstep(3, 9, length(world.xz.sub(this.#shadow.xz)))
        .mul(0.55)
        .add(0.45);
      const shade = mix(shadow, float(1), clamp(this.#shadow.y.div(90), 0, 1));
      const open = texel.w.mul(1.5).add(0.25);
      const there = lit(albedo.mul(mix(float(0.8), float(1.15), texel.w)), normal, open).mul(shade);
      const lines = world.y.div(7);
      const line = float(1).sub(smoothstep(0.6, 1.6, abs(fract(lines).sub(0.5)).div(max(fwidth(lines), 1e-4))));
      const plan = mix(lit(vec3(0.2, 0.27, 0.36), normal, float(1)), vec3(0.45, 0.85, 1.0), line.mul(0.4));
      return finish(mix(plan, there, texel.z), world);
    });
  }
}
