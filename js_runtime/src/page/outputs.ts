// Shows outputs: pictures where the shape is one, numbers or a histogram otherwise.

import type { TensorArray, RunTensor } from "../index.js";
import { bar, element, table } from "./dom.js";
import { imageLayout, type ImageLayout } from "./layout.js";
import { draw, rangeOf, type Look, type Values } from "./picture.js";

/** Longer outputs are summed up in a histogram. */
const MAX_ROWS = 32;
const BINS = 64;

/** A figure for one output. */
export function outputFigure(info: RunTensor, data: TensorArray): HTMLElement {
  const values =
    data instanceof BigInt64Array || data instanceof BigUint64Array ? Float64Array.from(data, Number) : data;
  const range = rangeOf(values);
  const caption = element(
    "figcaption",
    {},
    element("h3", {}, info.name),
    element("span", { className: "shape" }, `${info.dtype} [${info.shape.join(", ")}]`),
    element("span", { className: "soft" }, `${short(range.low)} … ${short(range.high)}, mean ${short(range.mean)}`),
  );
  if (range.nonFinite > 0) {
    caption.append(element("span", { className: "badge software" }, `${String(range.nonFinite)} values not finite`));
  }
  const figure = element("figure", {}, caption);
  const layout = imageLayout(info.shape);
  if (layout !== undefined) addPicture(figure, caption, info, values, layout);
  else if (values.length <= MAX_ROWS) figure.append(numbers(values));
  else figure.append(histogram(values, range.low, range.high));
  return figure;
}

function addPicture(
  figure: HTMLElement,
  caption: HTMLElement,
  info: RunTensor,
  values: Values,
  layout: ImageLayout,
): void {
  const canvas = element("canvas");
  canvas.setAttribute("aria-label", `output ${info.name} as a picture`);
  const looks: { readonly text: string; readonly look: Look; readonly channel: number }[] = [];
  if (layout.channels === 3 || layout.channels === 4) looks.push({ text: "colour", look: "colour", channel: 0 });
  for (let channel = 0; channel < layout.channels; channel += 1) {
    const suffix = layout.channels === 1 ? "" : ` ${String(channel)}`;
    if (layout.channels === 1) looks.push({ text: "terrain", look: "terrain", channel });
    looks.push({ text: `grey${suffix}`, look: "grey", channel });
  }
  const choice = element(
    "select",
    { ariaLabel: "look" },
    ...looks.map(({ text }, index) => element("option", { value: String(index) }, text)),
  );
  const redraw = (): void => {
    const chosen = looks[choice.selectedIndex];
    if (chosen !== undefined) draw(canvas, values, layout, chosen.look, chosen.channel);
  };
  choice.addEventListener("change", redraw);
  caption.append(choice);
  figure.append(canvas);
  choice.selectedIndex = 0;
  redraw();
}

function numbers(values: Values): HTMLElement {
  const all = [...values];
  const largest = Math.max(...all.map(Math.abs).filter(Number.isFinite), Number.MIN_VALUE);
  return table(
    ["index", "#value", ""],
    all.map((value, index) => [String(index), short(value), bar([{ share: Math.abs(value) / largest }])]),
  );
}

function histogram(values: Values, low: number, high: number): HTMLElement {
  const bins = new Array<number>(BINS).fill(0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor(((value - low) / (high - low || 1)) * BINS));
    if (Number.isFinite(bin)) bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const tallest = Math.max(...bins);
  const chart = element("div", { className: "histogram" });
  for (const [index, amount] of bins.entries()) {
    const from = low + ((high - low) * index) / BINS;
    const column = element("i", { title: `from ${short(from)}: ${String(amount)}` });
    column.style.height = `${((amount / tallest) * 100).toFixed(1)}%`;
    chart.append(column);
  }
  return chart;
}

function short(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return Number.isInteger(value) ? String(value) : value.toPrecision(4);
}
