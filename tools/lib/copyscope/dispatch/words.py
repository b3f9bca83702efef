# SPDX-License-Identifier: GPL-2.0
"""The table of words: what each starts, its line of help, its manual page, what may follow."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from copyscope.common.tables import BEHAVIOURS, PATHS, VARIANTS
from copyscope.common.text import nearest
from copyscope.common.tree import BUILD, ROOT

TOOLS = ROOT / "tools"


@dataclass(frozen=True)
class Word:
    """One word of copyscope."""

    name: str
    program: Path
    line: str
    page: str = ""  # its manual page, if that is not copyscope-NAME
    before: tuple[str, ...] = ()  # what the program is told before the user's words
    # What may follow the word, and what may follow some of its options; elsewhere a file may.
    firsts: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)


RUN_VALUES = {
    "--path": PATHS, "--pattern": ("stream", "rr"), "--receiver": ("recv", "perfield", "recvmsg"),
    "--behaviours": BEHAVIOURS, "--pass": ("timed", "counted", "both"),
    "--backend": ("auto", "trampoline", "tracepoint"), "--role": ("sender", "receiver"),
}
PROFILES = tuple(sorted(file.stem for file in (TOOLS / "profiles").glob("*.toml")))
WATCH_VALUES = {"--by": ("socket", "process", "cgroup", "peer", "port"),
                "--books": ("sequence", "calls"),
                "--backend": ("auto", "trampoline", "tracepoint")}
WORDS = (
    Word("watch", BUILD / "watch", "watch any program's TCP sockets: what was copied, and why",
         values=WATCH_VALUES),
    Word("run", TOOLS / "trace_run", "run a TCP workload and show where its payload is copied",
         "trace_run", firsts=VARIANTS, values=RUN_VALUES),
    Word("list", TOOLS / "records", "list the records that were kept", before=("list",)),
    Word("show", TOOLS / "records", "show a kept record again: its report, or a row of CSV",
         before=("show",), firsts=("last",)),
    Word("sweep", TOOLS / "sweep", "compare variants, or repeat a published experiment",
         values={"--profile": PROFILES, "--variants": VARIANTS, "--path": PATHS}),
    Word("compare", TOOLS / "compare",
         "put two records or sweeps side by side: copies, causes, times"),
    Word("plot", TOOLS / "plot", "draw figures from records: lines, copy maps, bars",
         values={"--profile": PROFILES}),
    Word("matrix", TOOLS / "matrix", "run every kernel and path in guests: what was copied where"),
    Word("baseline", TOOLS / "baseline", "measure what this machine's operating system costs",
         firsts=("plot", "mistakes", "agree", "keep")),
    Word("predict", TOOLS / "predict", "predict times from the baseline, compare with measured"),
    Word("crossover", TOOLS / "crossover", "find the size from which one variant beats another",
         firsts=VARIANTS, values={"--path": PATHS}),
    Word("claims", TOOLS / "claims", "judge what reports, or you, claim by records of runs",
         firsts=("list", "show", "check", "run", "report", "fix")),
    Word("guest", TOOLS / "guest", "run a command in a throwaway guest with another kernel"),
    Word("peers", TOOLS / "peers", "make one run between two guests", firsts=VARIANTS,
         values=RUN_VALUES),
)
# What the dispatcher answers itself.
OWN = {"help": "show the manual page of a word, or its help",
       "completion": "print completion for bash or zsh"}
SHELLS = ("bash", "zsh")
NAMES = tuple(word.name for word in WORDS)


def find(name: str) -> Word | None:
    """The row of a word."""
    return next((word for word in WORDS if word.name == name), None)


def suggestion(name: str) -> str:
    """What may have been meant; empty if nothing is like it."""
    if name in VARIANTS:
        return f"run {name}"
    tools = {word.program.name: word.name for word in WORDS}
    near = nearest(name, [*NAMES, *OWN, *tools])
    return tools.get(near, near)
