# SPDX-License-Identifier: GPL-2.0
"""What looking costs: the kept table is what its numbers say, METHOD quotes them, and what got dearer is told."""
from __future__ import annotations

import copy
import re
from pathlib import Path

from cost import looks

ROOT = Path(__file__).resolve().parents[2]
KEPT = looks.read(looks.RESULTS)


def row_of(release: str, way: str, size: int) -> dict:
    """A kept one, with few sockets."""
    return next(row for row in KEPT[release]["rows"]
                if looks.key(row) == (way, 0 if way == "connect" else looks.FEW, size))


def test_the_page_is_what_the_numbers_say():
    assert (looks.RESULTS / "looks.md").read_text(encoding="utf-8") == looks.text_of(KEPT)


def test_every_goal_has_a_row_where_its_look_was_asked():
    rows = KEPT["6.12"]["rows"]
    asked = {(row["way"], row["bytes"], look) for row in rows for look in row["looks"]}
    assert set(looks.GOALS) <= asked and set(KEPT) == {"6.1", "6.12", "6.18", "7.2"}


def test_method_quotes_the_kept_numbers():
    text = " ".join((ROOT / "docs/METHOD.md").read_text(encoding="utf-8").split())
    quoted = [[int(number.replace(",", "")) for number in found] for found in
              re.findall(r"a watch adds ([\d,]+) to a plain round trip of 64 bytes on 6\.12, which takes ([\d,]+), "
                         r"([\d,]+) to one by MSG_ZEROCOPY \(([\d,]+)\) and ([\d,]+) to a connection \(([\d,]+)\), "
                         r"or ([\d,]+) where", text)]
    rows = [row_of("6.12", *of) for of in (("copy", 64), ("zerocopy", 64), ("connect", 64))]
    assert quoted == [[*(number for row in rows for number in (row["looks"]["sequence"]["adds"], row["bare"])),
                       rows[-1]["looks"]["others"]["adds"]]]


def test_what_all_turns_say_got_dearer_is_told():
    before = [row_of("6.12", "copy", 64)]
    now = copy.deepcopy(before)
    assert not looks.dearer(before, now)
    was = before[0]["looks"]["sequence"]["low"]
    now[0]["looks"]["sequence"].update(ratio=0.97 * was, low=0.96 * was, high=0.99 * was)
    assert not looks.dearer(before, now)
    now[0]["looks"]["sequence"]["high"] = 0.979 * was
    said, = looks.dearer(before, now)
    assert said.startswith("plain, 64 B, sequence: ")
