// Faults of packages and servers: each ends in its typed error.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { FORMAT_VERSION, type Manifest } from "../src/generated/manifest.js";
import { WebinferError } from "../src/index.js";
import { Package, type DeliveryOptions } from "../src/package.js";
import { quickClock } from "./delivery.js";
import { failure, PackageServer } from "./golden.js";

const SHARD = "weights-00001-of-00001.safetensors";
const HTML = "<!doctype html><title>app</title>";

/** Retries that do not take seconds, and no store between tests. */
const quick: DeliveryOptions = { clock: quickClock, cache: "none" };

let server: PackageServer;
beforeEach(async () => {
  server = await PackageServer.start();
});
afterEach(() => server.close());

async function codeOf(work: () => unknown): Promise<string> {
  return (await failure(work)).code ?? "none";
}

describe("manifest", () => {
  test("opens, with and without a closing slash", async () => {
    expect((await Package.open(server.url, quick)).manifest.name).toBe("golden");
    expect((await Package.open(server.url.slice(0, -1), quick)).manifest.name).toBe("golden");
  });

  test("an HTML answer is named as such", async () => {
    server.faults.set("manifest.json", (response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(HTML);
    });
    const error = await failure(() => Package.open(server.url, quick));
    expect(error.code).toBe("not-json");
    expect(error.message).toContain("HTML");
  });

  test("text that is not JSON", async () => {
    server.files.set("manifest.json", Buffer.from("version https://git-lfs.github.com/spec/v1"));
    expect(await codeOf(() => Package.open(server.url, quick))).toBe("not-json");
  });

  test("another format version names both", async () => {
    server.editManifest((manifest) => {
      (manifest as { format_version: number }).format_version = 7;
    });
    const error = await failure(() => Package.open(server.url, quick));
    expect(error.code).toBe("format-version");
    expect(error.message).toContain(`format ${String(FORMAT_VERSION)}, found 7`);
  });

  test("missing and unreachable", async () => {
    server.files.delete("manifest.json");
    expect(await codeOf(() => Package.open(server.url, quick))).toBe("fetch");
    expect(await codeOf(() => Package.open("http://127.0.0.1:1/", quick))).toBe("fetch");
  });

  const faults: Record<string, (manifest: Manifest) => void> = {
    "a path out of the package": (m) => (at(m.files).path = "../secret"),
    "an absolute path": (m) => (at(m.files).path = "/etc/passwd"),
    "a field that the format does not have": (m) => ((m as unknown as Record<string, unknown>)["script"] = "x"),
    "a kernel file that is not listed": (m) => (at(m.kernels).file = "kernels/other.wgsl"),
    "two kernels of one name": (m) => (at(m.kernels).name = at(m.kernels, 1).name),
    "a weight past the end of its shard": (m) => (at(at(m.components).weights).offset = 1e9),
    "a weight whose size is not its shape's": (m) => (at(at(m.components).weights).shape = [5]),
    "an upload of an unknown weight": (m) => (at(program(m).uploads).weight = "other"),
    "an upload past its buffer": (m) => (at(program(m).uploads).offset = 4096),
    "a span outside its buffer": (m) => (at(at(program(m).dispatches).args).size_bytes = 1 << 20),
    "a span of a buffer that does not exist": (m) => (at(at(program(m).dispatches).args).buffer = 99),
    "a missing argument": (m) => void at(program(m).dispatches).args.pop(),
    "a missing parameter": (m) => void at(program(m).dispatches).params.pop(),
    "an unknown kernel": (m) => (at(program(m).dispatches).kernel = "other"),
    "an input without memory": (m) => {
      delete program(m).tensors["x"];
    },
    "an output planned as another type": (m) => (tensor(m, "y").dtype = "int32"),
    "a producer that does not exist": (m) => (tensor(m, "y").producer = 40),
    "a run that uses a staging buffer": (m) => {
      const [source] = at(program(m).prepare).args;
      if (source !== undefined) at(program(m).dispatches).args[0] = source;
    },
  };
  test.each(Object.entries(faults))("refuses %s", async (_, edit) => {
    server.editManifest(edit);
    expect(await codeOf(() => Package.open(server.url, quick))).toBe("manifest-invalid");
  });

  test("random damage gives typed errors only", async () => {
    const whole = server.file("manifest.json").toString();
    let state = 12345;
    const random = (below: number): number => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return state % below;
    };
    const pieces = ["0", "-1", "1e308", "null", "{}", "[]", '"x"', "true", "9007199254740993", ""];
    for (let round = 0; round < 200; round += 1) {
      const start = random(whole.length);
      const length = random(12);
      const text = whole.slice(0, start) + (pieces[random(pieces.length)] ?? "") + whole.slice(start + length);
      server.files.set("manifest.json", Buffer.from(text));
      try {
        await Package.open(server.url, quick);
      } catch (error) {
        expect(error).toBeInstanceOf(WebinferError);
      }
    }
  });
});

