// Builds DOM nodes. Text goes in as text only: names and messages come from files that a stranger may have made.

type Child = Node | string;

/** A new element with the given properties and children; strings become text nodes. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** The element of an id that index.html has. */
export function byId(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (node === null) throw new Error(`the page has no element #${id}`);
  return node;
}

/** A table with a header row; columns whose title starts with "#" are right-aligned numbers. */
export function table(titles: readonly string[], rows: readonly (readonly Child[])[]): HTMLTableElement {
  const numeric = titles.map((title) => title.startsWith("#"));
  const head = element(
    "tr",
    {},
    ...titles.map((title, column) =>
      element("th", { className: numeric[column] === true ? "number" : "" }, title.replace("#", "")),
    ),
  );
  const body = rows.map((cells) =>
    element(
      "tr",
      {},
      ...cells.map((cell, column) => {
        const filled = cell instanceof HTMLElement && cell.classList.contains("bar");
        const className = numeric[column] === true ? "number" : filled ? "fill" : "name";
        return element("td", { className }, cell);
      }),
    ),
  );
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
}

/** A horizontal bar of segments, each a share of the whole between 0 and 1. */
export function bar(segments: readonly { readonly share: number; readonly className?: string }[]): HTMLElement {
  const node = element("div", { className: "bar" });
  for (const { share, className } of segments) {
    const part = element("i", { className: className ?? "" });
    part.style.width = `${(share * 100).toFixed(2)}%`;
    node.append(part);
  }
  return node;
}
