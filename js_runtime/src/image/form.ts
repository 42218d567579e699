// A second form of a kernel, whose model inputs or outputs are textures: derived from its WGSL, as divided forms are.
//
// The compiler writes one declaration and one-line accessors per binding (`load_x`, `raw_x`, `store_x`), and templates go
// through them. The form leaves the declaration out and lets the accessors read or write texels: what else names the
// binding does not compile then, and its kernel has no such form. Texels lie in bind group 1; group 0 stays as it is.

import type { Kernel } from "../generated/manifest.js";
import type { OutputFormat } from "./picture.js";
import { coordinates, READ_STRUCT, WRITE_STRUCT, type Extents } from "./texels.js";

/** A binding of a kernel that becomes a texture, and the tensor that it holds. */
export type Port = {
  /** Index into the kernel's bindings. */
  readonly binding: number;
  readonly tensor: string;
  readonly dtype: "float32" | "float16";
  /** WGSL expressions of the image's sizes; `uniform` names the struct that holds them otherwise. */
  readonly extents: (uniform: string) => Extents;
} & (
  | { readonly way: "read"; readonly layout: "nchw" | "nhwc" }
  | { readonly way: "write"; readonly format: OutputFormat; readonly channels: 1 | 4 }
);

/** The kernel's WGSL with its ports as textures; port k has bindings 2k (texels) and 2k + 1 (uniform) of group 1. */
export function imageWgsl(wgsl: string, kernel: Kernel, ports: readonly Port[]): string | undefined {
  const lines = wgsl.split("\n");
  const structs = new Set<string>();
  const added: string[] = [];
  for (const [place, port] of ports.entries()) {
    const name = kernel.bindings[port.binding]?.name ?? "";
    const at = lines.findIndex((line) => line.startsWith(`@group(0) @binding(${String(port.binding)}) `));
    const element = new RegExp(`^.* var<storage, \\w+> ${name}: array<([\\w<>]+)>;$`).exec(lines[at] ?? "")?.[1];
    if (at < 0 || element === undefined) return undefined;
    lines[at] = "";
    const accessors = port.way === "read" ? read(port, name, element, place) : write(port, name, element, place);
    if (accessors === undefined) return undefined;
    structs.add(port.way === "read" ? READ_STRUCT : WRITE_STRUCT);
    added.push(accessors);
    for (const [index, line] of lines.entries()) {
      const accessor = new RegExp(`^fn (load|raw|int|store)_${name}\\(`).exec(line)?.[1];
      if (accessor !== undefined) lines[index] = rewrite(accessor, line, name, port.way);
    }
  }
  return [...lines, ...structs, ...added].join("\n");
}

/** One accessor by texels; those that cannot be are left out. */
function rewrite(accessor: string, line: string, name: string, way: "read" | "write"): string {
  const open = line.indexOf(`${name}[`, line.indexOf("{")) + name.length;
  const close = closing(line, open);
  const index = line.slice(open + 1, close);
  if (way === "read") {
    return accessor === "int"
      ? ""
      : `${line.slice(0, open - name.length)}webinfer_${name}(${index})${line.slice(close + 1)}`;
  }
  return accessor === "store" ? `${line.slice(0, line.indexOf("{"))}{ webinfer_${name}(${index}, stored); }` : "";
}

/** Index of the bracket that closes the one at `open`. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "[") depth += 1;
    if (text[at] === "]") depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

/** `webinfer_<name>(i)`: what the buffer holds at its index i. */
function read(port: Port & { readonly way: "read" }, name: string, element: string, place: number): string | undefined {
  const own = `webinfer_${name}`;
  const value = elementAt(port.dtype, element, `${own}_element`);
  if (value === undefined) return undefined;
  const extents = port.extents(`${own}_read`);
  const count = `${extents.width} * ${extents.height} * ${extents.channels}`;
  return `@group(1) @binding(${String(2 * place)}) var ${own}_texels: texture_2d<f32>;
@group(1) @binding(${String(2 * place + 1)}) var<uniform> ${own}_read: WebinferRead;
fn ${own}_element(e: u32) -> f32 {
  ${coordinates(port.layout, extents)}
  let v = dot(${own}_read.rows[c], textureLoad(${own}_texels, vec2<u32>(x, y), 0)) + ${own}_read.shift[c];
  return select(0.0, v, e < ${count});
}
fn ${own}(i: u32) -> ${element} { return ${value}; }`;
}

