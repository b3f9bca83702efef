# SPDX-License-Identifier: GPL-2.0
"""Several hosts at the far end of the same points: the file that names them, and their answers side
by side."""
from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from copyscope.common.errors import Unusable, shown
from copyscope.common.outcomes import ALIKE, UNDECIDED
from copyscope.common.tables import named
from copyscope.common.text import laid_out, size_text
from copyscope.records.run_record import Record

from .pairs import FASTER, SLOWER, Pair

# Each takes as long as a whole sweep.
MOST = 1000
# It names a folder, and is a word of ssh's command line. An IPv6 address may have a zone.
NAME = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.@:%\[\]-]{,252}")


def read(source: Path) -> list[str]:
    """The names in a file, one a line as ssh knows it; # begins a comment."""
    where = f"--hosts {shown(str(source))}"
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise Unusable(f"{where}: {why}") from None
    found = [name for line in text.splitlines() if (name := line.partition("#")[0].strip())]
    for name in found:
        if not NAME.fullmatch(name):
            raise Unusable(f"{where}: {shown(name)!r} is no [USER@]HOST: "
                           "write one a line, as ssh knows it")
    if not 0 < len(found) <= MOST:
        raise Unusable(f"{where}: {len(found)} hosts, 1 to {MOST} can be swept")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise Unusable(f"{where}: {twice} stands there twice")
    return found


def pays(mine: list[Pair]) -> str:
    """From which size on a label is faster, as far as it was measured."""
    verdicts = [pair.verdict for pair in sorted(mine, key=lambda pair: pair.size)]
    if "" in verdicts:
        return "not known: one round has no interval"
    sizes = sorted(pair.size for pair in mine)
    begin = len(verdicts)
    while begin and verdicts[begin - 1] == FASTER:
        begin -= 1
    if begin < len(verdicts):
        return f"from {size_text(sizes[begin])}" if begin else f"at {size_text(sizes[0])} and above"
    if set(verdicts) == {SLOWER}:
        return "at no size: slower"
    return f"at no size: {verdicts[0]}" if set(verdicts) in ({ALIKE}, {UNDECIDED}) else \
        "not at the largest size"


def ends(record: Record) -> list[str]:
    """Kernel and device of the remote host."""
    far = record.experiment["peer"]
    if not isinstance(far, dict) or "machine" not in far:
        return ["not known", "not known"]
    return [far["machine"]["kernel"], far["path"]["rx_dev"] or "not known"]


def table(answers: Mapping[str, tuple[list[Record], list[Pair]]],
          lost: Mapping[str, str]) -> list[str]:
    """A row a host, label and number of threads; then why a host has none."""
    rows = [["host", "its kernel", "device", "variant", "threads", "faster", "at most"]]
    for host, (records, found) in answers.items():
        variants = {each.label: each.variant for each in records}
        compared = [pair for pair in found if pair.ratio]
        for label, threads in dict.fromkeys((pair.label, pair.threads) for pair in compared):
            mine = [p for p in compared if (p.label, p.threads) == (label, threads)]
            most = max(pair.ratio.middle for pair in mine if pair.ratio)
            rows.append([host, *ends(records[0]), named(label, variants[label]), str(threads),
                         pays(mine), f"{most:.2f} times"])
    without = [f"{host}: {why}" for host, why in lost.items()]
    return ["", *laid_out(rows, {4}), *without] if len(rows) > 1 else ["", *without]
