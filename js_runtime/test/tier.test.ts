// The tier policy on invented adapters: no device is needed.

import { describe, expect, test } from "vitest";

import { heaviestNode, portion } from "../src/calibration.js";
import type { BoundDispatch } from "../src/executor.js";
import type { Dispatch, Program } from "../src/generated/manifest.js";
import { LimitsError } from "../src/index.js";
import { describeAdapter, mergeNeeds, shortlist, type Capabilities } from "../src/tier.js";
import { failure } from "./golden.js";

const GPU = describeAdapter({
  vendor: "acme",
  architecture: "gen-1",
  device: "",
  description: "",
  isFallbackAdapter: false,
});
const CPU = describeAdapter({ vendor: "mesa", architecture: "software", description: "llvmpipe" });

function program(tier: string, changes: Partial<Program> = {}): Program {
  const f16 = tier.startsWith("fp16-") && !tier.includes("storage");
  return {
    tier,
    description: "",
    rank: 1,
    predicted_ms: {},
    precision: tier.startsWith("fp16") ? "fp16" : "fp32",
    tiling: tier.endsWith("register") ? "register" : "workgroup",
    requires: { features: f16 ? ["shader-f16"] : [], limits: { maxComputeInvocationsPerWorkgroup: 256 } },
    kernels: [],
    buffers: [{ kind: "activation", size_bytes: 1000 }],
    uploads: [],
    prepare: [],
    dispatches: [],
    tensors: {},
    plan: { activation_peak_bytes: 0, activation_lower_bound_bytes: 0, weight_bytes: 0, gpu_bytes: 0 },
    ...changes,
  };
}

function offers(features: string[], limits: Record<string, number> = {}): Capabilities {
  const all: Record<string, number> = {
    maxComputeInvocationsPerWorkgroup: 256,
    maxBufferSize: 1 << 28,
    maxStorageBufferBindingSize: 1 << 27,
    ...limits,
  };
  return { features: new Set(features), limit: (name) => all[name] };
}

const FP16 = ["fp16-register", "fp16-storage-register", "fp16-storage-workgroup", "fp16-workgroup"].map((t) =>
  program(t),
);
const FP32 = ["fp32-register", "fp32-workgroup"].map((t) => program(t));
const tiers = (programs: readonly Program[]): string[] => programs.map((p) => p.tier);

describe("shortlist", () => {
  test("a GPU with f16 arithmetic measures both tilings of it", () => {
    expect(tiers(shortlist(FP16, offers(["shader-f16"]), GPU).candidates)).toEqual(["fp16-register", "fp16-workgroup"]);
  });

  test("a GPU without it measures both tilings of 16-bit storage and says what is missing", () => {
    const { candidates, reasons } = shortlist(FP16, offers([]), GPU);
    expect(tiers(candidates)).toEqual(["fp16-storage-register", "fp16-storage-workgroup"]);
    expect(reasons.join()).toContain("fp16-workgroup: the adapter lacks feature shader-f16");
  });

  test("a CPU adapter keeps its tiles in registers, whether or not it says that it is a fallback", () => {
    expect(tiers(shortlist(FP32, offers([]), CPU).candidates)).toEqual(["fp32-register"]);
    const silent = describeAdapter({ isFallbackAdapter: true });
    expect(tiers(shortlist(FP32, offers([]), silent).candidates)).toEqual(["fp32-register"]);
  });

  test("on a CPU adapter f16 arithmetic may be the slow one, so it is measured against 16-bit storage", () => {
    const { candidates } = shortlist(FP16, offers(["shader-f16"]), CPU);
    expect(tiers(candidates)).toEqual(["fp16-register", "fp16-storage-register"]);
  });

  test("a CPU adapter still takes a package that has no register program", () => {
    expect(tiers(shortlist([program("fp32-workgroup")], offers([]), CPU).candidates)).toEqual(["fp32-workgroup"]);
  });

  test("fp32 comes last where a package has everything", () => {
    const all = [...FP32, ...FP16];
    expect(tiers(shortlist(all, offers([]), GPU).candidates).every((tier) => tier.includes("storage"))).toBe(true);
  });

  test("a tier that was asked for is taken, an unknown one is refused by name", async () => {
    expect(tiers(shortlist(FP32, offers([]), CPU, "fp32-workgroup").candidates)).toEqual(["fp32-workgroup"]);
    const error = await failure(() => shortlist(FP32, offers([]), CPU, "fp8"));
    expect(error.code).toBe("unknown-tier");
    expect(error.message).toContain("fp32-register, fp32-workgroup");
  });

  test("limits: the error carries name, need and offer", async () => {
    const error = await failure(() => shortlist(FP32, offers([], { maxComputeInvocationsPerWorkgroup: 128 }), GPU));
    const missing = error instanceof LimitsError ? error.missing : [];
    expect(missing).toEqual([{ limit: "maxComputeInvocationsPerWorkgroup", needed: 256, offered: 128 }]);
    expect(error.message).toMatch(/maxComputeInvocationsPerWorkgroup 256 \(it offers 128\)/);
  });

  test("limits that only the buffers imply count too", async () => {
    const large = program("fp32-register", { buffers: [{ kind: "weight", size_bytes: 2 ** 30 }] });
    const error = await failure(() => shortlist([large], offers([]), GPU));
    expect(error.message).toContain("maxBufferSize");
  });

  test("a limit that the browser does not know is not offered", async () => {
    const odd = program("fp32-register", { requires: { features: [], limits: { maxFuture: 1 } } });
    expect((await failure(() => shortlist([odd], offers([]), GPU))).code).toBe("limits");
  });

  test("features alone missing", async () => {
    const error = await failure(() => shortlist([program("fp16-workgroup")], offers([]), GPU));
    expect(error.code).toBe("features");
    expect(error.message).toContain("shader-f16");
  });
});

