// The land's textures on the renderer's own device: tiles stay there, blended by kernels; samples alone come back.

import { NearestFilter, RepeatWrapping, type Texture } from "three/webgpu";

import { SAMPLES, type TileSamples } from "./field.js";
import { laySeed, STRIDE, TILE } from "./shape.js";
import type { Relief } from "./source.js";
import type { BlockJob, LandSurface } from "./surface.js";
import { DRAW_WGSL, JOB_VECTORS, KEEP_WGSL } from "./surface.wgsl.js";
import { BLOCK, type Block } from "./window.js";

const BLOCKS_PER_FRAME = 1024;
const SAMPLE_BYTES = (SAMPLES * SAMPLES + 1) * 4;
const TILE_BYTES = TILE * TILE * 4;

interface SurfaceOptions {
  readonly seed: number;
  /** Texels along an edge of the textures, a power of two. */
  readonly cells: number;
  /** Tiles that it holds at most. */
  readonly slots: number;
  /** A texture of the renderer over one of the device. */
  readonly wrap: (texture: GPUTexture) => Texture;
}

/** Everything is allocated when it is made, but for buffers to read samples from, which are used again. */
export class GpuSurface implements LandSurface {
  readonly heights: Texture;
  readonly normals: Texture;
  readonly cells: number;
  readonly blocksPerFrame = BLOCKS_PER_FRAME;
  readonly #device: GPUDevice;
  readonly #owned: readonly (GPUBuffer | GPUTexture)[];
  readonly #heightsTexture: GPUTexture;
  readonly #slot: GPUBuffer;
  readonly #slots: GPUBuffer;
  readonly #samples: GPUBuffer;
  readonly #upload: GPUBuffer;
  readonly #jobs: GPUBuffer;
  readonly #keep: GPUComputePipeline;
  readonly #blend: GPUComputePipeline;
  readonly #shade: GPUComputePipeline;
  readonly #blendGroup: GPUBindGroup;
  readonly #shadeGroup: GPUBindGroup;
  readonly #keepGroups = new WeakMap<GPUBuffer, GPUBindGroup>();
  readonly #idle: GPUBuffer[] = [];
  readonly #list = new ArrayBuffer(BLOCKS_PER_FRAME * JOB_VECTORS * 16);
  #readBacks = 0;

  constructor(device: GPUDevice, { seed, cells, slots, wrap }: SurfaceOptions) {
    const { STORAGE, UNIFORM, COPY_DST, COPY_SRC } = GPUBufferUsage;
    const buffer = (label: string, size: number, usage: number): GPUBuffer =>
      device.createBuffer({ label: `game ${label}`, size, usage });
    const texture = (label: string, format: GPUTextureFormat): GPUTexture =>
      device.createTexture({
        label: `game ${label}`,
        format,
        size: [cells, cells],
        usage: GPUTextureUsage.STORAGE_BINDING | GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_SRC,
      });
    this.#device = device;
    this.cells = cells;
    const heights = texture("heights", "r32float");
    const normals = texture("normals", "rgba8unorm");
    const land = buffer("land", 16, UNIFORM | COPY_DST);
    device.queue.writeBuffer(land, 0, Uint32Array.of(cells - 1, ...[0, 1, 2].map((octave) => laySeed(seed, octave))));
    this.#slot = buffer("slot", 16, UNIFORM | COPY_DST);
    this.#slots = buffer("tiles", slots * TILE_BYTES, STORAGE);
    this.#samples = buffer("samples", SAMPLE_BYTES, STORAGE | COPY_SRC);
    this.#upload = buffer("upload", TILE_BYTES, STORAGE | COPY_DST);
    this.#jobs = buffer("blocks", this.#list.byteLength, STORAGE | COPY_DST);
    this.#owned = [heights, normals, land, this.#slot, this.#slots, this.#samples, this.#upload, this.#jobs];
    this.#heightsTexture = heights;
    this.heights = Object.assign(wrap(heights), { minFilter: NearestFilter, magFilter: NearestFilter });
    this.normals = Object.assign(wrap(normals), { wrapS: RepeatWrapping, wrapT: RepeatWrapping });

    const pipeline = (code: string, entryPoint: string): GPUComputePipeline =>
      device.createComputePipeline({
        label: `game ${entryPoint}`,
        layout: "auto",
        compute: { module: device.createShaderModule({ label: `game ${entryPoint}`, code }), entryPoint },
      });
    this.#keep = pipeline(KEEP_WGSL, "keep");
    this.#blend = pipeline(DRAW_WGSL, "blend");
    this.#shade = pipeline(DRAW_WGSL, "shade");
    const group = (
      of: GPUComputePipeline,
      resources: readonly (GPUBuffer | GPUTextureView | undefined)[],
    ): GPUBindGroup =>
      device.createBindGroup({
        layout: of.getBindGroupLayout(0),
        entries: resources.flatMap((resource, binding) =>
          resource === undefined
            ? []
            : [{ binding, resource: resource instanceof GPUBuffer ? { buffer: resource } : resource }],
        ),
      });
    const view = heights.createView();
    this.#blendGroup = group(this.#blend, [land, this.#jobs, this.#slots, view]);
    this.#shadeGroup = group(this.#shade, [land, this.#jobs, this.#slots, undefined, view, normals.createView()]);
  }

