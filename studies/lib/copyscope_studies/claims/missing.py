# SPDX-License-Identifier: GPL-2.0
"""What each undecided claim waits for, and which runs may decide the most on this machine."""
from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from copyscope.common.programs import run
from copyscope.common.text import wrapped
from copyscope.common.tree import GUEST

from . import judge, needs
from .judge import UNDECIDED, Verdict

PMUS = Path("/sys/bus/event_source/devices")
# A processor's, of one kind of core or of several; others are of a bus, a probe or software.
CORE_PMU = re.compile(r"cpu|cpu_core|cpu_atom|cpum_cf|armv[78]\w*")
# Of a claim's condition, and of a reason; page/verdicts.py sorts by the same words.
CPUS = re.compile(r"\.cpus >= ([0-9]{1,6})")
COUNTER, MACHINE = "hardware counter", "a machine where"


@dataclass(frozen=True)
class Machine:
    """What decides which runs can be made on a machine."""

    cpus: int
    pmu: bool
    kernels: frozenset[str]     # releases of guests that need no network, as 6.12


@dataclass(frozen=True)
class Wait:
    """What one claim waits for."""

    id: str
    why: str
    runs: tuple[str, ...]
    cpus: int = 0
    pmu: bool = False

    def lacks(self, machine: Machine) -> list[str]:
        """What a machine lacks for its runs; without any run there is nothing to make."""
        modelled = any(each.endswith(f" {needs.MODELLED}") for each in self.runs)
        return [*([f"{self.cpus} processors"] if machine.cpus < self.cpus else []),
                *(["a PMU"] if self.pmu and not machine.pmu else []),
                *([f"the kernel of a guest, {needs.KERNEL}"] if modelled and
                  needs.KERNEL not in machine.kernels else [])]


def kernels(listed: str) -> frozenset[str]:
    """Releases that are here, by what tools/guest --list says."""
    return frozenset(line.split()[0] for line in listed.splitlines() if "\there:" in line)


def this_machine() -> Machine:
    """The machine at hand."""
    pmus = [each.name for each in PMUS.iterdir()] if PMUS.is_dir() else []
    return Machine(len(os.sched_getaffinity(0)), any(map(CORE_PMU.fullmatch, pmus)),
                   kernels(run([GUEST, "--list"]).stdout))


def wait_of(verdict: Verdict) -> Wait:
    """What an undecided claim waits for."""
    claim = verdict.claim
    why = " ".join(judge.reason(verdict)).removeprefix("missing: ")
    asked = [int(each) for each in CPUS.findall(claim.given)] if MACHINE in why else []
    return Wait(claim.id, why, claim.runs, max(asked, default=0), COUNTER in why)


def waits(verdicts: Iterable[Verdict]) -> list[Wait]:
    """What the undecided among them wait for."""
    return [wait_of(each) for each in verdicts if each.word == UNDECIDED]


def worth(of: Wait, chosen: list[str], left: list[Wait]) -> tuple[float, int]:
    """How many claims the runs of one would complete, for each run that is not chosen yet."""
    more = set(of.runs) - set(chosen)
    decided = sum(more | set(chosen) >= set(each.runs) for each in left)
    return decided / len(more), -len(more)


def plan(open_: list[Wait]) -> list[tuple[str, list[str]]]:
    """The runs of these claims in such an order that the first few may decide the most, each with
    the claims that then have all they need. A claim without runs is in none."""
    left = [each for each in open_ if each.runs]
    chosen: list[str] = []
    steps: list[tuple[str, list[str]]] = []
    while left:
        best = max(left, key=lambda each: worth(each, chosen, left))
        for need in [each for each in best.runs if each not in chosen]:
            chosen.append(need)
            done = [each.id for each in left if set(each.runs) <= set(chosen)]
            steps.append((need, done))
            left = [each for each in left if each.id not in done]
    return steps


def commands(runs: Iterable[str], out: Path) -> str:
    """What a person types for them."""
    return "; ".join(f"./{shlex.join(needs.command(each, out))}" for each in runs)


def machine_text(machine: Machine) -> str:
    """What a machine is, for these runs."""
    kernel = ", ".join(sorted(machine.kernels, key=lambda each: [*map(int, each.split("."))]))
    return f"{machine.cpus} processors, {'a' if machine.pmu else 'no'} PMU, " \
        f"guests with {kernel or 'no kernel'}"


def groups(found: list[Wait], machine: Machine) -> dict[tuple[str, tuple[str, ...]], list[Wait]]:
    """Claims that lack the same and need the same runs."""
    parted: dict[tuple[str, tuple[str, ...]], list[Wait]] = {}
    for each in found:
        parted.setdefault((" and ".join(each.lacks(machine)), each.runs), []).append(each)
    return parted


def waiting(found: list[Wait], machine: Machine, out: Path) -> list[str]:
    """What each waits for, and below those of one group the command that decides it."""
    said: list[str] = []
    for (lacks, runs), claims in groups(found, machine).items():
        reasons = [f"{lacks}: {' '.join(each.id for each in claims)}"] if lacks else \
            [f"{each.id}: {each.why}" for each in claims]
        for reason in reasons:
            said += wrapped(reason, "  ")
        said += [f"    {commands([each], out)}" for each in runs] or ["    no command makes it"]
    return said


def lines(verdicts: list[Verdict], machine: Machine, out: Path, records: str) -> list[str]:
    """All of it, as text."""
    found = waits(verdicts)
    steps = plan([each for each in found if not each.lacks(machine)])
    some = f"can make runs for {sum(len(ids) for _, ids in steps)} of them; the first of these " \
        "may decide the most:" if steps else "can make no run that one of them waits for."
    said = [*waiting(found, machine, out), "", *wrapped(
        f"{len(found)} claims are undecided. This machine ({machine_text(machine)}) {some}")]
    for number, (need, ids) in enumerate(steps, 1):
        said += [f"{number:3}  {commands([need], out)}",
                 *wrapped(f"     {len(ids)}: {' '.join(ids)}", "     ")]
    if steps:
        said += wrapped(f"Then judge both: ./tools/claims check {records} {out}. Repeats add up "
                        "and narrow intervals; how many a claim needs is not known beforehand. Of "
                        "a crossover name the new record alone.")
    return said
