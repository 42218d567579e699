// The core stays small and free of dependencies.

import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { expect, test } from "vitest";

const LIMIT_BYTES = 40 * 1024;

test("the core is at most 40 kB minified and gzipped, without an import", async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", "index.ts")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    write: false,
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error("esbuild wrote nothing");
  expect(file.text).not.toMatch(/\bfrom\s*["']|\brequire\(|WebAssembly|\bprocess\./);
  expect(gzipSync(file.contents, { level: 9 }).length).toBeLessThanOrEqual(LIMIT_BYTES);
});
