// Integer expressions over named sizes, as manifests write them: read once, evaluated without allocation.
//
// Grammar (webinfer/expressions.py writes it): integers, names, + - * // %, parentheses, min(a, b), max(a, b), with the
// usual precedences. // and % round towards minus infinity. Doubles are exact to 2^53, beyond any size of a GPU tensor.

import type { SymbolBounds } from "./generated/manifest.js";

/** A plain number, or the text of an expression. */
export type Extent = number | string;

type Evaluate = (sizes: Float64Array) => number;

const TOKEN = /\s*(?:(\d+)|([A-Za-z_]\w*)|(\/\/|[-+*%(),]))/y;

const BINARY: Readonly<Record<string, { readonly level: number; readonly apply: (a: number, b: number) => number }>> = {
  "+": { level: 1, apply: (a, b) => a + b },
  "-": { level: 1, apply: (a, b) => a - b },
  "*": { level: 2, apply: (a, b) => a * b },
  "//": { level: 2, apply: (a, b) => (b === 0 ? 0 : Math.floor(a / b)) },
  "%": { level: 2, apply: (a, b) => (b === 0 ? 0 : a - b * Math.floor(a / b)) },
};

/** The values of a component's symbols, their maxima at first, and of the expressions over them. */
export class Sizes {
  readonly names: readonly string[];
  readonly #values: Float64Array;
  readonly #compiled = new Map<string, Evaluate>();
  #changes = 0;

  constructor(symbols: Readonly<Record<string, SymbolBounds>>) {
    this.names = Object.keys(symbols);
    this.#values = Float64Array.from(Object.values(symbols), ({ maximum }) => maximum);
  }

  /** Counts the changes of any value: who derived something from the values sees whether it still holds. */
  get changes(): number {
    return this.#changes;
  }

  /** Give a symbol another value. */
  set(name: string, value: number): void {
    const slot = this.names.indexOf(name);
    if (this.#values[slot] !== value) this.#changes += 1;
    this.#values[slot] = value;
  }

  /** The number that `extent` stands for now. Throws a SyntaxError for text that is no expression over the names. */
  valueOf(extent: Extent): number {
    if (typeof extent === "number") return extent;
    let evaluate = this.#compiled.get(extent);
    if (evaluate === undefined) {
      evaluate = new Parser(extent, this.names).parse();
      this.#compiled.set(extent, evaluate);
    }
    return evaluate(this.#values);
  }

  /** A shape in numbers. */
  shapeOf(shape: readonly Extent[]): number[] {
    return shape.map((extent) => this.valueOf(extent));
  }
}

/** Precedence climbing over the tokens of one text. */
class Parser {
  readonly #text: string;
  readonly #names: readonly string[];
  readonly #tokens: string[] = [];
  #next = 0;

  constructor(text: string, names: readonly string[]) {
    this.#text = text;
    this.#names = names;
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < text.length) {
      const found = TOKEN.exec(text);
      if (found === null) this.#fail();
      this.#tokens.push(found[0].trim());
    }
  }

  parse(): Evaluate {
    const value = this.#binary(1);
    if (this.#next < this.#tokens.length) this.#fail();
    return value;
  }

  #binary(level: number): Evaluate {
    let left = this.#unary();
    for (;;) {
      const operator = BINARY[this.#tokens[this.#next] ?? ""];
      if (operator === undefined || operator.level < level) return left;
      this.#next += 1;
      const [a, b] = [left, this.#binary(operator.level + 1)];
      left = (sizes) => operator.apply(a(sizes), b(sizes));
    }
  }

  #unary(): Evaluate {
    const token = this.#tokens[this.#next];
    this.#next += 1;
    if (token === "-") {
      const value = this.#unary();
      return (sizes) => -value(sizes);
    }
    if (token === "(") {
      const value = this.#binary(1);
      this.#expect(")");
      return value;
    }
    if (token === undefined) this.#fail();
    if (/^\d/.test(token)) {
      const number = Number(token);
      return () => number;
    }
    if ((token === "min" || token === "max") && this.#tokens[this.#next] === "(") {
      const least = token === "min";
      this.#next += 1;
      const a = this.#binary(1);
      this.#expect(",");
      const b = this.#binary(1);
      this.#expect(")");
      return (sizes) => (least ? Math.min(a(sizes), b(sizes)) : Math.max(a(sizes), b(sizes)));
    }
    const slot = this.#names.indexOf(token);
    if (slot < 0) this.#fail();
    return (sizes) => sizes[slot] ?? 0;
  }

  #expect(token: string): void {
    if (this.#tokens[this.#next] !== token) this.#fail();
    this.#next += 1;
  }

  #fail(): never {
    throw new SyntaxError(`"${this.#text}" is no expression over ${this.#names.join(", ") || "no sizes"}`);
  }
}
