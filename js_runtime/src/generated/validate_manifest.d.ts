// Declaration of the generated validator; do not edit.
import type { Manifest } from "./manifest.js";

export interface SchemaError {
  readonly instancePath: string;
  readonly message?: string;
}

export declare const validateManifest: {
  (data: unknown): data is Manifest;
  errors?: SchemaError[] | null;
};
