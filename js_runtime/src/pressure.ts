// The Compute Pressure API as a source of the device's load.

import type { Pressure } from "./scheduling/governor.js";

/** Calls back with the present load and every change; returns what stops it. */
export type PressureSource = (onState: (state: Pressure) => void) => () => void;

/** TypeScript's library does not have the API yet (https://www.w3.org/TR/compute-pressure/). */
interface PressureObserverLike {
  observe(source: "cpu", options: { readonly sampleInterval: number }): Promise<void>;
  disconnect(): void;
}
type PressureObserverClass = new (
  callback: (records: readonly { readonly state: Pressure }[]) => void,
) => PressureObserverLike;

const SAMPLE_MS = 2000;

/** The browser's source; stays silent where the API is missing or not allowed. */
export const computePressure: PressureSource = (onState) => {
  const { PressureObserver } = globalThis as { readonly PressureObserver?: PressureObserverClass };
  if (PressureObserver === undefined) return () => undefined;
  const observer = new PressureObserver((records) => {
    const last = records.at(-1);
    if (last !== undefined) onState(last.state);
  });
  // A permissions policy may refuse it; frame times still tell.
  observer.observe("cpu", { sampleInterval: SAMPLE_MS }).catch(() => undefined);
  return () => {
    observer.disconnect();
  };
};
