// Build and tests of the game. The runtime comes from js_runtime/dist, as npm would install it.

import { defineConfig } from "vitest/config";

export default defineConfig({
  base: "./",
  build: { target: "es2023", chunkSizeWarningLimit: 2000 },
  worker: { format: "es" },
  test: { include: ["test/**/*.test.ts"] },
});
