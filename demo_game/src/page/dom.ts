// Elements by tag, class and text; text is never read as HTML.

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { className = "", text = "" }: { readonly className?: string; readonly text?: string } = {},
  ...children: readonly Node[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  if (text !== "") made.textContent = text;
  made.append(...children);
  return made;
}

/** Sets text only where it differs: the layout is left alone in most frames. */
export function say(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}
