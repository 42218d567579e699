// What one run does about its images.

import { NO_SUBSTITUTES, type Substitute } from "../executor.js";
import type { ImageUse } from "./picture.js";

export interface ImageRun {
  readonly uses: readonly ImageUse[];
  readonly substitutes: ReadonlyMap<number, Substitute>;
  /** Of the outputs that go to textures. */
  readonly textures: ReadonlyMap<string, GPUTexture>;
  /** Outputs whose buffer the caller did not ask for. */
  readonly unfilled: ReadonlySet<string>;
  /** Copy and convert what comes in, ahead of the run's dispatches; throws "image-source". */
  readonly begin: (encoder: GPUCommandEncoder) => void;
  /** Convert what goes out, after them. */
  readonly end: (encoder: GPUCommandEncoder) => void;
}

export const NO_IMAGES: ImageRun = {
  uses: [],
  substitutes: NO_SUBSTITUTES,
  textures: new Map(),
  unfilled: new Set(),
  begin: () => undefined,
  end: () => undefined,
};
