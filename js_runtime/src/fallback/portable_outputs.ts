// Outputs of a run outside WebGPU: bytes on the CPU, uploaded to the caller's device when they are asked for as buffers.

import { BackendError, InputError } from "../errors.js";
import type { TensorSpec } from "../generated/manifest.js";
import type { TextureOptions } from "../image/picture.js";
import type { ModelMemory } from "../memory.js";
import type { Outputs, OutputTensor, RunOptions } from "../model.js";
import { elementCount, gpuBytes, padded, toArray, toGpu, type DType } from "../tensor.js";
import { writePadded } from "../weights.js";
import type { OrtTensor } from "./onnx_runtime.js";
import type { PortableTextures } from "./portable_textures.js";
import { fromOrt } from "./tensors.js";

type TextureRequests = NonNullable<RunOptions["textures"]>;

/** Makes outputs of results; keeps one buffer per output, which every run uses again. */
export class PortableOutputs {
  readonly #device: GPUDevice | undefined;
  readonly #memory: ModelMemory | undefined;
  readonly #textures: PortableTextures | undefined;
  readonly #backend: string;
  readonly #buffers = new Map<string, GPUBuffer>();

  constructor(
    device: GPUDevice | undefined,
    memory: ModelMemory | undefined,
    textures: PortableTextures | undefined,
    backend: string,
  ) {
    this.#device = device;
    this.#memory = memory;
    this.#textures = textures;
    this.#backend = backend;
  }

  /** Throws "unknown-tensor", and "not-on-backend" where there is no device for textures. */
  check(specs: readonly TensorSpec[], requests: TextureRequests): void {
    for (const name of Object.keys(requests)) {
      if (!specs.some((spec) => spec.name === name)) {
        const known = specs.map((spec) => spec.name).join(", ");
        throw new InputError("unknown-tensor", `output ${name} does not exist; the model has ${known}`);
      }
      if (this.#textures === undefined) throw this.#without(name, "texture");
    }
  }

  /** `isFresh` says whether no later run has begun, and throws where the model is gone. */
  async collect(
    specs: readonly TensorSpec[],
    results: Readonly<Record<string, OrtTensor>>,
    requests: TextureRequests,
    isFresh: () => boolean,
  ): Promise<Outputs> {
    const outputs = new Map<string, OutputTensor>();
    for (const spec of specs) {
      const result = results[spec.name];
      if (result === undefined) throw new InputError("unknown-tensor", `model.onnx has no output ${spec.name}`);
      outputs.set(spec.name, await this.#output(spec, result, requests[spec.name], isFresh));
    }
    return outputs;
  }

  async #output(
    spec: TensorSpec,
    result: OrtTensor,
    request: TextureOptions | undefined,
    isFresh: () => boolean,
  ): Promise<OutputTensor> {
    const { name, dtype } = spec;
    const wire = fromOrt(dtype, result);
    const shape = [...result.dims];
    const checkFresh = (): void => {
      if (isFresh()) return;
      const next = "use or read it before the next run starts";
      throw new InputError("stale-output", `output ${name} was overwritten by a later run; ${next}`);
    };
    let uploaded: GPUBuffer | undefined;
    const buffer = (): GPUBuffer => {
      checkFresh();
      uploaded ??= this.#upload(name, dtype, shape, wire);
      return uploaded;
    };
    const texture = request && (await this.#textures?.write(spec, shape, buffer(), request));
    const readBytes = (): Promise<Uint8Array<ArrayBuffer>> =>
      Promise.resolve().then(() => {
        checkFresh();
        return wire.slice();
      });
    return {
      name,
      dtype,
      shape,
      get buffer() {
        return buffer();
      },
      texture: () => {
        checkFresh();
        if (texture !== undefined) return texture;
        throw new InputError(
          "no-texture",
          `output ${name} was stored to no texture; ask the run for one by \`textures\``,
        );
      },
      readBytes,
      read: async () => toArray(dtype, await readBytes()),
    };
  }

  #without(name: string, what: string): BackendError {
    const found = `output ${name} has no ${what}: the model runs on ${this.#backend}, and \`load\` was given no device`;
    return new BackendError("not-on-backend", `${found}; give it one, or use \`read()\``);
  }

  #upload(name: string, dtype: DType, shape: readonly number[], wire: Uint8Array<ArrayBuffer>): GPUBuffer {
    const [device, memory] = [this.#device, this.#memory];
    if (device === undefined || memory === undefined) throw this.#without(name, "GPUBuffer");
    const count = elementCount(shape);
    if (count === 0) throw new InputError("unknown-tensor", `output ${name} has no elements and so no buffer`);
    const sizeBytes = padded(count * gpuBytes(dtype));
    let buffer = this.#buffers.get(name);
    if (buffer === undefined || buffer.size < sizeBytes) {
      if (buffer !== undefined) memory.destroy(buffer);
      buffer = memory.create("output", sizeBytes, `output ${name}`);
      this.#buffers.set(name, buffer);
    }
    writePadded(device.queue, buffer, 0, toGpu(dtype, wire));
    return buffer;
  }
}
