// FrameScheduler by simulation: thousands of random schedules on a device that is a clock and a queue.

import { describe, expect, test } from "vitest";

import { FrameScheduler, type FrameJob, type JobOptions } from "../src/index.js";
import type { JobState, SliceOptions } from "../src/job.js";
import { CostModel, type Share } from "../src/scheduling/costs.js";
import { STARVING_MS } from "../src/scheduling/policy.js";
import { cutSlice, remainingMs, smallestMs, type Cursor, type Work } from "../src/scheduling/slice.js";
import type { Slice } from "../src/slicer.js";
import { Random } from "./random.js";

const FRAME_MS = 16;

/** A queue that works off submitted milliseconds in order, in simulated time. */
class SimulatedGpu {
  now = 0;
  #busyUntil = 0;
  readonly #waiting: { readonly at: number; readonly finish: () => void }[] = [];

  /** What FrameScheduler uses of a GPUDevice; an encoder sums up milliseconds. */
  readonly device = {
    lost: new Promise(() => undefined),
    pushErrorScope: () => undefined,
    popErrorScope: () => Promise.resolve(null),
    createCommandEncoder: () => new SimulatedEncoder() as unknown as GPUCommandEncoder,
    queue: {
      submit: ([encoder]: readonly unknown[]) => {
        if (encoder instanceof SimulatedEncoder) this.submit(encoder);
      },
      // Resolves when the simulation gets there, not when the event loop does.
      onSubmittedWorkDone: () => ({
        then: (finish: () => void) => {
          this.#waiting.push({ at: this.#busyUntil, finish });
        },
      }),
    },
  } as unknown as GPUDevice;

  submit(encoder: SimulatedEncoder): void {
    this.#busyUntil = Math.max(this.now, this.#busyUntil) + encoder.ms;
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || next.at > until) break;
      this.#waiting.shift();
      this.now = Math.max(this.now, next.at);
      next.finish();
    }
    this.now = until;
  }
}

class SimulatedEncoder {
  ms = 0;

  finish(): this {
    return this;
  }
}

interface SimulatedWork {
  /** Real milliseconds, and what the package's counts say. */
  readonly ms: readonly number[];
  readonly guess: readonly number[];
  readonly units: readonly number[];
  /** Calls until a divided form is compiled. */
  readonly compile: number;
}

/** A job as the runtime's, with costs that are learned from what it really took. */
class SimulatedJob implements FrameJob {
  state: JobState = "running";
  device: GPUDevice | undefined;
  endedAt = Infinity;
  servedAt: number;
  longestGapMs = 0;
  longestPieceMs = 0;
  readonly #gpu: SimulatedGpu;
  readonly #spec: SimulatedWork;
  readonly #costs: CostModel;
  readonly #work: Work;
  readonly #cursor: Cursor = { dispatch: 0, units: 0 };
  #compile: number;
  #unmeasured = 0;

