# SPDX-License-Identifier: GPL-2.0
"""A comparison as text: what differs first, then sites, causes and times, side by side."""
from __future__ import annotations

from copyscope.common import outcomes, spread
from copyscope.common.tables import column, commit_of
from copyscope.common.text import laid_out, short, size_text, wrapped
from copyscope.records import copies
from copyscope.records.copies import Amount
from copyscope.runs import paths
from copyscope.runs.answer import bounds

from . import services
from .rows import SAME, Difference, SiteRow, TimeRow, causes, refused, sites, times
from .services import Quantity
from .sides import Match, Side, only_in

MEANING = column("sites", "meaning")
MOST_NAMED = 6


def head(first: Side, second: Side, found: list[Match]) -> list[str]:
    """Which two are compared."""
    rows = []
    for name, side, runs in (("first", first, [run for each in found for run in each.first]),
                             ("second", second, [run for each in found for run in each.second])):
        kind = "watch" if side.watched else "run"
        many = "watches" if side.watched else "runs"
        count = f"{len(runs)} {many}" if len(runs) > 1 else f"{kind} {runs[0].id}"
        rows.append([name, count, side.source])
    return laid_out(rows)


def differing_lines(found: list[Difference], watched: bool) -> list[str]:
    """What differs beside what was counted, before any of that."""
    if not found:
        return [f"Machine, kernel, {'subject and books' if watched else 'path, pass and workload'} "
                "are the same."]
    rows = [["what differs", "first", "second"], *([each.what, each.first, each.second]
                                                   for each in found)]
    width = max(len(line) for line in laid_out(rows))
    if width <= 100:
        return laid_out(rows)
    # Long values stand below each other.
    return [line for each in found for line in (each.what, f"    first   {each.first}",
                                                f"    second  {each.second}")]


def where(found: list[Match]) -> list[str]:
    """Where both sides hold, if runs of both are of one path and kernel: what differs is told."""
    runs = [run for match in found for run in (*match.first, *match.second)]
    places = {(run.path, run.kernel) for run in runs if not run.watched}
    return [line for place in places for line in wrapped(paths.told(*place))] \
        if len(places) == 1 else []


def amount(value: Amount) -> str:
    """Bytes per payload byte."""
    return "not measured" if value.value is None else copies.number(value.value)


def known(row: SiteRow) -> str:
    """How both numbers are known."""
    hows = dict.fromkeys(each.how for each in (row.first, row.second) if each.value is not None)
    return "; ".join(hows)


def missing(found: list[SiteRow]) -> list[str]:
    """Sites that one side or both did not measure, and why."""
    both: dict[str, list[str]] = {}
    for row in found:
        if row.first.value is None and row.second.value is None:
            whys = dict.fromkeys((row.first.why, row.second.why))
            both.setdefault("; in the second: ".join(whys), []).append(row.site)
    said = [f"not measured in both: {', '.join(names)}: {why}" for why, names in both.items()]
    for name in ("first", "second"):
        by_why: dict[str, list[str]] = {}
        for row in found:
            mine, other = getattr(row, name), row.second if name == "first" else row.first
            if mine.value is None and other.value is not None:
                by_why.setdefault(mine.why, []).append(row.site)
        said += [f"not measured in the {name}: {', '.join(names)}: {why}"
                 for why, names in by_why.items()]
    return [line for each in said for line in wrapped(each, "  ")]


def site_lines(match: Match) -> list[str]:
    """All sites that anything passed."""
    found = sites(match)
    rows = [["site", "first", "second", "how", "what it is"],
            *([row.site, amount(row.first), amount(row.second), known(row), MEANING[row.site]]
              for row in found if row.seen)]
    if len(rows) == 1:
        return ["No site was measured to have passed a byte.", *missing(found)]
    per = "byte sent or received" if match.first[0].watched else "payload byte"
    return [f"Bytes per {per}", *laid_out(rows, {1, 2}), *missing(found)]


def share(value: float | None) -> str:
    """A share of the payload."""
    return "-" if value is None else f"{value:.1%}".replace("%", " %")


def cause_lines(match: Match) -> list[str]:
    """Why bytes were copied, on which side, and what helps."""
    found = causes(match)
    first, second = refused(match.first), refused(match.second)
    sends = ["", f"ENOBUFS: {first:,} sends refused in the first, {second:,} in the second"] \
        if first or second else []
    rows = [["why it was copied", "site", "first", "second"],
            *([row.cause, row.site, share(row.first), share(row.second)] for row in found)]
    remedies = [line for row in found if row.remedy
                for line in wrapped(f"  {row.cause}: {row.remedy}", "    ")]
    commits = [line for row in found if commit_of(row.cause)
               for line in wrapped(f"  {row.cause}: kernel commit {commit_of(row.cause)}", "    ")]
    return [*(["", *laid_out(rows, {2, 3}), *dict.fromkeys([*remedies, *commits])]
              if found else []), *sends]


def counted_of_sweeps(found: list[Match]) -> list[str]:
    """Sites and causes at the points where they differ."""
    rows = []
    for match in found:
        rows += [[match.name, row.site, amount(row.first), amount(row.second)]
                 for row in sites(match) if row.differs]
        rows += [[match.name, f"{row.site}, {row.cause}", copies.number(row.first or 0),
                  copies.number(row.second or 0)] for row in causes(match) if row.differs]
    if not rows:
        return wrapped(f"Bytes per payload byte, and causes, are the same to {SAME} at every site "
                       f"of all {len(found)} points.")
    return ["Bytes per payload byte, where they differ",
            *laid_out([["point", "site and cause", "first", "second"], *rows], {2, 3})]


THROUGHPUT = "Gbit/s"


