// Which tensors are pictures, and where their pixels lie.

/** A tensor read as pictures: element of channel c, row y, column x is c * channelStride + (y * width + x) * pixelStride. */
export interface ImageLayout {
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly channelStride: number;
  readonly pixelStride: number;
}

/** Smaller tensors are read more easily as numbers. */
const MIN_SIDE = 8;
/** Channels a picture may have in NHWC order; more would be a feature map or a matrix. */
const MAX_LAST_CHANNELS = 4;

/** Layout of [1, C, H, W], [C, H, W], [H, W] or [1, H, W, C]; undefined for what is no picture. */
export function imageLayout(shape: readonly number[]): ImageLayout | undefined {
  const dims = shape.length === 4 && shape[0] === 1 ? shape.slice(1) : shape;
  if (dims.length === 2) return planar(1, dims[0], dims[1]);
  if (dims.length !== 3) return undefined;
  const [a = 0, b = 0, c = 0] = dims;
  if (c <= MAX_LAST_CHANNELS && a >= MIN_SIDE && b >= MIN_SIDE) {
    return { channels: c, height: a, width: b, channelStride: 1, pixelStride: c };
  }
  return planar(a, b, c);
}

function planar(channels: number, height = 0, width = 0): ImageLayout | undefined {
  if (channels < 1 || height < MIN_SIDE || width < MIN_SIDE) return undefined;
  return { channels, height, width, channelStride: height * width, pixelStride: 1 };
}
