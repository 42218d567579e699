// Small image models, compiled here and now by the Python side, with pictures and what ONNX Runtime answers on them.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

import type { ImageOptions } from "../src/index.js";

const ROOT = join(import.meta.dirname, "..", "..");

/** A picture, how it becomes the model's only input, and the outputs. */
export interface ImageCase {
  readonly model: string;
  /** Height and width. */
  readonly size: readonly [number, number];
  /** RGBA bytes. */
  readonly pixels: readonly number[];
  readonly options: ImageOptions;
  readonly outputs: Readonly<Record<string, { readonly shape: readonly number[]; readonly values: readonly number[] }>>;
}

export class ImageModels {
  readonly cases: Readonly<Record<string, ImageCase>>;
  readonly #folder = mkdtempSync(join(tmpdir(), "webinfer-images-"));

  constructor() {
    const python = join(process.env["VENV"] ?? ".venv", "bin", "python");
    execFileSync(python, ["-m", "tests.images.make_images", this.#folder], { cwd: ROOT, stdio: "pipe" });
    const text = readFileSync(join(this.#folder, "images.json"), "utf8");
    this.cases = JSON.parse(text) as Readonly<Record<string, ImageCase>>;
  }

  case(name: string): ImageCase {
    const found = this.cases[name];
    if (found === undefined) throw new Error(`no case ${name}`);
    return found;
  }

  /** The files of a model's package. */
  files(model: string): readonly File[] {
    const folder = join(this.#folder, `${model}.webinfer`);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return new File([readFileSync(path)], relative(folder, path));
    });
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