test("needs are merged upwards, alignments downwards", () => {
  const merged = mergeNeeds([
    { features: ["b"], limits: { maxBufferSize: 1, minStorageBufferOffsetAlignment: 256 } },
    { features: ["a", "b"], limits: { maxBufferSize: 2, minStorageBufferOffsetAlignment: 32 } },
  ]);
  expect(merged).toEqual({
    features: ["a", "b"],
    limits: { maxBufferSize: 2, minStorageBufferOffsetAlignment: 32 },
  });
});

test("the heaviest node is the one with most work over all its dispatches", () => {
  const dispatch = (node: string, flops: number): Dispatch => ({
    kernel: "k",
    node,
    args: [],
    params: [],
    workgroups: [1, 1, 1],
    flops,
    bytes: 0,
  });
  const one = program("fp32-register", { dispatches: [dispatch("a", 5), dispatch("b", 3), dispatch("b", 3)] });
  const other = program("fp32-workgroup", { dispatches: [dispatch("a", 5), dispatch("b", 1)] });
  expect(heaviestNode([one, other])).toBe("b");
  expect(heaviestNode([one, program("fp32-workgroup")])).toBeUndefined();
});

describe("portion", () => {
  const dispatch = (...workgroups: [number, number, number]): BoundDispatch =>
    ({ kernel: "k", node: "n", workgroups }) as unknown as BoundDispatch;

  test.each([
    [0, [1, 1, 1], 1 / 480],
    [0.25, [10, 12, 1], 0.25],
    [0.5, [10, 12, 2], 0.5],
    [1, [10, 12, 4], 1],
    [7, [10, 12, 4], 1],
  ])("%f of a dispatch", (wanted, workgroups, share) => {
    const found = portion([dispatch(10, 12, 4)], wanted);
    expect(found.dispatches[0]?.workgroups).toEqual(workgroups);
    expect(found.share).toBeCloseTo(share, 6);
  });

  test("every dispatch of a node keeps one workgroup at least, and the share counts them", () => {
    const { dispatches, share } = portion([dispatch(100, 1, 1), dispatch(1, 1, 1)], 0.01);
    expect(dispatches.map((part) => part.workgroups)).toEqual([
      [1, 1, 1],
      [1, 1, 1],
    ]);
    expect(share).toBeCloseTo(2 / 101, 6);
  });
});
