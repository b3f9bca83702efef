# SPDX-License-Identifier: GPL-2.0
"""The end of a sweep: how much faster or slower than the first each variant is."""
from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from copyscope.common import outcomes, spread
from copyscope.common.outcomes import ALIKE, UNDECIDED
from copyscope.common.tables import COPY_SITES, named
from copyscope.common.text import laid_out, listed, short, size_text, wrapped
from copyscope.common.tree import called
from copyscope.records import copies
from copyscope.records.reply import reply_alone
from copyscope.records.run_record import ENDS, Record

from . import pairs, paths
from .pairs import Pair

# Of one label, in a sentence; pairs.csv has them all.
MOST_CELLS = 6
INSTRUCTIONS = "instructions"


def bounds(found: spread.Spread, of: str = "") -> str:
    """A median with the ends of its interval: 1.31 times (1.24 to 1.38)."""
    bar = f" ({short(found.low)} to {short(found.high)})" if found.n > 1 else ""
    return f"{short(found.middle)}{of}{bar}"


def turned(ratio: spread.Spread) -> spread.Spread:
    """How many times as slow, of how many times as fast."""
    return replace(ratio, low=1 / ratio.high, middle=1 / ratio.middle, high=1 / ratio.low)


def place(pair: Pair, one_size: bool, one_setting: bool) -> str:
    """Where a pair was measured, as far as pairs differ in it: "64 B with 4 threads"."""
    threads = f"{pair.threads} thread" + "s" * (pair.threads > 1)
    size = size_text(pair.size)
    if one_setting:
        return size
    return threads if one_size else f"{size} with {threads}"


def told(places: list[str], word: str) -> str:
    """Some places in a sentence; of many the first ones and how many more."""
    if len(places) > MOST_CELLS:
        places = [*places[:MOST_CELLS], f"{len(places) - MOST_CELLS} more"]
    return f"{word} {listed(places)}"


def sentence(mine: list[Pair], word: str, where: list[str]) -> str:
    """One label beside the first: where it is how much faster, where both are alike, and where
    that is undecided."""
    label, other = mine[0].label, mine[0].other
    rest = [f"{verdict} {told(places, word)}" for verdict in (ALIKE, UNDECIDED)
            if (places := [at for pair, at in zip(mine, where) if pair.verdict == verdict])]
    clear = [(pair, at) for pair, at in zip(mine, where) if pair.verdict not in (ALIKE, UNDECIDED)]
    if not clear:
        return f"{label} and {other}: {'; '.join(rest)}."
    parts, before = [], ""
    for pair, at in clear[:MOST_CELLS]:
        assert pair.ratio
        slow = pair.ratio.middle < 1
        what = f" as {'slow' if slow else 'fast'} as {other}"
        parts.append(f"{bounds(turned(pair.ratio) if slow else pair.ratio, ' times')}"
                     f"{what * (what != before)} {word} {at}")
        before = what
    if len(clear) > MOST_CELLS:
        parts.append(f"and {len(clear) - MOST_CELLS} more in {pairs.FILE}")
    return f"{label} is {'; '.join([', '.join(parts), *rest])}."


def sentences(found: list[Pair]) -> list[str]:
    """A sentence for each label that was compared with the first."""
    one_size = len({pair.size for pair in found}) == 1
    one_setting = len({pair.threads for pair in found}) == 1
    word = "with" if one_size and not one_setting else "at"
    lines = []
    for label in dict.fromkeys(pair.label for pair in found):
        mine = [pair for pair in found if pair.label == label and pair.ratio]
        if mine:
            lines.append(sentence(mine, word, [place(pair, one_size, one_setting)
                                               for pair in mine]))
    return lines


def table(found: list[Pair], variants: dict[str, str]) -> list[str]:
    """A row a size, number of threads and label."""
    several = len({pair.threads for pair in found}) > 1
    other = found[0].other
    rows = [["size", *["threads"] * several, "variant", "Gbit/s", f"times {other}"]]
    for pair in found:
        ratio = "1" if pair.label == other else bounds(pair.ratio) if pair.ratio else "no round"
        rows.append([size_text(pair.size), *[str(pair.threads)] * several,
                     named(pair.label, variants[pair.label]), bounds(pair.gbps), ratio])
    return laid_out(rows, {1} if several else set())


def sends_a_message(records: list[Record]) -> str:
    """How many calls sent one; with requests, both ends send."""
    calls, messages = ([read(each) for each in records] for read in (
        lambda each: each.calls("send"), lambda each: each.messages))
    if None in calls or not all(messages) or records[0].workload("pattern") == "rr":
        return "-"
    return f"{sum(calls) / sum(messages):.1f}"


