// Reads single files out of a zip without holding the rest: its directory first, then an entry at a time.
//
// Format: PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7 (local header), 4.3.12 (central directory), 4.3.16 (its end).
// Stored and deflated entries; neither encryption nor zip64 (archives or entries of 4 GiB and more).

import { PackageError } from "./errors.js";

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const HEADER_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;

/** One file of an archive. */
export interface ZipEntry {
  readonly sizeBytes: number;
  /** The file's bytes; rejects with "zip-invalid" where they are not what the directory says. */
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
}

/** Files of an archive by path. Rejects with "zip-invalid" for what is no such archive, or has paths that lead out of it. */
export async function openZip(archive: Blob, name: string): Promise<ReadonlyMap<string, ZipEntry>> {
  const fail = (message: string): never => {
    throw new PackageError("zip-invalid", `${name}: ${message}; make the archive again`);
  };
  const tailStart = Math.max(0, archive.size - END_BYTES - MAX_COMMENT_BYTES);
  const tail = await viewOf(archive.slice(tailStart));
  let end = tail.byteLength - END_BYTES;
  // The comment behind the record says how long it is, which tells the record from bytes that look like one.
  const isEnd = (at: number): boolean =>
    tail.getUint32(at, true) === 0x06054b50 && at + END_BYTES + tail.getUint16(at + 20, true) === tail.byteLength;
  while (end >= 0 && !isEnd(end)) end -= 1;
  if (end < 0) return fail("this is not a zip archive");
  const count = tail.getUint16(end + 10, true);
  const size = tail.getUint32(end + 12, true);
  const start = tail.getUint32(end + 16, true);
  if (count === 0xffff || start === 0xffffffff) return fail("zip64 is not supported (a folder has no such limit)");
  if (size > MAX_DIRECTORY_BYTES || start + size > tailStart + end) return fail("its directory is damaged");
  const directory = await viewOf(archive.slice(start, start + size));
  const entries = new Map<string, ZipEntry>();
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + HEADER_BYTES > size || directory.getUint32(at, true) !== 0x02014b50)
      return fail("its directory is damaged");
    const lengths = [28, 30, 32].map((field) => directory.getUint16(at + field, true));
    const [nameLength = 0] = lengths;
    const next = at + HEADER_BYTES + lengths.reduce((sum, length) => sum + length, 0);
    if (next > size) return fail("its directory is damaged");
    const path = new TextDecoder().decode(
      new Uint8Array(directory.buffer, directory.byteOffset + at + HEADER_BYTES, nameLength),
    );
    if (leadsOut(path)) return fail(`the path ${JSON.stringify(path)} leads out of the archive`);
    if (entries.has(path)) return fail(`it has ${path} twice`);
    const header: Header = {
      encrypted: (directory.getUint16(at + 8, true) & 1) === 1,
      method: directory.getUint16(at + 10, true),
      packedBytes: directory.getUint32(at + 20, true),
      sizeBytes: directory.getUint32(at + 24, true),
      offset: directory.getUint32(at + 42, true),
    };
    if (!path.endsWith("/")) {
      const read = (): Promise<Uint8Array<ArrayBuffer>> =>
        readEntry(archive, header, (what) => fail(`${path} ${what}`));
      entries.set(path, { sizeBytes: header.sizeBytes, read });
    }
    at = next;
  }
  return entries;
}

interface Header {
  readonly encrypted: boolean;
  readonly method: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly offset: number;
}

async function readEntry(
  archive: Blob,
  { encrypted, method, packedBytes, sizeBytes, offset }: Header,
  fail: (what: string) => never,
): Promise<Uint8Array<ArrayBuffer>> {
  if (encrypted) return fail("is encrypted");
  if (method !== 0 && method !== 8) return fail(`is compressed by method ${String(method)}, not by deflate`);
  const local = await viewOf(archive.slice(offset, offset + LOCAL_BYTES));
  if (local.byteLength < LOCAL_BYTES || local.getUint32(0, true) !== 0x04034b50)
    return fail("is not where it should be");
  const start = offset + LOCAL_BYTES + local.getUint16(26, true) + local.getUint16(28, true);
  const packed = archive.slice(start, start + packedBytes);
  if (packed.size !== packedBytes) return fail("is cut off");
  if (method === 0) {
    return packedBytes === sizeBytes ? new Uint8Array(await packed.arrayBuffer()) : fail("has two sizes");
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = packed.stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      // Counted while it comes: a few bytes of deflate can mean any number of bytes.
      if (length > sizeBytes) break;
      chunks.push(value);
    }
  } catch (cause) {
    throw new PackageError("zip-invalid", "a compressed entry is damaged; make the archive again", { cause });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  return length === sizeBytes ? new Uint8Array(await new Blob(chunks).arrayBuffer()) : fail("has another size");
}

/** True for absolute paths, drive letters, backslashes and "..". */
function leadsOut(path: string): boolean {
  return /^\/|^[a-z]:|\\|\0/i.test(path) || path.split("/").includes("..");
}

async function viewOf(blob: Blob): Promise<DataView> {
  return new DataView(await blob.arrayBuffer());
}
