// Reported events as OTLP log records, windows as OTLP metrics (OTLP specification, "JSON Protobuf Encoding").

import type { Subject } from "../index.js";
import { isTrouble, type WindowEvent } from "./events.js";
import type { TelemetryRecord } from "./stream.js";

/** 64-bit integers are decimal strings in OTLP/JSON, enums are numbers. */
type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

type Scalar = string | number | boolean;

const SEVERITY = {
  info: { severityNumber: 9, severityText: "INFO" },
  error: { severityNumber: 17, severityText: "ERROR" },
};
const DELTA = 1;

/** Name and version of the game, as the collector shall see them. */
export interface Service {
  readonly name: string;
  readonly version?: string | undefined;
}

/** Body for `/v1/logs`: one record per event, its members as attributes `webinfer.*`. */
export function logsBody(service: Service, records: readonly TelemetryRecord[]): unknown {
  return {
    resourceLogs: bySubject(records).map(([subject, group]) => ({
      resource: resource(service, subject),
      scopeLogs: [{ scope: SCOPE, logRecords: group.map(logRecord) }],
    })),
  };
}

/** Body for `/v1/metrics`: gauges and delta sums of windows; other events have none. */
export function metricsBody(service: Service, records: readonly TelemetryRecord[]): unknown {
  return {
    resourceMetrics: bySubject(records).map(([subject, group]) => ({
      resource: resource(service, subject),
      scopeMetrics: [
        {
          scope: SCOPE,
          metrics: group.flatMap(({ event, timeUnixMs }) =>
            event.type === "window" ? metrics(event, timeUnixMs) : [],
          ),
        },
      ],
    })),
  };
}

const SCOPE = { name: "@webinfer/runtime" };

function logRecord({ event, timeUnixMs }: TelemetryRecord): unknown {
  // Events are flat. `at` is the record's time, and the package its resource.
  const entries = Object.entries(event) as [string, Scalar | readonly string[]][];
  const members = entries.filter(([key]) => key !== "type" && key !== "at" && key !== "model");
  return {
    timeUnixNano: nanoseconds(timeUnixMs),
    observedTimeUnixNano: nanoseconds(timeUnixMs),
    ...(isTrouble(event) ? SEVERITY.error : SEVERITY.info),
    eventName: `webinfer.${event.type}`,
    body: { stringValue: event.type },
    attributes: members.map(([key, value]) => attribute(`webinfer.${snakeCase(key)}`, value)),
  };
}

function metrics(event: WindowEvent, timeUnixMs: number): readonly unknown[] {
  const startTimeUnixNano = nanoseconds(timeUnixMs);
  const timeUnixNano = nanoseconds(timeUnixMs + event.ms);
  const point = (value: number, attributes: Readonly<Record<string, Scalar>> = {}): unknown => ({
    timeUnixNano,
    asDouble: value,
    attributes: Object.entries(attributes).map(([key, label]) => attribute(key, label)),
  });
  const gauge = (name: string, unit: string, ...dataPoints: readonly unknown[]): unknown => ({
    name,
    unit,
    gauge: { dataPoints },
  });
  const sum = (name: string, unit: string, counts: Readonly<Record<string, number>>): unknown => ({
    name,
    unit,
    sum: {
      aggregationTemporality: DELTA,
      isMonotonic: true,
      dataPoints: Object.entries(counts).map(([outcome, count]) => ({
        startTimeUnixNano,
        timeUnixNano,
        asInt: String(count),
        attributes: [attribute("outcome", outcome)],
      })),
    },
  });
  return [
    gauge(
      "webinfer.slice.duration",
      "ms",
      point(event.sliceP50Ms, { quantile: 0.5 }),
      point(event.sliceP95Ms, { quantile: 0.95 }),
      point(event.sliceP99Ms, { quantile: 0.99 }),
    ),
    gauge("webinfer.slice.overshoot.max", "ms", point(event.overshootMaxMs)),
    gauge("webinfer.slice.overshoot.excess.max", "ms", point(event.overshootExcessMaxMs)),
    gauge(
      "webinfer.gpu.memory",
      "By",
      point(event.memoryBytes, { statistic: "last" }),
      point(event.memoryPeakBytes, { statistic: "max" }),
    ),
    sum("webinfer.slices", "{slice}", {
      within_budget: event.slices - event.slicesOverBudget,
      over_budget: event.slicesOverBudget,
    }),
    sum("webinfer.frames", "{frame}", {
      inferring: event.framesInferring,
      idle: event.frames - event.framesInferring - event.framesSaturated,
      saturated: event.framesSaturated,
    }),
    sum("webinfer.frames.dropped", "{frame}", { inferring: event.framesDropped }),
    sum("webinfer.jobs", "{job}", {
      done: event.jobsDone,
      cancelled: event.jobsCancelled,
      failed: event.jobsFailed,
    }),
  ];
}

function resource({ name, version }: Service, subject: Subject | undefined): unknown {
  const attributes: Record<string, Scalar | undefined> = {
    "service.name": name,
    "service.version": version,
    "webinfer.adapter.vendor": subject?.vendor,
    "webinfer.adapter.architecture": subject?.architecture,
    "webinfer.adapter.software": subject?.software,
    "webinfer.model": subject?.model,
    "webinfer.version": subject?.version,
  };
  return {
    attributes: Object.entries(attributes).flatMap(([key, value]) =>
      value === undefined ? [] : [attribute(key, value)],
    ),
  };
}

/** A resource stands for one subject. */
function bySubject(
  records: readonly TelemetryRecord[],
): readonly (readonly [Subject | undefined, readonly TelemetryRecord[]])[] {
  const groups = new Map<Subject | undefined, TelemetryRecord[]>();
  for (const record of records) {
    const group = groups.get(record.subject) ?? [];
    groups.set(record.subject, group);
    group.push(record);
  }
  return [...groups];
}

function attribute(key: string, value: Scalar | readonly string[]): KeyValue {
  return { key, value: anyValue(value) };
}

function anyValue(value: Scalar | readonly string[]): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return { arrayValue: { values: value.map(anyValue) } };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Microseconds are as fine as a page's clocks, and fit a double. */
function nanoseconds(unixMs: number): string {
  return `${String(Math.round(unixMs * 1000))}000`;
}
