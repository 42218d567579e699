// The scene and its camera: the land of one world, sky, water, the craft and what stands around it.

import { PerspectiveCamera, Scene, Vector3, type Object3D, type WebGPURenderer } from "three/webgpu";

import { forwardOf, share, type Craft } from "../play/craft.js";
import type { FieldOfPlay } from "../play/field_of_play.js";
import type { QualityPlan } from "../quality.js";
import type { HeightField } from "../world/field.js";
import { CELL_M } from "../world/shape.js";
import type { LandSurface } from "../world/surface.js";
import { CraftView } from "./craft_view.js";
import { Land } from "./land.js";
import { air } from "./light.js";
import { reachOf } from "./mesh.js";
import { Props } from "./props.js";
import { makeSky } from "./sky.js";
import { makeTrees, type Trees } from "./trees.js";
import { makeWater } from "./water.js";

const FOV = 62;
/** Metres of the camera behind and above the craft. */
const BEHIND_M = 17;
const OVER_M = 5.6;

/** What a picture shows beyond the land. */
export interface Moment {
  readonly craft: Craft;
  readonly boost: number;
  readonly safe: number;
  /** 0 to 1: how much the picture shakes. */
  readonly shake: number;
  /** Seconds since the page began, and since the last picture. */
  readonly seconds: number;
  readonly step: number;
}

export class View {
  readonly camera = new PerspectiveCamera(FOV, 1, 0.8, 10_000);
  readonly #scene = new Scene();
  readonly #land: Land;
  readonly #followers: readonly Object3D[];
  readonly #trees: Trees | undefined;
  readonly #craft = new CraftView();
  readonly #props = new Props();
  readonly #field: HeightField;
  readonly #target = new Vector3();
  #heading: number | undefined;

  constructor(surface: LandSurface, field: HeightField, plan: QualityPlan) {
    const reach = reachOf(plan.shape) * CELL_M;
    this.#field = field;
    this.#land = new Land(surface, plan);
    this.#trees = plan.trees === 0 ? undefined : makeTrees(surface, plan.trees);
    this.#followers = [makeSky(reach * 2, plan.detail), makeWater(surface, reach * 1.1)];
    this.camera.far = reach * 3;
    air.range.value = reach;
    this.#scene.add(this.#land.mesh, ...this.#followers, this.#craft.group, this.#props.group);
    if (this.#trees !== undefined) this.#scene.add(this.#trees.mesh);
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  /** Behind the craft, a little late. */
  chase({ craft, boost, shake, seconds, step }: Moment): void {
    const { camera } = this;
    const before = this.#heading ?? craft.heading;
    const heading = before + (craft.heading - before) * share(4.5, step);
    this.#heading = heading;
    const [x, z] = forwardOf({ heading });
    const behind = BEHIND_M + 5 * boost;
    camera.position.set(craft.x - x * behind, craft.y + OVER_M - craft.rise * 0.06, craft.z - z * behind);
    camera.position.y = Math.max(camera.position.y, this.#field.surfaceAt(camera.position.x, camera.position.z) + 2.5);
    camera.position.x += Math.sin(seconds * 71) * shake * 0.9;
    camera.position.y += Math.sin(seconds * 83) * shake * 0.9;
    const [ahead, side] = forwardOf(craft);
    camera.lookAt(this.#target.set(craft.x + ahead * 30, craft.y + 1.5 + craft.rise * 0.25, craft.z + side * 30));
    camera.rotateZ(-craft.turn * 0.1);
    const fov = FOV + 14 * boost;
    camera.fov += (fov - camera.fov) * share(3, step);
    camera.updateProjectionMatrix();
  }

  /** Around the craft, for the title. */
  orbit({ craft, seconds }: Moment): void {
    const { camera } = this;
    const angle = seconds * 0.07;
    camera.position.set(craft.x + 60 * Math.cos(angle), 0, craft.z + 60 * Math.sin(angle));
    const ground = this.#field.surfaceAt(camera.position.x, camera.position.z);
    camera.position.y = Math.max(craft.y + 22, ground + 12);
    camera.lookAt(this.#target.set(craft.x, craft.y + 4, craft.z));
  }

  draw(renderer: WebGPURenderer, moment: Moment, play: FieldOfPlay): void {
    const { camera } = this;
    const { craft, boost, safe, seconds } = moment;
    air.seconds.value = seconds;
    this.#craft.update(craft, boost, safe, seconds);
    this.#props.update(play, seconds);
    this.#land.update(
      camera.position,
      this.#target.set(craft.x, craft.y, craft.z),
      this.#field.surfaceAt(craft.x, craft.z),
    );
    this.#trees?.update(camera.position);
    for (const follower of this.#followers) follower.position.setX(camera.position.x).setZ(camera.position.z);
    renderer.render(this.#scene, camera);
  }
}
