// Waits for the device that an engine makes in place of a lost one.

/**
 * The engine's device, once it is not a lost one. `restored` resolves when the engine next says that it has a new device.
 */
export async function liveDevice(current: () => GPUDevice, restored: () => Promise<void>): Promise<GPUDevice> {
  for (;;) {
    const device = current();
    const lost = device.lost.then(() => true);
    // A promise that has resolved long ago still takes its turn: look a task later.
    const alive = new Promise<false>((resolve) => setTimeout(resolve, 0, false));
    if (!(await Promise.race([lost, alive]))) return device;
    if (current() === device) await restored();
  }
}
