# SPDX-License-Identifier: GPL-2.0
"""Debian's archive: the mirror of this machine's own apt sources, and an apt with state, lists and
cache of its own.
"""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from copyscope.common import programs
from copyscope.common.errors import Refused
from copyscope.common.releases import age_key, matches

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


# An apt apart from this machine's.


class Apt:
    """An apt of our own: state, cache and lists under one folder, an empty dpkg status."""

    def __init__(self, home: Path, arch: str, archives: Archives) -> None:
        for tool in ("apt-get", "dpkg-deb"):
            if not programs.find(tool):
                raise Refused(f"{tool} is missing: guests are made from Debian packages")
        self.home, self.arch, self.archives = home, arch, archives
        for folder in ("lists/partial", "cache/archives/partial", "state", "parts"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        (home / "state" / "status").touch()
        self.config = home / "apt.conf"
        self.config.write_text(self._config(), encoding="utf-8")

    def _config(self) -> str:
        """Settings that keep apt inside `home`; proxy settings of the machine stay in force."""
        home = self.home
        settings = {
            "APT::Architecture": self.arch, "APT::Architectures": self.arch,
            "APT::Sandbox::User": "", "Acquire::Languages": "none",
            "Dir::State": home / "state", "Dir::State::lists": home / "lists",
            "Dir::State::status": home / "state" / "status", "Dir::Cache": home / "cache",
            "Dir::Etc::sourcelist": home / "sources.list", "Dir::Etc::sourceparts": home / "parts",
            "Dir::Etc::preferencesparts": home / "parts",
        }
        # A hook of the machine would tell its package tools about lists that are not theirs.
        return "#clear APT::Update::Post-Invoke-Success;\n#clear APT::Update::Post-Invoke;\n" + \
            "".join(f'{name} "{value}";\n' for name, value in settings.items())

    def update(self, suites: tuple[str, ...]) -> None:
        """Read the package lists of `suites`."""
        lines = [line for suite in suites for line in self.archives.lines(suite, self.arch)]
        (self.home / "sources.list").write_text("".join(lines), encoding="utf-8")
        self._run(["apt-get", "-q", "update", "-o", "APT::Update::Error-Mode=any"])

    def newest(self, wanted: str) -> str | None:
        """Return the newest cloud release on offer that `wanted` names."""
        names = self._run(["apt-cache", "pkgnames", "linux-image-"]).split()
        offers = [name.removeprefix("linux-image-") for name in names
                  if name.endswith(f"-cloud-{self.arch}")]
        # linux-image-cloud-amd64 and the like are only pointers.
        offers = [offer for offer in offers if offer[0].isdigit() and matches(offer, wanted)]
        return max(offers, key=age_key, default=None)

    def download(self, release: str, folder: Path) -> list[Path]:
        """Download the packages of `release`: one up to 6.18, more since."""
        known = set(self._run(["apt-cache", "pkgnames", "linux-"]).split())
        wanted = [f"linux-{part}-{release}" for part in ("image", "binary", "modules")]
        self._run(["apt-get", "-q", "download", *(w for w in wanted if w in known)], cwd=folder)
        return sorted(folder.glob("*.deb"))

    def closure(self, packages: tuple[str, ...]) -> list[Path]:
        """Download these packages and all that they depend on."""
        archives = self.home / "cache" / "archives"
        for stale in archives.glob("*.deb"):
            stale.unlink()
        self._run(["apt-get", "-q", "-y", "--download-only", "--no-install-recommends", "install",
                   *packages])
        return sorted(archives.glob("*.deb"))

    def _run(self, command: list[str], cwd: Path | None = None) -> str:
        return run(command, cwd, {"APT_CONFIG": str(self.config)})


def run(command: list[str], cwd: Path | None = None, more: dict[str, str] | None = None) -> str:
    """Run `command` and return its output; its last complaint becomes our one line."""
    done = programs.run(command, more=more, cwd=cwd)
    if done.returncode:
        complaints = [line for line in done.stderr.splitlines() if line.startswith("E:")]
        why = (complaints or done.stderr.splitlines() or ["no message"])[0]
        raise Refused(f"{' '.join(command[:3])} failed: {why}")
    return done.stdout
