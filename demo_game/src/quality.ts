// What a quality setting means for the land.

import type { MeshShape } from "./land/mesh.js";
import type { Quality } from "./page/settings.js";

export interface QualityPlan {
  readonly shape: MeshShape;
  /** Texels along an edge of the land's textures. */
  readonly cells: number;
  /** Tiles kept at a time: those in reach, and some behind. */
  readonly slots: number;
  /** Grain, clouds, trees. */
  readonly detail: boolean;
  readonly trees: number;
  readonly rise: { readonly seconds: number; readonly steps: number };
}

export const PLANS: Readonly<Record<Quality, QualityPlan>> = {
  low: {
    shape: { quads: 48, levels: 3, step: 2 },
    cells: 512,
    slots: 80,
    detail: false,
    trees: 0,
    rise: { seconds: 0.6, steps: 3 },
  },
  medium: {
    shape: { quads: 80, levels: 4, step: 1 },
    cells: 1024,
    slots: 144,
    detail: true,
    trees: 56,
    rise: { seconds: 1.6, steps: 32 },
  },
  high: {
    shape: { quads: 120, levels: 4, step: 1 },
    cells: 1024,
    slots: 240,
    detail: true,
    trees: 88,
    rise: { seconds: 1.6, steps: 48 },
  },
};
