# SPDX-License-Identifier: GPL-2.0
"""The folders of results/, each in one line: absent ones with the command that makes them."""
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .blocks import Block, Code, Heading, Line, Link, Table, line

REPORTS = ("mt25018", "mt25023", "mt25029", "mt25064")
MODES = {"as-published": "as its authors really ran it, faults included",
         "corrected": "as its text describes it"}
# Folder: what it holds, and what makes it.
FOLDERS: dict[str, tuple[str, str]] = {
    "claims": ("this page, and the verdicts as a record",
               "./tools/claims report --out results/claims"),
    **{f"{report}-{mode}": (f"the experiment of {report.upper()} {what}",
                            f"sudo ./tools/sweep --profile {report} --mode {mode} --repeats 6 "
                            f"--out results/{report}-{mode}")
       for report in REPORTS for mode, what in MODES.items()},
    "mt25018-manual": ("MT25018's manual test: one client over loopback",
                       "sudo ./tools/sweep --profile mt25018-manual --out results/mt25018-manual"),
    "mt25029-copies": ("MT25029's table of copies: a sender that gathers, and one that does not",
                       "sudo ./tools/sweep --profile mt25029-copies --pass counted --repeats 1 "
                       "--out results/mt25029-copies"),
    "standard": ("five ways to send over sizes and threads, on veth",
                 "sudo ./tools/sweep --profile standard --repeats 6 --out results/standard"),
    "matrix": ("kernels, paths and ways to send in guests: what happened to each byte",
               "make matrix"),
    "crossovers": ("from which size each way to send wins, by pairs of runs",
                   "sudo ./tools/crossover --profile PROFILE --threads N --out results/crossovers"),
    "ways": ("every way to send and to receive in guests, and from what size each beats plain send",
             "./tools/matrix --ways --messages 100 --out results/ways"),
    "baseline": ("what operations cost on the machine, each number proved by counters",
                 "sudo ./tools/baseline"),
    "baseline-nic": ("connections, round trips and a stream between two cards of a guest; no times",
                     "./tools/guest --kernel 6.12 --nics 2 --out DIR -- build/baseline --quick "
                     "--nics eth0,eth1 --only tcp-rtt-remote --only connect-remote "
                     "--only close-remote --only tcp-stream-remote --json /out/baseline.json"),
    "baseline-elsewhere": ("baselines of another processor: a test asks which verdicts depend on "
                           "the machine", "sudo ./tools/baseline"),
    "baseline-lmbench": ("the same beside lmbench", "sudo ./tools/beside_lmbench --bin DIR"),
    "model": ("times of a message, predicted from the baseline and measured",
              "sudo ./tools/predict --out results/model"),
    "advice": ("what tools/advise says of workloads, and what the other way then takes",
               "sudo ./tools/advise_truth --out results/advice"),
    "caches": ("which copy misses which modelled cache, in guests; no times",
               "sudo ./tools/sweep --profile caches --kernel 6.12 --out results/caches"),
    "single": ("single runs and facts of this kernel that claims ask for",
               "sudo ./tools/facts --json results/single/facts.json"),
    "modelled": ("points of the experiments in guests whose caches were modelled; no times",
                 "sudo ./tools/sweep --profile PROFILE --mode as-published --kernel 6.12 "
                 "--counters model --out results/modelled/NAME"),
    "repeats": ("more repeats of points where six left a claim undecided, a sweep in each folder",
                "sudo ./tools/sweep --profile PROFILE --mode as-published --variants LABELS "
                "--sizes N --threads N --repeats 12 --out results/repeats/NAME"),
    "long": ("points of an experiment for as long as its report had them: 10 s of MT25064",
             "sudo ./tools/sweep --profile PROFILE --mode as-published --sizes N --threads N "
             "--pass timed --seconds 10 --repeats 6 --out results/long/NAME"),
    "campaign": ("what attacked the programs, and what failed", "sudo tests/campaign"),
    "tests": ("when the long tier ran last, and what passed", "tests/run --long all"),
}
# What tells of a folder, the first that is there.
PAGES = ("PROVENANCE.md", "matrix.md", "ways.md", "advice.md", "crossovers.md",
         "beside.md", "campaign.md", "README.md")
# Of one's own runs, which no commit has.
OWN = ("runs",)


@dataclass(frozen=True)
class Place:
    """A folder of results, and the folder that the page is written to."""

    results: Path
    out: Path

    def link(self, to: Path) -> str:
        """Where the page finds a file."""
        return os.path.relpath(to, self.out).replace(os.sep, "/")

    def folders(self) -> list[Path]:
        """The folders of results, without one's own runs."""
        return sorted(Path(each.path) for each in os.scandir(self.results)
                      if each.is_dir(follow_symlinks=False) and each.name not in OWN)


def claim_page(claim: str) -> str:
    """Where a claim stands: the page of its report."""
    return f"{report_page(claim.partition('-')[0])}#{claim}"


def report_page(report: str) -> str:
    """The page of a report."""
    return f"{report.lower()}.html"


def name_of(place: Place, folder: Path) -> Line:
    """The name of a folder, which leads to what tells of it."""
    page = next((each for each in PAGES if (folder / each).is_file()), None)
    if folder == place.out or page is None:
        return line(folder.name)
    return line(Link(folder.name, place.link(folder / page)))


def drawings(folder: Path) -> list[Path]:
    """The pictures of a folder, each once: the drawing, if it is there as one, else the PNG."""
    return sorted({each.with_suffix("").as_posix(): each for kind in ("png", "svg")
                   for each in folder.rglob(f"*.{kind}")}.values())


def holds(folder: Path) -> str:
    """How much there is in a folder."""
    figures = len(drawings(folder))
    tables = len(list(folder.glob("*.csv")))
    return f"{figures or 'no'} figure{'' if figures == 1 else 's'}, " \
        f"{tables or 'no'} table{'' if tables == 1 else 's'}"


def index(place: Place) -> list[Block]:
    """Every folder, present or absent."""
    there = {each.name: each for each in place.folders()}
    rows = []
    for name, (what, _) in FOLDERS.items():
        if name in there and there[name] != place.out:
            rows.append((name_of(place, there[name]), line(what), line(holds(there[name]))))
    for name in sorted(set(there) - set(FOLDERS)):
        rows.append((name_of(place, there[name]), line("a folder that no tool of the tree names"),
                     line(holds(there[name]))))
    found: list[Block] = [Heading(2, "Folders and machines", "results"),
                          Table("Folders of results", ("folder", "what", "holds"), tuple(rows))]
    absent = [(line(name), line(what), line(Code(command)))
              for name, (what, command) in FOLDERS.items()
              if name not in there and name != place.out.name]
    if absent:
        found.append(Table("Absent", ("folder", "what", "made by"), tuple(absent)))
    return found
