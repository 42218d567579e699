// Which kernels an adapter computes rightly: self-tests that were passed, and kernels that were found to be wrong.

import { throwIfAborted } from "./errors.js";
import type { Component, Program } from "./generated/manifest.js";
import type { Package } from "./package.js";
import type { RecordStore } from "./record_store.js";
import type { Residence } from "./residence.js";
import type { Telemetry } from "./telemetry/events.js";
import { environmentKey, type AdapterInfo } from "./tier.js";

/** "auto": once per adapter, driver, browser and version of the package, and not where the CPU runs the shaders. */
export type SelfTestMode = "auto" | "always" | "never";

/** What a residence may be used for. */
export interface Examined {
  readonly passed: boolean;
  /** For people. */
  readonly reason: string;
}

/** What is known about one package on one adapter. */
export class Trust {
  readonly #source: Package;
  readonly #component: Component;
  readonly #records: RecordStore;
  readonly #telemetry: Telemetry;
  readonly #adapter: AdapterInfo;
  readonly #mode: SelfTestMode;
  readonly #environment: string;
  /** Names of kernels, which hash their source, and of programs of a version. */
  readonly #wrong: Set<string>;

  private constructor(subject: TrustSubject, wrong: readonly string[]) {
    this.#source = subject.source;
    this.#component = subject.component;
    this.#records = subject.records;
    this.#telemetry = subject.telemetry;
    this.#adapter = subject.adapter;
    this.#mode = subject.mode;
    this.#environment = environmentKey(subject.adapter);
    this.#wrong = new Set(wrong);
  }

  /** Read what earlier visits found out; records that fail have nothing to say. */
  static async open(subject: TrustSubject): Promise<Trust> {
    const text = await subject.records.get(`quarantine/${environmentKey(subject.adapter)}`).catch(() => undefined);
    return new Trust(subject, text === undefined || text === "" ? [] : text.split("\n"));
  }

  /** What of a program this adapter computes wrongly; undefined where nothing is known to be wrong. */
  fault(program: Program): string | undefined {
    if (this.#mode === "never") return undefined;
    if (this.#wrong.has(this.#programKey(program))) return "its numbers are wrong on this adapter";
    const kernel = program.kernels.find((name) => this.#wrong.has(name));
    return kernel === undefined ? undefined : `kernel ${kernel} is wrong on this adapter`;
  }

  /**
   * Test an occupied residence where that is due. Where it fails, kernels are quarantined such that `fault` tells it of its
   * program, and of as few of the `others` as what was found allows.
   */
  async examine(residence: Residence, others: readonly Program[], signal?: AbortSignal): Promise<Examined> {
    const { program } = residence;
    const { golden } = this.#component;
    if (this.#mode === "never") return { passed: true, reason: "self-test: turned off" };
    if (golden === null) return { passed: true, reason: "self-test: the package has no golden inputs" };
    const key = `self-test/${this.#environment}/${this.#programKey(program)}`;
    if (this.#mode === "auto") {
      if (this.#adapter.isCpu)
        return { passed: true, reason: "self-test: left out, the adapter runs shaders on the CPU" };
      const earlier = await this.#records.get(key).catch(() => undefined);
      if (earlier !== undefined)
        return { passed: true, reason: `self-test: passed on an earlier visit, drift ${earlier}` };
    }
    const { selfTest } = await import("./self_test.js");
    const answers = await this.#source.read(golden.file, { signal });
    const at = performance.now();
    const { runs, drift, suspects, finding } = await selfTest(residence, this.#component, golden, answers);
    throwIfAborted(signal);
    const passed = drift <= 1;
    const quarantined = passed ? [] : this.#choose(program, suspects, others);
    this.#telemetry.emit({
      type: "self-test",
      at,
      ms: performance.now() - at,
      model: this.#source.manifest.name,
      tier: program.tier,
      passed,
      runs,
      drift: Math.min(drift, Number.MAX_VALUE),
      quarantined,
    });
    const share = drift.toPrecision(2);
    if (passed) {
      await this.#records.set(key, share).catch(() => undefined);
      return {
        passed,
        reason: `self-test: ${program.tier} passed ${String(runs)} runs, drift ${share} of what is tolerated`,
      };
    }
    for (const name of quarantined) this.#wrong.add(name);
    await this.#records.set(`quarantine/${this.#environment}`, [...this.#wrong].join("\n")).catch(() => undefined);
    return {
      passed,
      reason: `self-test: ${program.tier} failed with drift ${share}: ${finding}; left out from now on: ${quarantined.join(", ")}`,
    };
  }

  /** Kernels that other programs have too are the last to blame: what takes this program's place is tested as well. */
  #choose(program: Program, suspects: readonly string[], others: readonly Program[]): readonly string[] {
    const own = suspects.filter((name) => !others.some(({ kernels }) => kernels.includes(name)));
    if (own.length > 0) return own;
    return suspects.length > 0 ? suspects : [this.#programKey(program)];
  }

  #programKey({ tier }: Program): string {
    return `${this.#source.version}/${this.#component.name}/${tier}`;
  }
}

export interface TrustSubject {
  readonly source: Package;
  readonly component: Component;
  readonly records: RecordStore;
  readonly telemetry: Telemetry;
  readonly adapter: AdapterInfo;
  readonly mode: SelfTestMode;
}
