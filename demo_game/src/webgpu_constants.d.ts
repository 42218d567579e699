// Flag values of WebGPU that every browser with WebGPU has as globals and TypeScript's library leaves out.

declare const GPUBufferUsage: Readonly<
  Record<"MAP_READ" | "COPY_SRC" | "COPY_DST" | "UNIFORM" | "STORAGE", GPUBufferUsageFlags>
>;
declare const GPUTextureUsage: Readonly<
  Record<"COPY_SRC" | "TEXTURE_BINDING" | "STORAGE_BINDING", GPUTextureUsageFlags>
>;
declare const GPUMapMode: Readonly<Record<"READ", GPUMapModeFlags>>;
