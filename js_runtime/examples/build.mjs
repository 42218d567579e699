// Builds the examples into dist/, which any static server can serve.

import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";

import { build } from "esbuild";

const engines = ["three", "playcanvas", "babylon"];

await mkdir(join(import.meta.dirname, "dist"), { recursive: true });
await Promise.all([
  build({
    entryPoints: engines.map((engine) => `./${engine}/main.ts`),
    outdir: "dist",
    absWorkingDir: import.meta.dirname,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    logLevel: "warning",
  }),
  cp(join(import.meta.dirname, "page.css"), join(import.meta.dirname, "dist", "page.css")),
  ...engines.map((engine) =>
    cp(join(import.meta.dirname, engine, "index.html"), join(import.meta.dirname, "dist", engine, "index.html")),
  ),
]);
