// Shows what a run cost and what it ran on: time per kernel, memory, adapter, tier and why.

import type { MemoryUse, ModelInfo, Profile } from "../index.js";
import { bar, element, table } from "./dom.js";

/** Badges for the page's header. */
export function badges(info: ModelInfo): readonly HTMLElement[] {
  const { adapter } = info;
  const kind = adapter.isCpu
    ? element("span", { className: "badge software" }, "software adapter (CPU)")
    : element("span", { className: "badge gpu" }, "GPU");
  return [
    kind,
    element("span", { className: "badge" }, adapterName(info)),
    element("span", { className: "badge" }, info.tier),
  ];
}

/** Time per kernel, heaviest first, then the heaviest nodes. */
export function kernelTables({ clock, dispatches, dropped }: Profile): readonly HTMLElement[] {
  const total = dispatches.reduce((sum, { ms }) => sum + ms, 0);
  const how = clock === "timestamp" ? "GPU timestamps" : "wall clock around each dispatch, which includes its submit";
  const lost = dropped === 0 ? "" : `; ${String(dropped)} timestamps ran backwards and are left out`;
  const summary = `${String(dispatches.length)} dispatches, ${total.toFixed(1)} ms by ${how}${lost}`;
  return [
    element("p", { className: "soft" }, summary),
    timeTable("kernel", total, sums(dispatches.map(({ kernel, ms }) => [kernel, ms])).slice(0, 20)),
    element("h2", {}, "Heaviest nodes"),
    timeTable("node", total, sums(dispatches.map(({ node, ms }) => [node, ms])).slice(0, 10)),
  ];
}

/** Live bytes by kind, and how close the plan is to its lower bound. */
export function memoryTable(use: MemoryUse, info: ModelInfo): readonly HTMLElement[] {
  const groups = [
    { text: "weights", className: "", bytes: use.byKind.weight.bytes },
    { text: "activations", className: "second", bytes: use.byKind.activation.bytes },
    { text: "inputs and outputs", className: "third", bytes: use.byKind.input.bytes + use.byKind.output.bytes },
    { text: "uniforms, read-back", className: "fourth", bytes: use.byKind.uniform.bytes + use.byKind.readback.bytes },
  ];
  const chart = bar(groups.map(({ bytes, className }) => ({ share: bytes / use.bytes, className })));
  chart.classList.add("tall");
  const { activationPeakBytes: peak, activationLowerBoundBytes: bound } = info.plan;
  return [
    chart,
    table(
      ["", "#size"],
      [
        ...groups.map(({ text, className, bytes }) => [
          element("span", {}, element("i", { className: `key ${className}` }), text),
          size(bytes),
        ]),
        [`all, in ${String(use.buffers)} buffers`, size(use.bytes)],
        ["largest while loading", size(use.peakBytes)],
        ["planned activation peak", size(peak)],
        ["lower bound of any plan", size(bound)],
        ["peak ÷ lower bound", bound > 0 ? (peak / bound).toFixed(3) : "–"],
      ],
    ),
  ];
}

/** Adapter, tier, load times, and the reasons for the choice. */
export function adapterTable(info: ModelInfo): readonly HTMLElement[] {
  const { timings, adapter, delivery } = info;
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  return [
    table(
      ["", "#"],
      [
        ["adapter", adapterName(info)],
        ["runs shaders on", adapter.isCpu ? "the CPU (software)" : "a GPU"],
        ["tier", info.tier],
        ["dispatches per run", String(info.dispatches)],
        ["load: manifest, device", `${ms(timings.manifestMs)}, ${ms(timings.deviceMs)}`],
        ["load: network, store", `${size(delivery.networkBytes)}, ${size(delivery.storedBytes)} (${delivery.store})`],
        ["load: choice of tier", ms(timings.tierMs)],
        ["load: compilation (in parallel), weights", `${ms(timings.compileMs)}, ${ms(timings.weightsMs)}`],
        ["load: warm-up", ms(timings.warmUpMs)],
        ["load: all", ms(timings.totalMs)],
      ],
    ),
    element("ul", {}, ...[...info.reasons, ...delivery.notes].map((text) => element("li", {}, text))),
  ];
}

function adapterName({ adapter }: ModelInfo): string {
  const { vendor, architecture, device, description } = adapter;
  if (description !== "") return description;
  return [vendor, architecture, device].filter((part) => part !== "").join(" ") || "an adapter that hides its name";
}

function sums(entries: readonly (readonly [string, number])[]): readonly { name: string; ms: number; count: number }[] {
  const found = new Map<string, { name: string; ms: number; count: number }>();
  for (const [name, ms] of entries) {
    const entry = found.get(name) ?? { name, ms: 0, count: 0 };
    entry.ms += ms;
    entry.count += 1;
    found.set(name, entry);
  }
  return [...found.values()].sort((a, b) => b.ms - a.ms);
}

function timeTable(
  what: string,
  total: number,
  rows: readonly { readonly name: string; readonly ms: number; readonly count: number }[],
): HTMLElement {
  const largest = rows[0]?.ms ?? 1;
  return table(
    [what, "#dispatches", "#ms", "#share", ""],
    rows.map(({ name, ms, count }) => [
      name,
      String(count),
      ms.toFixed(2),
      `${((ms / (total || 1)) * 100).toFixed(1)} %`,
      bar([{ share: ms / (largest || 1) }]),
    ]),
  );
}

/** A number of bytes for people. */
export function size(bytes: number): string {
  if (bytes < 10_000) return `${String(bytes)} B`;
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