  get readBacks(): number {
    return this.#readBacks;
  }

  async put(slot: number, relief: Relief): Promise<TileSamples> {
    const device = this.#device;
    if ("values" in relief) device.queue.writeBuffer(this.#upload, 0, relief.values);
    device.queue.writeBuffer(this.#slot, 0, Uint32Array.of(slot));
    const encoder = device.createCommandEncoder({ label: "game keep" });
    const pass = encoder.beginComputePass({ label: "game keep" });
    pass.setPipeline(this.#keep);
    pass.setBindGroup(0, this.#keepGroup("values" in relief ? this.#upload : relief.buffer));
    pass.dispatchWorkgroups(1);
    pass.end();
    const target = this.#idle.pop() ?? this.#readable();
    encoder.copyBufferToBuffer(this.#samples, 0, target, 0, SAMPLE_BYTES);
    device.queue.submit([encoder.finish()]);
    this.#readBacks += 1;
    await target.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(target.getMappedRange(0, SAMPLE_BYTES).slice(0));
    target.unmap();
    this.#idle.push(target);
    return { values: values.subarray(0, SAMPLES * SAMPLES), mean: values[SAMPLES * SAMPLES] ?? 0 };
  }

  draw(jobs: readonly BlockJob[]): void {
    if (jobs.length === 0) return;
    const [words, floats] = [new Int32Array(this.#list), new Float32Array(this.#list)];
    words.fill(0, 0, jobs.length * JOB_VECTORS * 4);
    for (const [index, { x, z, parts }] of jobs.entries()) {
      const start = index * JOB_VECTORS * 4;
      words.set([x, z], start);
      for (const [k, { slot, i, j, presence }] of parts.entries()) {
        words.set([slot, i * STRIDE, j * STRIDE], start + 4 + 4 * k);
        floats[start + 7 + 4 * k] = presence;
      }
    }
    this.#device.queue.writeBuffer(this.#jobs, 0, this.#list, 0, jobs.length * JOB_VECTORS * 16);
    const encoder = this.#device.createCommandEncoder({ label: "game land" });
    const pass = encoder.beginComputePass({ label: "game land" });
    const steps = [
      [this.#blend, this.#blendGroup],
      [this.#shade, this.#shadeGroup],
    ] as const;
    for (const [pipeline, group] of steps) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(BLOCK / 8, BLOCK / 8, jobs.length);
    }
    pass.end();
    this.#device.queue.submit([encoder.finish()]);
  }

  async read({ x, z }: Block): Promise<Float32Array> {
    const mask = this.cells - 1;
    // Rows of a copy begin at multiples of 256 bytes.
    const target = this.#device.createBuffer({
      size: 256 * BLOCK,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    });
    const encoder = this.#device.createCommandEncoder({ label: "game read" });
    const origin = [(x * BLOCK) & mask, (z * BLOCK) & mask];
    encoder.copyTextureToBuffer({ texture: this.#heightsTexture, origin }, { buffer: target, bytesPerRow: 256 }, [
      BLOCK,
      BLOCK,
    ]);
    this.#device.queue.submit([encoder.finish()]);
    this.#readBacks += 1;
    await target.mapAsync(GPUMapMode.READ);
    const rows = new Float32Array(target.getMappedRange().slice(0));
    target.destroy();
    return Float32Array.from({ length: BLOCK * BLOCK }, (_, k) => rows[Math.floor(k / BLOCK) * 64 + (k % BLOCK)] ?? 0);
  }

  dispose(): void {
    for (const resource of [...this.#owned, ...this.#idle]) resource.destroy();
  }

  #keepGroup(source: GPUBuffer): GPUBindGroup {
    let group = this.#keepGroups.get(source);
    if (group === undefined) {
      const buffers = [this.#slot, source, this.#slots, this.#samples];
      const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
      group = this.#device.createBindGroup({ layout: this.#keep.getBindGroupLayout(0), entries });
      this.#keepGroups.set(source, group);
    }
    return group;
  }

  #readable(): GPUBuffer {
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    return this.#device.createBuffer({ label: "game samples read", size: SAMPLE_BYTES, usage });
  }
}
