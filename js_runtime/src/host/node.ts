// Device host in Node: Dawn through the npm package "webgpu". Usage: node host-node.mjs BASE_URL SESSION

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Host } from "./protocol.js";

/** What the package "webgpu" exports; its own types clash with TypeScript's WebGPU types. */
interface Dawn {
  readonly create: (options: readonly string[]) => GPU;
  readonly globals: Readonly<Record<string, unknown>>;
}

const [base, session] = process.argv.slice(2);
if (base === undefined || session === undefined) {
  console.error("usage: node host-node.mjs BASE_URL SESSION");
  process.exit(2);
}

// An installed wheel carries this file without node_modules beside it: the Python side then says where they are.
const modules = process.env["WEBINFER_NODE_MODULES"];
const specifier =
  modules === undefined ? "webgpu" : pathToFileURL(createRequire(join(modules, "host.js")).resolve("webgpu")).href;
const { create, globals } = (await import(specifier)) as Dawn;
Object.assign(globalThis, globals);

// A host that lost its parent has nobody to work for. It may be inside a shader compilation of minutes at that moment,
// and an orderly exit would wait for it.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}, 1000).unref();

const host = new Host({
  base: new URL(base.endsWith("/") ? base : `${base}/`),
  session,
  gpu: create([]),
  userAgent: `Node ${process.version} webgpu`,
  compatibility: false,
});
try {
  await host.serve();
  // Dawn keeps the event loop alive as long as its instance exists.
  process.exit(0);
} catch (error) {
  // The server is the parent process: without it there is nobody to work for.
  console.error(`host ${session}: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
