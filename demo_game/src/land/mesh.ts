// The mesh of the land: nested squares around the view, each twice as coarse as the one inside it. Pure.

import { BufferAttribute, BufferGeometry } from "three/webgpu";

export interface MeshShape {
  /** Quads along an edge of every square, a multiple of four. */
  readonly quads: number;
  readonly levels: number;
  /** Cells between the vertices of the innermost square. */
  readonly step: number;
}

/** Cells from the middle to the edge of the mesh. */
export function reachOf({ quads, levels, step }: MeshShape): number {
  return (quads / 2) * step * 2 ** (levels - 1);
}

/** Multiples of so many cells keep every vertex of the mesh on the lattice of its level. */
export function snapOf({ levels, step }: MeshShape): number {
  return step * 2 ** (levels - 1);
}

/**
 * Positions are (x, step, z) in cells. Diagonals run from (0, 0) to (1, 1), so that a vertex between those of the next
 * level lies on an edge of it: the vertex shader moves it there, and levels meet without cracks.
 */
export function meshOf({ quads, levels, step }: MeshShape): BufferGeometry {
  const positions: number[] = [];
  const indices: number[] = [];
  const half = quads / 2;
  for (let level = 0; level < levels; level++) {
    const size = step * 2 ** level;
    const first = positions.length / 3;
    const inner = level === 0 ? 0 : half / 2;
    for (let z = -half; z <= half; z++) {
      for (let x = -half; x <= half; x++) positions.push(x * size, size, z * size);
    }
    for (let z = -half; z < half; z++) {
      for (let x = -half; x < half; x++) {
        if (x >= -inner && x < inner && z >= -inner && z < inner) continue;
        const a = first + (z + half) * (quads + 1) + x + half;
        const [b, c, d] = [a + 1, a + quads + 1, a + quads + 2];
        indices.push(a, c, d, a, d, b);
      }
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(positions), 3));
  geometry.setIndex(new BufferAttribute(Uint32Array.from(indices), 1));
  return geometry;
}
