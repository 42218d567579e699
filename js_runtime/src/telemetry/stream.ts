// The object that a game gives to `load` and `FrameScheduler`: the page sees all events, sinks those of some sessions.

import type { RuntimeEvent, Subject, Telemetry } from "../index.js";
import type { ReportedEvent } from "./events.js";
import type { KillSwitch } from "./kill_switch.js";
import { pageHide, type HideSource } from "./page_hide.js";
import { Summary } from "./summary.js";

/** A part of the page that wants every event, as it comes. Nothing leaves the page through it. */
export interface Observer {
  observe(event: RuntimeEvent): void;
}

/** An event on its way out of the page. */
export interface TelemetryRecord {
  readonly event: ReportedEvent;
  readonly timeUnixMs: number;
  /** Undefined where it failed before there was an adapter. */
  readonly subject: Subject | undefined;
}

/** A way out of the page. */
export interface Sink {
  write(record: TelemetryRecord): void;
  /** Send what is waiting; `hiding`: the page may be gone after this call. */
  flush(hiding: boolean): Promise<void>;
}

export interface TelemetryOptions {
  /** Get every event of every session: Hud, TraceRecorder. */
  readonly observers?: readonly Observer[] | undefined;
  /** Get the events of sampled sessions, the frequent ones summed up. */
  readonly sinks?: readonly Sink[] | undefined;
  /** Share of sessions that are reported, 0 to 1; one decision for the whole session. Default 0.1. */
  readonly sampleRate?: number | undefined;
  readonly random?: (() => number) | undefined;
  readonly killSwitch?: KillSwitch | undefined;
  /** Length of the windows over which frequent events are summed up; default 30,000. */
  readonly windowMs?: number | undefined;
  /** When the page goes; default the browser's events. */
  readonly hide?: HideSource | undefined;
}

type PhaseEvent = Extract<RuntimeEvent, { readonly type: "phase" }>;

const NOBODY: Subject = { vendor: "", architecture: "", software: false, model: "", version: "" };

/** Off unless made. Keeps no identifier of a player, a page or a session. */
export class TelemetryStream implements Telemetry {
  /** Whether this session is reported to the sinks, if the kill switch lets it. */
  readonly sampled: boolean;
  readonly #observers: Observer[];
  readonly #sinks: Sink[];
  readonly #killSwitch: KillSwitch | undefined;
  readonly #summary: Summary;
  readonly #subjects = new Map<string, Subject>();
  readonly #stopHide: () => void;
  readonly #faults: unknown[] = [];
  /** What loads did before they had an adapter: told with its class, or once they failed. */
  #early: PhaseEvent[] = [];
  #lastSubject: Subject | undefined;
  readonly #verdicts = new Map<Subject, boolean>();
  /** Events leave in order, although the kill switch is asked in between. */
  #tail: Promise<void> = Promise.resolve();
  #queued = 0;

  constructor(options: TelemetryOptions = {}) {
    const { observers = [], sinks = [], sampleRate = 0.1, random = Math.random, hide = pageHide } = options;
    this.#observers = [...observers];
    this.#sinks = [...sinks];
    this.sampled = this.#sinks.length > 0 && random() < sampleRate;
    this.#killSwitch = options.killSwitch;
    this.#summary = new Summary(options.windowMs ?? 30_000);
    this.#stopHide = this.sampled ? hide(() => void this.flush(true)) : (): void => undefined;
  }

  /** What observers and sinks threw; each is left out from then on. */
  get faults(): readonly unknown[] {
    return this.#faults;
  }

  emit(event: RuntimeEvent): void {
    this.#each(this.#observers, (observer) => {
      observer.observe(event);
    });
    if (!this.sampled) return;
    if (event.type === "adapter") {
      const { vendor, architecture, software, model, version } = event;
      this.#lastSubject = { vendor, architecture, software, model, version };
      this.#subjects.set(model, this.#lastSubject);
    }
    for (const reported of this.#summary.add(event)) {
      if (reported.type === "phase" && !this.#subjects.has(reported.model)) this.#early.push(reported);
      else this.#report(reported);
    }
    if (event.type === "adapter" || event.type === "failure") this.#release(({ model }) => model === event.model);
  }

  /** Send what is waiting, the window so far included. */
  async flush(hiding = false): Promise<void> {
    this.#release(() => true);
    for (const reported of this.#summary.close()) this.#report(reported);
    // A page that goes does not wait for the kill switch: what it has not let pass yet is lost.
    if (!hiding) await this.#tail;
    const flushed: Promise<void>[] = [];
    this.#each(this.#sinks, (sink) => {
      flushed.push(sink.flush(hiding));
    });
    await Promise.allSettled(flushed);
  }

  /** Stop reporting, after a last flush. */
  async close(): Promise<void> {
    this.#stopHide();
    await this.flush();
    this.#sinks.length = 0;
    this.#observers.length = 0;
  }

  #release(which: (event: PhaseEvent) => boolean): void {
    const released = this.#early.filter(which);
    this.#early = this.#early.filter((event) => !which(event));
    for (const event of released) this.#report(event);
  }

  #report(event: ReportedEvent): void {
    const known = "model" in event ? this.#subjects.get(event.model) : undefined;
    const subject = known ?? this.#lastSubject;
    const record = { event, timeUnixMs: performance.timeOrigin + event.at, subject };
    const write = (): void => {
      this.#each(this.#sinks, (sink) => {
        sink.write(record);
      });
    };
    const killSwitch = this.#killSwitch;
    const asked = subject ?? NOBODY;
    const verdict = killSwitch === undefined ? true : this.#verdicts.get(asked);
    if (killSwitch === undefined || (verdict !== undefined && this.#queued === 0)) {
      if (verdict === true) write();
      return;
    }
    this.#queued += 1;
    this.#tail = this.#tail.then(async () => {
      const pass = await killSwitch.reports(asked);
      this.#verdicts.set(asked, pass);
      this.#queued -= 1;
      if (pass) write();
    });
  }

  /** Frames must go on whatever a part does. */
  #each<T>(parts: T[], use: (part: T) => void): void {
    for (const part of [...parts]) {
      try {
        use(part);
      } catch (cause) {
        this.#faults.push(cause);
        parts.splice(parts.indexOf(part), 1);
      }
    }
  }
}
