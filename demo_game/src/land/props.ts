// What stands and flies on the land, as it is drawn: beacons, spires, sentinels, shots, storms. One mesh of instances each.

import {
  abs,
  cameraPosition,
  dot,
  float,
  Fn,
  max,
  mix,
  mx_noise_float,
  normalize,
  normalWorld,
  positionGeometry,
  positionWorld,
  pow,
  sin,
  smoothstep,
  vec3,
  vec4,
} from "three/tsl";
import {
  AdditiveBlending,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DoubleSide,
  Group,
  IcosahedronGeometry,
  InstancedMesh,
  Matrix4,
  MeshBasicNodeMaterial,
  OctahedronGeometry,
  Quaternion,
  Vector3,
  type BufferGeometry,
} from "three/webgpu";

import type { FieldOfPlay } from "../play/field_of_play.js";
import type { BeaconKind } from "../play/rules.js";
import { air, finish, fogAt, lit, toned } from "./light.js";

const MOST = { beacons: 128, spires: 256, sentinels: 64, shots: 64, storms: 9 } as const;
const SHAFT_M = 150;
const COLOURS: Readonly<Record<BeaconKind, Color>> = {
  valley: new Color(0.1, 0.85, 1),
  ridge: new Color(1, 0.68, 0.12),
};
const UP = new Vector3(0, 1, 0);

export class Props {
  readonly group = new Group();
  readonly #gems = instances(new OctahedronGeometry(5.5), gemMaterial(), MOST.beacons);
  readonly #shafts = instances(new CylinderGeometry(1.6, 1.6, SHAFT_M, 10, 1, true), shaftMaterial(), MOST.beacons);
  readonly #spires = instances(new ConeGeometry(1, 1, 6, 4).translate(0, 0.5, 0), spireMaterial(), MOST.spires);
  readonly #sentinels = instances(new IcosahedronGeometry(5, 0), sentinelMaterial(), MOST.sentinels);
  readonly #shots = instances(new IcosahedronGeometry(2.2, 1), shotMaterial(), MOST.shots);
  readonly #storms = instances(new CylinderGeometry(1, 0.7, 420, 24, 1, true), stormMaterial(), MOST.storms);
  readonly #matrix = new Matrix4();
  readonly #place = new Vector3();
  readonly #turn = new Quaternion();
  readonly #size = new Vector3();
  #version = -1;

