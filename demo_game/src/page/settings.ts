// What the player may choose: kept from visit to visit, and overridden by the URL. Pure.

export const QUALITIES = ["low", "medium", "high"] as const;
export const BACKENDS = ["auto", "webgpu", "webnn", "wasm"] as const;
export type Quality = (typeof QUALITIES)[number];
export type Backend = (typeof BACKENDS)[number];

export interface Settings {
  /** Any text; the same text is the same world. */
  readonly seed: string;
  readonly quality: Quality;
  /** What runs the model. */
  readonly backend: Backend;
  /** Tier of the package, or "" for the runtime's choice. */
  readonly tier: string;
  /** Inference's share of a frame, in milliseconds of GPU time. */
  readonly budgetMs: number;
  /** Pixels of the picture per pixel of the screen, along each axis. */
  readonly scale: number;
  readonly sound: boolean;
  /** False: land from a hash, without the model. */
  readonly inference: boolean;
  /** Draw with WebGL 2 although there may be WebGPU. */
  readonly webgl: boolean;
  /** A fixed size of the picture in pixels instead of the window's. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

/** What a store keeps, and what the settings form changes. */
export type Kept = Pick<Settings, "seed" | "quality" | "backend" | "tier" | "budgetMs" | "scale" | "sound">;

export const BUDGET_MS = { least: 0.5, most: 16 } as const;
export const SCALE = { least: 0.25, most: 2 } as const;

/** From the URL's query and what an earlier visit left; anything that makes no sense counts as not given. */
export function readSettings(query: string, stored: string | null): Settings {
  const url = new URLSearchParams(query);
  const kept = parse(stored);
  const text = (name: string): string | undefined => url.get(name) ?? kept[name];
  const seed = text("seed")?.slice(0, 40);
  return {
    seed: seed === undefined || seed === "" ? "far" : seed,
    quality: oneOf(QUALITIES, text("quality")) ?? "medium",
    backend: oneOf(BACKENDS, text("backend")) ?? "auto",
    tier: text("tier") ?? "",
    budgetMs: within(text("budget") ?? kept["budgetMs"], BUDGET_MS.least, BUDGET_MS.most) ?? 4,
    scale: within(text("scale"), SCALE.least, SCALE.most) ?? 1,
    sound: text("sound") !== "false",
    inference: url.get("inference") !== "off",
    webgl: url.get("renderer") === "webgl",
    size: sizeOf(url.get("size")),
  };
}

export function keptOf({ seed, quality, backend, tier, budgetMs, scale, sound }: Settings): Kept {
  return { seed, quality, backend, tier, budgetMs, scale, sound };
}

function parse(stored: string | null): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(stored ?? "{}");
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, String(entry)]));
  } catch {
    return {};
  }
}

function oneOf<T extends string>(choices: readonly T[], value: string | undefined): T | undefined {
  return choices.find((choice) => choice === value);
}

function within(value: string | undefined, least: number, most: number): number | undefined {
  const number = Number(value ?? "");
  return value === undefined || value === "" || !Number.isFinite(number)
    ? undefined
    : Math.min(Math.max(number, least), most);
}

function sizeOf(value: string | null): Settings["size"] {
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(value ?? "") ?? [];
  return width === undefined || height === undefined ? undefined : { width: Number(width), height: Number(height) };
}
