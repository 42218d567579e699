// Checks what a JSON Schema cannot say: every index, span and name of a manifest refers to something that exists.

import { PackageError } from "./errors.js";
import { Sizes, type Extent } from "./expressions.js";
import type { Component, Dispatch, FileEntry, Kernel, Manifest, Program, Span } from "./generated/manifest.js";
import { elementCount, gpuBytes, padded, weightBytes } from "./tensor.js";

type Fail = (message: string) => never;
type Files = ReadonlyMap<string, FileEntry>;

/** Throw a PackageError "manifest-invalid" that names the first reference that does not hold. */
export function checkReferences(manifest: Manifest): void {
  const fail: Fail = (message) => {
    throw new PackageError("manifest-invalid", `manifest.json: ${message}; export the package again`);
  };
  const files: Files = new Map(manifest.files.map((file) => [file.path, file]));
  const kernels = new Map(manifest.kernels.map((kernel) => [kernel.name, kernel]));
  if (kernels.size !== manifest.kernels.length) fail("two kernels share a name");
  for (const kernel of manifest.kernels) {
    if (!files.has(kernel.file)) fail(`kernel ${kernel.name}: file ${kernel.file} is not listed in files`);
  }
  for (const component of manifest.components) {
    for (const weight of component.weights) {
      const file = files.get(weight.file) ?? fail(`weight ${weight.name}: file ${weight.file} is not listed in files`);
      if (weight.offset + weight.size_bytes > file.size_bytes) {
        fail(
          `weight ${weight.name}: ends at byte ${String(weight.offset + weight.size_bytes)} of ${file.path}, ` +
            `which has ${String(file.size_bytes)}`,
        );
      }
    }
    for (const { name, dtype, shape, size_bytes: found } of component.weights) {
      const expected = weightBytes(dtype, shape);
      if (found !== expected) fail(`weight ${name}: expected ${String(expected)} bytes, found ${String(found)}`);
    }
    checkSymbols(component, fail);
    for (const program of component.programs) checkProgram(component, program, kernels, fail);
    checkGolden(component, files, fail);
  }
}

function checkGolden({ name, golden, inputs, programs, symbols }: Component, files: Files, fail: Fail): void {
  if (golden === null) return;
  const where = `component ${name}: golden`;
  const file = files.get(golden.file) ?? fail(`${where}: file ${golden.file} is not listed in files`);
  const fed = new Set(golden.inputs.map((input) => input.name));
  for (const input of inputs) if (!fed.has(input.name)) fail(`${where}: input ${input.name} has no feed`);
  for (const symbol of Object.keys(symbols)) {
    if (!Object.hasOwn(golden.sizes, symbol)) fail(`${where}: ${symbol} has no size`);
  }
  for (const { name: value, offset, count } of golden.values) {
    if (offset + count * 8 > file.size_bytes) fail(`${where}: ${value} ends after ${file.path}`);
    if (!programs.every(({ tensors }) => Object.hasOwn(tensors, value))) fail(`${where}: ${value} is not planned`);
  }
}

function checkSymbols(component: Component, fail: Fail): void {
  const where = `component ${component.name}`;
  for (const [name, { minimum, maximum, multiple }] of Object.entries(component.symbols)) {
    if (minimum > maximum || minimum % multiple !== 0 || maximum % multiple !== 0) fail(`${where}: bounds of ${name}`);
    if (!component.inputs.some(({ shape }) => shape.includes(name))) fail(`${where}: no input tells ${name}`);
  }
  const extents = [...component.inputs, ...component.outputs].flatMap(({ shape }) => shape);
  checkExtents(
    [...extents, ...component.constraints.map(({ zero }) => zero)],
    new Sizes(component.symbols),
    where,
    fail,
  );
}

