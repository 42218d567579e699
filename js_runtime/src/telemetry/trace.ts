// Records a session and writes it as a Chrome trace, which ui.perfetto.dev and chrome://tracing open.

import type { Profile, RuntimeEvent } from "../index.js";
import type { Observer } from "./stream.js";

/** One entry of `traceEvents`, in microseconds (Trace Event Format, Google, 2016). */
export interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  readonly ph: "M" | "X" | "b" | "e" | "C" | "i";
  readonly ts: number;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly id?: string;
  readonly s?: "g";
  readonly args?: Readonly<Record<string, unknown>>;
}

interface Track {
  readonly pid: number;
  readonly tid: number;
}

/** Perfetto takes thread ids for those of the system: one process each, and 0 is the kernel's. */
const PAGE = { pid: 1, tid: 1 } as const;
const FRAMES = { pid: 1, tid: 2 } as const;
const ENCODING = { pid: 1, tid: 3 } as const;
const SLICES = { pid: 2, tid: 4 } as const;
const KERNELS = { pid: 2, tid: 5 } as const;
const PROFILE = { pid: 2, tid: 6 } as const;

const PROCESSES = [
  [PAGE, "page (CPU)"],
  [SLICES, "GPU"],
] as const;
const TRACKS = [
  [PAGE, "page"],
  [FRAMES, "frames"],
  [ENCODING, "encoding"],
  [SLICES, "slices"],
  [KERNELS, "kernels"],
  [PROFILE, "profile"],
] as const;

/** Longer gaps are no frames. */
const GAP_MS = 1000;

interface Recorded {
  readonly at: number;
  readonly profile: Profile;
}

/**
 * Keeps the last `capacity` events. WebGPU does not tell when on the page's clock a pass ran: slices lie where they
 * were encoded, or after the one before, and are as long as they were measured. In them, kernels share that time as
 * predicted; only those of a profile were measured one by one.
 */
export class TraceRecorder implements Observer {
  readonly #capacity: number;
  readonly #profiles: Recorded[] = [];
  #events: RuntimeEvent[] = [];

  constructor({ capacity = 50_000 }: { readonly capacity?: number } = {}) {
    this.#capacity = capacity;
  }

