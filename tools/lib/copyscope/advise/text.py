# SPDX-License-Identifier: GPL-2.0
"""An advice in words, a few lines for each service."""
from __future__ import annotations

import math
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from copyscope.common.errors import shown
from copyscope.common.tables import PATHS_OF_NICS, PATHS_OF_ONE_HOST
from copyscope.common.text import listed, size_text, wrapped
from copyscope.common.tree import called
from copyscope.model.changes import (
    BY_RING,
    FILE,
    FILE_READ,
    OF_FILES,
    Change,
)
from copyscope.model.choice import LEAVE, PAYS, PLAIN, Choice
from copyscope.records.sizes import chief_sizes
from copyscope.records.ways import BASES, MAPPED, SOURCES
from copyscope.report.alternation import percent

from .advice import Advice, copied, cpu_of_copies, payload_bytes, per_gb_of_copies
from .verified import (
    BY_REFERENCE,
    IN_SEGMENTS,
    VARIANTS,
    Verified,
    chief_sends,
    chief_size,
    paying,
    segments_words,
    still_open,
    unless,
)

SWITCHES = Path(__file__).with_name("switches.toml")
# For what a minute did not settle.
LONGER = " --budget 300"
MOST_SIZES = 4
INDENT = " " * 11
NAMES = {"tx_copy": "copied by send", "rx_copy": "copied by recv", "late_copy": "copied late",
         "user_gather": "gathered by the program"}


