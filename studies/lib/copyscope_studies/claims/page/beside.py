# SPDX-License-Identifier: GPL-2.0
"""Each figure and table of each report, as published beside as measured: a screen for a report."""
from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copyscope.common.text import plain_number
from copyscope.common.tree import PROFILES
from copyscope.records.documents import BadRecord, read_bytes, read_json, read_toml

from . import gallery
from .blocks import Block, Group, Heading, Line, Link, Picture, Table, joined, line, said
from .front import REPORTS, Place, report_page

# Diagrams without numbers, each beside what was counted of the same variant.
DIAGRAMS = {"mt25023": ("copymap-A3",), "mt25029": ("copymap-A1", "copymap-A3"),
            "mt25064": ("copymap-A3",)}
BASELINE, ROWS = "cse221", "rows.csv"
BASELINE_FIGURES = ("fig1-ram-latency", "fig2-file-cache", "fig3-file-read", "fig4-remote-read",
                    "fig5-contention", "rows")
PUBLISHED, HERE = ", published", ", here"
KEYS = ("label", "size", "threads")
# An empty cell of what was measured or published.
NONE = "\N{EN DASH}"

Grid = list[list[str]]


@dataclass(frozen=True)
class Source:
    """A folder that may have a figure or a table of a report, and how it was made."""

    folder: Path
    how: str


def sources(place: Place, profile: str) -> list[Source]:
    """The folders of a profile: as published and measured first."""
    results = place.results
    modes = [Source(results / f"{profile}-{mode}", said_of) for mode, said_of in
             (("as-published", "as published"), ("corrected", "as described"))]
    modelled = [Source(folder, f"modelled {said_of}") for folder, said_of in
                ((results / "modelled" / f"{profile}-as-published", "as published"),
                 (results / "modelled" / f"{profile}-corrected", "as described"),
                 (results / f"{profile}-corrected" / "modelled", "once as described"))]
    found = [*modes, Source(results / profile, "measured"), *modelled]
    return [each for each in found if each.folder.is_dir()]


def tile(place: Place, name: str, title: str, where: list[Source]) -> Group | None:
    """A figure with links to its other drawings; None if nobody drew it."""
    drawn = [(each, each.folder / "figures" / f"{name}.svg") for each in where]
    drawn = [(each, file) for each, file in drawn if file.is_file()]
    if not drawn:
        return None
    first, *others = [(place.link(file), each.how) for each, file in drawn]
    links = [line(Link(how, source)) for source, how in others]
    more = [said("also: ", *joined(links))] if links else []
    return Group("tile", (Picture(first[0], title, f"({first[1]})" if first[1] else ""), *more))


def tiles(place: Place, report: str, profiles: dict[str, dict[str, Any]]) -> Iterator[Group]:
    """The figures of a report, in its order."""
    for name, profile in profiles.items():
        where = sources(place, name)
        for each in profile.get("figures", []):
            if each["file"].startswith(f"{report.upper()}_"):
                found = tile(place, each["file"], each["title"], where)
                if found:
                    yield found
    for name in DIAGRAMS.get(report, ()):
        # The report's diagrams are of its text.
        where = [each for each in sources(place, report) if each.how == "as described"]
        found = tile(place, name, f"Its diagram, as counted of {name.rpartition('-')[2]}", where)
        if found:
            yield found


def grid(file: Path) -> Grid:
    """A CSV: its header and its rows."""
    return list(csv.reader(io.StringIO(read_bytes(file).decode("utf-8", "replace"))))


def shown(text: str) -> str:
    """A cell: a number as a person says it."""
    try:
        return plain_number(text) if text else NONE
    except ValueError:
        return text


def paired(found: Grid) -> Grid:
    """A table of a summary: what was published stands before what was measured."""
    head = found[0]
    order: list[tuple[int, str]] = []
    for at, name in enumerate(head):
        if name.endswith(PUBLISHED):
            order.insert(len(order) - 1, (at, name))
        else:
            order.append((at, name + HERE * (at + 1 < len(head) and
                                             head[at + 1].endswith(PUBLISHED))))
    return [[name for _, name in order],
            *([shown(row[at]) for at, _ in order] for row in found[1:])]


def numbers(profile: dict[str, Any]) -> dict[tuple[str, ...], dict[str, Any]]:
    """What the report published at each point, by quantity."""
    asked = profile.get("published", {})
    if not asked:
        return {}
    file = PROFILES / asked["file"]
    table = next(each for each in read_toml(file, file.parent)["tables"]
                 if each["name"] == asked["table"])
    if table["keys"] != list(KEYS):
        return {}
    names = list(table["columns"])
    return {tuple(map(str, row[:len(KEYS)])):
            {asked["columns"][name]: value for name, value in zip(names, row[len(KEYS):])
             if name in asked["columns"]} for row in table["rows"]}


def joined_with(found: Grid, columns: list[list[str]], theirs: dict[tuple[str, ...], Any]) -> Grid:
    """A table of a sweep: before each quantity what was published of it, if anything was."""
    keys = [at for at, (_, what) in enumerate(columns) if what in KEYS]
    known = {what for each in theirs.values() for what in each}
    head: list[str] = []
    rows: Grid = [[] for _ in found[1:]]
    for at, (name, what) in enumerate(columns):
        if what in known:
            head.append(name + PUBLISHED)
        head.append(name + HERE * (what in known))
        for made, row in zip(rows, found[1:]):
            if what in known:
                value = theirs.get(tuple(row[key] for key in keys), {}).get(what, "")
                made.append(shown(str(value)))
            made.append(shown(row[at]))
    return [head, *rows]


