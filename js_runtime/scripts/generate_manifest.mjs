// Writes the TypeScript types and the standalone validator for the manifest.schema.json in the given folder.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
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

// Without inlineRefs every $def becomes one function, which keeps the bundle small.
const ajv = new Ajv2020({ code: { source: true, esm: true, lines: true }, inlineRefs: false, strict: true });
ajv.addKeyword("x-format-version");
ajv.addSchema(schema, "manifest");
// Messages say where and what; the rest of each error would be a tenth of the validator, and nobody reads it.
const unread = /schemaPath:\s*"(?:[^"\\]|\\.)*",\s*keyword:\s*"[^"]*",\s*params:\s*\{[^{}]*\},\s*/g;
const code = standalone.default(ajv, { validateManifest: "manifest" }).replace(unread, "");
// The core has no dependency: a keyword that needs an ajv runtime module must not slip in.
if (/\brequire\(|\bimport\b/.test(code)) throw new Error("the generated validator needs ajv at run time");
await write(
  "validate_manifest.js",
  `// Validator of manifest.json; generated from webinfer/manifest.py, do not edit.\n${code}`,
);
await write(
  "validate_manifest.d.ts",
  `// Declaration of the generated validator; do not edit.
import type { Manifest } from "./manifest.js";

export interface SchemaError {
  readonly instancePath: string;
  readonly message?: string;
}

export declare const validateManifest: {
  (data: unknown): data is Manifest;
  errors?: SchemaError[] | null;
};
`,
);
// Importing what was written is the cheapest proof that it is a module that runs by itself.
const { validateManifest } = await import(pathToFileURL(join(folder, "validate_manifest.js")).href);
if (validateManifest({})) throw new Error("the generated validator accepts an empty object");
