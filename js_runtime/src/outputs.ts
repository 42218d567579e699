// The outputs of a run as its caller sees them, for as long as they are there.

import { InputError } from "./errors.js";
import type { Component } from "./generated/manifest.js";
import type { Home } from "./home.js";
import type { Outputs, OutputTensor } from "./model.js";
import { encodeRead, finishRead, type TensorRange } from "./readback.js";
import type { Residence } from "./residence.js";
import { watch } from "./scopes.js";
import { elementCount, toArray } from "./tensor.js";

/** What the run that has just ended left in `residence`. They throw "stale-output" once they are not `fresh`. */
export function collectOutputs(
  { outputs }: Component,
  residence: Residence,
  home: Home,
  fresh: () => boolean,
): Outputs {
  const { textures, unfilled } = residence.images;
  return new Map(
    outputs.map(({ name, dtype, shape: extents }) => {
      const shape = residence.shapeOf(extents);
      const checkFresh = (): void => {
        home.throwIfLost(residence);
        home.throwIfUnusable();
        if (fresh()) return;
        throw new InputError(
          "stale-output",
          `output ${name} was overwritten by a later run; use or read it before the next run starts`,
        );
      };
      const range = (): TensorRange => ({ ...residence.range(residence.planned(name)), shape });
      const checkFilled = (): void => {
        checkFresh();
        if (!unfilled.has(name)) return;
        throw new InputError(
          "no-buffer",
          `output ${name} went to a texture alone; run with textures: { ${name}: { buffer: true } } to have both`,
        );
      };
      const readBytes = async (): Promise<Uint8Array<ArrayBuffer>> => {
        checkFilled();
        return elementCount(shape) === 0 ? new Uint8Array(0) : read(residence, home, range());
      };
      const output: OutputTensor = {
        name,
        dtype,
        shape,
        get buffer() {
          checkFilled();
          return range().buffer;
        },
        texture: () => {
          checkFresh();
          const texture = textures.get(name);
          if (texture !== undefined) return texture;
          throw new InputError("no-texture", `output ${name} has no texture: run with textures: { ${name}: {} }`);
        },
        readBytes,
        read: async () => toArray(dtype, await readBytes()),
      };
      return [name, output];
    }),
  );
}

function read(residence: Residence, home: Home, range: TensorRange): Promise<Uint8Array<ArrayBuffer>> {
  const { device, memory } = residence;
  return home.look(residence, async () => {
    const { result: reading, verdict } = watch(device, "read", () => {
      const encoder = device.createCommandEncoder({ label: "webinfer read" });
      const pending = encodeRead(encoder, memory, range);
      device.queue.submit([encoder.finish()]);
      return finishRead(memory, pending);
    });
    reading.catch(() => undefined);
    // It says more of what was refused than the mapping.
    await verdict;
    return reading;
  });
}
