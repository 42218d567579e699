// @ts-check
/** Draws a square heightfield as a lit relief on a 2D canvas: painter's algorithm, back to front. */

/** Heights in metres at which the colour changes, low to high, with red, green, blue. */
const PALETTE = [
  { at: 0.0, rgb: [74, 96, 70] },
  { at: 0.25, rgb: [112, 130, 78] },
  { at: 0.5, rgb: [158, 140, 98] },
  { at: 0.75, rgb: [134, 118, 106] },
  { at: 1.0, rgb: [240, 242, 246] },
];
/** Direction to the light in grid coordinates (x right, y towards the viewer, z up), of length 1. */
const LIGHT = [-0.62, -0.42, 0.66];

/**
 * @param {number} t height as a fraction of the highest
 * @param {number} shade 0 (dark) to 1
 */
function colour(t, shade) {
  const upper = Math.max(
    1,
    PALETTE.findIndex((stop) => stop.at >= t),
  );
  const a = PALETTE[upper - 1];
  const b = PALETTE[upper];
  const mix = (t - a.at) / (b.at - a.at);
  const light = 0.3 + 0.85 * shade;
  const channel = (/** @type {number} */ k) =>
    Math.round(Math.min(255, (a.rgb[k] + (b.rgb[k] - a.rgb[k]) * mix) * light));
  return `rgb(${channel(0)} ${channel(1)} ${channel(2)})`;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Float32Array} heights size x size values, row-major, lowest 0
 * @param {number} size
 */
export function drawRelief(canvas, heights, size) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser gives no 2D canvas context");
  const { width, height } = canvas;
  const sky = context.createLinearGradient(0, 0, 0, height);
  sky.addColorStop(0, "#27405e");
  sky.addColorStop(1, "#10151c");
  context.fillStyle = sky;
  context.fillRect(0, 0, width, height);

  const highest = heights.reduce((a, b) => Math.max(a, b), 1e-6);
  const lift = (0.4 * height) / highest;
  // The slope that looks right does not depend on the absolute height of this terrain.
  const steep = 14 / highest;
  const at = (/** @type {number} */ x, /** @type {number} */ y) => heights[y * size + x];
  const project = (/** @type {number} */ x, /** @type {number} */ y) => {
    const depth = y / (size - 1);
    const spread = (0.72 + 0.42 * depth) * width;
    const ground = (0.42 + 0.34 * depth + 0.36 * depth * depth) * height;
    return [width / 2 + (x / (size - 1) - 0.5) * spread, ground - at(x, y) * lift * (0.7 + 0.3 * depth)];
  };
  for (let y = 0; y < size - 1; y++) {
    for (let x = 0; x < size - 1; x++) {
      const dx = (at(x + 1, y) - at(x, y)) * steep;
      const dy = (at(x, y + 1) - at(x, y)) * steep;
      const facing = (-dx * LIGHT[0] - dy * LIGHT[1] + LIGHT[2]) / Math.hypot(dx, dy, 1);
      context.fillStyle = context.strokeStyle = colour(at(x, y) / highest, Math.max(0, facing));
      context.beginPath();
      for (const [cx, cy] of [project(x, y), project(x + 1, y), project(x + 1, y + 1), project(x, y + 1)]) {
        context.lineTo(cx, cy);
      }
      context.closePath();
      context.fill();
      // A hairline in the same colour closes the seams that antialiasing leaves between neighbours.
      context.stroke();
    }
  }
}
