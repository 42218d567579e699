// Outputs of a run outside WebGPU: bytes on the CPU, uploaded to the caller's device when they are asked for as buffers.

import { BackendError, InputError } from "../errors.js";
import type { TensorSpec } from "../generated/manifest.js";
import type { ModelMemory } from "../memory.js";
import type { Outputs, OutputTensor } from "../model.js";
import { elementCount, gpuBytes, padded, toArray, toGpu, type DType } from "../tensor.js";
import { writePadded } from "../weights.js";
import type { OrtTensor } from "./onnx_runtime.js";
import { fromOrt } from "./tensors.js";

/** Makes outputs of results; keeps one buffer per output, which every run uses again. */
export class PortableOutputs {
  readonly #device: GPUDevice | undefined;
  readonly #memory: ModelMemory | undefined;
  readonly #backend: string;
  readonly #buffers = new Map<string, GPUBuffer>();

  constructor(device: GPUDevice | undefined, memory: ModelMemory | undefined, backend: string) {
    this.#device = device;
    this.#memory = memory;
    this.#backend = backend;
  }

  /** `isFresh` says whether no later run has begun, and throws where the model is gone. */
  collect(specs: readonly TensorSpec[], results: Readonly<Record<string, OrtTensor>>, isFresh: () => boolean): Outputs {
    return new Map(
      specs.map(({ name, dtype }) => {
        const result = results[name];
        if (result === undefined) throw new InputError("unknown-tensor", `model.onnx has no output ${name}`);
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
        const readBytes = (): Promise<Uint8Array<ArrayBuffer>> =>
          Promise.resolve().then(() => {
            checkFresh();
            return wire.slice();
          });
        const output: OutputTensor = {
          name,
          dtype,
          shape,
          get buffer() {
            return buffer();
          },
          texture: () => {
            throw new BackendError(
              "not-on-backend",
              `output ${name} has no texture on ${this.#backend}; use \`buffer\``,
            );
          },
          readBytes,
          read: async () => toArray(dtype, await readBytes()),
        };
        return [name, output];
      }),
    );
  }

  #upload(name: string, dtype: DType, shape: readonly number[], wire: Uint8Array<ArrayBuffer>): GPUBuffer {
    const [device, memory] = [this.#device, this.#memory];
    if (device === undefined || memory === undefined) {
      const found = `output ${name} has no GPUBuffer: the model runs on ${this.#backend}, and \`load\` was given no device`;
      throw new BackendError("not-on-backend", `${found}; give it one, or use \`read()\``);
    }
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