def clear(row: TimeRow) -> bool:
    """The interval of a ratio leaves out 1; of one run each there is none."""
    return row.ratio is not None and not (row.interval and row.ratio.low <= 1 <= row.ratio.high)


def ratio(row: TimeRow) -> str:
    """How many times the first the second is."""
    if row.ratio is None:
        return "-"
    if clear(row):
        return bounds(row.ratio)
    return f"{outcomes.side(row.ratio)}, {bounds(row.ratio)}"


def cell(value: spread.Spread | None) -> str:
    """A time with its interval."""
    return "-" if value is None else bounds(value)


def time_notes(found: list[TimeRow]) -> list[str]:
    """What the brackets are, or why there is no ratio."""
    against = next((row.against for row in found if row.against), "")
    counts = {each.n for row in found for each in (row.first, row.second) if each}
    said = [f"No ratio is given: of one side or both, {against}."] if against else []
    if max(counts, default=1) == 1:
        said.append("One run or watch of each: how far repeats would lie apart is not known.")
    else:
        said.append(f"{spread.sentence(counts).capitalize().replace(' %', '%')}.")
        said += dict.fromkeys(ratio_note(row) for row in found if row.interval)
    return wrapped(" ".join(said))


def ratio_note(row: TimeRow) -> str:
    """What the brackets of a ratio are."""
    assert row.first and row.second and row.ratio
    if row.paired:
        of = "Both sides were run in turns, and a ratio is of two runs side by side"
        return f"{of}: {spread.sentence([row.ratio.n])}.".replace(" %", "%")
    of = "A ratio is the median of those of each run of one to each of the other, "
    n, m = row.first.n, row.second.n
    if spread.rank_of_ratios(n, m) is None:
        return f"{of}its brackets are their range: too few for 95%, it holds the true ratio with " \
               f"{spread.range_holds(n, m) * 100:.0f}%."
    alike = f"alike within {outcomes.ALIKE_WITHIN * 100:g}%"
    return f"{of}with its 95% interval; where that holds 1 both are {alike}, or it is undecided."


def time_lines(match: Match) -> list[str]:
    """Every time of both sides with its interval, and their ratio."""
    found = times(match)
    if not found:
        return ["", "No times were measured."]
    rows = [[", ".join(filter(None, (row.what, row.unit))), cell(row.first), cell(row.second),
             ratio(row)] for row in found]
    return ["", *laid_out([["time", "first", "second", "second / first"], *rows]),
            *time_notes(found)]


def sampled_cell(value: spread.Spread | None) -> str:
    """A number of samples has an interval, of one watch as well."""
    return "-" if value is None else \
        f"{short(value.middle)} ({short(value.low)} to {short(value.high)})"


def quantity_row(each: Quantity) -> list[str]:
    """A number of a service."""
    found = each.row
    if not each.sampled:
        return [f"{found.what}, {found.unit}", cell(found.first), cell(found.second), ratio(found)]
    times_as = found.ratio
    word = "" if times_as is None or not times_as.low <= 1 <= times_as.high else \
        f"{outcomes.side(times_as)}, "
    return [f"{found.what}, {found.unit}", sampled_cell(found.first), sampled_cell(found.second),
            word + sampled_cell(times_as)]


def service_lines(match: Match, most: int) -> list[str]:
    """Each service that both sides have, those first that copied most."""
    found, alone = services.compared(match.first, match.second)
    said = []
    for each in found[:most]:
        said += ["", *laid_out([[each.name, "first", "second", "second / first"],
                                *map(quantity_row, each.quantities)])]
    if len(found) > most:
        said += ["", f"{len(found) - most} more services of both: --top {len(found)}"]
    if any(each.sampled for one in found[:most] for each in one.quantities):
        said += ["", *wrapped("CPU time has the 95% interval of its samples, which says nothing of "
                              "how far repeats lie apart: compare several watches of each side.")]
    for name, names in zip(("first", "second"), alone):
        if names:
            more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
            said += ["", *wrapped(f"Only in the {name}: "
                                  f"{'; '.join([*names[:MOST_NAMED], *more])}.", "  ")]
    return said


def times_of_sweeps(found: list[Match]) -> list[str]:
    """Throughput at every point; --json has the other times."""
    rows, every = [], []
    several = len({match.first[0].setting for match in found}) > 1
    for match in found:
        run = match.first[0]
        mine = [each for each in times(match) if each.unit == THROUGHPUT][:1]
        every += mine
        rows += [[run.label, size_text(run.size), *[str(run.setting)] * several,
                  cell(row.first), cell(row.second), ratio(row)] for row in mine]
    if not rows:
        return ["", "No times were measured."]
    head_row = [THROUGHPUT, "size", *["threads"] * several, "first", "second", "second / first"]
    return ["", *laid_out([head_row, *rows], {2} if several else set()), *time_notes(every)]


def left_lines(first: Side, second: Side) -> list[str]:
    """The points that only one side has."""
    said = []
    for name, mine, other in (("first", first, second), ("second", second, first)):
        names = only_in(mine, other)
        more = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        if names:
            said += wrapped(f"Only in the {name}: "
                            f"{'; '.join([*names[:MOST_NAMED], *more])}.", "  ")
    return ["", *said] if said else []


def lines(first: Side, second: Side, differing: list[Difference],
          found: list[Match], most: int) -> list[str]:
    """The whole comparison."""
    if len(found) == 1:
        rows = [*site_lines(found[0]), *cause_lines(found[0]), *time_lines(found[0]),
                *(service_lines(found[0], most) if first.watched else ())]
    else:
        rows = [*counted_of_sweeps(found), *times_of_sweeps(found)]
    place = where(found)
    return [*head(first, second, found), "", *differing_lines(differing, first.watched),
            *([""] if differing and place else []), *place, "", *rows, *left_lines(first, second)]