  observe(event: RuntimeEvent): void {
    this.#events.push(event);
    // Halved rather than shifted, which would cost every frame something.
    if (this.#events.length > this.#capacity * 2) this.#events = this.#events.slice(-this.#capacity);
  }

  /** Add what `model.profile` measured just now: a track of exact times. */
  profile(profile: Profile): void {
    const ms = profile.dispatches.reduce((sum, dispatch) => sum + dispatch.ms, 0);
    this.#profiles.push({ at: performance.now() - ms, profile });
  }

  /** The JSON text of the trace. */
  export(): string {
    const events = this.#events.slice(-this.#capacity).sort((a, b) => a.at - b.at);
    const trace = [...names(), ...pageEvents(events), ...gpuEvents(events), ...profileEvents(this.#profiles)];
    trace.sort((a, b) => a.ts - b.ts);
    return JSON.stringify({ traceEvents: trace, displayTimeUnit: "ms" });
  }
}

function names(): readonly TraceEvent[] {
  const meta = (name: string, track: Track, args: TraceEvent["args"] & object): TraceEvent => ({
    name,
    cat: "__metadata",
    ph: "M",
    ts: 0,
    ...track,
    args,
  });
  return [
    ...PROCESSES.map(([track, name]) => meta("process_name", track, { name })),
    ...TRACKS.flatMap(([track, name]) => [
      meta("thread_name", track, { name }),
      meta("thread_sort_index", track, { sort_index: track.tid }),
    ]),
  ];
}

function pageEvents(events: readonly RuntimeEvent[]): readonly TraceEvent[] {
  const trace: TraceEvent[] = [];
  let frame: Extract<RuntimeEvent, { readonly type: "frame" }> | undefined;
  // These overlap: each is a slice on an asynchronous track.
  const span = (cat: string, name: string, { at, ms }: { readonly at: number; readonly ms: number }): void => {
    const id = String(trace.length);
    trace.push({ ...PAGE, name, cat, ph: "b", ts: micro(at), id });
    trace.push({ ...PAGE, name, cat, ph: "e", ts: micro(at + ms), id });
  };
  const instant = (name: string, at: number, args: object): void => {
    trace.push({ ...PAGE, name, cat: "webinfer", ph: "i", s: "g", ts: micro(at), args: { ...args } });
  };
  const counter = (name: string, at: number, args: Readonly<Record<string, number>>): void => {
    trace.push({ ...PAGE, name, cat: "webinfer", ph: "C", ts: micro(at), args });
  };
  for (const event of events) {
    switch (event.type) {
      case "phase":
        span("load", `${event.model}: ${event.phase}`, event);
        break;
      case "compile":
        span("compile", `compile ${event.kernel}`, event);
        break;
      case "recovered":
        span("recovery", `recovery ${event.model}`, event);
        break;
      case "self-test":
        span("self-test", `self-test ${event.model}: ${event.passed ? "passed" : "failed"}`, event);
        break;
      case "job":
        span("job", `job ${event.model} (${event.outcome})`, event);
        break;
      case "memory":
        counter(`memory ${event.model}`, event.at, { bytes: event.bytes });
        break;
      case "frame": {
        const { dispatches, jobs, predictedMs, saturated, budgetMs } = event;
        counter("budget", event.at, { ms: budgetMs });
        const args = { dispatches, jobs, predictedMs, saturated };
        const encoding = { name: "encode", cat: "frame", ph: "X", ts: micro(event.at), ...ENCODING } as const;
        if (dispatches > 0) trace.push({ ...encoding, dur: micro(event.encodeMs), args });
        if (frame !== undefined && event.at - frame.at < GAP_MS) {
          const ts = micro(frame.at);
          trace.push({ name: "frame", cat: "frame", ph: "X", ts, dur: micro(event.at) - ts, ...FRAMES });
        }
        frame = event;
        break;
      }
      case "adapter":
      case "tier":
      case "loaded":
      case "device-lost":
      case "out-of-memory":
      case "fallback":
      case "failure":
        instant(event.type, event.at, event);
        break;
      case "slice":
        break;
    }
  }
  return trace;
}

function gpuEvents(events: readonly RuntimeEvent[]): readonly TraceEvent[] {
  const trace: TraceEvent[] = [];
  let end = 0;
  for (const event of events) {
    if (event.type !== "slice") continue;
    const { ms, model, clock, budgetMs, predictedMs, longestMs, pieces } = event;
    const ts = Math.max(micro(event.at), end);
    end = ts + micro(ms);
    const args = { model, clock, budgetMs, predictedMs, longestMs, dispatches: pieces.length };
    trace.push({ name: `slice ${model}`, cat: "slice", ph: "X", ts, dur: end - ts, ...SLICES, args });
    const predicted = pieces.reduce((sum, piece) => sum + piece.ms, 0);
    const shares = pieces.map((piece) => ({ ...piece, ms: predicted > 0 ? (ms * piece.ms) / predicted : 0 }));
    trace.push(...inARow(shares, ts, "kernel", KERNELS));
  }
  return trace;
}

function profileEvents(profiles: readonly Recorded[]): readonly TraceEvent[] {
  return profiles.flatMap(({ at, profile }) => inARow(profile.dispatches, micro(at), "profile", PROFILE));
}

function inARow(
  kernels: readonly { readonly kernel: string; readonly node?: string; readonly ms: number }[],
  start: number,
  cat: string,
  track: Track,
): readonly TraceEvent[] {
  let ts = start;
  return kernels.map(({ kernel, node, ms }) => {
    const begin = ts;
    ts = begin + micro(ms);
    const args = node === undefined ? {} : { node };
    return { name: kernel, cat, ph: "X", ts: begin, dur: ts - begin, ...track, args };
  });
}

/** Nanoseconds are kept, as the third decimal: what is cut off would let neighbours overlap. */
function micro(ms: number): number {
  return Math.round(ms * 1e6) / 1000;
}
