// Test runner: one worker, because software Vulkan drivers already use every core.

import { existsSync, readdirSync } from "node:fs";

import { defineConfig } from "vitest/config";

// The lavapipe driver is the reference device of the tests; a caller's own choice wins.
const folder = "/usr/share/vulkan/icd.d";
const icd = existsSync(folder) ? readdirSync(folder).find((name) => /^lvp_icd.*\.json$/.test(name)) : undefined;
const lavapipe = icd === undefined ? undefined : `${folder}/${icd}`;
const driver = process.env["VK_ICD_FILENAMES"] ?? lavapipe;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    env: driver === undefined ? {} : { VK_ICD_FILENAMES: driver, VK_DRIVER_FILES: driver },
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
