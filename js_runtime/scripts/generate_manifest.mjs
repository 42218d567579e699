// Writes the TypeScript types, and the schema that the runtime checks, for the manifest.schema.json in the given folder.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { compile } from "json-schema-to-typescript";
import { format, resolveConfig } from "prettier";

const folder = process.argv[2];
if (folder === undefined) throw new Error("usage: node scripts/generate_manifest.mjs FOLDER");
const options = await resolveConfig(join(import.meta.dirname, "..", "src", "index.ts"));

async function write(name, text) {
  await writeFile(join(folder, name), await format(text, { ...options, filepath: name }));
}

const schema = JSON.parse(await readFile(join(folder, "manifest.schema.json"), "utf8"));
const version = schema["x-format-version"];

const types = await compile(structuredClone(schema), "Manifest", {
  additionalProperties: false,
  bannerComment: "// Types of the package format; generated from webinfer/manifest.py, do not edit.",
  format: false,
});
await write("manifest.schema.json", JSON.stringify(schema));
await write(
  "manifest.ts",
  `${types}\n/** The only format version that this runtime reads. */\nexport const FORMAT_VERSION = ${version};\n`,
);

/** The schema without what is for people, a name under "properties" or "$defs" excepted. */
function bare(node) {
  if (Array.isArray(node)) return node.map(bare);
  if (typeof node !== "object" || node === null) return node;
  const entries = Object.entries(node).filter(([key]) => !["description", "title", "x-format-version"].includes(key));
  const named = (members) => Object.fromEntries(Object.entries(members).map(([name, value]) => [name, bare(value)]));
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === "properties" || key === "$defs" ? named(value) : bare(value)]),
  );
}

await write(
  "manifest_schema.ts",
  `// Schema of manifest.json; generated from webinfer/manifest.py, do not edit.
import type { Schema } from "../schema.js";

export const MANIFEST_SCHEMA: Schema = ${JSON.stringify(bare(schema))};
`,
);
