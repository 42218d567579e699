// What visits leave for the next one, in memory.

import type { RecordStore } from "../src/index.js";

export class Records implements RecordStore {
  readonly texts = new Map<string, string>();

  get(key: string): Promise<string | undefined> {
    return Promise.resolve(this.texts.get(key));
  }

  set(key: string, text: string): Promise<void> {
    this.texts.set(key, text);
    return Promise.resolve();
  }
}
