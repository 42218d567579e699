// Device host in a browser tab: host/index.html?session=SESSION[&compat=1].

import { Host } from "./protocol.js";

const query = new URLSearchParams(location.search);
const state = document.getElementById("state");

function show(text: string): void {
  if (state !== null) state.textContent = text;
}

const host = new Host({
  base: new URL("/", location.href),
  session: query.get("session") ?? "",
  gpu: undefined,
  userAgent: navigator.userAgent,
  compatibility: query.get("compat") === "1",
});
show("working");
host.serve().then(
  () => {
    show("done");
  },
  (error: unknown) => {
    show(error instanceof Error ? error.message : String(error));
  },
);
