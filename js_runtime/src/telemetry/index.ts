// Public interface of @webinfer/runtime/telemetry: everything about reporting that the core need not carry.

export type { BatchOptions } from "./batch.js";
export { BeaconSink, type BeaconOptions } from "./beacon_sink.js";
export { ConsoleSink } from "./console_sink.js";
export type { CompilesEvent, ReportedEvent, WindowEvent } from "./events.js";
export { Hud, type HudOptions } from "./hud.js";
export { KillSwitch, type KillSwitchOptions } from "./kill_switch.js";
export type { Service } from "./otlp.js";
export { OtlpSink, type OtlpOptions } from "./otlp_sink.js";
export type { HideSource } from "./page_hide.js";
export { TelemetryStream, type Observer, type Sink, type TelemetryOptions, type TelemetryRecord } from "./stream.js";
export { TraceRecorder, type TraceEvent } from "./trace.js";
