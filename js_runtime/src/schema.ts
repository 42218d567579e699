// Checks a JSON document against a JSON Schema, as far as the manifest's schema makes use of it.

/** The keywords that are checked; a schema with others is a fault of whoever generates it. */
export interface Schema {
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** The first fault, with its JSON pointer: "/files/0/sha256 must ..."; undefined for a valid document. */
export function schemaFault(value: unknown, schema: Schema): string | undefined {
  return fault(value, schema, schema.$defs ?? {}, "");
}

const REF = "#/$defs/";
const patterns = new Map<string, RegExp>();

function matches(text: string, pattern: string): boolean {
  const compiled = patterns.get(pattern) ?? new RegExp(pattern, "u");
  patterns.set(pattern, compiled);
  return compiled.test(text);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function fault(value: unknown, schema: Schema, defs: Readonly<Record<string, Schema>>, at: string): string | undefined {
  const wrong = (what: string): string => `${at === "" ? "the document" : at} must ${what}`;
  const { $ref, anyOf, type } = schema;
  if ($ref !== undefined) {
    const target = defs[$ref.slice(REF.length)];
    if (target === undefined) throw new RangeError(`the schema has no ${$ref}`);
    return fault(value, target, defs, at);
  }
  if (anyOf !== undefined) {
    const faults = anyOf.map((choice) => fault(value, choice, defs, at));
    return faults.includes(undefined) ? undefined : faults.join(", or ");
  }
  if (type !== undefined && !(type === "integer" ? Number.isInteger(value) : typeOf(value) === type)) {
    return wrong(`be ${type}`);
  }
  if (schema.const !== undefined && value !== schema.const) return wrong(`be ${JSON.stringify(schema.const)}`);
  if (schema.enum !== undefined && !schema.enum.includes(value)) return wrong(`be one of ${schema.enum.join(", ")}`);
  if (typeof value === "string") {
    const { pattern } = schema;
    return pattern === undefined || matches(value, pattern) ? undefined : wrong(`match ${pattern}`);
  }
  if (typeof value === "number") {
    const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = schema;
    if (value < minimum) return wrong(`be >= ${String(minimum)}`);
    if (value <= exclusiveMinimum) return wrong(`be > ${String(exclusiveMinimum)}`);
    return value > maximum ? wrong(`be <= ${String(maximum)}`) : undefined;
  }
  if (Array.isArray(value)) {
    const { items, minItems = 0, maxItems = Infinity } = schema;
    if (value.length < minItems) return wrong(`have at least ${String(minItems)} items`);
    if (value.length > maxItems) return wrong(`have at most ${String(maxItems)} items`);
    if (items === undefined) return undefined;
    return first(value.entries(), ([index, item]) => fault(item, items, defs, `${at}/${String(index)}`));
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { required = [], properties = {}, additionalProperties = true } = schema;
  const missing = required.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return wrong(`have ${missing}`);
  return first(Object.entries(value), ([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (known === false) return wrong(`not have ${name}`);
    return known === undefined || known === true ? undefined : fault(member, known, defs, `${at}/${name}`);
  });
}

/** The first answer that is not undefined. */
function first<T>(items: Iterable<T>, answer: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = answer(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
