// The core stays small and free of dependencies; telemetry and the engines' adapters carry nothing of it.

import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { expect, test } from "vitest";

const KILOBYTE = 1024;

test.each([
  ["the core", "index.ts", 45],
  ["telemetry", "telemetry/index.ts", 8],
  ["for three.js", "adapters/three.ts", 3],
  ["for PlayCanvas", "adapters/playcanvas.ts", 3],
  ["for Babylon.js", "adapters/babylon.ts", 3],
])("%s (%s) is at most %i kB minified and gzipped, and imports nothing but the core", async (_, entry, limitKilobytes) => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", entry)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
    external: ["../index.js"],
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild wrote nothing");
  expect(file.text).not.toMatch(/\bfrom\s*["'](?!\.\.\/index\.js)|\brequire\(|WebAssembly|\bprocess\./);
  expect(gzipSync(file.contents, { level: 9 }).length).toBeLessThanOrEqual(limitKilobytes * KILOBYTE);
});
