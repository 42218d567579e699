// The core stays small and free of dependencies, and telemetry carries nothing of it.

import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { expect, test } from "vitest";

const KILOBYTE = 1024;

test.each([
  ["the core", "index.ts", 40],
  ["telemetry", "telemetry/index.ts", 8],
])("%s (%s) is at most %i kB minified and gzipped, without an import", async (_, entry, limitKilobytes) => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", entry)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild wrote nothing");
  expect(file.text).not.toMatch(/\bfrom\s*["']|\brequire\(|WebAssembly|\bprocess\./);
  expect(gzipSync(file.contents, { level: 9 }).length).toBeLessThanOrEqual(limitKilobytes * KILOBYTE);
});
