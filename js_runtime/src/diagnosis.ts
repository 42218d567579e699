// What is known about the GPU when it fails: the driver's words, and what the runtime was doing.

/** Why and when a GPU refused work or went away. Plain data: log it, send it, show it. */
export interface Diagnosis {
  readonly what: "device-lost" | "out-of-memory" | "validation";
  /** Of a loss, as WebGPU names it: "destroyed", where someone called `device.destroy()`, or "unknown". Else empty. */
  readonly reason: string;
  /** The driver's own words. */
  readonly message: string;
  readonly adapter: { readonly vendor: string; readonly architecture: string; readonly isCpu: boolean };
  readonly model: string;
  readonly tier: string;
  /** Buffers and bytes that the runtime held on the device at the time: by this model, and by all. */
  readonly memory: { readonly buffers: number; readonly bytes: number; readonly deviceBytes: number };
  /** Labels of the kernels that this model encoded last, the latest at the end: the culprit is often among them. */
  readonly lastKernels: readonly string[];
  /** The job that was under way. */
  readonly job: { readonly fraction: number; readonly dispatches: number; readonly of: number } | undefined;
}

const KEPT = 8;

/** The labels of the last kernels. Noting one neither allocates nor grows. */
export class KernelTrail {
  readonly #labels = Array<string>(KEPT).fill("");
  #noted = 0;

  note(label: string): void {
    this.#labels[this.#noted % KEPT] = label;
    this.#noted += 1;
  }

  /** Oldest first. */
  get labels(): readonly string[] {
    const first = Math.max(0, this.#noted - KEPT);
    return Array.from({ length: this.#noted - first }, (_, index) => this.#labels[(first + index) % KEPT] ?? "");
  }
}
