// Tells when the page is hidden and shown again, where there is a page.

/** Calls `onChange` whenever the page is hidden or shown, and at once where it is hidden; returns how to stop. */
export type VisibilitySource = (onChange: (hidden: boolean) => void) => () => void;

/** The document's; workers have none, and nothing is told there. */
export const pageVisibility: VisibilitySource = (onChange) => {
  const page = (globalThis as { readonly document?: Document }).document;
  if (page === undefined) return () => undefined;
  const tell = (): void => {
    onChange(page.hidden);
  };
  page.addEventListener("visibilitychange", tell);
  if (page.hidden) tell();
  return () => {
    page.removeEventListener("visibilitychange", tell);
  };
};

/** Resolves when the page is shown, or there is none; rejects when the signal fires. */
export async function shown(source: VisibilitySource, signal: AbortSignal | undefined): Promise<void> {
  let stop: () => void = () => undefined;
  let hidden = false;
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener("abort", reject, { once: true });
      stop = source((now) => {
        hidden = now;
        if (!now) resolve();
      });
      if (!hidden) resolve();
    });
  } finally {
    stop();
  }
}
