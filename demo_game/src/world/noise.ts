// Pure noise from integers: the same seed and cell give the same bits on every machine and in every order.

/** Added before a seed is hashed, and between the words of one cell: 2^32 over the golden ratio. */
const STEP = 0x9e3779b9;
/** Sum of 16 bytes: mean and variance of 16 uniform values from 0 to 255. */
const BYTES_MEAN = 16 * 127.5;
const BYTES_VARIANCE = (16 * (256 * 256 - 1)) / 12;

/** A bijection of 32-bit integers whose output bits all depend on all input bits (C. Wellons, "lowbias32"). */
export function mix32(value: number): number {
  let x = value;
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  x ^= x >>> 16;
  return x >>> 0;
}

/** 32 random bits of a place; `x` and `z` are any integers. */
export function hashCell(seed: number, x: number, z: number): number {
  return mix32(mix32(mix32(seed + STEP) ^ z) ^ x);
}

/** A value of [0, 1) with 24 random bits, which float32 holds exactly. */
export function unit(hash: number): number {
  return (hash >>> 8) / 16777216;
}

/** The `index`-th of a sequence of values of [0, 1) that begins with a hash. */
export function unitAt(hash: number, index: number): number {
  return unit(mix32((hash + Math.imul(index, STEP)) >>> 0));
}

/**
 * Normal deviates of the cells from (x, z) on, row by row, times `scale`. Each is the sum of 16 random bytes, so that
 * only integers and one product decide its bits (excess kurtosis -0.08).
 */
export function normalCells(
  seed: number,
  x: number,
  z: number,
  size: number,
  scale: number,
): Float32Array<ArrayBuffer> {
  const values = new Float32Array(size * size);
  const factor = scale / Math.sqrt(BYTES_VARIANCE);
  const start = mix32(seed + STEP);
  for (let row = 0; row < size; row++) {
    const line = mix32(start ^ (z + row));
    for (let column = 0; column < size; column++) {
      const hash = mix32(line ^ (x + column));
      let sum = 0;
      for (let word = 0; word < 4; word++) {
        const bits = mix32(hash + Math.imul(word, STEP));
        // Two bytes at a time in halves of a word.
        const pairs = (bits & 0x00ff00ff) + ((bits >>> 8) & 0x00ff00ff);
        sum += (pairs & 0xffff) + (pairs >>> 16);
      }
      values[row * size + column] = (sum - BYTES_MEAN) * factor;
    }
  }
  return values;
}

/** Smooth noise of [0, 1): random values at multiples of `period`, joined with continuous second derivatives. */
export function smoothNoise(seed: number, x: number, z: number, period: number): number {
  const [column, row] = [Math.floor(x / period), Math.floor(z / period)];
  const [u, v] = [fade(x / period - column), fade(z / period - row)];
  const at = (dx: number, dz: number): number => unit(hashCell(seed, column + dx, row + dz));
  const [near, far] = [lerp(at(0, 0), at(1, 0), u), lerp(at(0, 1), at(1, 1), u)];
  return lerp(near, far, v);
}

/** A seed from an URL: digits are a number, any other text is hashed (FNV-1a). */
export function parseSeed(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text) >>> 0;
  let hash = 0x811c9dc5;
  for (let k = 0; k < text.length; k++) hash = Math.imul(hash ^ text.charCodeAt(k), 0x01000193);
  return hash >>> 0;
}

function fade(t: number): number {
  return t * t * t * (t * (t * 6 - 15) + 10);
}

function lerp(a: number, b: number, t: number): number {
  return a + (b - a) * t;
}
