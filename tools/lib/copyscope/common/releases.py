# SPDX-License-Identifier: GPL-2.0
"""The kernel releases that guests can have, and the Debian suites that publish them."""
from __future__ import annotations

import re

from .errors import Unusable

# Release prefix -> groups of suites, tried in order: a later group only if no earlier one has it.
SUITES: dict[str, tuple[tuple[str, ...], ...]] = {
    "5.10": (("bullseye",), ("bullseye-security",)),
    "6.1": (("bookworm", "bookworm-security"),),
    "6.12": (("bookworm-backports",), ("trixie", "trixie-security")),
    "6.18": (("trixie-backports",),),
    "6.19": (("trixie-backports",),),
    "7.2": (("sid",),),
}
# One for each kernel that Debian supports, from the oldest that the programs run on: tests boot
# these. 5.10 is older: a guest boots it, and refuses the programs. 6.19 is in transition, and its
# modules are not always published.
TESTED = ("6.1", "6.12", "6.18", "7.2")


def prefix_of(wanted: str) -> str:
    """Return the row of SUITES that `wanted` belongs to; refuse a release without a row."""
    if wanted == "host":
        raise Unusable("--kernel host is this machine: run the command itself, without tools/guest")
    for prefix in SUITES:
        if matches(wanted, prefix):
            return prefix
    raise Unusable(f"--kernel {wanted}: unknown release; take one of {', '.join(SUITES)}, "
                   "a full release of these such as 6.1.0-56-cloud-amd64, or the path of an image "
                   "such as /boot/vmlinuz-6.8.0-45-generic")


def matches(release: str, prefix: str) -> bool:
    """Say whether `release` is `prefix` or one of its releases: 6.1 must not take 6.12."""
    return re.fullmatch(re.escape(prefix) + r"([.+-][\w.+-]*)?", release) is not None


def age_key(release: str) -> list[int]:
    """Order releases by their numbers."""
    return [int(number) for number in re.findall(r"\d+", release)]
