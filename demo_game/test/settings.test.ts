// Settings from the URL and from an earlier visit.

import { describe, expect, it } from "vitest";

import { readSettings } from "../src/page/settings.js";

describe("readSettings", () => {
  it("has defaults", () => {
    expect(readSettings("", null)).toMatchObject({
      seed: "far",
      quality: "medium",
      backend: "auto",
      budgetMs: 4,
      scale: 1,
    });
  });

  it("takes the URL before what was kept", () => {
    const kept = JSON.stringify({ seed: "old", quality: "high", budgetMs: 8, sound: false });
    expect(readSettings("?seed=new&budget=2&size=480x270&inference=off&renderer=webgl", kept)).toMatchObject({
      ...{ seed: "new", quality: "high", budgetMs: 2, sound: false },
      ...{ inference: false, webgl: true, size: { width: 480, height: 270 } },
    });
  });

  it("ignores what makes no sense", () => {
    const settings = readSettings("?quality=ultra&backend=cuda&budget=fast&size=big", "{not json");
    expect(settings).toMatchObject({ quality: "medium", backend: "auto", budgetMs: 4, size: undefined });
    expect(readSettings("?budget=900", "[]").budgetMs).toBe(16);
  });
});
