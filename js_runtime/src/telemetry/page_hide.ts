// Tells when a page may be about to go: the last moment at which something can be sent.

/** Calls back each time the page is hidden; returns what stops it. */
export type HideSource = (onHide: () => void) => () => void;

/** The browser's events; in a worker, which has none, it never calls. Mobile browsers end pages without "pagehide". */
export const pageHide: HideSource = (onHide) => {
  const page = (globalThis as { readonly document?: Document }).document;
  if (page === undefined) return () => undefined;
  const changed = (): void => {
    if (page.visibilityState === "hidden") onHide();
  };
  page.addEventListener("visibilitychange", changed);
  globalThis.addEventListener("pagehide", onHide);
  return () => {
    page.removeEventListener("visibilitychange", changed);
    globalThis.removeEventListener("pagehide", onHide);
  };
};
