// Turns inference or reporting off from afar, for adapters of a class or a version of a package.

import type { Subject } from "../index.js";

/** Members that are given must all match; a rule with none but `stop` matches everything. */
interface Rule {
  readonly stop: "inference" | "telemetry";
  readonly vendor?: string;
  readonly architecture?: string;
  /** Name of the package. */
  readonly model?: string;
  /** Begin of the SHA-256 of the package's manifest.json. */
  readonly version?: string;
}

export interface KillSwitchOptions {
  readonly fetch?: typeof fetch | undefined;
  /** The document counts as out of reach after that; default 3,000. */
  readonly timeoutMs?: number | undefined;
}

const MEMBERS: ReadonlySet<string> = new Set(["stop", "vendor", "architecture", "model", "version"]);

/**
 * Rules from a URL, `{ "rules": [{ "stop": "inference", "vendor": "acme", "version": "3fa9" }] }`, fetched once,
 * without cookies. Where they cannot be had or read, inference goes on (a broken server must not stop a game) and
 * nothing is reported (who cannot object has not agreed).
 */
export class KillSwitch {
  readonly #url: string | URL;
  readonly #options: KillSwitchOptions;
  #rules: Promise<readonly Rule[] | undefined> | undefined;

  constructor(url: string | URL, options: KillSwitchOptions = {}) {
    this.#url = url;
    this.#options = options;
  }

  /** Whether inference may run; `load` takes this as its option `admit`. Never rejects. */
  readonly admit = async (subject: Subject): Promise<boolean> => {
    const rules = await this.#read();
    return !(rules ?? []).some((rule) => rule.stop === "inference" && matches(rule, subject));
  };

  /** Whether events may be sent. Never rejects. */
  readonly reports = async (subject: Subject): Promise<boolean> => {
    const rules = await this.#read();
    return rules !== undefined && !rules.some((rule) => rule.stop === "telemetry" && matches(rule, subject));
  };

  #read(): Promise<readonly Rule[] | undefined> {
    this.#rules ??= this.#fetch().catch(() => undefined);
    return this.#rules;
  }

  async #fetch(): Promise<readonly Rule[] | undefined> {
    const { fetch: fetcher = fetch, timeoutMs = 3000 } = this.#options;
    const response = await fetcher(this.#url, {
      cache: "no-cache",
      credentials: "omit",
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.ok ? parse(await response.json()) : undefined;
  }
}

function matches(rule: Rule, subject: Subject): boolean {
  const { vendor, architecture, model, version } = rule;
  return (
    (vendor === undefined || vendor === subject.vendor) &&
    (architecture === undefined || architecture === subject.architecture) &&
    (model === undefined || model === subject.model) &&
    (version === undefined || subject.version.startsWith(version))
  );
}

/** A misspelt member would match everything, so one bad rule spoils the document. */
function parse(document: unknown): readonly Rule[] | undefined {
  if (typeof document !== "object" || document === null || !("rules" in document)) return undefined;
  const { rules } = document;
  return Array.isArray(rules) && rules.every(isRule) ? rules : undefined;
}

function isRule(value: unknown): value is Rule {
  if (typeof value !== "object" || value === null || !("stop" in value)) return false;
  if (value.stop !== "inference" && value.stop !== "telemetry") return false;
  return Object.entries(value).every(([key, member]) => MEMBERS.has(key) && typeof member === "string");
}
