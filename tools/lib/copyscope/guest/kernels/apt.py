# SPDX-License-Identifier: GPL-2.0
"""Runs apt with state, lists and cache of its own, apart from this machine's."""
from __future__ import annotations

from pathlib import Path

from copyscope.common import programs
from copyscope.common.errors import Refused
from copyscope.common.releases import age_key, matches

from . import sources


class Apt:
    """An apt of our own: state, cache and lists under one folder, an empty dpkg status."""

    def __init__(self, home: Path, arch: str, archives: sources.Archives) -> None:
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
