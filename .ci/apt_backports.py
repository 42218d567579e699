"""Prints the apt source entry for backports, derived from the entry of this machine that serves the release itself.

The same mirror, components and key are reused, so it works wherever the machine's own entry works.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

Stanza = dict[str, str]


def stanzas(etc_apt: Path) -> list[Stanza]:
    """Every enabled `deb` entry below `etc_apt`, one-line or deb822, in deb822 field names."""
    found: list[Stanza] = []
    for file in [etc_apt / "sources.list", *sorted((etc_apt / "sources.list.d").glob("*"))]:
        if not file.is_file():
            continue
        if file.suffix == ".sources":
            found += _deb822(file.read_text())
        elif file.suffix == ".list":
            found += [s for line in file.read_text().splitlines() if (s := _one_line(line))]
    return [s for s in found if "deb" in s["Types"].split() and s.get("Enabled", "yes").lower() not in ("no", "false")]


def backports(etc_apt: Path, codename: str) -> str | None:
    """The deb822 entry for `<codename>-backports`, or None where no entry serves `codename`."""
    for stanza in stanzas(etc_apt):
        if codename in stanza["Suites"].split():
            entry = stanza | {"Types": "deb", "Suites": f"{codename}-backports"}
            # A value that starts on the next line, as an inline key does, follows the colon without a space.
            return "".join(f"{k}:{'' if v[0] == chr(10) else ' '}{v}\n" for k, v in entry.items())
    return None


def _deb822(text: str) -> list[Stanza]:
    result: list[Stanza] = []
    for block in re.split(r"\n\s*\n", text):
        stanza: Stanza = {}
        last = ""
        for line in block.splitlines():
            if line.startswith("#") or not line.strip():
                continue
            if line[0] in " \t":  # a continuation, as of a key given inline
                stanza[last] += "\n" + line
            else:
                name, _, value = line.partition(":")
                last = "URIs" if name.strip().lower() == "uris" else name.strip().title()
                stanza[last] = value.strip()
        if {"Types", "URIs", "Suites"} <= stanza.keys():
            result.append(stanza)
    return result


def _one_line(line: str) -> Stanza | None:
    match = re.match(r"\s*(deb)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)", line)
    if not match:
        return None
    kind, options, uri, suite, components = match.groups()
    stanza = {"Types": kind, "URIs": uri, "Suites": suite}
    if components.strip():
        stanza["Components"] = " ".join(components.split())
    names = {"arch": "Architectures", "signed-by": "Signed-By", "trusted": "Trusted", "lang": "Languages"}
    for option in (options or "").split():
        name, _, value = option.partition("=")
        field = names.get(name.lower(), name.title())
        stanza[field] = value if field == "Signed-By" else value.replace(",", " ")
    return stanza


if __name__ == "__main__":
    derived = backports(Path("/etc/apt"), sys.argv[1])
    if derived is None:
        sys.exit(f"no apt source serves {sys.argv[1]}: add one, or install mesa-vulkan-drivers >= 25 by hand")
    sys.stdout.write(derived)
