// Builds dist/: the library, the device hosts, and the preview page. Nothing is bundled from node_modules.

import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
// Built aside and renamed at the end: a build that fails leaves the older one whole.
const dist = join(root, "dist.partial");

await rm(dist, { recursive: true, force: true });
await mkdir(join(dist, "host"), { recursive: true });
await mkdir(join(dist, "page"), { recursive: true });

const shared = {
  bundle: true,
  format: "esm",
  target: "es2023",
  logLevel: "warning",
  absWorkingDir: root,
  external: ["onnxruntime-web", "onnxruntime-web/wasm"],
};
// What is imported dynamically becomes a file of its own, which most players never fetch.
const split = { ...shared, splitting: true, chunkNames: "chunks/[name]-[hash]" };
await Promise.all([
  build({ ...split, entryPoints: ["src/index.ts"], outdir: "dist.partial" }),
  build({ ...shared, entryPoints: ["src/telemetry/index.ts"], outfile: "dist.partial/telemetry.js" }),
  // They share the core with the game: its error classes must be the same ones.
  build({
    ...shared,
    entryPoints: ["three", "playcanvas", "babylon"].map((engine) => `src/adapters/${engine}.ts`),
    outdir: "dist.partial/adapters",
    external: ["../index.js"],
  }),
  build({
    ...shared,
    entryPoints: ["src/host/node.ts"],
    outfile: "dist.partial/host-node.mjs",
    platform: "node",
    target: "node20",
    external: [...shared.external, "webgpu"],
  }),
  build({ ...split, entryPoints: { "host-browser": "src/host/browser.ts" }, outdir: "dist.partial/host" }),
  build({ ...split, entryPoints: ["src/page/page.ts"], outdir: "dist.partial/page" }),
  cp(join(root, "src/host/index.html"), join(dist, "host/index.html")),
  cp(join(root, "src/page/index.html"), join(dist, "page/index.html")),
  cp(join(root, "src/page/style.css"), join(dist, "page/style.css")),
]);
await rm(join(root, "dist"), { recursive: true, force: true });
await rename(dist, join(root, "dist"));
