// WebGPU for tests: Dawn in Node on whatever Vulkan driver VK_ICD_FILENAMES names (see vitest.config.ts).

interface Dawn {
  readonly create: (options: readonly string[]) => GPU;
}

// The package's own types clash with TypeScript's WebGPU types, hence the name in a variable.
const specifier = "webgpu";
const { create } = (await import(specifier)) as Dawn;

/** One instance for the whole process; without a driver its requestAdapter fails, and so do the tests. */
export const gpu = create([]);

/** A device as a game would make it. */
export async function gameDevice(): Promise<GPUDevice> {
  const adapter = await gpu.requestAdapter();
  if (adapter === null) throw new Error("no WebGPU adapter: install mesa-vulkan-drivers");
  return adapter.requestDevice();
}

/** Keep in `live` the buffers that are made on `device` from now on and not destroyed. */
export function trackBuffers(device: GPUDevice, live: Set<GPUBuffer>): void {
  const createBuffer = device.createBuffer.bind(device);
  device.createBuffer = (descriptor): GPUBuffer => {
    const buffer = createBuffer(descriptor);
    live.add(buffer);
    const destroy = buffer.destroy.bind(buffer);
    buffer.destroy = (): undefined => {
      live.delete(buffer);
      destroy();
    };
    return buffer;
  };
}
