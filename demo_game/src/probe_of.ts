// Makes window.game of the parts of a running game.

import type { Game } from "./game.js";
import type { Stage } from "./page/stage.js";
import type { GameProbe } from "./probe.js";
import { difficultyOf } from "./world/tiles.js";
import type { World } from "./world/world.js";

interface ProbeParts {
  readonly seed: number;
  readonly game: Game;
  readonly world: World;
  readonly stage: Stage;
  readonly faults: readonly string[];
  readonly ready: () => boolean;
}

export function probeOf({ seed, game, world, stage, faults, ready }: ProbeParts): GameProbe {
  return {
    seed,
    faults,
    renderer: stage.bridge === undefined ? "webgl2" : "webgpu",
    slices: stage.slices,
    get state() {
      return game.state;
    },
    get ready() {
      return ready();
    },
    get craft() {
      return game.craft;
    },
    get run() {
      return game.run;
    },
    get tiles() {
      return world.tiles.map(({ i, j, backend, presence, mean, values }) => {
        return { i, j, backend, presence, mean, difficulty: difficultyOf({ i, j }), samples: [...values] };
      });
    },
    get made() {
      return world.made;
    },
    get waiting() {
      return world.waiting;
    },
    get readBacks() {
      return world.surface.readBacks;
    },
    get backend() {
      return world.source?.backend ?? "not yet";
    },
    get tier() {
      return world.source?.backend === "webgpu" ? (stage.model?.info.tier ?? "") : "";
    },
    get reason() {
      if (world.source?.backend === "hash") return faults.at(-1) ?? "inference is off";
      return stage.model?.info.reasons.join("; ") ?? "";
    },
    get frameTimes() {
      return game.frameTimes.list();
    },
    get places() {
      return game.play.sectors.flatMap(({ beacons, spires, sentinels }) => [
        ...beacons.map(({ kind, x, y, z }) => ({ kind, x, y, z })),
        ...spires.map(({ x, y, z }) => ({ kind: "spire", x, y, z })),
        ...sentinels.map(({ x, y, z }) => ({ kind: "sentinel", x, y, z })),
      ]);
    },
    get autopilot() {
      return game.autopilot;
    },
    set autopilot(on: boolean) {
      game.autopilot = on;
    },
    heightAt: (x, z) => world.field.landAt(x, z),
    readBlock: async (block) => [...(await world.surface.read(block))],
  };
}
