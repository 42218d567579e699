// Archives: whole ones are read entry by entry, damaged ones end in their typed error.

import { deflateRawSync } from "node:zlib";

import { describe, expect, test } from "vitest";

import { WebinferError } from "../src/errors.js";
import { Package } from "../src/package.js";
import { openZip } from "../src/zip.js";
import { randomOf } from "./delivery.js";
import { failure, goldenFiles } from "./golden.js";

interface Options {
  readonly method?: number;
  readonly flags?: number;
  readonly comment?: string;
}

/** An archive of these files (APPNOTE.TXT 4.3.6), without checksums, which the runtime leaves to SHA-256. */
function archive(files: Iterable<readonly [string, Buffer]>, options: Options = {}): Buffer {
  const { method = 8, flags = 0, comment = "" } = options;
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of files) {
    const name = Buffer.from(path);
    const packed = method === 8 ? deflateRawSync(content) : content;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(3, 28);
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE(flags, 8);
    header.writeUInt16LE(method, 10);
    header.writeUInt32LE(packed.length, 20);
    header.writeUInt32LE(content.length, 24);
    header.writeUInt16LE(name.length, 28);
    header.writeUInt32LE(offset, 42);
    parts.push(local, name, Buffer.alloc(3), packed);
    directory.push(header, name);
    offset += 33 + name.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, ...directory, end, Buffer.from(comment)]);
}

function blob(bytes: Buffer): Blob {
  return new Blob([new Uint8Array(bytes)]);
}

describe("archives", () => {
  test.each<[string, Options]>([
    ["deflated", {}],
    ["stored", { method: 0 }],
    ["with a comment that looks like an end", { comment: "PK\x05\x06".padEnd(40) }],
  ])("a package, %s", async (_, options) => {
    const source = await Package.open(blob(archive(goldenFiles(), options)));
    const [file] = source.manifest.files;
    expect((await source.read(file?.path ?? "")).length).toBe(file?.size_bytes);
    expect(source.delivery).toMatchObject({ store: "none", manifest: "file" });
  });

  const bomb = archive([["bomb", Buffer.alloc(1e6)]]);
  bomb.writeUInt32LE(10, bomb.lastIndexOf("PK\x01\x02") + 24);
  const faults: Record<string, Buffer> = {
    "a path out of it": archive([["a/../../b", Buffer.from("x")]]),
    "an absolute path": archive([["/etc/passwd", Buffer.from("x")]]),
    "a drive letter": archive([["C:b", Buffer.from("x")]]),
    "a backslash": archive([["..\\b", Buffer.from("x")]]),
    "one path twice": archive(["a", "a"].map((name) => [name, Buffer.from("x")])),
    encryption: archive([["a", Buffer.from("x")]], { flags: 1 }),
    "an unknown method": archive([["a", Buffer.from("x")]], { method: 14 }),
    "more bytes than it says": bomb,
    "no end": Buffer.from("not a zip"),
    nothing: Buffer.alloc(0),
  };
  test.each(Object.entries(faults))("refuses %s", async (_, bytes) => {
    const error = await failure(async () => {
      for (const entry of (await openZip(blob(bytes), "a.zip")).values()) await entry.read();
    });
    expect(error.code).toBe("zip-invalid");
  });

  test("random damage gives typed errors or the right bytes", async () => {
    const whole = archive(goldenFiles());
    const random = randomOf(7);
    for (let round = 0; round < 150; round += 1) {
      const bytes = Buffer.from(whole);
      for (let edit = 0; edit < 3; edit += 1) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      const cut = random() < 0.3 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
      try {
        const source = await Package.open(blob(cut));
        for (const { path } of source.manifest.files) {
          expect(Buffer.from(await source.read(path)).equals(goldenFiles().get(path) ?? Buffer.alloc(0))).toBe(true);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(WebinferError);
      }
    }
  });
});
