# SPDX-License-Identifier: GPL-2.0
"""A sweep without a profile: variants of trace_run, compared as the command line says."""
from __future__ import annotations

from itertools import count
from pathlib import Path

from copyscope.common.errors import Unusable
from copyscope.common.tables import VARIANTS
from copyscope.common.text import listed, meant, now_utc, size_text
from copyscope.files.output_folder import OutputFolder
from copyscope.files.runs_folder import make_runs_folder
from copyscope.records.run_record import NO_PROFILE
from copyscope.runs.profile import DEFAULTS, Profile

# Where the words say nothing else.
SIZES, THREADS, SECONDS = [64, 4096, 65536], [1], 1.0
PATH, PATTERN = "veth", "stream"
# Sizes in a title.
MOST_NAMED = 6


def check_variants(names: list[str]) -> None:
    """Refuse a name that trace_run has not, and one that stands twice."""
    for name in names:
        if name not in VARIANTS:
            raise Unusable(f"--variants: {name!r} is no variant: {meant(name, VARIANTS)}")
    if len(set(names)) < len(names):
        raise Unusable("--variants: a name appears twice")


def profile_of(variants: list[str] | None, sizes: list[int] | None, path: str | None,
               pattern: str | None) -> Profile:
    """What a profile would say of these words."""
    if not variants:
        raise Unusable("what is to be run? Name --variants A1,A2,A3, or a --profile NAME; try "
                       "./tools/sweep --help")
    check_variants(variants)
    chosen = sizes or SIZES
    settings = {**DEFAULTS, "note": "as the command says", "path": path or PATH,
                "pattern": pattern or PATTERN, "threads_are": "connections", "end": "sender"}
    of_sizes = listed([size_text(each) for each in chosen]) if len(chosen) <= MOST_NAMED \
        else f"{len(chosen)} sizes"
    title = f"{listed(variants)} at {of_sizes}"
    return Profile(NO_PROFILE, "corrected", title, "", chosen, THREADS, SECONDS, settings,
                   [{"label": each, "variant": each} for each in variants], [], [])


def refuse_beside_profile(path: str | None, pattern: str | None) -> None:
    """Refuse words for what a profile says."""
    for option, value in (("--path", path), ("--pattern", pattern)):
        if value:
            raise Unusable(f"{option} {value}: the profile says that; leave out one of the two")


def new_folder() -> Path:
    """A folder of its own, named by the date, among the records of runs."""
    runs = make_runs_folder()
    stamp = now_utc().translate(str.maketrans("", "", "-:Z"))
    with OutputFolder.at(runs, advice="name a folder with --out") as there:
        names = set(there.names())
    return next(runs / name for number in count(1)
                if (name := f"{stamp}-sweep" + f"-{number}" * (number > 1)) not in names)
