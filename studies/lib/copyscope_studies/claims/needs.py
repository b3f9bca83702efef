# SPDX-License-Identifier: GPL-2.0
"""The runs that a claim needs: how they are written, and the commands that make them."""
from __future__ import annotations

import re
from pathlib import Path

from .language import check as checks, tree

PROFILE = r"([A-Za-z0-9][A-Za-z0-9_.+-]*) (as-published|corrected)"
FORMS = {"sweep": re.compile(f"sweep {PROFILE}( modelled)?"),
         "crossover": re.compile(r"crossover [A-Za-z0-9][A-Za-z0-9_.+-]*( [1-9][0-9]{0,3})?"),
         "matrix": re.compile("matrix"), "baseline": re.compile("baseline"),
         "fact": re.compile("fact( [a-z]+)*"),
         "run": re.compile(r"run( [A-Za-z0-9_.,=/+-]+)+"), "watch": re.compile("watch.*")}
# As many as give times, and modelled misses, a 95 % interval.
REPEATS = 6
# The guest whose caches are modelled.
MODELLED, KERNEL = "modelled", "6.12"
# The folder of records that are one file each.
SINGLE = "single"


def form_of(need: str) -> str | None:
    """The kind of runs that a need is of; None if it is none."""
    return next((name for name, form in FORMS.items() if form.fullmatch(need)), None)


def asked(select: tree.Select) -> str:
    """The beginning of the need that a selection of records has."""
    filters = dict(select.filters)
    if select.kind == "run" and "profile" in filters:
        return " ".join(["sweep", filters["profile"][0], *filters.get("mode", ())])
    if select.kind == "crossover" and "profile" in filters:
        return f"crossover {filters['profile'][0]}"
    return select.kind


def check(needs: list[str], predicate: tree.Node | None) -> None:
    """Raise ValueError unless each need can be planned and each selection has one."""
    for need in needs:
        if not form_of(need):
            raise ValueError(f"{need[:60]!r} is none of: sweep PROFILE MODE [modelled], "
                             "crossover PROFILE [CONNECTIONS], matrix, baseline, fact GROUPS, "
                             "run WORDS, watch WORDS")
    for each in checks.parts(predicate) if predicate and needs else ():
        if isinstance(each, tree.Select) and each.kind != "published" and \
                not any(need.startswith(asked(each)) for need in needs):
            raise ValueError(f"the predicate asks for {asked(each)!r}, which is not listed")


def single(need: str, out: Path) -> list[str]:
    """Where the record of a need goes that is one file."""
    return ["--json", str(out / SINGLE / f"{'-'.join(re.findall('[A-Za-z0-9]+', need))}.json")]


def command(need: str, out: Path) -> list[str]:
    """The command that makes the runs of a need into a folder."""
    words = need.split()
    form = form_of(need)
    if form == "sweep" and words[-1] == MODELLED:
        return ["tools/sweep", "--profile", words[1], "--mode", words[2], "--repeats",
                str(REPEATS), "--kernel", KERNEL, "--counters", "model", "--out",
                str(out / "-".join(words[1:3]) / MODELLED)]
    if form == "sweep":
        return ["tools/sweep", "--profile", words[1], "--mode", words[2], "--repeats",
                str(REPEATS), "--out", str(out / "-".join(words[1:]))]
    if form == "crossover":
        connections = ["--threads", words[2]] if len(words) > 2 else []
        return ["tools/crossover", "--profile", words[1], *connections, "--out",
                str(out / "crossovers")]
    if form == "matrix":
        return ["tools/matrix", "--out", str(out / "matrix")]
    if form == "baseline":
        return ["tools/baseline", *single(need, out)]
    if form == "fact":
        groups = [word for each in words[1:] for word in ("--only", each)]
        return ["tools/facts", *groups, *single(need, out)]
    if form == "run":
        return ["tools/trace_run", *words[1:], *single(need, out)]
    return ["tools/copyscope", *words, *single("watch", out)]