describe("files", () => {
  test("a whole file is returned and its bytes are reported", async () => {
    const source = await Package.open(server.url, quick);
    let seen = 0;
    const bytes = await source.read(SHARD, { onBytes: (count) => (seen += count) });
    expect(Buffer.from(bytes).equals(server.file(SHARD))).toBe(true);
    expect(seen).toBe(bytes.length);
  });

  test("a flipped byte", async () => {
    const source = await Package.open(server.url, quick);
    const damaged = Buffer.from(server.file(SHARD));
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    server.files.set(SHARD, damaged);
    const error = await failure(() => source.read(SHARD));
    expect(error.code).toBe("hash-mismatch");
    expect(error.message).toContain(SHARD);
  });

  test("a file that ends early, and one that goes on", async () => {
    const source = await Package.open(server.url, quick);
    const whole = server.file(SHARD);
    server.files.set(SHARD, whole.subarray(0, 40));
    expect(await codeOf(() => source.read(SHARD))).toBe("size-mismatch");
    server.files.set(SHARD, Buffer.concat([whole, whole]));
    expect(await codeOf(() => source.read(SHARD))).toBe("size-mismatch");
  });

  test("a connection that breaks mid-way", async () => {
    const source = await Package.open(server.url, quick);
    server.faults.set(SHARD, (response, file) => {
      response.writeHead(200, { "content-length": file.length });
      response.write(file.subarray(0, 40), () => response.destroy());
    });
    expect(await codeOf(() => source.read(SHARD))).toBe("fetch");
  });

  test("an HTML answer in place of a shard", async () => {
    const source = await Package.open(server.url, quick);
    server.faults.set(SHARD, (response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(HTML);
    });
    const error = await failure(() => source.read(SHARD));
    expect(error.code).toBe("html-answer");
    expect(error.message).toContain("HTML");
  });

  test("a chunked answer without a length is read as well", async () => {
    const source = await Package.open(server.url, quick);
    server.faults.set(SHARD, (response, file) => {
      response.writeHead(200);
      response.write(file.subarray(0, 100), () => response.end(file.subarray(100)));
    });
    expect((await source.read(SHARD)).length).toBe(server.file(SHARD).length);
  });

  test("a file that is not listed", async () => {
    const source = await Package.open(server.url, quick);
    expect(await codeOf(() => source.read("other.bin"))).toBe("missing-file");
  });

  test("an abort, before and during the download", async () => {
    const source = await Package.open(server.url, quick);
    expect(await codeOf(() => Package.open(server.url, { ...quick, signal: AbortSignal.abort() }))).toBe("aborted");
    const controller = new AbortController();
    server.faults.set(SHARD, (response, file) => {
      response.writeHead(200, { "content-length": file.length });
      response.write(file.subarray(0, 40));
    });
    const onBytes = (): void => {
      controller.abort();
    };
    expect(await codeOf(() => source.read(SHARD, { signal: controller.signal, onBytes }))).toBe("aborted");
  });
});

function at<T>(list: readonly T[], index = 0): T {
  const item = list[index];
  if (item === undefined) throw new Error(`the golden package has no item ${String(index)} here`);
  return item;
}

function program(manifest: Manifest) {
  return at(at(manifest.components).programs);
}

function tensor(manifest: Manifest, name: string) {
  const found = program(manifest).tensors[name];
  if (found === undefined) throw new Error(`no tensor ${name}`);
  return found;
}
