// Public interface of @webinfer/runtime.

export type { Backend, BackendOptions, PortableOptions } from "./backend.js";
export {
  BackendError,
  DeviceError,
  GpuError,
  InputError,
  LimitsError,
  PackageError,
  StoppedError,
  WebinferError,
  type BackendAttempt,
  type ErrorCode,
  type MissingLimit,
} from "./errors.js";
export type { RecordStore } from "./record_store.js";
export type { DeviceOptions } from "./device.js";
export type { Diagnosis } from "./diagnosis.js";
export type { Extent } from "./expressions.js";
export type { Feed, Feeds } from "./feeds.js";
export type {
  ExternalImage,
  ImageFeed,
  ImageOptions,
  ImageUse,
  Layout,
  OutputFormat,
  TextureOptions,
} from "./image/picture.js";
export { FORMAT_VERSION, type SymbolBounds } from "./generated/manifest.js";
export type { Job, JobProgress, JobState, SliceOptions, Step } from "./job.js";
export { load, type LoadOptions } from "./load.js";
export type { BufferKind, MemoryUse } from "./memory.js";
export type {
  CapturedTensor,
  FeedSource,
  LoadTimings,
  Model,
  ModelInfo,
  Outputs,
  OutputTensor,
  RunOptions,
  RunTensor,
  StartOptions,
  StepsOptions,
  TensorInfo,
} from "./model.js";
export { deviceMemory, type DeviceMemory, type DeviceUse, type ModelUse } from "./pool.js";
export type { Progress } from "./settle.js";
export type { PressureSource } from "./pressure.js";
export type { LossEvent, RecoveryOptions } from "./recovery.js";
export {
  FrameScheduler,
  type FrameJob,
  type FrameOptions,
  type FrameReport,
  type JobOptions,
  type SchedulerOptions,
} from "./scheduler.js";
export type { GovernorOptions, Pressure } from "./scheduling/governor.js";
export type { Slice } from "./slicer.js";
export { Package, type Delivery, type DeliveryOptions } from "./package.js";
export { PipelineCache } from "./pipelines.js";
export { requirements, type Requirements, type RequirementsOptions } from "./requirements.js";
export type { PackageLocation } from "./source.js";
export type { Store, StoredEntry } from "./store.js";
export type { LoadPhase, RuntimeEvent, SlicePiece, Subject, Telemetry } from "./telemetry/events.js";
export type { DType, TensorArray } from "./tensor.js";
export type { VisibilitySource } from "./visibility.js";
export { describeAdapter, type AdapterInfo } from "./tier.js";
export type { DispatchTime, Profile } from "./timing.js";
export type { SelfTestMode } from "./trust.js";
