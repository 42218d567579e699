// The cache of compiled kernels that several packages on one device share.

import { describe, expect, it } from "vitest";

import { PipelineCache, type CompiledKernel } from "../src/pipelines.js";

const device = (): GPUDevice => ({}) as GPUDevice;
const kernel = (): CompiledKernel => ({}) as CompiledKernel;

describe("PipelineCache", () => {
  it("compiles a kernel once for each device", async () => {
    const cache = new PipelineCache();
    const [one, other] = [device(), device()];
    let compiled = 0;
    const compile = () => {
      compiled += 1;
      return Promise.resolve(kernel());
    };
    const first = await cache.get(one, "a", compile);
    expect(await cache.get(one, "a", compile)).toBe(first);
    expect(cache.has(one, "a")).toBe(true);
    expect(compiled).toBe(1);
    expect(cache.has(other, "a")).toBe(false);
    await cache.get(other, "a", compile);
    await cache.get(one, "b", compile);
    expect(compiled).toBe(3);
  });

  it("forgets what failed", async () => {
    const cache = new PipelineCache();
    const on = device();
    const failing = () => Promise.reject(new Error("refused"));
    await expect(cache.get(on, "a", failing)).rejects.toThrow("refused");
    expect(cache.has(on, "a")).toBe(false);
    const good = kernel();
    expect(await cache.get(on, "a", () => Promise.resolve(good))).toBe(good);
  });
});