/** An array element from the tensor's elements: one, or four side by side; 16-bit ones may share words. */
function elementAt(dtype: Port["dtype"], element: string, at: string): string | undefined {
  const four = `vec4<f32>(${at}(4u * i), ${at}(4u * i + 1u), ${at}(4u * i + 2u), ${at}(4u * i + 3u))`;
  const values: Readonly<Record<string, string>> =
    dtype === "float32"
      ? {
          f32: `${at}(i)`,
          "vec4<f32>": four,
          u32: `bitcast<u32>(${at}(i))`,
          "vec4<u32>": `bitcast<vec4<u32>>(${four})`,
        }
      : {
          f16: `f16(${at}(i))`,
          "vec4<f16>": `vec4<f16>(${four})`,
          u32: `pack2x16float(vec2<f32>(${at}(2u * i), ${at}(2u * i + 1u)))`,
          "vec2<u32>": `pack4(${four})`,
        };
  return values[element];
}

/** `webinfer_<name>(i, v)`: store what the buffer would hold at its index i. */
function write(
  port: Port & { readonly way: "write" },
  name: string,
  element: string,
  place: number,
): string | undefined {
  const own = `webinfer_${name}`;
  const stored = storedAs(port.dtype, element);
  if (stored === undefined) return undefined;
  const wide = element.startsWith("vec");
  // Without reading what lies in a texel, only whole ones can be stored.
  if (port.channels === 4 && !wide) return undefined;
  const extents = port.extents(`${own}_write`);
  const { width, height } = extents;
  const texel = `vec2<u32>(p % ${width}, p / ${width})`;
  const store = `fn ${own}_texel(p: u32, v: vec4<f32>) {
  if (p < ${width} * ${height}) { textureStore(${own}_texels, ${texel}, v * ${own}_write.scale + ${own}_write.shift); }
}`;
  const gray = `fn ${own}_gray(p: u32, v: f32) {
  let texel = v * ${own}_write.scale.x + ${own}_write.shift.x;
  if (p < ${width} * ${height}) { textureStore(${own}_texels, ${texel}, vec4<f32>(texel, texel, texel, 1.0)); }
}`;
  const body =
    port.channels === 4
      ? `${own}_texel(i, v);`
      : wide
        ? ["x", "y", "z", "w"].map((lane, at) => `${own}_gray(4u * i + ${String(at)}u, v.${lane});`).join(" ")
        : `${own}_gray(i, v);`;
  return `@group(1) @binding(${String(2 * place)}) var ${own}_texels: texture_storage_2d<${port.format}, write>;
@group(1) @binding(${String(2 * place + 1)}) var<uniform> ${own}_write: WebinferWrite;
${port.channels === 4 ? store : gray}
fn ${own}(i: u32, stored: ${stored.type}) { let v = ${stored.value}; ${body} }`;
}

/** What an accessor stores, and the value that a reader of the buffer would see: 16-bit ones are rounded. */
function storedAs(
  dtype: Port["dtype"],
  element: string,
): { readonly type: string; readonly value: string } | undefined {
  const wide = "vec4<f32>";
  const values: Readonly<Record<string, readonly [string, string]>> =
    dtype === "float32"
      ? {
          f32: ["f32", "stored"],
          [wide]: [wide, "stored"],
          // Kernels that only move elements move bits.
          u32: ["u32", "bitcast<f32>(stored)"],
          "vec4<u32>": ["vec4<u32>", `bitcast<${wide}>(stored)`],
        }
      : {
          f16: ["f32", "f32(f16(stored))"],
          "vec4<f16>": [wide, `${wide}(vec4<f16>(stored))`],
          "vec2<u32>": [wide, "unpack4(pack4(stored))"],
        };
  const found = values[element];
  return found === undefined ? undefined : { type: found[0], value: found[1] };
}
