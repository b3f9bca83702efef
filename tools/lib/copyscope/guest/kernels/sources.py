# SPDX-License-Identifier: GPL-2.0
"""Find Debian's mirror and keyring in this machine's own apt sources."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.errors import Refused

APT = Path("/etc/apt")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
DEBIAN = ("bullseye", "bookworm", "trixie", "forky", "sid",
          "oldoldstable", "oldstable", "stable", "testing", "unstable")


@dataclass(frozen=True)
class Entry:
    """One archive of the machine: its address, the suites taken from it, and its keyring."""

    uri: str
    suites: tuple[str, ...]
    keyring: str


@dataclass(frozen=True)
class Archives:
    """Where Debian's main archive and its security archive are reached from here."""

    main: Entry
    security: Entry | None

    def lines(self, suite: str, arch: str) -> list[str]:
        """Return the sources.list line for `suite`, or none if no archive here has it."""
        entry = self.security if suite.endswith("-security") else self.main
        if not entry:
            return []
        return [f"deb [arch={arch} signed-by={entry.keyring}] {entry.uri} {suite} main\n"]


def archives() -> Archives:
    """Take the mirror from the environment if it is named there, else from apt's sources."""
    named = os.environ.get("COPYSCOPE_DEBIAN_MIRROR", "").split()
    if named:
        entries = [Entry(uri, ("sid",), default_keyring()) for uri in named]
        return Archives(entries[0], entries[1] if len(entries) > 1 else None)
    found = [entry for entry in read(APT) if any(is_debian(suite) for suite in entry.suites)]
    # Others publish suites of the same names; Debian's own keyring and path tell it from them.
    found.sort(key=lambda e: ("debian-archive" not in e.keyring, "/debian" not in e.uri))
    main = [e for e in found if any(not s.endswith("-security") for s in e.suites)]
    security = [e for e in found if any(s.endswith("-security") for s in e.suites)]
    if not main:
        raise Refused("apt's sources name no Debian mirror: set COPYSCOPE_DEBIAN_MIRROR to one")
    return Archives(main[0], security[0] if security else None)


def is_debian(suite: str) -> bool:
    """Say whether `suite` is one of Debian's."""
    return re.sub("-(security|updates|backports)$", "", suite) in DEBIAN


def default_keyring() -> str:
    """Return the keyring of the package debian-archive-keyring."""
    if not KEYRING.is_file():
        raise Refused("Debian's keys are missing: apt-get install debian-archive-keyring")
    return str(KEYRING)


def read(apt: Path) -> list[Entry]:
    """Read every `deb` entry with component main under `apt`."""
    entries: list[Entry] = []
    for path in [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]:
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".sources":
            entries += read_deb822(text)
        elif path.suffix == ".list":
            entries += read_one_line(text)
    return entries


def read_one_line(text: str) -> list[Entry]:
    """Read `deb [signed-by=KEY] URI SUITE COMPONENT...` lines."""
    entries = []
    for line in text.splitlines():
        parts = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if parts and "main" in parts[4].split():
            key = re.search(r"signed-by=(\S+)", parts[1] or "")
            entries.append(Entry(parts[2], (parts[3],), key[1] if key else default_keyring()))
    return entries


def read_deb822(text: str) -> list[Entry]:
    """Read the stanzas of a .sources file."""
    entries = []
    # Comments are allowed inside a stanza, so they go before the stanzas are parted.
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields = {name.lower(): " ".join(value.split()) for name, value in
                  re.findall(r"^([\w-]+):((?:.*)(?:\n[ \t].*)*)", stanza, re.MULTILINE)}
        wanted = ("deb" in fields.get("types", "").split()
                  and "main" in fields.get("components", "").split()
                  and fields.get("enabled", "yes").lower() not in ("no", "false", "0"))
        if wanted and fields.get("uris") and fields.get("suites"):
            key = fields.get("signed-by", "")
            keyring = key if key.startswith("/") else default_keyring()
            entries.append(Entry(fields["uris"].split()[0], tuple(fields["suites"].split()),
                                 keyring.split()[0]))
    return entries
