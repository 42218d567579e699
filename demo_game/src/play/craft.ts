// How the craft flies: forward always, over the land on a cushion of air. Pure.

/** What carries the craft; metres. */
export interface Ground {
  surfaceAt(x: number, z: number): number;
  slopeAt(x: number, z: number): readonly [x: number, z: number];
}

/** Every control from -1 or 0 to 1. */
export interface Controls {
  /** Right is positive. */
  readonly steer: number;
  /** Up is positive. */
  readonly climb: number;
  readonly boost: number;
  readonly brake: number;
}

/** Metres, radians, metres per second. Heading 0 looks along -z; it grows to the right. */
export interface Craft {
  x: number;
  y: number;
  z: number;
  heading: number;
  speed: number;
  /** Upwards. */
  rise: number;
  /** How hard it turns now, -1 to 1. */
  turn: number;
  /** Height over the ground after the last step. */
  above: number;
}

/** Height at which the air cushion begins to carry. */
export const CUSHION_M = 8;
/** Below this the hull touches. */
const HULL_M = 1.6;
const CEILING_M = 170;
const TURN_PER_S = 1.15;
const CLIMB_M_PER_S = 36;
/** An impact harder than this is a crash. */
export const CRASH_M_PER_S = 30;

export function launch(ground: Ground, x: number, z: number, heading: number): Craft {
  const above = 45;
  return { x, y: ground.surfaceAt(x, z) + above, z, heading, speed: 30, rise: 0, turn: 0, above };
}

/** Unit vector along which it flies, on the plane. */
export function forwardOf({ heading }: Pick<Craft, "heading">): readonly [x: number, z: number] {
  return [Math.sin(heading), -Math.cos(heading)];
}

/** One step of at most 50 ms; `cruise` is the speed without boost or brake. Returns the speed of an impact, 0 without. */
export function fly(craft: Craft, controls: Controls, ground: Ground, cruise: number, seconds: number): number {
  const wanted = cruise * (1 + 0.75 * controls.boost - 0.5 * controls.brake);
  craft.speed += (wanted - craft.speed) * share(1.3, seconds);
  craft.turn += (controls.steer - craft.turn) * share(6, seconds);
  craft.heading += craft.turn * TURN_PER_S * seconds;
  craft.rise += (controls.climb * CLIMB_M_PER_S - craft.rise) * share(3.2, seconds);

  const [forwardX, forwardZ] = forwardOf(craft);
  craft.x += forwardX * craft.speed * seconds;
  craft.z += forwardZ * craft.speed * seconds;
  craft.y += craft.rise * seconds;

  const surface = ground.surfaceAt(craft.x, craft.z);
  const [slopeX, slopeZ] = ground.slopeAt(craft.x, craft.z);
  // The ground comes up at this speed under a craft that flies level.
  const lift = (slopeX * forwardX + slopeZ * forwardZ) * craft.speed;
  const above = craft.y - surface;
  let impact = 0;
  if (above < CUSHION_M) {
    const push = (CUSHION_M - above) / CUSHION_M;
    craft.rise += (Math.max(lift, 0) + 14 * push - craft.rise) * share(9 * push, seconds);
  }
  if (above < HULL_M) {
    impact = Math.max(lift - craft.rise, 0);
    craft.y = surface + HULL_M;
    craft.rise = Math.max(craft.rise, lift, 4);
  }
  if (above > CEILING_M) craft.rise = Math.min(craft.rise, (CEILING_M - above) * 0.8);
  craft.above = craft.y - surface;
  return impact;
}

/** Share of a gap that closes in a time, at a rate per second; the same for any frame rate. */
export function share(rate: number, seconds: number): number {
  return 1 - Math.exp(-rate * seconds);
}
