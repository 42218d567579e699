// Waits for the browser's next task.

/** Resolves in a task of its own. Unlike a timer it is not throttled while the page is hidden. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (): void => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