def gb_text(size: float) -> str:
    """Bytes as people read them."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"


def ms(ns: float) -> str:
    """Processor time a GB, signed."""
    return f"{ns / 1e6:+.3g}"


def change_text(change: Change) -> str:
    """A change a GB with its interval."""
    return f"{ms(change.ns)} ms of CPU time a GB ({ms(change.low)} to {ms(change.high)})"


def today(advice: Advice) -> str:
    """What is copied now, and what that takes."""
    found = copied(advice.process)
    parts = [f"{gb_text(size)} {NAMES.get(site, site)}" for site, size, _ in found
             if size is not None]
    lacking = [site for site, size, _ in found if size is None]
    payload = payload_bytes(advice.process)
    told = f"{listed(parts) or 'nothing copied'}, of {gb_text(payload)} sent and received"
    told += f" (not measured: {listed(lacking)})" if lacking else ""
    share, each = cpu_of_copies(advice.process), per_gb_of_copies(advice.process)
    if share and each:
        told += (f"; copying took {share.value:.0%} ({share.low:.0%} to {share.high:.0%}) of its "
                 f"CPU time, {each.value / 1e6:.3g} ms a GB")
    elif share:
        told += f"; copying took {share.value:.0%} of its CPU time"
    else:
        told += "; its CPU time was not sampled (watch --cpu)"
    return told


def hindrances(advice: Advice) -> list[str]:
    """What copies on the way, with the remedy."""
    return [f"in the way: {each.cause} ({each.where}): {each.remedy}"
            for each in advice.way.hindrances]


def of_choice(choice: Choice, source: str) -> str:
    """What one way would change."""
    name = choice.way
    if choice.way in OF_FILES:
        name = "sendfile in place of read() and send()" if choice.way == FILE_READ else \
            "sendfile in place of send() alone"
        name += "" if source == "file" else \
            ", if the bytes come from a file (not known: --source file says so)"
    name = "plain sends again" if choice.way == PLAIN else name
    best = choice.best
    until = "below" if choice.way == PLAIN else "from"
    where = "of every size" if not best.from_bytes or best is choice.options[0] and \
        choice.way != PLAIN else f"{until} {size_text(best.from_bytes)}" + \
        (" on" if until == "from" else "")
    if choice.verdict == PAYS:
        return f"{name} pays {where}: {change_text(best.per_gb)}"
    if choice.verdict == LEAVE:
        return f"{name} does not pay: {change_text(best.per_gb)} even at its best size"
    return f"{name}: undecided; at best {change_text(best.per_gb)}, {where}"


def switch_of(comm: str, ways: list[str]) -> dict[str, Any] | None:
    """The switch of a known program."""
    rows = tomllib.loads(SWITCHES.read_text(encoding="utf-8"))["switches"]
    return next((row for row in rows if any(comm.startswith(each) for each in row["comm"])
                 and (row["way"] in ways or row["way"] == "splice" or
                      row["way"] == FILE and FILE_READ in ways)), None)


def is_on(way: str, sites: dict[str, Any]) -> bool:
    """Most of what the process sent went that way: whatever switches it on is set."""
    spliced, copied = (sites[site]["bytes"] or 0 for site in ("tx_splice", "tx_copy"))
    return way in ("splice", FILE) and spliced > copied


def by_turns(advice: Advice) -> bool:
    """Whether ways can take turns on its path: not on two hosts, or between cards that nobody
    named."""
    return advice.way.path in PATHS_OF_ONE_HOST and advice.way.path not in PATHS_OF_NICS


def turns_alone(advice: Advice) -> tuple[str, int, tuple[str, ...]]:
    """Of one without prices: the variant whose turns tell most, its size, and what trace_run is
    told besides."""
    if advice.segments:
        return IN_SEGMENTS, math.prod(advice.segments), segments_words(advice.segments)
    return (BY_REFERENCE, chief_size(advice), ()) if advice.datagrams else \
        (MAPPED, advice.mapped_bytes, ())


def verify(advice: Advice, record: str) -> str:
    """The command that measures what is only predicted here: by turns, by runs that follow each
    other or, of cards that this machine may not have, by instructions in a guest."""
    sizes = ",".join(map(str, chief_sizes(chief_sends(advice), MOST_SIZES)))
    if advice.datagrams or not advice.sends:
        variant, size, words = turns_alone(advice)
        turns = f"{BASES[SOURCES[variant]]},{variant}"
        return called(" ".join((f"sudo ./tools/trace_run --alternate {turns} {size} "
                                f"{advice.connections} --path {advice.way.path}", *words)))
    if by_turns(advice):
        return called(f"sudo ./tools/advise --path {advice.way.path} --sizes {sizes} "
                      f"--threads {advice.connections}" +
                      (f" --answer {advice.answer_bytes}" if advice.answer_bytes else ""))
    ways = dict.fromkeys(VARIANTS.get(each.way, "sendfile") for each in advice.choices
                         if each.way not in BY_RING or each.verdict == PAYS)
    host = f"--host {shlex.quote(advice.way.host)} " if advice.way.host else ""
    cards = "--kernel 6.12 --counters model " if advice.way.path in PATHS_OF_NICS else ""
    sizes = f"--sizes-from {shlex.quote(record)}" if record else f"--sizes {sizes}"
    return called(f"sudo ./tools/sweep --variants A1-plain,{','.join(ways)} {sizes} "
                  f"--threads {advice.connections} --path {advice.way.path} "
                  f"{host}{cards}--pattern {advice.pattern}")


def conclusion(advice: Advice) -> str:
    """What to do."""
    paying = [each for each in advice.choices
              if each.verdict == PAYS and advice.decides(each.way)]
    if paying:
        best = min(paying, key=lambda each: each.best.per_gb.ns)
        size = size_text(best.best.from_bytes) if best.best.from_bytes else ""
        way = FILE if best.way == FILE_READ else best.way
        return {PLAIN: f"send plain{' below ' + size if size else ''}"}.get(
            way, f"send by {way} from {size} on")
    return "leave it as it is" if advice.verdict == LEAVE else \
        "undecided: measure it by the command below"


def settled(advice: Advice, verified: Sequence[Verified]) -> str:
    """What to do when turns were taken: what they say."""
    found = {each.way: each for each in verified}
    best = min(paying(advice, verified), key=lambda way: found[way].ratio.middle, default="")
    if best:
        name = {FILE_READ: FILE, PLAIN: "plain sends"}.get(best, best)
        return f"send by {name}: by turns {percent(found[best].ratio.middle)} of processor time"
    if still_open(advice, verified):
        return "undecided: turns of a minute do not settle it; those of the command below may"
    others = unless(advice, verified)
    return "leave it as it is: " + (f"{listed(others)} would pay, on the condition told here"
                                    if others else "no way pays")


def lines(advice: Advice, record: str, verified: Sequence[Verified] = (),
          host: str = "") -> list[str]:
    """Everything of one service; what turns said of it in place of the command that asks them,
    which is typed on `host` if that was watched."""
    if advice.little is not None:
        return told(advice, [("today", today(advice)), ("advice", "leave it as it is: only "
                             f"{advice.little:.2%} of what it sent was copied by send")])
    rows = [("today", today(advice)), ("path", advice.way.told),
            *(("", each) for each in hindrances(advice)),
            *([("source", advice.source_told)] if advice.source_told else []),
            *(("change" if not number else "", of_choice(each, advice.source))
              for number, each in enumerate(advice.choices)),
            *(("", f"{way}: not predicted: {why}") for way, why in advice.unpriced.items()),
            ("advice", settled(advice, verified) if verified else conclusion(advice)),
            *(("verified" if not number else "", each.text)
              for number, each in enumerate(verified))]
    if not verified or not paying(advice, verified) and still_open(advice, verified):
        where = f"type on {shown(host)}: " if host else ""
        rows.append(("verify", where + verify(advice, record) + (LONGER if verified else "")))
    switch = switch_of(advice.comm, [each.way for each in advice.choices])
    if switch and not is_on(switch["way"], advice.process["sum"]["sites"]):
        rows.append(("switch", f"{switch['way']}: {switch['set']} ({switch['source']})"))
    return told(advice, rows)


def told(advice: Advice, rows: list[tuple[str, str]]) -> list[str]:
    """Rows of a name and a text, below the service."""
    said = [f"{advice.name}:"]
    for name, text in rows:
        said += wrapped(f"  {name:9}{text}", INDENT)
    return said
