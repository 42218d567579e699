// The core stays small and free of dependencies; telemetry and the engines' adapters carry nothing of it, and the fallback
// stays out of it.

import { basename, join, relative } from "node:path";
import { gzipSync } from "node:zlib";

import { build, type OutputFile } from "esbuild";
import { expect, test } from "vitest";

const KILOBYTE = 1024;

test.each([
  ["the core", "index.ts", 45],
  ["telemetry", "telemetry/index.ts", 8],
  ["for three.js", "adapters/three.ts", 3],
  ["for PlayCanvas", "adapters/playcanvas.ts", 3],
  ["for Babylon.js", "adapters/babylon.ts", 3],
])(
  "%s (%s) is at most %i kB minified and gzipped, and imports nothing but the core",
  async (_, entry, limitKilobytes) => {
    const { static: files } = await bundle(entry);
    const text = files.map((file) => file.text).join("\n");
    expect(text).not.toMatch(/\bfrom\s*["'](?!\.\.\/index\.js|\.\/)|\brequire\(|WebAssembly|onnxruntime|\bprocess\./);
    const sizes = files.map((file) => gzipSync(file.contents, { level: 9 }).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limitKilobytes * KILOBYTE);
  },
);

test("ONNX Runtime Web is named in one part of the runtime, which is loaded on demand", async () => {
  const { onDemand } = await bundle("index.ts");
  const names = onDemand.filter((file) => file.text.includes("onnxruntime-web")).map((file) => basename(file.path));
  expect(names).toHaveLength(1);
  expect(names[0]).toMatch(/^load_portable-/);
});

/** An entry point as it is built: the files that its import fetches, and those that come later or never. */
async function bundle(entry: string): Promise<{ static: readonly OutputFile[]; onDemand: readonly OutputFile[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, "..", "src", entry)],
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2023",
    outdir: "out",
    write: false,
    metafile: true,
    external: ["../index.js", "onnxruntime-web", "onnxruntime-web/wasm"],
  });
  const fetched = new Set<string>();
  const follow = (path: string): void => {
    if (fetched.has(path)) return;
    fetched.add(path);
    for (const { path: next, kind, external } of metafile.outputs[path]?.imports ?? []) {
      if (kind === "import-statement" && external !== true) follow(next);
    }
  };
  follow(Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(entry))?.[0] ?? "");
  const isStatic = ({ path }: OutputFile): boolean => fetched.has(relative(process.cwd(), path));
  return { static: outputFiles.filter(isStatic), onDemand: outputFiles.filter((file) => !isStatic(file)) };
}
