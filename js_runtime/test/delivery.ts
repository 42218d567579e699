// A server whose faults come from a seed, and a clock that makes retries quick.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { systemClock, type DownloadClock } from "../src/download.js";
import { MemoryStore, type Store } from "../src/store.js";
import { Random } from "./random.js";

/** Waits a hundredth of what is asked for. */
export const quickClock: DownloadClock = {
  now: systemClock.now,
  wait: (milliseconds, signal) => systemClock.wait(milliseconds / 100, signal),
};

/** Numbers in [0, 1) from a seed. */
export function randomOf(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

/** How one request is answered. */
export type Behaviour =
  "right" | "cut" | "stall" | "trickle" | "wrong-byte" | "html" | "busy" | "gone" | "other-range" | "no-length";

/** One server for many packages at a time, each under a prefix of its own. */
export class FaultyServer {
  readonly sites = new Map<string, Site>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const [, prefix = "", ...rest] = (request.url ?? "").split("/");
      const site = this.sites.get(prefix);
      if (site === undefined) response.writeHead(404).end();
      else site.answer(rest.join("/"), request, response);
    });
  }

  static async start(): Promise<FaultyServer> {
    const server = new FaultyServer();
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  /** Serve files under a prefix; returns their address. */
  add(prefix: string, site: Site): string {
    this.sites.set(prefix, site);
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/${prefix}/`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Files, and how the server behaves for each request. */
export class Site {
  readonly files: Map<string, Buffer>;
  readonly requests: { readonly path: string; readonly range: string | undefined }[] = [];
  readonly #behave: (path: string) => Behaviour;
  readonly #ranges: boolean;
  etag = '"1"';

  constructor(files: Map<string, Buffer>, behave: (path: string) => Behaviour, ranges = true) {
    this.files = files;
    this.#behave = behave;
    this.#ranges = ranges;
  }

  answer(path: string, request: IncomingMessage, response: ServerResponse): void {
    const range = request.headers.range;
    this.requests.push({ path, range });
    const whole = this.files.get(path);
    const behaviour = whole === undefined ? "gone" : this.#behave(path);
    const file = whole ?? Buffer.alloc(0);
    const wanted = /^bytes=(\d+)-(\d+)$/.exec(range ?? "");
    const same = request.headers["if-range"] === undefined || request.headers["if-range"] === this.etag;
    let [start, end] = [0, file.length];
    const ranged = this.#ranges && same && wanted !== null;
    if (ranged) [start, end] = [Number(wanted[1]), Math.min(Number(wanted[2]) + 1, file.length)];
    if (behaviour === "other-range" && ranged && start > 0) start -= 1;
    const body = Buffer.from(file.subarray(start, end));
    const headers: Record<string, string | number> = { etag: this.etag };
    if (ranged) headers["content-range"] = `bytes ${String(start)}-${String(end - 1)}/${String(file.length)}`;
    if (behaviour !== "no-length") headers["content-length"] = body.length;
    const status = ranged ? 206 : 200;
    switch (behaviour) {
      case "gone":
        response.writeHead(404).end();
        return;
      case "busy":
        response.writeHead(503, { "retry-after": "1" }).end();
        return;
      case "html":
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>app</title>");
        return;
      case "cut":
        response.writeHead(status, headers);
        response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
        return;
      case "stall":
        response.writeHead(status, headers);
        response.write(body.subarray(0, Math.floor(body.length / 3)));
        return;
      case "trickle": {
        response.writeHead(status, headers);
        const half = Math.floor(body.length / 2);
        response.write(body.subarray(0, half));
        setTimeout(() => response.end(body.subarray(half)), 3);
        return;
      }
      case "wrong-byte":
        if (body.length > 0) body[Math.floor(body.length / 2)] = (body[Math.floor(body.length / 2)] ?? 0) ^ 1;
        response.writeHead(status, headers).end(body);
        return;
      case "right":
      case "other-range":
      case "no-length":
        response.writeHead(status, headers);
        response.end(body);
        return;
    }
  }
}

/** A memory store that fails as a random number says: full, unreadable, unwritable, or with other bytes than it was given. */
export class FaultyStore implements Store {
  readonly kind = "faulty";
  readonly inner: MemoryStore;
  readonly #random: () => number;
  readonly #rate: number;

  constructor(limitBytes: number, random: () => number, rate: number) {
    this.inner = new MemoryStore(limitBytes);
    this.#random = random;
    this.#rate = rate;
  }

  async get(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    this.#mayFail("NotReadableError");
    const bytes = await this.inner.get(key);
    if (bytes === undefined || bytes.length === 0 || this.#random() >= this.#rate) return bytes;
    if (this.#random() < 0.5) return bytes.slice(0, bytes.length - 1);
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    return bytes;
  }

  async put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#mayFail("QuotaExceededError");
    this.#mayFail("InvalidStateError");
    await this.inner.put(key, bytes);
  }

  async delete(key: string): Promise<void> {
    this.#mayFail("NoModificationAllowedError");
    await this.inner.delete(key);
  }

  list() {
    this.#mayFail("NotReadableError");
    return this.inner.list();
  }

  #mayFail(name: string): void {
    if (this.#random() < this.#rate) throw new DOMException("a fault on purpose", name);
  }
}
