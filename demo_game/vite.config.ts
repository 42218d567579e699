// Build and tests of the game. The runtime comes from js_runtime/dist, as npm would install it.

import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  build: {
    target: "es2023",
    chunkSizeWarningLimit: 2000,
    // The runtime's own import of it, which the game replaces (page/stage.ts).
    rolldownOptions: { external: ["onnxruntime-web", "onnxruntime-web/wasm"] },
  },
  test: { include: ["test/**/*.test.ts"] },
});
