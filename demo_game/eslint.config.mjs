// Lint rules of the runtime, for the game.

import runtime from "../js_runtime/eslint.config.mjs";

export default [
  { ignores: ["dist/**", "node_modules/**", "*.webinfer/**"] },
  ...runtime.map((part) =>
    part.languageOptions?.parserOptions === undefined
      ? part
      : {
          ...part,
          languageOptions: {
            ...part.languageOptions,
            parserOptions: { project: ["./tsconfig.json"], tsconfigRootDir: import.meta.dirname },
          },
        },
  ),
];