  constructor() {
    // Before the first picture, so that the shaders know of colours.
    for (const mesh of [this.#gems, this.#shafts]) mesh.setColorAt(0, COLOURS.valley);
    this.group.add(this.#gems, this.#shafts, this.#spires, this.#sentinels, this.#shots, this.#storms);
  }

  update(play: FieldOfPlay, seconds: number): void {
    const { sectors } = play;
    const beacons = sectors.flatMap((sector) => sector.beacons).slice(0, MOST.beacons);
    this.#gems.count = this.#shafts.count = beacons.length;
    const changed = play.version !== this.#version;
    this.#version = play.version;
    for (const [k, { x, y, z, kind }] of beacons.entries()) {
      this.#set(this.#gems, k, x, y + Math.sin(seconds * 2 + x) * 1.2, z, 1, 1.3, 1, seconds * 1.5 + x);
      if (!changed) continue;
      this.#set(this.#shafts, k, x, y + SHAFT_M / 2, z, 1, 1, 1, 0);
      this.#gems.setColorAt(k, COLOURS[kind]);
      this.#shafts.setColorAt(k, COLOURS[kind]);
    }
    const sentinels = sectors.flatMap((sector) => sector.sentinels).slice(0, MOST.sentinels);
    this.#sentinels.count = sentinels.length;
    for (const [k, { x, y, z }] of sentinels.entries()) {
      this.#set(this.#sentinels, k, x, y + Math.sin(seconds * 1.3 + z) * 2, z, 1, 1, 1, seconds * 0.7);
    }
    this.#shots.count = Math.min(play.shots.length, MOST.shots);
    for (const [k, { x, y, z }] of play.shots.slice(0, MOST.shots).entries())
      this.#set(this.#shots, k, x, y, z, 1, 1, 1, 0);
    this.#storms.count = Math.min(play.storms.length, MOST.storms);
    for (const [k, { x, z, radius }] of play.storms.slice(0, MOST.storms).entries()) {
      this.#set(this.#storms, k, x, 190, z, radius, 1, radius, seconds * 0.2);
    }
    if (!changed) return;
    const spires = sectors.flatMap((sector) => sector.spires).slice(0, MOST.spires);
    this.#spires.count = spires.length;
    for (const [k, { x, y, z, radius, height }] of spires.entries()) {
      this.#set(this.#spires, k, x, y - 4, z, radius, height + 4, radius, x);
    }
  }

  #set(
    mesh: InstancedMesh,
    k: number,
    x: number,
    y: number,
    z: number,
    sx: number,
    sy: number,
    sz: number,
    angle: number,
  ): void {
    this.#turn.setFromAxisAngle(UP, angle);
    mesh.setMatrixAt(k, this.#matrix.compose(this.#place.set(x, y, z), this.#turn, this.#size.set(sx, sy, sz)));
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
  }
}

function instances(geometry: BufferGeometry, material: MeshBasicNodeMaterial, most: number): InstancedMesh {
  const mesh = new InstancedMesh(geometry, material, most);
  mesh.count = 0;
  mesh.frustumCulled = false;
  return mesh;
}

function glowing(): MeshBasicNodeMaterial {
  return new MeshBasicNodeMaterial({
    transparent: true,
    blending: AdditiveBlending,
    depthWrite: false,
    side: DoubleSide,
  });
}

function gemMaterial(): MeshBasicNodeMaterial {
  const material = new MeshBasicNodeMaterial();
  material.colorNode = Fn(() => {
    const view = normalize(cameraPosition.sub(positionWorld));
    const rim = pow(float(1).sub(abs(dot(normalWorld, view))), 2);
    return toned(vec3(rim.mul(1.4).add(0.75)));
  })();
  return material;
}

function shaftMaterial(): MeshBasicNodeMaterial {
  const material = glowing();
  material.colorNode = Fn(() => {
    const view = normalize(cameraPosition.sub(positionWorld)).mul(vec3(1, 0, 1));
    const core = pow(abs(dot(normalize(normalWorld), normalize(view))), 3);
    const fade = pow(float(0.5).sub(positionGeometry.y.div(SHAFT_M)), 1.5);
    const near = float(1).sub(fogAt(positionWorld)).mul(0.75).add(0.25);
    return vec3(
      core
        .mul(fade)
        .mul(near)
        .mul(sin(air.seconds.mul(3)).mul(0.08).add(0.55)),
    );
  })();
  return material;
}

function spireMaterial(): MeshBasicNodeMaterial {
  const material = new MeshBasicNodeMaterial();
  material.fragmentNode = Fn(() => {
    const up = positionGeometry.y;
    const rock = mix(vec3(0.075, 0.06, 0.07), vec3(0.15, 0.11, 0.12), up);
    const veins = float(1)
      .sub(smoothstep(0, 0.05, abs(mx_noise_float(positionWorld.mul(0.16)))))
      .mul(smoothstep(0.1, 0.9, up));
    const glow = vec3(1.0, 0.12, 0.03).mul(veins.mul(1.3).add(pow(up, 9).mul(1.8)));
    return finish(lit(rock, normalWorld, float(0.8)).add(glow), positionWorld);
  })();
  return material;
}

function sentinelMaterial(): MeshBasicNodeMaterial {
  const material = new MeshBasicNodeMaterial();
  material.fragmentNode = Fn(() => {
    const view = normalize(cameraPosition.sub(positionWorld));
    const eye = pow(max(dot(normalWorld, view), 0), 6).mul(sin(air.seconds.mul(5)).mul(0.35).add(0.85));
    const shell = lit(vec3(0.06, 0.05, 0.07), normalWorld, float(1));
    return finish(shell.add(vec3(1.6, 0.12, 0.1).mul(eye)), positionWorld);
  })();
  return material;
}

function shotMaterial(): MeshBasicNodeMaterial {
  const material = new MeshBasicNodeMaterial();
  material.fragmentNode = Fn(() => {
    const view = normalize(cameraPosition.sub(positionWorld));
    const core = pow(max(dot(normalWorld, view), 0), 2);
    return vec4(toned(mix(vec3(1.4, 0.15, 0.05), vec3(2, 1.5, 1.1), core)), 1);
  })();
  return material;
}

function stormMaterial(): MeshBasicNodeMaterial {
  const material = new MeshBasicNodeMaterial({ transparent: true, depthWrite: false, side: DoubleSide });
  material.fragmentNode = Fn(() => {
    const view = normalize(cameraPosition.sub(positionWorld)).mul(vec3(1, 0, 1));
    const thick = pow(abs(dot(normalize(normalWorld), normalize(view))), 1.5);
    const rain = mx_noise_float(positionWorld.mul(vec3(0.035, 0.006, 0.035)).add(vec3(0, air.seconds.mul(0.9), 0)));
    const fade = smoothstep(-210, -150, positionGeometry.y).mul(float(1).sub(smoothstep(60, 210, positionGeometry.y)));
    const opacity = thick.mul(rain.mul(0.5).add(0.62)).mul(fade).mul(0.8);
    const colour = mix(vec3(0.06, 0.07, 0.1), vec3(0.5, 0.55, 0.9), air.flash);
    return finish(colour, positionWorld, opacity);
  })();
  return material;
}
