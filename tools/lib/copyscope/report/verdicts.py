# SPDX-License-Identifier: GPL-2.0
"""Which processes of a watch moved payload, and whose numbers are not to be trusted."""
from __future__ import annotations

from typing import Any

from .figures import is_silent, moved
from .page import BAD, plural, tinted

Document = dict[str, Any]
# Of more processes that broke a law the number alone is told.
NAMED = 3
# What helps against a refusal, by its error.
HELP = {"ENOENT": ": load the module tls (modprobe tls)", "ENOTCONN": ": connect before"}


def law_of(data: Document, process: Document) -> str:
    """A law that the process broke, and at which socket of its that the record still has."""
    for socket in data["sockets"]:
        for name, law in socket["laws"].items():
            if law["status"] == "broken" and socket["pid"] == process["pid"]:
                return f"{name} is broken at its socket {socket['local']} - {socket['remote']} " \
                       f"({law['left']} on one side, {law['right']} on the other)."
    return f"{process['laws_broken'][0]} is broken at one of its sockets that closed."


def broken_beyond(data: Document, told: set[str]) -> bool:
    """Is a law broken that is of no process which was named?"""
    return any(law["status"] == "broken" and law["law"] not in told for law in data["laws"])


def doubts(data: Document) -> list[str]:
    """A law that broke for one process says nothing of another."""
    broken = [(process, verdict["process"]) for process, verdict
              in zip(data["processes"], data["verdicts"]) if process.get("laws_broken")]
    others = len(data["processes"]) - len(broken)
    said = []
    for process, name in broken[:NAMED]:
        law = law_of(data, process)
        said += tinted(BAD, "", f"Do not trust the numbers of {name}: the law {law}", 2)
    if len(broken) > NAMED:
        said.append(f"Nor those of {len(broken) - NAMED} more processes, which --json names "
                    "(laws_broken).")
    if broken_beyond(data, {law for process, _ in broken for law in process["laws_broken"]}):
        said += tinted(BAD, "", "Do not trust these numbers: a law is broken (below).")
    elif broken and others:
        said.append(f"No law is broken at the sockets of {others} other "
                    f"process{'es' * (others != 1)}.")
    if any((each.get("cpu") or {}).get("clock_law") == "broken" for each in data["processes"]):
        said += tinted(BAD, "", "Do not trust shares of CPU time where that is said (below).")
    return said


def active(data: Document) -> list[tuple[Document, Document]]:
    """Those that moved payload, or may have, with their verdicts, most first; if none did, one."""
    found = sorted(zip(data["processes"], data["verdicts"]), key=lambda each: (
        -moved(each[0]["sum"]), is_silent(each[0]["sum"]), each[1]["pid"] or 0))
    return [each for each in found if not is_silent(each[0]["sum"])] or found[:1]


def refusals(data: Document) -> list[str]:
    """Options that the kernel refused, and what helps."""
    said = []
    for each in data.get("refused_requests") or []:
        helps = ": sockets of that kind have no zero copy" if each["request"] == "SO_ZEROCOPY" \
            else HELP.get(each["last_error"], "")
        said += tinted(BAD, "Refused: ", f"{each['request']} {plural(each['calls'], 'time')} "
                       f"({each['last_error']}){helps}", 2)
    return said


def sums_short(why: str | None) -> list[str]:
    """That sums are less than what moved."""
    return tinted(BAD, "Sums may be short: ", why, 2) if why else []
