# SPDX-License-Identifier: GPL-2.0
"""Writes down where every file of a sweep comes from: command, commit, kernel, machine, date."""
from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from typing import Any

from copyscope.common import spread
from copyscope.common.text import memory_text
from copyscope.common.tree import ROOT
from copyscope.files.output_folder import OutputFolder
from copyscope.records.passes import BOTH, COUNTED, TIMED
from copyscope.records.run_record import NO_PROFILE, Record

from .launch import HOST
from .plan import duration_s
from .progress import clock

PASSES = {TIMED: "each run was timed without probes; nothing was counted by them",
          COUNTED: "each run had one pass, and probes were attached while it was timed",
          BOTH: "each run was timed without probes and counted with them; times and counters are "
                "from the timed pass, bytes copied from the counted one"}
GUESTS = "each made many runs, one after the other; modelled caches are empty when a window opens"
# What is not made from the records and the plan alone.
SOURCES = {"plan.json": "the profile and the options",
           "runs/*.json": "the commands in the records", "failed/*": "the commands in the records",
           "figures/*": "runs/*.json, plan.json and the profile"}


def listed(values: Iterable[Any]) -> str:
    """Each different value once."""
    return "; ".join(dict.fromkeys(str(value) for value in values)) or "none: no run succeeded"


def command_line(arguments: list[str]) -> str:
    """The command as typed in the tree: names of files, wherever typed, made relative to it."""
    words: list[str] = []
    for word in arguments:
        option, equals, value = word.rpartition("=") if word.startswith("--") else ("", "", word)
        of = option or (words[-1] if words else "")
        if of == "--out" or of == "--profile" and value.endswith(".toml"):
            value = os.path.relpath(value, ROOT)
        words.append(f"{option}{equals}{value}")
    return shlex.join(["./tools/sweep", *words])


def machine(record: Record) -> str:
    """One machine in words."""
    at = record.at
    return (f"{at('machine.cpu_model')}, {at('machine.cpus')} CPUs, "
            f"{memory_text(at('machine.memory_bytes'))}, {at('machine.arch')}, virtualised: "
            f"{at('machine.virt')}")


def load(plan: dict[str, Any], records: list[Record]) -> str:
    """Who else used the CPUs while the runs were timed."""
    shares = {what: sorted(each for each in known if each is not None) for what, known in (
        ("other programs used", [record.times.others_share for record in records]),
        ("the hypervisor took", [record.times.stolen_share for record in records]))}
    words = [f"{what} {spread.median(known):.1%} of the CPUs' time beside the run in the middle, "
             f"{known[-1]:.1%} at most" for what, known in shares.items() if known]
    if "most_others" in plan:
        words.append(f"runs with more than {plan['most_others']:.0%} by others were made again")
    return "; ".join(words) or "not recorded"


def write(folder: OutputFolder, plan: dict[str, Any], records: list[Record], files: dict[str, str],
          arguments: list[str], failures: list[str]) -> None:
    """Write PROVENANCE.md: what holds for all files, then one line for each."""
    started = sorted(record.at("started") for record in records)
    own = plan["profile"] == NO_PROFILE
    facts = {
        "command": f"`{command_line(arguments)}`",
        "commit": listed(record.at("tool.commit") for record in records),
        "kernel": listed(record.kernel for record in records),
        "backend": listed(record.backend for record in records),
        "machine": listed(map(machine, records)),
        "date": f"{started[0]} to {started[-1]}" if started else "none: no run succeeded",
        "profile": "none" if own else
                   f"{plan['profile']}, {plan['mode']}: {plan['settings']['note']}",
        "plan": f"{len(plan['points'])} points, {plan['repeats']} repeats of {plan['seconds']:g} s,"
                f" about {clock(duration_s(plan))}",
        "passes": PASSES[plan["pass"]],
        **({"guests": GUESTS} if plan["kernel"] != HOST else {}),
        "load": load(plan, records),
        "order": f"{plan['order']}; SHUFFLED_BY is \"{plan['shuffled_by']}\"",
        "runs": f"{len(records)} succeeded, {len(failures)} failed",
    }
    files = {"plan.json": "what was to be run, in which order",
             "runs/*.json": "the run records: POINT.rREPEAT; each names its own command, commit, "
                            "kernel, backend and machine",
             "failed/*": "runs that failed: exit status, what was said, and the record if any",
             **files,
             "figures/*": "what `./tools/plot` draws of this folder, with the same --profile if it "
                          "had one; each says at its foot what it is of"}
    lines = [f"# {plan['title']}" if own else f"# {plan['title']}, {plan['mode']}", "",
             "Every number below is computed from the records in runs/ and from nothing else.", "",
             *(f"- {key}: {value}" for key, value in facts.items()), "",
             "| file | what it is | made from |", "|---|---|---|"]
    for name, what in files.items():
        source = SOURCES.get(name, "runs/*.json and plan.json")
        lines.append(f"| {name} | {what} | {source} |")
    folder.write("PROVENANCE.md", "\n".join(lines) + "\n")
