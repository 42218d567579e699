// Colour maps: values between 0 and 1 to RGB, and relief shading of heights.

type Colour = readonly [number, number, number];

/** Deep water, shallow water, beach, grass, forest, rock, snow. */
const TERRAIN: readonly (readonly [number, Colour])[] = [
  [0.0, [18, 42, 84]],
  [0.28, [48, 110, 168]],
  [0.34, [214, 200, 150]],
  [0.4, [116, 160, 84]],
  [0.6, [52, 104, 60]],
  [0.8, [128, 112, 98]],
  [1.0, [248, 250, 252]],
];

/** Colour of a height between 0 and 1. */
export function terrainColour(value: number): Colour {
  const upper = TERRAIN.findIndex(([stop]) => stop >= value);
  const [highStop, high] = TERRAIN[upper] ?? [1, [248, 250, 252] as const];
  const [lowStop, low] = TERRAIN[Math.max(upper - 1, 0)] ?? [highStop, high];
  const mix = highStop === lowStop ? 0 : (value - lowStop) / (highStop - lowStop);
  return [low[0] + (high[0] - low[0]) * mix, low[1] + (high[1] - low[1]) * mix, low[2] + (high[2] - low[2]) * mix];
}

/** Light of a slope, between about 0.5 and 1.4: the sun stands in the north-west. `dx` and `dy` are rises per pixel. */
export function relief(dx: number, dy: number, pixelsAcross: number): number {
  const steepness = pixelsAcross / 20;
  const [nx, ny] = [-dx * steepness, -dy * steepness];
  const lit = (-nx - ny + 1.2) / Math.hypot(nx, ny, 1) / 1.2;
  return Math.min(1.4, Math.max(0.5, lit));
}