def copies_table(records: list[Record]) -> list[str]:
    """Where processors copied each byte, by label; nothing if no run was counted."""
    rows, missing = [["variant", "copies a byte", "sends a message", "where"]], dict[str, str]()
    for label in dict.fromkeys(each.label for each in records):
        mine = [reply_alone(each) for each in records if each.label == label]
        sums = copies.amounts(mine)
        total, unseen = copies.copied(sums)
        if total is None:
            continue
        # Its remedy follows a semicolon.
        missing |= {site: sums[site].why.partition(";")[0] for site in unseen}
        where = [f"{site} {copies.number(sums[site].value or 0)}" for site in COPY_SITES
                 if sums[site].seen]
        rows.append([named(label, mine[0].variant), copies.number(total), sends_a_message(mine),
                     ", ".join(where) or "nowhere"])
    least = f"At least so many, as {listed(sorted(missing))} was not measured: " \
            f"{listed(sorted(set(missing.values())))}." if missing else ""
    return ["", *laid_out(rows, {1, 2}), *wrapped(least)] if len(rows) > 1 else []


def instructions_table(records: list[Record]) -> list[str]:
    """Instructions of a message at each end, in thousands, by size, threads and label; nothing if
    no run modelled them."""
    rows, of_cells = [], dict[tuple[int, int, str], list[Record]]()
    for each in records:
        if each.modelled and each.times.messages:
            of_cells.setdefault((each.size, each.setting, each.label), []).append(each)
    for (size, threads, label), mine in sorted(of_cells.items(), key=lambda each: each[0][:2]):
        ends = [median([(each.modelled_counter(end, INSTRUCTIONS) or 0) / (each.times.messages or 1)
                          for each in mine]) / 1000 for end in ENDS]
        rows.append([size_text(size), str(threads), named(label, mine[0].variant),
                     *map(short, ends), short(sum(ends))])
    head = ["size", "threads", "variant", *ENDS, "both"]
    return ["", *wrapped("Instructions of a message, modelled, in thousands, at each end:"),
            *laid_out([head, *rows], {1, 3, 4, 5})] if rows else []


def more_rounds(undecided: list[spread.Spread]) -> list[str]:
    """What would decide what is not, where there is an interval to go by."""
    needed = [outcomes.repeats_to_decide(ratio) for ratio in undecided
              if spread.rank_below(ratio.n) is not None]
    known = [each for each in needed if each]
    said = [f"About --repeats {max(known)} would decide what is undecided"] if known else []
    if known and None in needed:
        said = [f"{said[0]}, but not all of it"]
    elif needed and not known:
        said = [f"{outcomes.MOST_REPEATS:,} repeats would not decide what is undecided"]
    return [f"{each}; trace_run --alternate decides in seconds." for each in said]


def notes(found: list[Pair], records: list[Record]) -> list[str]:
    """What the numbers are."""
    counts = {pair.ratio.n for pair in found if pair.ratio}
    first = records[0]
    said = [paths.told(first.path, first.kernel),
            "Throughput of payload in passes without probes; ratios are of runs in the same round."]
    if counts:
        said.append(f"{spread.sentence(counts).capitalize().replace(' %', '%')}.")
    if counts and spread.rank_below(max(counts)) is None:
        said.append("--repeats 6 is the fewest that gives a 95% interval.")
    said += more_rounds([pair.ratio for pair in found if pair.ratio and pair.verdict == UNDECIDED])
    wrong = dict.fromkeys(each.label for each in records if each.workload("content_errors"))
    if wrong:
        said.append(f"Bytes arrived wrong: {', '.join(wrong)}.")
    return said


def shown(path: Path) -> str:
    """A folder as it may be typed here."""
    near = os.path.relpath(path)
    return shlex.quote(near if not near.startswith("..") else str(path))


def to_plot(plan: dict[str, Any], folder: Path, profile: str) -> list[str]:
    """The command that draws what was compared, and which of its figures shows it."""
    own = [f"--profile {shlex.quote(profile)}"] if profile else []
    sizes, settings = ({each[key] for each in plan["points"]} for key in ("size", "threads"))
    figure = "throughput_gbps-by-size" if len(sizes) > 1 else \
        "throughput_gbps-by-threads" if len(settings) > 1 else "copies-by-site"
    what = "the figures of its profile" if profile else figure
    out = shown(folder / "figures")
    return [f"to see it, {what}:",
            " ".join([called("  ./tools/plot"), shown(folder), *own, "--out", out])]


def lines(plan: dict[str, Any], records: list[Record], found: list[Pair], folder: Path,
          profile: str) -> list[str]:
    """The whole answer: what the pairs of these records say. `profile` is the one whose figures
    show it, "" if it has none."""
    drawn = to_plot(plan, folder, profile) if records else []
    against = pairs.reason_against(records)
    if against:
        return ["", *wrapped(f"Throughput and latency are not compared: {against}."),
                *instructions_table(records), *copies_table(records), *drawn]
    if not found:
        return ["", "Throughput and latency are not compared: no payload arrived.", *drawn]
    variants = {record.label: record.variant for record in records}
    said = [line for each in sentences(found) for line in wrapped(each, "  ")]
    return ["", *table(found, variants), "", *said, *copies_table(records), "",
            *wrapped(" ".join(notes(found, records))), *drawn]
