// The protocol that webinfer's own host answers, for pages that measure other things: greet, then commands until the end.

const query = new URLSearchParams(location.search);
const session = query.get("session");
const compat = query.has("compat");

/** How elements lie in the bytes of a tensor. */
export const ARRAYS = {
  float32: Float32Array,
  float16: globalThis.Float16Array ?? Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

async function post(message) {
  await fetch(`/result?session=${session}`, { method: "POST", body: JSON.stringify(message) });
}

async function greet() {
  const adapter = await navigator.gpu?.requestAdapter(compat ? { featureLevel: "compatibility" } : {});
  if (!adapter) {
    await post({ id: 0, ok: false, error: { code: "no-adapter", message: "requestAdapter returned null" } });
    return false;
  }
  const { vendor, architecture, device, description, isFallbackAdapter } = adapter.info;
  await post({
    id: 0,
    ok: true,
    value: {
      adapter: { vendor, architecture, device, description, isFallbackAdapter },
      features: [...adapter.features],
      limits: {},
      userAgent: navigator.userAgent,
    },
  });
  return true;
}

/** The bytes that the caller uploaded under a key. */
export async function uploaded(key) {
  return (await fetch(`/data/${key}`)).arrayBuffer();
}

/** Answer commands for ever; `operations` are functions of a command's arguments, by name. */
export async function serve(operations) {
  if (!(await greet())) return;
  for (;;) {
    const response = await fetch(`/next?session=${session}`);
    if (response.status === 204) continue;
    const { id, op, ...args } = await response.json();
    try {
      await post({ id, ok: true, value: await operations[op](args) });
    } catch (error) {
      await post({ id, ok: false, error: { code: error.code ?? "page", message: String(error) } });
    }
  }
}
