// The runtime's check of manifests agrees with ajv, on the golden manifest and on hundreds of ways to spoil it.

import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";

import { MANIFEST_SCHEMA } from "../src/generated/manifest_schema.js";
import { schemaFault } from "../src/schema.js";
import { goldenFiles } from "./golden.js";
import { Random } from "./random.js";

const text = goldenFiles().get("manifest.json")?.toString() ?? "";
const accepts = new Ajv2020({ strict: true }).compile(structuredClone(MANIFEST_SCHEMA));

type Json = null | boolean | number | string | Json[] | { [name in string]: Json };

const WRONG: readonly Json[] = [null, true, -1, 0, 1.5, 1e12, "", "../x", "Infinity", "float32", [], {}, [1, 1, 1, 1]];

/** Change, add or remove something anywhere in the document. */
function spoil(document: Json, random: Random): void {
  let node = document;
  for (;;) {
    if (typeof node !== "object" || node === null) return;
    const keys = Object.keys(node);
    const key = keys[Math.floor(random.between(0, keys.length))];
    const parent = node as Record<string, Json>;
    const child = key === undefined ? undefined : parent[key];
    const deeper = typeof child === "object" && child !== null && random.next() < 0.85;
    if (deeper) {
      node = child;
      continue;
    }
    const value = WRONG[Math.floor(random.between(0, WRONG.length))] ?? null;
    const what = random.next();
    if (key === undefined || what < 0.1) parent["surplus"] = structuredClone(value);
    else if (what < 0.3 && Array.isArray(node)) node.splice(Number(key), 1);
    else if (what < 0.3) Reflect.deleteProperty(node, key);
    else parent[key] = structuredClone(value);
    return;
  }
}

test("valid documents have no fault", () => {
  expect(accepts(JSON.parse(text))).toBe(true);
  expect(schemaFault(JSON.parse(text), MANIFEST_SCHEMA)).toBeUndefined();
});

test("spoiled documents have a fault where ajv finds one", () => {
  const random = new Random(4);
  let refused = 0;
  for (let round = 0; round < 600; round += 1) {
    const document = JSON.parse(text) as Json;
    spoil(document, random);
    const fault = schemaFault(document, MANIFEST_SCHEMA);
    if ((fault === undefined) !== accepts(document)) {
      throw new Error(`${fault ?? "valid"}, ajv: ${JSON.stringify(accepts.errors)}`);
    }
    if (fault !== undefined) refused += 1;
  }
  expect(refused).toBeGreaterThan(300);
});

test("a fault says where and what", () => {
  const faultOf = (edit: (manifest: Record<string, Json>) => void): string | undefined => {
    const manifest = JSON.parse(text) as Record<string, Json>;
    edit(manifest);
    return schemaFault(manifest, MANIFEST_SCHEMA);
  };
  expect(faultOf((manifest) => Reflect.deleteProperty(manifest, "files"))).toBe("the document must have files");
  expect(faultOf((manifest) => (manifest["other"] = 1))).toBe("the document must not have other");
  expect(faultOf((manifest) => (manifest["kernels"] = 1))).toBe("/kernels must be array");
  expect(faultOf((manifest) => (manifest["files"] = [{ path: "a", size_bytes: -1, sha256: "" }]))).toMatch(
    /^\/files\/0\/\w+ must (be >= \d|match .+)$/,
  );
});
