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
/** Cells drawn per cell of the heightfield, along each axis. */
const FINER = 2;

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
  const lift = (0.3 * height) / highest;
  // The slope that looks right does not depend on the absolute height of this terrain.
  const steep = 14 / highest;
  const cells = (size - 1) * FINER;
  const grid = finer(heights, size);
  const at = (/** @type {number} */ x, /** @type {number} */ y) =>
    grid[Math.min(Math.max(y, 0), cells) * (cells + 1) + Math.min(Math.max(x, 0), cells)];
  const ground = (/** @type {number} */ depth) => (0.36 + 0.38 * depth + 0.36 * depth * depth) * height;
  const project = (/** @type {number} */ x, /** @type {number} */ y, z = at(x, y)) => {
    const depth = y / cells;
    const spread = (0.72 + 0.34 * depth) * width;
    return [width / 2 + (x / cells - 0.5) * spread, ground(depth) - z * lift * (0.7 + 0.3 * depth)];
  };
  for (let y = 0; y < cells; y++) {
    for (let x = 0; x < cells; x++) {
      // Slopes over two cells each way: the light follows the land, not the single cells.
      const dx = ((at(x + 2, y) - at(x - 2, y)) / 4) * FINER * steep;
      const dy = ((at(x, y + 2) - at(x, y - 2)) / 4) * FINER * steep;
      const facing = (-dx * LIGHT[0] - dy * LIGHT[1] + LIGHT[2]) / Math.hypot(dx, dy, 1);
      context.fillStyle = context.strokeStyle = colour(at(x, y) / highest, Math.max(0, facing));
      fillPath(context, [project(x, y), project(x + 1, y), project(x + 1, y + 1), project(x, y + 1)]);
      // A hairline in the same colour closes the seams that antialiasing leaves between neighbours.
      context.stroke();
    }
  }
  // The cut through the ground at the near edge.
  const earth = context.createLinearGradient(0, ground(1) - 0.3 * height, 0, height);
  earth.addColorStop(0, "#5d4a3a");
  earth.addColorStop(1, "#241d18");
  context.fillStyle = earth;
  const edge = Array.from({ length: cells + 1 }, (_, x) => project(x, cells));
  const [[left], [right]] = [edge[0], edge[cells]];
  fillPath(context, [...edge, [right, height], [left, height]]);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number[][]} points
 */
function fillPath(context, points) {
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.closePath();
  context.fill();
}

/**
 * The heightfield with FINER cells per cell, bilinear.
 * @param {Float32Array} heights
 * @param {number} size
 */
function finer(heights, size) {
  const cells = (size - 1) * FINER;
  const grid = new Float32Array((cells + 1) ** 2);
  for (let y = 0; y <= cells; y++) {
    for (let x = 0; x <= cells; x++) {
      const [x0, y0] = [Math.min(Math.floor(x / FINER), size - 2), Math.min(Math.floor(y / FINER), size - 2)];
      const [fx, fy] = [x / FINER - x0, y / FINER - y0];
      const row = (/** @type {number} */ r) => heights[r * size + x0] * (1 - fx) + heights[r * size + x0 + 1] * fx;
      grid[y * (cells + 1) + x] = row(y0) * (1 - fy) + row(y0 + 1) * fy;
    }
  }
  return grid;
}
