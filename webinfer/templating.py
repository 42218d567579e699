"""Renders `wgsl/kernels/*.wgsl.j2` into kernels: declarations and typed accessors come from the binding list.

A template is a real shader that sees, per binding `x`:
    load_x(i)      -> f32 or vec4<f32>   element(s) i (in units of the binding's width), converted to f32
    raw_x(i)       -> T or vec4<T>       the same without conversion where T is f16
    store_x(i, v)                        for read_write bindings, v is f32 or vec4<f32>
    int_x(i)       -> i32                for integer bindings of width 1: the low word, for indices of any integer type
Integer and bool bindings load and store i32, u32 (bool as 0 or 1) or vectors of them, 64-bit integers vec2<u32> (low
word first). `P.name` is a uniform parameter, `WG` the workgroup size, and `T` the arithmetic type: f16 where the tier
has f16 math and the kernel asks for it, else f32. Numbers are computed in Python: a template only selects text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jinja2

from webinfer.errors import GraphError
from webinfer.kernel import ITEMSIZE, PACKED_BITS, Binding, Kernel, Param, element_type
from webinfer.resources import data_dir
from webinfer.symbols import Sym, Undecided
from webinfer.tiers import Tier


def _fixed(value: Any) -> Any:
    """What a template writes; raises Undecided for a size, which would be baked into the shader."""
    if isinstance(value, Sym):
        raise Undecided(f"its shader needs {value} as a fixed number")
    return value


@cache
def environment() -> jinja2.Environment:
    """The one Jinja2 environment: undefined names fail, block tags leave no blank lines."""
    root = data_dir("wgsl")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([root / "kernels", root]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        finalize=_fixed,
    )


def _accessors(index: int, b: Binding, f16: str) -> str:
    """Declaration and accessor functions of one binding."""
    base = f"i + P.{b.name}_base" if b.shifted else "i"
    if b.atomic:
        return f"@group(0) @binding({index}) var<storage, {b.access}> {b.name}: array<atomic<u32>>;"
    wide = b.width == 4
    if b.dtype == "float16":
        value, raw = ("vec4<f32>", "vec4<T>") if wide else ("f32", "T")
        if f16 == "arithmetic":
            element = "vec4<f16>" if wide else "f16"
            load, raw_load = f"{value}({b.name}[{base}])", f"{raw}({b.name}[{base}])"
            store = f"{b.name}[{base}] = {element}(stored);"
        elif wide:
            element = "vec2<u32>"
            load = f"unpack4({b.name}[{base}])"
            raw_load = load
            store = f"{b.name}[{base}] = pack4(stored);"
        else:
            if b.access == "read_write":
                raise GraphError(f"binding {b.name}: 16-bit outputs need width 4, two invocations would share a word")
            element = "u32"
            load = f"unpack2x16float({b.name}[({base}) >> 1u])[({base}) & 1u]"
            raw_load, store = load, ""
    else:
        scalar = element_type(b.dtype)
        if wide and ITEMSIZE[b.dtype] == 8:
            raise GraphError(f"binding {b.name}: 64-bit integers move one at a time, use width 1")
        element = f"vec4<{scalar}>" if wide else scalar
        value = element
        raw = ("vec4<T>" if wide else "T") if scalar == "f32" else element
        load = f"{b.name}[{base}]"
        store = f"{b.name}[{base}] = stored;"
        if b.packed and wide and b.dtype == "uint16":
            element, load, store = "vec2<u32>", f"unzip4({b.name}[{base}])", f"{b.name}[{base}] = zip4(stored);"
        elif b.packed:
            element, load = "u32", _unpacked(b, scalar, base)
        raw_load = f"{raw}({load})"
    lines = [f"@group(0) @binding({index}) var<storage, {b.access}> {b.name}: array<{element}>;"]
    lines.append(f"fn load_{b.name}(i: u32) -> {value} {{ return {load}; }}")
    lines.append(f"fn raw_{b.name}(i: u32) -> {raw} {{ return {raw_load}; }}")
    if not wide and not b.dtype.startswith("float"):
        low = f"({load}).x" if ITEMSIZE[b.dtype] == 8 else load
        lines.append(f"fn int_{b.name}(i: u32) -> i32 {{ return bitcast<i32>({low}); }}")
    if b.access == "read_write":
        lines.append(f"fn store_{b.name}(i: u32, stored: {value}) {{ {store} }}")
    return "\n".join(lines)


def _unpacked(b: Binding, scalar: str, i: str) -> str:
    """Expression for element(s) `i` of a packed binding; extractBits extends the sign of an i32."""
    bits = PACKED_BITS[b.dtype]
    per = 32 // bits
    if b.width == 1:
        return f"extractBits(bitcast<{scalar}>({b.name}[({i}) / {per}u]), (({i}) % {per}u) * {bits}u, {bits}u)"
    lanes = []
    for lane in range(4):
        at = f"(({i}) * 4u + {lane}u)"
        lanes.append(f"extractBits(bitcast<{scalar}>({b.name}[{at} / {per}u]), {at} % {per}u * {bits}u, {bits}u)")
    return f"vec4<{scalar}>({', '.join(lanes)})"


_PACKING = """\
fn unpack4(v: vec2<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y)); }
fn pack4(v: vec4<f32>) -> vec2<u32> {
  // WGSL leaves what float16 cannot hold to the implementation: SwiftShader packs infinity as NaN, 1e-8 as 6e-8.
  let bits = bitcast<vec4<u32>>(v);
  let size = bits & vec4<u32>(0x7fffffffu);
  let large = size >= vec4<u32>(0x477ff000u);
  let zero = large | (size <= vec4<u32>(0x33000000u));
  let usual = bitcast<vec4<f32>>(select(bits, bits & vec4<u32>(0x80000000u), zero));
  let limit = select(vec4<u32>(0x7c00u), vec4<u32>(0x7e00u), size > vec4<u32>(0x7f800000u));
  let beyond = select(vec4<u32>(0u), limit, large);
  return vec2<u32>(pack2x16float(usual.xy), pack2x16float(usual.zw)) | beyond.xz | (beyond.yw << vec2<u32>(16u));
}
"""
_HALVES = """\
fn unzip4(v: vec2<u32>) -> vec4<u32> { return vec4<u32>(v.x & 0xffffu, v.x >> 16u, v.y & 0xffffu, v.y >> 16u); }
fn zip4(v: vec4<u32>) -> vec2<u32> { return vec2<u32>(v.x | (v.y << 16u), v.z | (v.w << 16u)); }
"""


def render(
    template: str,
    *,
    bindings: Sequence[Binding],
    params: Sequence[Param],
    tier: Tier,
    workgroup_size: tuple[int, int, int],
    f16_arithmetic: bool = False,
    workgroup_storage_bytes: int = 0,
    variables: Mapping[str, Any] | None = None,
) -> Kernel:
    """Render `template` (file stem under wgsl/kernels) into a Kernel named `<stem>_<hash of source>`.

    f16_arithmetic asks for T = f16; it holds only on tiers with f16 math.
    """
    native = tier.f16 == "arithmetic" and (f16_arithmetic or any(b.dtype == "float16" for b in bindings))
    head = ["enable f16;"] if native else []
    head.append(f"alias T = {'f16' if tier.f16 == 'arithmetic' and f16_arithmetic else 'f32'};")
    head.append("const WG = vec3<u32>({}u, {}u, {}u);".format(*workgroup_size))
    if params:
        head.append("struct Params { " + ", ".join(f"{p.name}: {p.type}" for p in params) + " }")
        head.append(f"@group(0) @binding({len(bindings)}) var<uniform> P: Params;")
    if tier.f16 != "arithmetic" and any(b.dtype == "float16" for b in bindings):
        head.append(_PACKING)
    if any(b.dtype == "uint16" and b.packed and b.width == 4 for b in bindings):
        head.append(_HALVES)
    head += [_accessors(i, b, tier.f16) for i, b in enumerate(bindings)]
    body = (
        environment()
        .get_template(f"{template}.wgsl.j2")
        .render(tier=tier, workgroup_size=workgroup_size, **(variables or {}))
    )
    wgsl = "\n".join(head) + "\n\n" + body
    digest = hashlib.sha256(wgsl.encode()).hexdigest()[:10]
    return Kernel(
        name=f"{template}_{digest}",
        wgsl=wgsl,
        workgroup_size=workgroup_size,
        bindings=tuple(bindings),
        params=tuple(params),
        features=frozenset({"shader-f16"}) if native else frozenset(),
        workgroup_storage_bytes=workgroup_storage_bytes,
    )