  constructor(gpu: SimulatedGpu, spec: SimulatedWork) {
    this.#gpu = gpu;
    this.#spec = spec;
    this.#compile = spec.compile;
    this.servedAt = gpu.now;
    this.#costs = new CostModel(
      spec.guess.map((ms) => ({ flops: ms, bytes: 0 })),
      { flopsPerMs: 1, bytesPerMs: 1, overheadMs: 0 },
    );
    this.#work = {
      length: spec.ms.length,
      ms: (dispatch) => this.#costs.ms(dispatch),
      units: (dispatch) => {
        const units = spec.units[dispatch] ?? 1;
        if (units > 1 && this.#compile > 0) {
          this.#compile -= 1;
          return 0;
        }
        return units;
      },
    };
  }

  get remainingMs(): number {
    return remainingMs(this.#work, this.#cursor);
  }

  get wantsFence(): boolean {
    return !this.#costs.trusted || this.#unmeasured >= 8;
  }

  judge(): void {
    // Nothing is ever refused here.
  }

  nextMs(divideAboveMs: number): number {
    return smallestMs(this.#work, this.#cursor, divideAboveMs);
  }

  encode(encoder: GPUCommandEncoder, { budgetMs, divideAboveMs = budgetMs }: SliceOptions): Slice {
    const { pieces, predictedMs } = cutSlice(this.#work, this.#cursor, budgetMs, divideAboveMs);
    const shares: Share[] = [];
    let actual = 0;
    for (const { dispatch, count, whole } of pieces) {
      const share = whole ? 1 : count / (this.#spec.units[dispatch] ?? 1);
      const ms = (this.#spec.ms[dispatch] ?? 0) * share;
      shares.push({ dispatch, share });
      actual += ms;
      if (count === 1) this.longestPieceMs = Math.max(this.longestPieceMs, ms);
    }
    (encoder as unknown as SimulatedEncoder).ms += actual;
    if (pieces.length > 0) {
      this.longestGapMs = Math.max(this.longestGapMs, this.#gpu.now - this.servedAt);
      this.servedAt = this.#gpu.now;
    }
    if (this.#cursor.dispatch >= this.#work.length) {
      this.state = "done";
      this.endedAt = this.#gpu.now;
    }
    this.#unmeasured += 1;
    const learn = (): void => {
      this.#unmeasured = 0;
      this.#costs.learn(shares, actual, "timestamp");
    };
    return { dispatches: pieces.length, predictedMs, learn };
  }
}

interface Arrival {
  readonly frame: number;
  readonly work: SimulatedWork;
  readonly options: JobOptions;
}

interface Outcome {
  readonly job: SimulatedJob;
  readonly deadline: number;
}

/** Play a schedule to its end; checks what must hold in every frame. */
function play(arrivals: readonly Arrival[], budgetMs: number, foreign: boolean, exact: boolean): readonly Outcome[] {
  const gpu = new SimulatedGpu();
  const scheduler = new FrameScheduler(gpu.device, {
    budgetMs,
    clock: () => gpu.now,
    pressure: () => () => undefined,
    targetFrameMs: FRAME_MS,
  });
  const outcomes: Outcome[] = [];
  const upcoming = [...arrivals];
  for (let frame = 0; upcoming.length > 0 || scheduler.jobs.length > 0; frame += 1) {
    if (frame > 20_000) throw new Error("the schedule does not end");
    while ((upcoming[0]?.frame ?? Infinity) <= frame) {
      const arrival = upcoming.shift();
      if (arrival === undefined) break;
      const { work, options } = arrival;
      const job = scheduler.add(new SimulatedJob(gpu, work), options);
      outcomes.push({ job, deadline: gpu.now + (options.deadlineMs ?? Infinity) });
    }
    const waiting = outcomes.some(({ job }) => job.state === "running" && job.remainingMs > 0);
    const encoder = new SimulatedEncoder();
    const given = foreign ? { encoder: encoder as unknown as GPUCommandEncoder } : {};
    const { budgetMs: budget, predictedMs, dispatches, saturated } = scheduler.frame({ now: gpu.now, ...given });
    if (foreign) gpu.submit(encoder);
    if (exact) {
      const longest = Math.max(0, ...outcomes.map(({ job }) => job.longestPieceMs));
      if (waiting && !saturated && dispatches === 0) throw new Error("a frame without progress");
      if (predictedMs > Math.max(budget, longest) + 1e-6) throw new Error("a frame over budget and longest piece");
    }
    gpu.advance(FRAME_MS);
  }
  return outcomes;
}

function randomWork(random: Random, budgetMs: number, exact: boolean): SimulatedWork {
  const count = random.integer(0, 20);
  const ms = Array.from({ length: count }, () => budgetMs * Math.exp(random.between(-5, 1.2)));
  return {
    ms,
    guess: ms.map((value) => (exact ? value : value * Math.exp(random.between(-2, 2)))),
    units: ms.map(() => (random.next() < 0.3 ? 1 : random.integer(2, 64))),
    compile: exact ? 0 : random.integer(0, 3),
  };
}

describe("random schedules", () => {
  test.each([
    ["exact costs", true],
    ["costs wrong by up to e^2, divided forms that have to be compiled", false],
  ])("%s: all jobs end, none starves, every frame gets on", (_, exact) => {
    for (let seed = 0; seed < 1500; seed += 1) {
      const random = new Random(seed);
      const budgetMs = random.between(0.5, 8);
      const arrivals = Array.from({ length: random.integer(1, 8) }, () => ({
        frame: random.integer(0, 60),
        work: randomWork(random, budgetMs, exact),
        options: {
          priority: random.integer(-5, 5),
          ...(random.next() < 0.3 ? { deadlineMs: random.between(0, 3000) } : {}),
        },
      })).sort((a, b) => a.frame - b.frame);
      const outcomes = play(arrivals, budgetMs, seed % 2 === 1, exact);
      for (const { job } of outcomes) {
        expect(job.endedAt, `seed ${String(seed)}`).toBeLessThan(Infinity);
        // One starving job a frame; a frame of the GPU may be longer than one of the display.
        expect(job.longestGapMs, `seed ${String(seed)}`).toBeLessThan(STARVING_MS + 40 * FRAME_MS);
      }
    }
  });

  test("a lowest priority among jobs that never end still gets on", () => {
    const forever = { ms: Array<number>(2000).fill(2), guess: Array<number>(2000).fill(2), units: [], compile: 0 };
    const gpu = new SimulatedGpu();
    const scheduler = new FrameScheduler(gpu.device, {
      budgetMs: 4,
      clock: () => gpu.now,
      pressure: () => () => undefined,
    });
    for (let count = 0; count < 5; count += 1) {
      scheduler.add(new SimulatedJob(gpu, forever), { priority: 1000, deadlineMs: 60_000 });
    }
    const low = scheduler.add(new SimulatedJob(gpu, forever), { priority: -1000 });
    for (let frame = 0; frame < 1000; frame += 1) {
      scheduler.frame();
      gpu.advance(FRAME_MS);
    }
    expect(low.longestGapMs).toBeLessThan(STARVING_MS + 10 * FRAME_MS);
    expect(low.servedAt).toBeGreaterThan(gpu.now - STARVING_MS - 10 * FRAME_MS);
  });

  test("deadlines that take at most two fifths of the capacity are met", () => {
    for (let seed = 0; seed < 1000; seed += 1) {
      const random = new Random(seed);
      const budgetMs = random.between(1, 8);
      const capacity = (budgetMs / FRAME_MS) * 0.4;
      let demand = 0;
      const arrivals: Arrival[] = [];
      for (let count = random.integer(1, 5); count > 0; count -= 1) {
        const work = randomWork(random, budgetMs, true);
        demand += work.ms.reduce((sum, ms) => sum + ms, 0);
        // Cumulative, so that the whole set is feasible.
        arrivals.push({ frame: 0, work, options: { deadlineMs: demand / capacity + 10 * FRAME_MS } });
      }
      for (let count = random.integer(0, 4); count > 0; count -= 1) {
        arrivals.push({
          frame: 0,
          work: randomWork(random, budgetMs, true),
          options: { priority: random.integer(0, 50) },
        });
      }
      for (const { job, deadline } of play(arrivals, budgetMs, false, true)) {
        expect(job.endedAt, `seed ${String(seed)}`).toBeLessThanOrEqual(deadline);
      }
    }
  });
});

describe("frames", () => {
  const one = (gpu: SimulatedGpu, ms: number[]): SimulatedJob =>
    new SimulatedJob(gpu, { ms, guess: ms, units: [], compile: 0 });

  test("at most two frames lie before the GPU", () => {
    const gpu = new SimulatedGpu();
    const scheduler = new FrameScheduler(gpu.device, {
      budgetMs: 4,
      clock: () => gpu.now,
      pressure: () => () => undefined,
    });
    scheduler.add(one(gpu, Array<number>(10).fill(100)));
    const saturated = Array.from({ length: 8 }, () => {
      const report = scheduler.frame();
      gpu.advance(FRAME_MS);
      return report.saturated;
    });
    expect(saturated).toEqual([false, false, true, true, true, true, true, false]);
  });

  test("a job that is paused or queued is passed over, one that was removed is left alone", () => {
    const gpu = new SimulatedGpu();
    const scheduler = new FrameScheduler(gpu.device, {
      budgetMs: 4,
      clock: () => gpu.now,
      pressure: () => () => undefined,
    });
    const [paused, removed, other] = [one(gpu, [1]), one(gpu, [1]), one(gpu, [1])];
    paused.state = "paused";
    for (const job of [paused, removed, other]) scheduler.add(job);
    scheduler.remove(removed);
    expect(scheduler.frame().jobs).toBe(1);
    expect([paused, removed, other].map(({ state }) => state)).toEqual(["paused", "running", "done"]);
    paused.state = "running";
    scheduler.frame();
    expect(paused.state).toBe("done");
    scheduler.dispose();
    expect(scheduler.jobs).toEqual([]);
  });

  test("what one job leaves of the budget serves the next", () => {
    const gpu = new SimulatedGpu();
    const scheduler = new FrameScheduler(gpu.device, {
      budgetMs: 4,
      clock: () => gpu.now,
      pressure: () => () => undefined,
    });
    scheduler.add(one(gpu, [3, 3]), { priority: 1 });
    scheduler.add(one(gpu, [2]));
    scheduler.add(one(gpu, [1]));
    expect(scheduler.frame()).toMatchObject({ jobs: 2, dispatches: 2, predictedMs: 4 });
  });

  test("pressure lowers the budget until it is gone", () => {
    const gpu = new SimulatedGpu();
    let tell: (state: "nominal" | "critical") => void = () => undefined;
    const scheduler = new FrameScheduler(gpu.device, {
      budgetMs: 4,
      clock: () => gpu.now,
      pressure: (onState) => {
        tell = onState;
        return () => undefined;
      },
    });
    tell("critical");
    expect(scheduler.frame().budgetMs).toBe(1);
    tell("nominal");
    expect(scheduler.frame().budgetMs).toBe(4);
  });

  test("hidden: nothing runs, and the time counts neither as waiting nor as a late frame", () => {
    const gpu = new SimulatedGpu();
    let tell: (hidden: boolean) => void = () => undefined;
    const scheduler = new FrameScheduler(gpu.device, {
      budgetMs: 4,
      targetFrameMs: FRAME_MS,
      clock: () => gpu.now,
      pressure: () => () => undefined,
      visibility: (onChange) => {
        tell = onChange;
        return () => undefined;
      },
    });
    const urgent = scheduler.add(one(gpu, Array<number>(3).fill(4)), { deadlineMs: 100 });
    const others = [0, 1, 2].map(() => scheduler.add(one(gpu, Array<number>(50).fill(4))));
    const frame = (): number => {
      const { dispatches } = scheduler.frame();
      gpu.advance(FRAME_MS);
      return dispatches;
    };
    frame();
    tell(true);
    // Shorter than what the governor takes for a gap, and longer than what is starving.
    for (let count = 0; count < 40; count += 1) expect(frame()).toBe(0);
    gpu.advance(5000);
    tell(false);
    const before = scheduler.frame().budgetMs;
    gpu.advance(FRAME_MS);
    expect(before).toBe(4);
    // No burst: one dispatch of 4 ms a frame as before, and the deadline still counts.
    expect([frame(), frame()]).toEqual([1, 1]);
    expect(urgent.state).toBe("done");
    expect(others.every(({ state }) => state === "running")).toBe(true);
    tell(true);
    gpu.advance(900);
    tell(false);
    frame();
    expect(scheduler.frame().budgetMs).toBe(4);
  });

  test("frames of a device that is lost are not waited for, and jobs are followed to another", async () => {
    const [old, next] = [new SimulatedGpu(), new SimulatedGpu()];
    let lose: (info: GPUDeviceLostInfo) => void = () => undefined;
    const device = Object.assign(old.device, {
      lost: new Promise<GPUDeviceLostInfo>((resolve) => {
        lose = resolve;
      }),
    });
    const scheduler = new FrameScheduler(device, {
      budgetMs: 4,
      clock: () => old.now,
      pressure: () => () => undefined,
    });
    const job = scheduler.add(Object.assign(one(old, Array<number>(10).fill(100)), { device }));
    expect([scheduler.frame(), scheduler.frame(), scheduler.frame()].map(({ saturated }) => saturated)).toEqual([
      false,
      false,
      true,
    ]);
    job.state = "queued";
    lose({} as GPUDeviceLostInfo);
    await device.lost;
    const again = Object.assign(job, { device: next.device, state: "running" as const });
    const engine = old.device.createCommandEncoder();
    expect(scheduler.frame({ encoder: engine })).toMatchObject({ saturated: false, dispatches: 1 });
    expect((engine as unknown as SimulatedEncoder).ms).toBe(0);
    const right = next.device.createCommandEncoder();
    expect(scheduler.frame({ encoder: right, device: next.device })).toMatchObject({ dispatches: 1 });
    expect(again.state).toBe("running");
  });
});
