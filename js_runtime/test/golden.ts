// The golden package and its reference, shared with the Python tests, served over HTTP with faults on request.

import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, relative } from "node:path";

import { expect } from "vitest";

import type { GoldenInput, Manifest } from "../src/generated/manifest.js";
import type { Feeds, Outputs } from "../src/index.js";
import type { DType } from "../src/tensor.js";

const FOLDER = join(import.meta.dirname, "..", "..", "tests", "golden");
const PACKAGE = join(FOLDER, "package");

interface Reference {
  readonly feeds: { readonly x: number[][]; readonly gain: number; readonly offset: number[] };
  readonly outputs: { readonly y: number[][]; readonly z: number[] };
  readonly golden_feeds: readonly (GoldenInput & {
    readonly dtype: DType;
    readonly stream: number;
    readonly bytes: string;
  })[];
}

/** Feeds and what ONNX Runtime's CPU provider answers on the package's model. */
export const reference = JSON.parse(readFileSync(join(FOLDER, "reference.json"), "utf8")) as Reference;

/** The reference's feeds as the runtime takes them. */
export function goldenFeeds(): Feeds {
  return {
    x: new Float32Array(reference.feeds.x.flat()),
    gain: new Float32Array([reference.feeds.gain]),
    offset: BigInt64Array.from(reference.feeds.offset, BigInt),
  };
}

/** Compare outputs with ONNX Runtime's. Both reads begin in this turn, before a waiting run can start. */
export async function expectReference(outputs: Outputs): Promise<void> {
  const [y = [], z] = await Promise.all([outputs.get("y")?.read(), outputs.get("z")?.read()]);
  const expected = reference.outputs.y.flat();
  expect(y).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    const error = Math.abs(Number(y[index]) - value);
    // Written so that NaN fails.
    expect(error <= 1e-5 + 1e-6 * Math.abs(value), `element ${String(index)}`).toBe(true);
  }
  expect(z).toEqual(BigInt64Array.from(reference.outputs.z, BigInt));
}

/** Files of the golden package by path. */
export function goldenFiles(): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(PACKAGE, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(PACKAGE, path), readFileSync(path));
  }
  return files;
}

/** Answers one request in place of the file. */
export type Fault = (response: ServerResponse, file: Buffer) => void;

/** Files of the golden package, by path; change them before or between requests. */
export class PackageServer {
  readonly files = goldenFiles();
  readonly faults = new Map<string, Fault>();
  readonly requests: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const path = (request.url ?? "").replace(/^\/pkg\//, "");
      this.requests.push(path);
      const file = this.files.get(path);
      if (file === undefined) {
        response.writeHead(404).end();
        return;
      }
      const fault = this.faults.get(path);
      if (fault !== undefined) fault(response, file);
      else response.writeHead(200, { "content-length": file.length }).end(file);
    });
  }

  static async start(): Promise<PackageServer> {
    const server = new PackageServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/pkg/`;
  }

  /** Change the manifest before it is served. */
  editManifest(edit: (manifest: Manifest) => void): void {
    const manifest = JSON.parse(this.file("manifest.json").toString()) as Manifest;
    edit(manifest);
    this.files.set("manifest.json", Buffer.from(JSON.stringify(manifest)));
  }

  /** Replace a file and pin its new hash, as another compiler would have written it. */
  async replace(path: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
    this.files.set(path, bytes);
    this.editManifest((manifest) => {
      for (const file of manifest.files) {
        if (file.path === path) Object.assign(file, { sha256: digest, size_bytes: bytes.length });
      }
    });
  }

  file(path: string): Buffer {
    const file = this.files.get(path);
    if (file === undefined) throw new Error(`the golden package has no ${path}`);
    return file;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The error that `work` throws or rejects with; fails where it does neither. */
export async function failure(work: () => unknown): Promise<Error & { code?: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("expected an error");
}
