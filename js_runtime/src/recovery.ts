// Decides after the loss of a device whether a model goes on, when, and on which device.

import type { Diagnosis } from "./diagnosis.js";
import type { DownloadClock } from "./download.js";
import { DeviceError, throwIfAborted } from "./errors.js";
import type { Telemetry } from "./telemetry/events.js";
import { pageVisibility, shown } from "./visibility.js";

/** The device was lost. One event for as long as it takes until the model runs again. */
export interface LossEvent {
  readonly diagnosis: Diagnosis;
  /** Resolves when the model runs again, on `model.device`; rejects like later calls do where it never will. */
  readonly recovered: Promise<void>;
}

export interface RecoveryOptions {
  /**
   * After the loss of the device: "auto" asks for another one, "never" ends all jobs with "device-lost"; a function is
   * asked for the device to go on with, such as the one that the engine then has. Default "auto", and "never" with a
   * `device` of the caller's.
   */
  readonly recover?: "auto" | "never" | ((loss: Diagnosis) => Promise<GPUDevice>) | undefined;
  /** Told of every loss, also of one during `load`. Jobs go on by themselves; their progress begins again. */
  readonly onLoss?: ((event: LossEvent) => void) | undefined;
}

/** A driver that fails so often will not stop. */
const MAX_LOSSES = 4;
const WINDOW_MS = 120_000;
/** After its process died, a browser has no adapter for some seconds. */
const MAX_MISSING = 8;
const FIRST_PAUSE_MS = 250;

/** The policy of one model, over its whole life. */
export class Recovery {
  readonly #recover: "auto" | "never" | ((loss: Diagnosis) => Promise<GPUDevice>);
  readonly #onLoss: (event: LossEvent) => void;
  readonly #clock: DownloadClock;
  readonly #telemetry: Telemetry;
  #losses: readonly number[] = [];

  constructor(
    recover: "auto" | "never" | ((loss: Diagnosis) => Promise<GPUDevice>),
    options: Pick<RecoveryOptions, "onLoss">,
    clock: DownloadClock,
    telemetry: Telemetry,
  ) {
    this.#recover = recover;
    this.#onLoss = options.onLoss ?? ((): void => undefined);
    this.#clock = clock;
    this.#telemetry = telemetry;
  }

  /**
   * Settle anew after `loss`: `settle` is tried, with the device that the caller handed over or none, until it succeeds;
   * further losses on the way count. `jobs` go on then. Rejects with "device-lost", or with what forbids to go on.
   */
  async after<T extends { readonly tier: string }>(
    loss: Loss,
    jobs: number,
    settle: (device: GPUDevice | undefined) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const at = performance.now();
    const { diagnosis } = loss;
    const { model, reason } = diagnosis;
    this.#telemetry.emit({ type: "device-lost", at, model, reason });
    const settling = this.#settle(loss, settle, signal);
    const recovered = settling.then(() => undefined);
    // Who is told need not wait for it.
    recovered.catch(() => undefined);
    this.#onLoss({ diagnosis, recovered });
    const settled = await settling;
    const { tier } = settled;
    this.#telemetry.emit({ type: "recovered", at, ms: performance.now() - at, model, tier, jobs });
    return settled;
  }

  async #settle<T>(
    first: Loss,
    settle: (device: GPUDevice | undefined) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (this.#recover === "never") throw first;
    let loss = first;
    let missing = 0;
    this.#count(loss);
    for (let attempts = 1; ; attempts += 1) {
      if (attempts > 1) await this.#pause(attempts, signal);
      const device = await this.#device(loss);
      try {
        return await settle(device);
      } catch (cause) {
        throwIfAborted(signal);
        if (isLoss(cause)) {
          loss = cause;
          missing = 0;
          this.#count(loss);
          continue;
        }
        if (!(cause instanceof DeviceError && cause.code === "no-adapter")) throw cause;
        missing += 1;
        if (missing === MAX_MISSING) throw gone(loss, `no other is to be had: ${cause.message}`, cause);
      }
    }
  }

  async #device(loss: Loss): Promise<GPUDevice | undefined> {
    if (typeof this.#recover !== "function") return undefined;
    try {
      return await this.#recover(loss.diagnosis);
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause);
      throw gone(loss, `\`recover\` gave no other: ${text}`, cause);
    }
  }

  /** Growing, and only while the page is shown: hidden pages may get no device. */
  async #pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
    await this.#clock.wait(FIRST_PAUSE_MS * 2 ** (attempt - 2), signal);
    await shown(pageVisibility, signal);
  }

  #count({ diagnosis }: Loss): void {
    const now = this.#clock.now();
    this.#losses = [...this.#losses.filter((at) => now - at < WINDOW_MS), now];
    if (this.#losses.length <= MAX_LOSSES) return;
    const { model, message, tier } = diagnosis;
    throw new DeviceError(
      "device-lost",
      `model ${model}: the GPU device was lost ${String(this.#losses.length)} times within ` +
        `${String(WINDOW_MS / 1000)} s (${message}) on tier ${tier}; load it again with a lower tier, or play without it`,
      { diagnosis },
    );
  }
}

function gone({ diagnosis }: Loss, why: string, cause: unknown): DeviceError {
  return new DeviceError("device-lost", `model ${diagnosis.model}: the GPU device was lost, and ${why}`, {
    cause,
    diagnosis,
  });
}

/** The loss of a device, as `lossOf` makes it. */
export type Loss = DeviceError & { readonly diagnosis: Diagnosis };

/** Whether an error is the loss of a device. */
export function isLoss(cause: unknown): cause is Loss {
  return cause instanceof DeviceError && cause.code === "device-lost" && cause.diagnosis !== undefined;
}
