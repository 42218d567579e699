"""The WGSL functions that elementwise expressions may call, found by name in wgsl/lib/math.wgsl.j2."""

from __future__ import annotations

import re
from functools import cache

from webinfer.templating import environment

# One line that ends with a brace, or lines up to a brace alone.
_FUNCTION = re.compile(r"^fn (\w+)\((?:.*\}|[\s\S]*?^\})$", re.MULTILINE)
_CALL = re.compile(r"\b([a-z]\w*)\(")


@cache
def _library() -> dict[str, str]:
    source = environment().get_template("lib/math.wgsl.j2").render()
    return {m.group(1): m.group(0) for m in _FUNCTION.finditer(source)}


def functions_in(code: str) -> str:
    """Declarations of the library functions that `code` calls, and of those that these call, in the library's order."""
    library = _library()
    needed: set[str] = set()
    pending = [code]
    while pending:
        found = {name for name in _CALL.findall(pending.pop()) if name in library} - needed
        needed |= found
        pending += [library[name] for name in found]
    return "".join(f"{text}\n" for name, text in library.items() if name in needed)
