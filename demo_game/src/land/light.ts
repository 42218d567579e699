// Light and air that everything in the scene shares: the sky's colour in a direction, fog towards it, and the picture's tone.

import {
  cameraPosition,
  clamp,
  dot,
  exp,
  float,
  length,
  max,
  mix,
  normalize,
  pow,
  uniform,
  vec3,
  vec4,
} from "three/tsl";
import { Vector3, type Node } from "three/webgpu";

/** Towards the sun. */
export const SUN = new Vector3(0.52, 0.36, -0.78).normalize();
const SUN_COLOUR = new Vector3(1.0, 0.82, 0.58);

/** Set every frame; materials read them. */
export const air = {
  /** 0: a clear morning; 1: a red evening, where the land is hard. */
  mood: uniform(0),
  /** Metres at which the land ends in fog. */
  range: uniform(2000),
  /** 0 to 1: a flash of lightning. */
  flash: uniform(0),
  seconds: uniform(0),
};

const sun = vec3(SUN.x, SUN.y, SUN.z);
const sunColour = mix(vec3(SUN_COLOUR.x, SUN_COLOUR.y, SUN_COLOUR.z), vec3(1.0, 0.52, 0.3), air.mood);

/** Linear colour of the sky in a direction of length 1, without the sun's disc. */
export function skyColour(direction: Node<"vec3">): Node<"vec3"> {
  const up = max(direction.y, 0);
  const horizon = mix(vec3(0.4, 0.54, 0.7), vec3(0.75, 0.36, 0.24), air.mood);
  const zenith = mix(vec3(0.045, 0.16, 0.42), vec3(0.06, 0.055, 0.19), air.mood);
  const towards = max(dot(direction, sun), 0);
  const glow = pow(towards, 6).mul(0.3).add(pow(towards, 48).mul(0.4));
  const base = mix(horizon, zenith, pow(up, 0.5));
  return base.add(sunColour.mul(glow)).add(vec3(0.5, 0.55, 0.8).mul(air.flash));
}

/** Light that a matt surface sends back; \`open\` is how much of the sky it sees. */
export function lit(albedo: Node<"vec3">, normal: Node<"vec3">, open: Node<"float">): Node<"vec3"> {
  const direct = max(dot(normal, sun), 0);
  const skylight = mix(vec3(0.3, 0.38, 0.52), vec3(0.36, 0.28, 0.38), air.mood)
    .mul(normal.y.mul(0.5).add(0.5))
    .mul(open);
  const bounce = vec3(0.09, 0.075, 0.05).mul(float(1).sub(normal.y.mul(0.5)));
  return albedo.mul(sunColour.mul(direct.mul(1.75)).add(skylight).add(bounce).add(air.flash.mul(0.6)));
}

/** The sun's reflection on a shiny surface. */
export function glint(normal: Node<"vec3">, view: Node<"vec3">, sharpness: number): Node<"vec3"> {
  return sunColour.mul(pow(max(dot(normal, normalize(sun.sub(view))), 0), sharpness));
}

/** 0 near, 1 where only air is seen. */
export function fogAt(world: Node<"vec3">): Node<"float"> {
  const share = length(world.sub(cameraPosition)).div(air.range);
  return float(1).sub(exp(pow(share.mul(1.55), 2.2).negate()));
}

/** A colour of the scene as the screen shows it: through the air, filmic (K. Narkowicz' fit of ACES), sRGB by a power. */
export function finish(colour: Node<"vec3">, world: Node<"vec3">, opacity: Node<"float"> | number = 1): Node<"vec4"> {
  const direction = normalize(world.sub(cameraPosition));
  return vec4(toned(mix(colour, skyColour(direction), fogAt(world))), opacity);
}

/** Filmic tone and the screen's encoding alone. */
export function toned(colour: Node<"vec3">): Node<"vec3"> {
  const x = colour.mul(0.82);
  const filmic = x.mul(x.mul(2.51).add(0.03)).div(x.mul(x.mul(2.43).add(0.59)).add(0.14));
  return pow(clamp(filmic, 0, 1), vec3(1 / 2.2));
}
