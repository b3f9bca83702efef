# SPDX-License-Identifier: GPL-2.0
"""The table of the reports' programs: their names, what their words mean, and what they are of the
workload. How a variant sends and receives stands in the report's profile, as published.
"""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from copyscope.common.errors import Unusable
from copyscope.common.tables import MOST_BYTES, MOST_SECONDS, MOST_THREADS
from copyscope.runs import profile

# Stands for the number of a variant, 1 to 3, in the names of programs.
NUMBER = "(?P<number>[123])"
# A server of a stream sends until its clients leave.
ENDLESS_S = MOST_SECONDS
# The session is one: each client of it is a process already.
ONE_PROCESS = "client-processes"
WHOLE = {"PORT": (1, 65535), "SIZE": (8, MOST_BYTES), "THREADS": (1, MOST_THREADS),
         "SECONDS": (1, MOST_SECONDS)}


@dataclass(frozen=True)
class Report:
    """The programs of one report."""

    name: str
    server: str                         # the program's name, as a pattern
    server_words: tuple[str, ...]
    client: str
    client_words: tuple[str, ...]
    serves: str                         # the option that its number of threads is; "" for none
    namespaces: tuple[str, str] | None = None   # of the server and of the client
    seconds: int = 0                    # of a client that is not told any
    listening: str = ""                 # what its server says at first
    connected: str = ""                 # what its client says at first
    says: tuple[tuple[str, str], ...] = ()  # name and quantity; else the columns of its tables


REPORTS = (
    Report("MT25018", f"MT25018_Part_A{NUMBER}_Server", ("SIZE", "THREADS"),
           f"MT25018_Part_A{NUMBER}_Client", ("HOST", "SIZE", "SECONDS"), "--clients",
           ("server_ns", "client_ns")),
    Report("MT25023", f"server_A{NUMBER}", ("PORT", "SIZE", "THREADS"),
           f"client_A{NUMBER}", ("HOST", "PORT", "SECONDS", "SIZE"), "--max-clients",
           ("ns_server", "ns_client"),
           listening="[A{number}] Server listening on port {PORT} | msg={SIZE} | "
           "max_threads={THREADS}", connected="[A{number}] Connected to server",
           says=(("Throughput", "throughput_gbps"), ("Latency", "latency_us"))),
    Report("MT25029", f"a{NUMBER}_server", ("SIZE",),
           f"a{NUMBER}_client", ("HOST", "PORT", "SIZE", "THREADS"), "", seconds=2),
    Report("MT25064", f"MT25064_Part_A{NUMBER}_server", ("PORT", "SIZE", "THREADS"),
           "MT25064_client", ("HOST", "PORT", "SIZE", "SECONDS"), "--clients"),
)
NAMES = tuple(each.name for each in REPORTS)


def find(name: str) -> Report:
    """The row of a report."""
    return next(each for each in REPORTS if each.name == name)


def transport(report: Report) -> dict[str, Any]:
    """Addresses, devices and port that the report's profile has."""
    settings = profile.load(report.name.lower(), "as-published").settings
    return {key: settings.get(key) for key in ("addresses", "devices", "port")}


def files(report: Report) -> list[str]:
    """The names of all its programs."""
    return [name for pattern in (report.server, report.client)
            for name in dict.fromkeys(pattern.replace(NUMBER, each) for each in "123")]


@dataclass(frozen=True)
class Program:
    """One program with its words."""

    report: Report
    serves: bool
    number: str                 # of the variant; "" for a client of all
    given: dict[str, str]       # by what each word means
    label: str

    def line(self, template: str) -> str:
        """A line that it says, filled in."""
        return template.format(number=self.number, **self.given)

    @property
    def seconds(self) -> int:
        """How long a client receives."""
        return int(self.given.get("SECONDS", self.report.seconds))


def checked(program: str, meaning: str, word: str) -> str:
    """A word that is a number in its range."""
    if meaning not in WHOLE:
        return word
    low, high = WHOLE[meaning]
    if not re.fullmatch(r"\d{1,12}", word) or not low <= int(word) <= high:
        raise Unusable(f"{program}: {meaning} is {word!r}: give a whole number {low} to {high}")
    return word


def read(name: str, program: str, words: list[str]) -> Program:
    """Read a command line of a report."""
    report = find(name)
    for serves, pattern, meanings in ((True, report.server, report.server_words),
                                      (False, report.client, report.client_words)):
        found = re.fullmatch(pattern, program)
        if not found:
            continue
        if len(words) != len(meanings):
            raise Unusable(f"{program}: {len(words)} words: {name} types {program} "
                           f"{' '.join(meanings)}")
        number = found.groupdict().get("number", "")
        label = profile.load(name.lower(), "as-published").variants[int(number or 1) - 1]["label"]
        given = {meaning: checked(program, meaning, word)
                 for meaning, word in zip(meanings, words)}
        return Program(report, serves, number, given, label)
    raise Unusable(f"{program!r} is no program of {name}: it has {' '.join(files(report))}")


def behaviours(settings: dict[str, Any], variant: dict[str, Any]) -> list[str]:
    """--behaviours, as the report's programs have them."""
    names = [each for each in (*settings.get("behaviours", ()), *variant.get("behaviours", ()))
             if each != ONE_PROCESS]
    return ["--behaviours", ",".join(names)] if names else []


def workload(program: Program) -> list[str]:
    """What the workload is told in place of it."""
    found = profile.load(program.report.name.lower(), "as-published")
    settings, given = found.settings, program.given
    variant = found.variants[int(program.number or 1) - 1]
    port = given.get("PORT", str(settings["port"]))
    shared = ["--port", port, "--pattern", settings["pattern"], "--check", "none"]
    stream = settings["pattern"] == "stream"
    if program.serves:
        threads = [program.report.serves, given["THREADS"]] if program.report.serves else []
        return ["server", variant["variant"], given["SIZE"], *shared, "--listen", "0.0.0.0",
                *threads, *(["--seconds", str(ENDLESS_S)] if stream else []),
                *behaviours(settings, variant)]
    how = ["--readers", given["THREADS"]] if settings["threads_are"] == "readers" else \
        [*(["--receiver", variant["receiver"]] if "receiver" in variant else []),
         *(behaviours(settings, variant) if program.number else [])]
    return ["client", given["SIZE"], "1", *shared, "--connect", given["HOST"],
            "--seconds", str(program.seconds), *how]