/** Every expression reads over the component's symbols. */
function checkExtents(extents: readonly Extent[], sizes: Sizes, where: string, fail: Fail): void {
  for (const extent of extents) {
    try {
      sizes.valueOf(extent);
    } catch (error) {
      fail(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

function checkProgram(component: Component, program: Program, kernels: ReadonlyMap<string, Kernel>, fail: Fail): void {
  const where = `component ${component.name}, tier ${program.tier}`;
  // At their maxima: that is what memory is planned for.
  const sizes = new Sizes(component.symbols);
  const weights = new Map(component.weights.map((weight) => [weight.name, weight]));
  for (const name of program.kernels) {
    if (!kernels.has(name)) fail(`${where}: kernel ${name} does not exist`);
  }
  for (const upload of program.uploads) {
    const buffer = program.buffers[upload.buffer] ?? fail(`${where}: upload ${upload.weight}: no such buffer`);
    const weight = weights.get(upload.weight) ?? fail(`${where}: upload ${upload.weight}: no such weight`);
    const end = upload.offset + padded(weightBytes(weight.dtype, weight.shape));
    if (upload.offset % 4 !== 0 || end > buffer.size_bytes) {
      fail(
        `${where}: upload ${upload.weight}: offset ${String(upload.offset)} is unaligned or it ends past the buffer`,
      );
    }
  }
  for (const dispatch of [...program.prepare, ...program.dispatches]) {
    checkDispatch(program, dispatch, kernels, sizes, where, fail);
  }
  // Staging buffers are gone once the load-time dispatches ran.
  const lasting: readonly Span[] = [
    ...program.dispatches.flatMap((dispatch) => dispatch.args),
    ...Object.values(program.tensors).map((tensor) => tensor.span),
  ];
  if (lasting.some((span) => program.buffers[span.buffer]?.kind === "staging")) {
    fail(`${where}: a run uses a staging buffer`);
  }
  for (const [name, tensor] of Object.entries(program.tensors)) {
    checkSpan(program, tensor.span, `${where}: tensor ${name}`, fail);
    checkExtents(tensor.shape, sizes, `${where}: tensor ${name}`, fail);
    const bytes = elementCount(sizes.shapeOf(tensor.shape)) * gpuBytes(tensor.dtype);
    // Copies move whole words from word boundaries.
    const end = tensor.span.offset + Math.ceil(bytes / 4) * 4;
    const room = program.buffers[tensor.span.buffer]?.size_bytes ?? 0;
    if (bytes > tensor.span.size_bytes || tensor.span.offset % 4 !== 0 || end > room) {
      fail(`${where}: tensor ${name}: its span does not hold [${tensor.shape.join()}]`);
    }
    if (tensor.producer >= program.dispatches.length) fail(`${where}: tensor ${name}: producer does not exist`);
  }
  for (const spec of [...component.inputs, ...component.outputs]) {
    // A zero-size tensor occupies no memory.
    if (elementCount(sizes.shapeOf(spec.shape)) === 0) continue;
    const tensor = Object.hasOwn(program.tensors, spec.name) ? program.tensors[spec.name] : undefined;
    if (tensor === undefined) return fail(`${where}: ${spec.name} has no planned tensor`);
    if (tensor.dtype !== spec.dtype || tensor.shape.join() !== spec.shape.join()) {
      fail(
        `${where}: ${spec.name} is planned as ${tensor.dtype} [${tensor.shape.join()}], ` +
          `declared as ${spec.dtype} [${spec.shape.join()}]`,
      );
    }
  }
  for (const { name, dtype, shape } of component.inputs) {
    const span = program.tensors[name]?.span;
    if (span === undefined) continue;
    const end = span.offset + padded(elementCount(sizes.shapeOf(shape)) * gpuBytes(dtype));
    const room = program.buffers[span.buffer]?.size_bytes ?? 0;
    if (end > room) fail(`${where}: input ${name} needs ${String(end)} padded bytes, its buffer has ${String(room)}`);
  }
}

function checkDispatch(
  program: Program,
  dispatch: Dispatch,
  kernels: ReadonlyMap<string, Kernel>,
  sizes: Sizes,
  where: string,
  fail: Fail,
): void {
  const at = `${where}: dispatch of ${dispatch.kernel} (${dispatch.node})`;
  const kernel = kernels.get(dispatch.kernel) ?? fail(`${at}: no such kernel`);
  if (!program.kernels.includes(dispatch.kernel)) fail(`${at}: the kernel is not listed by the program`);
  if (dispatch.args.length !== kernel.bindings.length) {
    fail(`${at}: ${String(dispatch.args.length)} args for ${String(kernel.bindings.length)} bindings`);
  }
  if (dispatch.params.length !== kernel.params.length) {
    fail(`${at}: ${String(dispatch.params.length)} params for ${String(kernel.params.length)} uniform members`);
  }
  for (const span of dispatch.args) checkSpan(program, span, at, fail);
  const params = dispatch.params.filter((_, index) => kernel.params[index]?.type !== "f32");
  checkExtents([...params, ...dispatch.workgroups], sizes, at, fail);
}

function checkSpan(program: Program, span: Span, where: string, fail: Fail): void {
  const buffer = program.buffers[span.buffer] ?? fail(`${where}: buffer ${String(span.buffer)} does not exist`);
  if (span.offset + span.size_bytes > buffer.size_bytes) {
    fail(
      `${where}: bytes ${String(span.offset)}..${String(span.offset + span.size_bytes)} of buffer ` +
        `${String(span.buffer)}, which has ${String(buffer.size_bytes)}`,
    );
  }
}
