// Waits for the device that an engine makes in place of a lost one.

import { DeviceError } from "../index.js";

/** An engine that takes longer will not come back, and jobs must end. */
const PATIENCE_MS = 60_000;

/**
 * The engine's device, once it is not a lost one. `restored` resolves when the engine next says that it has a new device.
 * Rejects with "device-lost" after a minute.
 */
export async function liveDevice(current: () => GPUDevice, restored: () => Promise<void>): Promise<GPUDevice> {
  for (;;) {
    const device = current();
    const lost = device.lost.then(() => true);
    // A promise that has resolved long ago still takes its turn: look a task later.
    if (!(await Promise.race([lost, after(0, () => false)]))) return device;
    if (current() === device) await Promise.race([restored(), after(PATIENCE_MS, giveUp)]);
  }
}

function after<T>(ms: number, what: () => T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, ms)).then(what);
}

function giveUp(): never {
  throw new DeviceError("device-lost", "the engine lost its GPU device and made no other within 60 s; reload the page");
}
