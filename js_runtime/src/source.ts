// Where the files of a package come from: a URL, or files that the player chose or dropped.

import type { Downloaded, DownloadOptions, Downloader } from "./download.js";
import { PackageError } from "./errors.js";

export const MANIFEST = "manifest.json";
/** A manifest beyond this is not one: refused before it fills memory. */
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Delivers bytes; what they are worth is for the package to check. */
export interface Source {
  /** For messages. */
  readonly name: string;
  /** The address to remember the package by, where it has one. */
  readonly url: URL | undefined;
  /** `patient: false`: one attempt, because the caller has another way. */
  manifest(options: DownloadOptions & { readonly patient: boolean }): Promise<Downloaded>;
  file(path: string, sizeBytes: number, options: DownloadOptions): Promise<Uint8Array<ArrayBuffer>>;
}

/** What `load` takes: an address, a zip (a File or Blob), the files of a folder, or a folder's handle. */
export type PackageLocation = string | URL | Blob | Iterable<File> | FileSystemDirectoryHandle;

/** A package folder behind `location` (with or without the closing slash), or local files. */
export async function openSource(location: PackageLocation, downloader: Downloader): Promise<Source> {
  if (typeof location === "string" || location instanceof URL) return new UrlSource(location, downloader);
  if (location instanceof Blob) {
    const name = location instanceof File ? location.name : "the archive";
    const { openZip } = await import("./zip.js");
    return new FileSource(name, inFolder(name, await openZip(location, name)));
  }
  if ("getFileHandle" in location) return new FileSource(location.name, (path) => fileBehind(location, path));
  const files = Array.from(location, (file): [string, LocalFile] => [
    file.webkitRelativePath || file.name,
    ofFile(file),
  ]);
  return new FileSource("the chosen files", inFolder("the chosen files", new Map(files)));
}

class UrlSource implements Source {
  readonly url: URL;
  readonly #downloader: Downloader;

  constructor(address: string | URL, downloader: Downloader) {
    // Node has no location: there, only absolute URLs make sense.
    this.url = new URL(address, typeof location === "undefined" ? undefined : location.href);
    if (!this.url.pathname.endsWith("/")) this.url.pathname += "/";
    // No file's address has them, and the package is remembered by what is left.
    this.url.search = "";
    this.url.hash = "";
    this.#downloader = downloader;
  }

  get name(): string {
    return new URL(MANIFEST, this.url).href;
  }

  manifest(options: DownloadOptions & { readonly patient: boolean }): Promise<Downloaded> {
    return this.#downloader.document(new URL(MANIFEST, this.url), MAX_MANIFEST_BYTES, options);
  }

  file(path: string, sizeBytes: number, options: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
    return this.#downloader.file(new URL(path, this.url), sizeBytes, options);
  }
}

interface LocalFile {
  readonly sizeBytes: number;
  readonly read: () => Promise<Uint8Array<ArrayBuffer>>;
}

/** The file at a path of the package, if there is one. */
type FindFile = (path: string) => LocalFile | undefined | Promise<LocalFile | undefined>;

class FileSource implements Source {
  readonly name: string;
  readonly url = undefined;
  readonly #find: FindFile;

  constructor(name: string, find: FindFile) {
    this.name = name;
    this.#find = find;
  }

  async manifest(): Promise<Downloaded> {
    const file = await this.#find(MANIFEST);
    if (file === undefined) throw new PackageError("missing-file", `${this.name}: there is no ${MANIFEST} in it`);
    if (file.sizeBytes > MAX_MANIFEST_BYTES) {
      throw new PackageError("size-mismatch", `${this.name}: ${MANIFEST} has ${String(file.sizeBytes)} bytes`);
    }
    return { bytes: await this.#read(file, MANIFEST), contentType: "" };
  }

  async file(path: string, sizeBytes: number, options: DownloadOptions): Promise<Uint8Array<ArrayBuffer>> {
    const file = await this.#find(path);
    if (file === undefined) throw new PackageError("missing-file", `${this.name}: there is no ${path} in it`);
    if (file.sizeBytes !== sizeBytes) {
      const found = `expected ${String(sizeBytes)} bytes, found ${String(file.sizeBytes)}`;
      throw new PackageError("size-mismatch", `${this.name}: ${path}: ${found}; choose the whole package again`);
    }
    const bytes = await this.#read(file, path);
    options.onBytes?.(bytes.length);
    return bytes;
  }

  async #read(file: LocalFile, path: string): Promise<Uint8Array<ArrayBuffer>> {
    try {
      return await file.read();
    } catch (cause) {
      if (cause instanceof PackageError) throw cause;
      // A file that was changed or moved after it was chosen cannot be read any more.
      throw new PackageError("fetch", `${this.name}: ${path} cannot be read; choose the package again`, { cause });
    }
  }
}

/** Files of the folder that has the manifest: archives and folder pickers put the folder's name before each path. */
function inFolder(name: string, files: ReadonlyMap<string, LocalFile>): FindFile {
  const manifests = [...files.keys()].filter((path) => path === MANIFEST || path.endsWith(`/${MANIFEST}`));
  if (manifests.length > 1) {
    throw new PackageError("missing-file", `${name}: it holds several packages (${manifests.join(", ")}); choose one`);
  }
  const folder = (manifests[0] ?? MANIFEST).slice(0, -MANIFEST.length);
  return (path) => files.get(folder + path);
}

async function fileBehind(folder: FileSystemDirectoryHandle, path: string): Promise<LocalFile | undefined> {
  const parts = path.split("/");
  const last = parts.pop() ?? "";
  try {
    let at = folder;
    for (const part of parts) at = await at.getDirectoryHandle(part);
    return ofFile(await (await at.getFileHandle(last)).getFile());
  } catch (cause) {
    if (cause instanceof Error && cause.name === "NotFoundError") return undefined;
    throw new PackageError("fetch", `${folder.name}: ${path} cannot be read; choose the folder again`, { cause });
  }
}

function ofFile(file: File): LocalFile {
  return { sizeBytes: file.size, read: async () => new Uint8Array(await file.arrayBuffer()) };
}