def measured(found: Grid) -> bool:
    """Tell whether a table has any number of ours beside what was published."""
    ours = [at for at, name in enumerate(found[0])
            if not name.endswith(PUBLISHED) and f"{name}{PUBLISHED}" in found[0]]
    return not ours or any(row[at] for row in found[1:] for at in ours)


def table(place: Place, file: str, note: str, where: list[Source], make: Any) -> list[Block]:
    """A table of the first folder that has numbers for it, and where the others are."""
    there = [(each, each.folder / file) for each in where if (each.folder / file).is_file()]
    if not there:
        return []
    first = next(((each, path) for each, path in there if measured(grid(path))), there[0])
    made = make(grid(first[1]))
    numeric = frozenset(at for at in range(len(made[0])) if at)
    rows = tuple(tuple(map(line, row)) for row in made[1:])
    links = joined([line(Link(each.how, place.link(path))) for each, path in there])
    return [Group("tile", (Table(f"{note} ({first[0].how})", tuple(made[0]), rows, numeric),
                           said("as CSV: ", *links)))]


def heading(note: str) -> str:
    """What a table is, of its note, as a heading has it."""
    plain = note.removeprefix("the report's ")
    return plain[:1].upper() + plain[1:]


def tables(place: Place, name: str, profile: dict[str, Any]) -> list[Block]:
    """The tables of a profile: those that its report prints, then its files."""
    where = sources(place, name)
    found: list[Block] = []
    for each in profile.get("summaries", []):
        found += table(place, each["file"], heading(each["note"]), where, paired)
    theirs = numbers(profile)
    for each in profile.get("tables", []):
        note = f"{each['file']}{'' if theirs else ', of which the report prints nothing'}"
        found += table(place, each["file"], note, where,
                       lambda grid_, columns=each["columns"]: joined_with(grid_, columns, theirs))
    return found


def lasted(place: Place, name: str, profile: dict[str, Any]) -> list[Block]:
    """How long runs took, if not as long as the report's: counts are of a run."""
    for each in sources(place, name):
        try:
            seconds = read_json(each.folder / "plan.json").get("seconds")
        except BadRecord:
            continue
        if seconds not in (None, profile.get("seconds")):
            return [said(f"A run took {seconds:g} s here and {profile['seconds']:g} s in the "
                         "report: counts of a run are of as long.")]
        return []
    return []


def profiles_of(report: str) -> dict[str, dict[str, Any]]:
    """The profiles of a report by name, its own first."""
    return {file.stem: read_toml(file, PROFILES)
            for file in sorted(PROFILES.glob(f"{report}*.toml"), key=lambda file: len(file.stem))}


def baseline(place: Place) -> list[Block]:
    """The figures of CSE221, and its rows beside the records' own."""
    folder = place.results / "baseline"
    where = [Source(folder, "")]
    drawn = [tile(place, name, title, where) for name, title in
             ((name, gallery.told(Path(f"{name}.svg"), {}, {})[0]) for name in BASELINE_FIGURES)]
    found: list[Block] = [Group("tiles", tuple(each for each in drawn if each))]
    if (folder / ROWS).is_file():
        head, *rows = grid(folder / ROWS)
        at = {name: number for number, name in enumerate(head)}
        rows = [row for row in rows if row[at["published"]]]
        made = tuple(tuple(line(shown(row[at[name]])) for name in
                           ("title", "unit", "published", "measured", "low", "high"))
                     for row in rows)
        found.append(Table("The rows that the report publishes, and their 95 % interval here",
                           ("row", "unit", "published", "here", "from", "to"), made,
                           frozenset((2, 3, 4, 5))))
    return found


def of_report(place: Place, report: str) -> list[Block]:
    """Figures, then tables."""
    if report == BASELINE:
        return baseline(place)
    profiles = profiles_of(report)
    short: list[Block] = []
    long: list[Block] = []
    said_of: list[Block] = []
    for name, profile in profiles.items():
        for each in tables(place, name, profile):
            assert isinstance(each, Group) and isinstance(each.parts[0], Table)
            (long if each.parts[0].folds else short).append(each)
        if not said_of:
            said_of = lasted(place, name, profile)
    return [Group("tiles", tuple(tiles(place, report, profiles))), Group("tables", tuple(short)),
            *said_of, *long]


def lead() -> Line:
    """What the page shows."""
    return line("Every figure and table of each report: what was published on its authors' "
                "machine, and what was measured here, by programs that do what theirs did (as "
                "published) or what their text says (as described). Two machines: compare shapes "
                "and ratios, not heights. Where a report prints no number of a figure, ours "
                f"stands alone. {NONE}: no number is published, or there is no counter here.")


def section(place: Place, document: dict[str, Any]) -> list[Block]:
    """All reports, those without records left out."""
    found: list[Block] = []
    for report in document["reports"]:
        name = report["name"].lower()
        parts = of_report(place, name) if name in (*REPORTS, BASELINE) else []
        if not any(isinstance(each, Group) and each.parts for each in parts):
            continue
        found += [Heading(2, f"{report['name']}: {report['title']}", f"beside-{name}"), *parts,
                  said(Link(f"The claims of {report['name']}", report_page(report["name"])), ".")]
    return found or [said("No folder of results is of a report.")]
